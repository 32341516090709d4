#include "predictor.hpp"

#include <stdexcept>

#include "structure.hpp"

namespace treewright {
namespace {

void require(bool holds, const char* rule) {
  if (!holds) {
    throw std::invalid_argument(std::string("A forest must have ") + rule +
                                "; grow or load it again.");
  }
}

// Levels that all rows pass before they are sorted by subtree; small trees are not sorted.
constexpr int kTopLevels = 9;
constexpr i64 kTopNodes = 1 << kTopLevels;

template <class T>
std::vector<T> copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

}  // namespace

ForestModel::ForestModel(const ForestArrays& a)
    : n_categories(copy(a.n_categories)),
      offset_(copy(a.node_offset)),
      n_children_(copy(a.n_children)),
      feature_(copy(a.feature)),
      gap_branch_(copy(a.gap_branch)),
      kind_(copy(a.kind)),
      closed_(copy(a.closed)),
      breaks_(copy(a.breaks)),
      codes_(copy(a.codes)),
      branches_(copy(a.branches)) {
  const i64 n_nodes = static_cast<i64>(n_children_.size());
  require(offset_.size() >= 2 && offset_[0] == 0 && offset_.back() == n_nodes,
          "offsets that begin at 0 and end at its nodes");
  for (std::size_t t = 0; t + 1 < offset_.size(); ++t) {
    require(offset_[t] < offset_[t + 1], "trees with at least one node");
  }
  const std::size_t m = feature_.size();
  require(gap_branch_.size() == m && closed_.size() == m && a.n_breaks.size() == m &&
              a.n_codes.size() == m && kind_.size() == m,
          "one test for each inner node");
  require(codes_.size() == branches_.size(), "one branch for each code");
  break_offset_.reserve(m + 1);
  code_offset_.reserve(m + 1);
  std::vector<u8> is_used(n_categories.size(), 0);
  for (std::size_t i = 0; i < m; ++i) {
    require(feature_[i] >= 0 && feature_[i] < static_cast<i64>(n_categories.size()),
            "tests of features that exist");
    require(a.n_breaks[i] >= 0 && a.n_codes[i] >= 0, "numbers of breaks and codes");
    require(gap_branch_[i] >= 0, "a branch for gaps at every test");
    is_used[feature_[i]] = 1;
    break_offset_.push_back(break_offset_.back() + a.n_breaks[i]);
    code_offset_.push_back(code_offset_.back() + a.n_codes[i]);
    plain_ = plain_ && kind_[i] == static_cast<u8>(SplitKind::breaks) && a.n_breaks[i] == 1;
  }
  require(break_offset_.back() == static_cast<i64>(breaks_.size()) &&
              code_offset_.back() == static_cast<i64>(codes_.size()),
          "as many breaks and codes as its tests say");
  for (std::size_t f = 0; f < is_used.size(); ++f) {
    if (is_used[f]) used.push_back(static_cast<i32>(f));
  }
  if (used.empty()) used.push_back(0);  // a walk reads some feature even at a leaf
  // Structure: first children and leaf numbers, tree by tree.
  first_child_.reserve(n_nodes);
  leaf_number_.reserve(n_nodes);
  i64 most_nodes = 0, inner = 0;
  for (std::size_t t = 0; t + 1 < offset_.size(); ++t) {
    const i64 n = offset_[t + 1] - offset_[t];
    most_nodes = std::max(most_nodes, n);
    const auto first = first_children(std::span(n_children_).subspan(offset_[t], n));
    first_child_.insert(first_child_.end(), first.begin(), first.end());
    inner_offset_.push_back(inner);
    i32 leaves = 0;
    for (i64 i = 0; i < n; ++i) {
      const bool is_leaf = first[i] < 0;
      leaf_number_.push_back(is_leaf ? leaves++ : -1);
      inner += !is_leaf;
      plain_ = plain_ && (is_leaf || n_children_[offset_[t] + i] == 2);
    }
    leaf_offset_.push_back(leaf_offset_.back() + leaves);
  }
  require(inner == static_cast<i64>(m), "one test for each inner node");
  for (std::size_t i = 0; plain_ && i < m; ++i) require(breaks_[i] == breaks_[i], "breaks");
  has_narrow_ = most_nodes < NarrowNode<float>::kMaxNodes &&
                n_categories.size() <= NarrowNode<float>::kMaxFeatures;
}

template <class Node>
ForestModel::PlainTree<Node> ForestModel::plain_tree(i64 tree) const {
  using T = decltype(Node::cut);
  const i64 start = offset_[tree], n = n_nodes(tree);
  const i32* first = first_child_.data() + start;
  PlainTree<Node> out;
  out.levels = n < 4 * kTopNodes ? 0 : kTopLevels;
  // Level by level as far as all rows go, then depth first below each node of the last level.
  std::vector<u32> order{0};
  order.reserve(n);
  std::size_t level = 0;
  for (int depth = 0; depth < out.levels; ++depth) {
    const std::size_t end = order.size();
    for (; level < end; ++level) {
      const i32 child = first[order[level]];
      if (child >= 0) order.insert(order.end(), {static_cast<u32>(child), static_cast<u32>(child) + 1});
    }
  }
  const std::size_t n_top = order.size();
  for (std::size_t root = level; root < n_top; ++root) {
    std::vector<u32> stack{order[root]};
    while (!stack.empty()) {
      const i32 child = first[stack.back()];
      stack.pop_back();
      if (child < 0) continue;
      order.insert(order.end(), {static_cast<u32>(child), static_cast<u32>(child) + 1});
      stack.insert(stack.end(), {static_cast<u32>(child) + 1, static_cast<u32>(child)});
    }
  }
  std::vector<u32> place(n);
  for (i64 i = 0; i < n; ++i) place[order[i]] = static_cast<u32>(i);
  std::vector<i64> inner(n);
  for (i64 i = 0, at = inner_offset_[tree]; i < n; ++i) inner[i] = first[i] < 0 ? -1 : at++;
  out.nodes.resize(n);
  out.leaf.resize(n);
  for (i64 i = 0; i < n; ++i) {
    const u32 node = order[i];
    if (first[node] < 0) {
      out.nodes[i] = Node(kNoCut<T>, static_cast<u32>(used[0]), static_cast<u32>(i));
      out.leaf[i] = static_cast<u32>(leaf_number_[start + node]);
      continue;
    }
    const i64 test = inner[node];
    double cut = breaks_[test];
    if (!closed_[test]) cut = std::nextafter(cut, -kInf);
    T rounded;
    round_down(cut, rounded);
    out.nodes[i] = Node(rounded, static_cast<u32>(feature_[test]), place[first[node]]);
  }
  out.number = std::move(order);
  make_top(out);
  return out;
}

template <class Node>
void ForestModel::make_top(PlainTree<Node>& tree) const {
  if (!tree.levels) return;
  const u32 size = (1u << tree.levels) - 1;
  std::vector<u32> node(2 * size + 1, 0);
  tree.top.resize(size);
  for (u32 i = 0; i < size; ++i) {
    const Node& here = tree.nodes[node[i]];
    tree.top[i] = {here.cut, here.feature()};
    const bool is_leaf = here.child() == node[i];
    node[2 * i + 1] = here.child();
    node[2 * i + 2] = here.child() + !is_leaf;
  }
  tree.roots.assign(node.begin() + size, node.end());
}

void ForestModel::need_floats() {
  if (!narrow_.empty()) return;
  std::vector<PlainTree<NarrowNode<float>>> made(n_trees());
  for (i64 t = 0; t < n_trees(); ++t) made[t] = plain_tree<NarrowNode<float>>(t);
  narrow_ = std::move(made);
}

void ForestModel::need_doubles() {
  if (!wide_.empty()) return;
  std::vector<PlainTree<WideNode<double>>> made(n_trees());
  for (i64 t = 0; t < n_trees(); ++t) made[t] = plain_tree<WideNode<double>>(t);
  wide_ = std::move(made);
}

void ForestModel::need_routers() {
  if (!routers_.empty()) return;
  std::vector<std::unique_ptr<predict::Router>> made(n_trees());
  for (i64 t = 0; t < n_trees(); ++t) made[t] = std::make_unique<predict::Router>(make_router(t));
  routers_ = std::move(made);
}

// The same tree in the form that all trees have.
predict::Router ForestModel::make_router(i64 tree) const {
  const i64 start = offset_[tree], n = n_nodes(tree);
  std::vector<u8> kind(n, 0), closed(n, 0), reversed(n, 0);
  std::vector<i32> feature(n, -1), gap(n, kGapStop);
  std::vector<i64> break_offset{0}, code_offset{0}, term_offset(n + 1, 0), no_surrogates(n + 1, 0);
  const i64 first_inner = inner_offset_[tree];
  i64 inner = first_inner;
  for (i64 i = 0; i < n; ++i) {
    if (first_child_[start + i] >= 0) {
      kind[i] = kind_[inner];
      closed[i] = closed_[inner];
      feature[i] = feature_[inner];
      gap[i] = gap_branch_[inner];
      ++inner;
    }
    break_offset.push_back(break_offset_[inner] - break_offset_[first_inner]);
    code_offset.push_back(code_offset_[inner] - code_offset_[first_inner]);
  }
  const std::vector<double> weight(n, 1.0);
  predict::SplitArrays splits{};
  splits.kind = kind;
  splits.feature = feature;
  splits.closed = closed;
  splits.reversed = reversed;
  splits.break_offset = break_offset;
  splits.breaks = std::span(breaks_).subspan(break_offset_[first_inner], break_offset.back());
  splits.code_offset = code_offset;
  splits.codes = std::span(codes_).subspan(code_offset_[first_inner], code_offset.back());
  splits.branches = std::span(branches_).subspan(code_offset_[first_inner], code_offset.back());
  splits.term_offset = term_offset;
  predict::SplitArrays none{};
  const std::vector<i64> zero{0};
  none.break_offset = none.code_offset = none.term_offset = zero;
  const predict::TreeArrays arrays{n_categories,
                                   std::span(first_child_).subspan(start, n),
                                   std::span(n_children_).subspan(start, n),
                                   gap,
                                   weight,
                                   no_surrogates,
                                   splits,
                                   none};
  return predict::Router(arrays);
}

}  // namespace treewright
