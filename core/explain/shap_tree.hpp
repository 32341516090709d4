// A tree laid out for explanations: its edges in the order of a depth-first walk.
//
// Every edge knows the share of the training weight that takes it, multiplied over the edges above
// it that test the same feature: what a row gets where that feature is not known. Rows whose gap
// ends at an inner node get an edge of their own, which no training weight takes.
#pragma once

#include <vector>

#include "base/types.hpp"
#include "predict/predict.hpp"

namespace treewright::explain {

using predict::gap_fraction;
using predict::gap_stop;
using predict::max_piece;
using predict::Router;

constexpr i32 kBothWays = -3;  // near a soft threshold

struct Edge {
  i32 node;      // where it leads
  i32 depth;     // edges on the way to its end
  i32 branch;    // of the node above, or gap_stop
  i32 feature;   // that is tested above; -1 where several are
  i32 before;    // depth of the last edge above that tests the same feature; 0: none
  i32 place;     // of the feature among the different ones of the path
  i32 next;      // the edge after all that lie below
  bool is_end;   // a leaf, or where a gap stops
  double own;    // share of the training weight above
  double share;  // the same, multiplied over the path's edges that test the feature
};

// What a test says of a row: a branch, gap_fraction, gap_stop or kBothWays.
struct Said {
  i32 branch;
  double lower = 0;  // of kBothWays: share of the first branch
  bool operator==(const Said&) const = default;
};

// Bounds of soft thresholds by node, NaN where there are none; empty for a tree without.
struct Soft {
  std::span<const double> lower, middle, upper;
};

class ShapTree {
 public:
  Router router;
  std::vector<Edge> edges;  // the first leads to the root
  i32 depth = 0;
  i32 n_distinct = 0;       // most different features on a path
  bool has_linear = false;  // some test reads several features
  bool has_surrogates = false;
  const double* values;          // by node
  i32 width, column;             // numbers per node, and the output of the first
  std::vector<double> expected;  // where no feature is known

  ShapTree(const predict::TreeArrays& arrays, const Soft& soft, const double* values, i32 width,
           i32 column)
      : router(arrays),
        values(values),
        width(width),
        column(column),
        expected(width, 0.0),
        soft_(soft),
        gap_(arrays.gap),
        n_children_(arrays.n_children) {
    lay_out(arrays);
  }

  // Whether the node's test may read more than one feature of the row.
  template <class Row>
  bool reads_several(i32 node, Row row) const {
    const predict::HotNode& hot = router.nodes[node];
    if (hot.how() != predict::HotNode::special) return false;
    const predict::Special& special = router.specials[hot.payload];
    if (special.test.kind == predict::Test::linear) return true;
    return special.surrogate_begin < special.surrogate_end &&
           predict::branch_of(router, special.test, row) < 0;
  }

  template <class Row>
  Said ask(i32 node, Row row) const {
    const predict::HotNode& hot = router.nodes[node];
    if (!soft_.lower.empty() && soft_.lower[node] < soft_.upper[node]) {
      const double x = row[feature_of(node)];
      const double low = soft_.lower[node], middle = soft_.middle[node], high = soft_.upper[node];
      if (x > low && x < high) {
        return {kBothWays, x < middle ? 1 - 0.5 * (x - low) / (middle - low)
                                      : 0.5 * (high - x) / (high - middle)};
      }
    }
    if (hot.how() == predict::HotNode::special) {
      const i32 next = predict::step_special(router, node, row);
      if (next == node) return {gap_stop};
      if (next < 0) return {gap_fraction};
      return {next - static_cast<i32>(hot.child)};
    }
    return {predict::step(router, node, row) - static_cast<i32>(hot.child)};
  }

  // How much of a row takes an edge.
  static double one(const Edge& edge, const Said& said) {
    if (said.branch == edge.branch) return 1;
    if (said.branch == gap_fraction) return edge.branch == gap_stop ? 0 : edge.own;
    if (said.branch != kBothWays) return 0;
    return edge.branch == 0 ? said.lower : edge.branch == 1 ? 1 - said.lower : 0;
  }

  // Whether a row may take several branches, or end above a leaf.
  bool may_divide() const { return may_divide_; }

