#include "predict/forest_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/ordered.hpp"
#include "predict/structure.hpp"
#include "predict/upper_part.hpp"

namespace treewright {
namespace {

void require(bool holds, const char* rule) {
  if (!holds) {
    throw std::invalid_argument(std::string("A forest must have ") + rule +
                                "; grow or load it again.");
  }
}

// A tree of fewer nodes fits the cache as a whole; its rows are not sorted.
constexpr i64 kSmallTree = 2048;

// Steps that three quarters of the leaves of a subtree need, but not very many: the rows that are
// left wait for each other.
constexpr i64 kMostSteps = 24;
int usual_steps(const i32* first, u32 root, std::vector<std::pair<u32, i64>>& stack) {
  i64 leaves[kMostSteps + 1] = {}, all = 0;
  stack.assign(1, {root, 0});
  while (!stack.empty()) {
    const auto [node, depth] = stack.back();
    stack.pop_back();
    if (first[node] < 0 || depth == kMostSteps) {
      ++leaves[depth];
      ++all;
      continue;
    }
    const auto child = static_cast<u32>(first[node]);
    stack.insert(stack.end(), {{child, depth + 1}, {child + 1, depth + 1}});
  }
  i64 steps = 0;
  for (i64 shallow = leaves[0]; 4 * shallow < 3 * all; shallow += leaves[steps]) ++steps;
  return static_cast<int>(steps);
}

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
      branches_(copy(a.branches)),
      term_feature_(copy(a.terms.feature)),
      term_code_(copy(a.terms.code)),
      term_weight_(copy(a.terms.weight)) {
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
  const bool has_terms = !a.terms.count.empty();
  require(!has_terms || a.terms.count.size() == m, "numbers of terms for each inner node");
  require(term_weight_.size() == term_feature_.size() && term_code_.size() == term_feature_.size(),
          "a feature, a weight and a code for each term");
  break_offset_.reserve(m + 1);
  code_offset_.reserve(m + 1);
  std::vector<u8> is_used(n_categories.size(), 0);
  for (std::size_t i = 0; i < m; ++i) {
    require(feature_[i] >= 0 && feature_[i] < static_cast<i64>(n_categories.size()),
            "tests of features that exist");
    require(a.n_breaks[i] >= 0 && a.n_codes[i] >= 0, "numbers of breaks and codes");
    require(gap_branch_[i] >= 0, "a branch for gaps at every test");
    const bool is_linear = kind_[i] == static_cast<u8>(SplitKind::linear);
    const i32 n_terms = has_terms ? a.terms.count[i] : 0;
    require(is_linear == (n_terms > 0) && n_terms >= 0, "terms for each linear test");
    if (!is_linear) is_used[feature_[i]] = 1;
    term_offset_.push_back(term_offset_.back() + n_terms);
    break_offset_.push_back(break_offset_.back() + a.n_breaks[i]);
    code_offset_.push_back(code_offset_.back() + a.n_codes[i]);
    plain_ = plain_ && kind_[i] == static_cast<u8>(SplitKind::breaks) && a.n_breaks[i] == 1;
  }
  require(break_offset_.back() == static_cast<i64>(breaks_.size()) &&
              code_offset_.back() == static_cast<i64>(codes_.size()) &&
              term_offset_.back() == static_cast<i64>(term_feature_.size()),
          "as many breaks, codes and terms as its tests say");
  for (const i32 f : term_feature_) {
    require(f >= 0 && f < static_cast<i64>(n_categories.size()), "terms of features that exist");
    is_used[f] = 1;
  }
  for (std::size_t f = 0; f < is_used.size(); ++f) {
    if (is_used[f]) used.push_back(static_cast<i32>(f));
  }
  if (used.empty()) used.push_back(0);  // a walk reads some feature even at a leaf
  // Structure: first children and leaf numbers, tree by tree.
  first_child_.reserve(n_nodes);
  label_.reserve(n_nodes);
  i64 inner = 0, most_leaves = 0;
  for (std::size_t t = 0; t + 1 < offset_.size(); ++t) {
    const i64 n = offset_[t + 1] - offset_[t];
    const auto first = first_children(std::span(n_children_).subspan(offset_[t], n));
    first_child_.insert(first_child_.end(), first.begin(), first.end());
    inner_offset_.push_back(inner);
    i32 leaves = 0;
    for (i64 i = 0; i < n; ++i) {
      const bool is_leaf = first[i] < 0;
      label_.push_back(is_leaf ? static_cast<u32>(leaves++) : 0);
      if (is_leaf) leaf_node_.push_back(static_cast<i32>(i));
      inner += !is_leaf;
      plain_ = plain_ && (is_leaf || n_children_[offset_[t] + i] == 2);
    }
    leaf_offset_.push_back(leaf_offset_.back() + leaves);
    most_leaves = std::max<i64>(most_leaves, leaves);
  }
  require(a.leaf_codes.empty() || static_cast<i64>(a.leaf_codes.size()) == n_leaves(),
          "one code for each leaf");
  if (!a.leaf_codes.empty() && most_leaves <= kNumber) {
    has_codes_ = true;
    for (i64 i = 0, leaf = 0; i < n_nodes; ++i) {
      if (first_child_[i] < 0) label_[i] |= static_cast<u32>(a.leaf_codes[leaf++]) << kNumberBits;
    }
  }
  require(inner == static_cast<i64>(m), "one test for each inner node");
  for (std::size_t i = 0; plain_ && i < m; ++i) require(breaks_[i] == breaks_[i], "breaks");
}

// False if a distance between nodes or a feature's number does not fit the nodes.
template <class Node>
bool ForestModel::make_tree(i64 tree, BlockTree<Node>& out) const {
  using Place = typename Node::Place;
  const i64 start = offset_[tree], n = n_nodes(tree);
  const i32* first = first_child_.data() + start;
  const auto pad = static_cast<Place>(n_categories.size());
  std::vector<i64> test(n);
  for (i64 i = 0, at = inner_offset_[tree]; i < n; ++i) test[i] = first[i] < 0 ? -1 : at++;
  auto cut_of = [&](u32 node) {
    double cut = breaks_[test[node]];
    if (!closed_[test[node]]) cut = std::nextafter(cut, -kInf);
    typename Node::Value rounded;
    round_down(cut, rounded);
    return ordered(rounded);
  };
  auto feature_of = [&](u32 node) { return static_cast<Place>(feature_[test[node]]); };
  std::vector<u32> roots;  // of subtrees, by place
  if (n < kSmallTree) {
    roots.push_back(0);
  } else {
    const UpperPart upper = upper_part(std::span(first, n));
    out.upper_levels = upper.levels;
    out.upper.push_back({});
    for (std::size_t i = 1; i < upper.nodes.size(); ++i) {
      const u32 node = upper.nodes[i];
      const auto left = static_cast<Place>(upper.left[i]);
      if (!left) {
        out.upper.push_back({static_cast<u32>(roots.size()), pad, 0});
        roots.push_back(node);
      } else if (first[node] < 0) {
        out.upper.push_back({0, pad, left});
      } else {
        out.upper.push_back({cut_of(node), feature_of(node), left});
      }
    }
  }
  // Subtrees: those of fewer steps first, each depth first.
  std::vector<int> steps;
  std::vector<std::pair<u32, i64>> open;
  for (const u32 root : roots) {
    out.places.push_back(static_cast<u32>(out.places.size()));
    steps.push_back(usual_steps(first, root, open));
  }
  std::stable_sort(out.places.begin(), out.places.end(),
                   [&](u32 a, u32 b) { return steps[a] < steps[b]; });
  std::vector<u32> order, stack, place(n);
  order.reserve(n);
  out.root.resize(roots.size());
  for (const u32 i : out.places) {
    if (out.groups.empty() || out.groups.back().steps != steps[i])
      out.groups.push_back({i, steps[i]});
    out.groups.back().last = i;
    out.root[i] = static_cast<u32>(order.size());
    order.push_back(roots[i]);
    stack.push_back(roots[i]);
    while (!stack.empty()) {
      const u32 node = stack.back();
      stack.pop_back();
      if (first[node] < 0) continue;
      const auto child = static_cast<u32>(first[node]);
      order.insert(order.end(), {child, child + 1});
      stack.insert(stack.end(), {child + 1, child});
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<u32>(i);
  out.nodes.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const u32 node = order[i];
    if (first[node] < 0) {
      out.nodes[i] = {label_[start + node], pad, 0};
      continue;
    }
    const i64 left = place[first[node]] - static_cast<i64>(i);
    if (left > std::numeric_limits<Place>::max()) return false;
    out.nodes[i] = {cut_of(node), feature_of(node), static_cast<Place>(left)};
  }
  return true;
}

template <class Node>
bool ForestModel::make_trees(std::vector<BlockTree<Node>>& trees) const {
  if (!trees.empty()) return true;
  if (n_categories.size() > std::numeric_limits<typename Node::Place>::max()) return false;
  std::vector<BlockTree<Node>> made(n_trees());
  for (i64 t = 0; t < n_trees(); ++t) {
    if (!make_tree(t, made[t])) return false;
  }
  trees = std::move(made);
  return true;
}

bool ForestModel::need_ranks() {
  if (ranked_ || !ranks_do_) return ranks_do_;
  ranked_ =
      RankedTrees::make({n_categories, offset_, first_child_, n_children_, feature_, gap_branch_,
                         kind_, closed_, break_offset_, code_offset_, breaks_, codes_, branches_});
  return ranks_do_ = ranked_ != nullptr;
}

bool ForestModel::need_floats() { return floats_do_ = floats_do_ && make_trees(floats_); }

void ForestModel::need_doubles() { make_trees(doubles_); }

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
  std::vector<i64> break_offset{0}, code_offset{0}, term_offset{0}, no_surrogates(n + 1, 0);
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
    term_offset.push_back(term_offset_[inner] - term_offset_[first_inner]);
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
  const i64 first_term = term_offset_[first_inner], n_terms = term_offset.back();
  splits.term_feature = std::span(term_feature_).subspan(first_term, n_terms);
  splits.term_weight = std::span(term_weight_).subspan(first_term, n_terms);
  splits.term_code = std::span(term_code_).subspan(first_term, n_terms);
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