  // Whether every row takes one branch of every test, by the tested feature alone.
  bool is_always_simple() const {
    return !has_linear && !has_surrogates && !may_divide_ && !may_stop_;
  }

  i32 n_branches(i32 node) const { return n_children_[node]; }

  bool is_leaf(i32 node) const { return static_cast<i32>(router.nodes[node].child) == node; }

  // The feature of a test that reads one, -1 of a linear one.
  i32 feature_of(i32 node) const {
    const predict::HotNode& hot = router.nodes[node];
    if (hot.how() != predict::HotNode::special) return static_cast<i32>(hot.feature());
    const predict::Test& test = router.specials[hot.payload].test;
    return test.kind == predict::Test::linear ? -1 : test.feature;
  }

 private:
  void lay_out(const predict::TreeArrays& arrays) {
    struct Waiting {
      i32 node, depth, branch;
      double own;
    };
    std::vector<Waiting> stack{{0, 0, 0, 1.0}};
    std::vector<i32> last(arrays.n_categories.size(), 0);  // depth of the last edge by feature
    edges.reserve(arrays.first_child.size());
    std::vector<Edge> path;
    std::vector<double> chance{1.0};
    i32 n_distinct = 0;
    while (!stack.empty()) {
      const Waiting at = stack.back();
      stack.pop_back();
      for (; static_cast<i32>(path.size()) > at.depth; path.pop_back()) {
        const Edge& left = path.back();
        if (left.feature < 0) continue;
        last[left.feature] = left.before;
        n_distinct -= !left.before;
      }
      Edge edge{at.node, at.depth, at.branch, -1, 0, 0, 0, false, at.own, at.own};
      if (at.depth) {
        edge.feature = feature_of(path.empty() ? 0 : path.back().node);
        if (edge.feature >= 0) {
          edge.before = last[edge.feature];
          edge.place = n_distinct;
          if (edge.before) {
            edge.share *= path[edge.before].share;
            edge.place = path[edge.before].place;
          }
          n_distinct += !edge.before;
          last[edge.feature] = at.depth;
        }
        chance.resize(at.depth + 1);
        chance[at.depth] = chance[at.depth - 1] * at.own;
      }
      const bool is_stop = at.branch == gap_stop;
      edge.is_end = is_stop || is_leaf(at.node);
      path.push_back(edge);
      edges.push_back(edge);
      depth = std::max(depth, at.depth);
      this->n_distinct = std::max(this->n_distinct, n_distinct);
      if (edge.is_end) {
        for (i32 k = 0; k < width; ++k) {
          expected[k] += chance[at.depth] * values[static_cast<i64>(at.node) * width + k];
        }
        continue;
      }
      note_kind(at.node);
      if (gap_[at.node] == gap_stop) stack.push_back({at.node, at.depth + 1, gap_stop, 0.0});
      const i32 first = arrays.first_child[at.node], count = arrays.n_children[at.node];
      double total = 0;
      for (i32 b = 0; b < count; ++b) total += arrays.weight[first + b];
      const bool is_usable = total > 0 && std::isfinite(total);
      for (i32 b = count; b-- > 0;) {
        const double own = is_usable ? arrays.weight[first + b] / total : 1.0 / count;
        stack.push_back({first + b, at.depth + 1, b, own});
      }
    }
    const i32 n = static_cast<i32>(edges.size());
    std::vector<i32> open;
    for (i32 i = 0; i < n; ++i) {
      for (; !open.empty() && edges[open.back()].depth >= edges[i].depth; open.pop_back()) {
        edges[open.back()].next = i;
      }
      open.push_back(i);
    }
    for (const i32 i : open) edges[i].next = n;
  }

  void note_kind(i32 node) {
    const predict::HotNode& hot = router.nodes[node];
    if (hot.how() != predict::HotNode::special) return;
    const predict::Special& special = router.specials[hot.payload];
    has_linear |= special.test.kind == predict::Test::linear;
    has_surrogates |= special.surrogate_begin < special.surrogate_end;
    may_divide_ |= special.gap == gap_fraction;
    may_stop_ |= special.gap == gap_stop;
  }

  Soft soft_;
  std::span<const i32> gap_, n_children_;
  bool may_divide_ = !soft_.lower.empty();
  bool may_stop_ = false;
};

}  // namespace treewright::explain
