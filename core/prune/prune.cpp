// Cost-complexity pruning: at which complexity each node of a tree collapses.
//
// The arrays are those of a Tree: parents before children, branch b of node t is
// first_child[t] + b. Every function is a pass up and a pass down over the ids, so depth costs
// nothing. The caller has checked the structure (children in range and after their parent,
// two or more at every inner node, risks finite).
//
// Glossary
//   R(t)        risk of node t as a leaf
//   T_t         the subtree below t, with R(T_t) and |T_t| leaves
//   g(t)        (R(t) - R(T_t)) / (|T_t| - 1), the complexity at which t and T_t cost the same
//   tolerance   complexities no further apart are equal
//
// Reference: Breiman, Friedman, Olshen, Stone (1984), chapters 3 and 10.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

using Ids = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
struct TreeView {
  std::int32_t n;
  const std::int32_t* first_child;
  const std::int32_t* n_children;
  const double* risk;

  TreeView(const Ids& first, const Ids& count, const Numbers& risks)
      : n(static_cast<std::int32_t>(first.shape(0))),
        first_child(first.data()),
        n_children(count.data()),
        risk(risks.data()) {}

  bool is_leaf(std::int32_t t) const { return n_children[t] == 0; }
  std::int32_t last_child(std::int32_t t) const { return first_child[t] + n_children[t]; }

  double children_risk(std::int32_t t) const {
    double sum = 0;
    for (std::int32_t c = first_child[t]; c < last_child(t); ++c) sum += risk[c];
    return sum;
  }
};

// A pairing heap over node ids, largest key first: melds in constant time, because a node takes
// over the heaps of all of its children.
class NodeHeap {
 public:
  NodeHeap(std::int32_t n, const std::vector<double>& key)
      : key_(key), child_(n, kNone), sibling_(n, kNone) {}

  static constexpr std::int32_t kNone = -1;

  std::int32_t meld(std::int32_t a, std::int32_t b) {
    if (a == kNone) return b;
    if (b == kNone) return a;
    if (key_[a] < key_[b] || (key_[a] == key_[b] && a > b)) std::swap(a, b);
    sibling_[b] = child_[a];
    child_[a] = b;
    return a;
  }

  // The heap without its top: neighbours are melded in pairs, then the pairs from last to first.
  std::int32_t pop(std::int32_t top) {
    std::int32_t pairs = kNone;
    for (std::int32_t a = child_[top]; a != kNone;) {
      const std::int32_t b = sibling_[a];
      const std::int32_t rest = b == kNone ? kNone : sibling_[b];
      sibling_[a] = kNone;
      if (b != kNone) sibling_[b] = kNone;
      const std::int32_t pair = meld(a, b);
      sibling_[pair] = pairs;
      pairs = pair;
      a = rest;
    }
    std::int32_t heap = kNone;
    while (pairs != kNone) {
      const std::int32_t next = sibling_[pairs];
      sibling_[pairs] = kNone;
      heap = meld(heap, pairs);
      pairs = next;
    }
    return heap;
  }

 private:
  const std::vector<double>& key_;
  std::vector<std::int32_t> child_, sibling_;
};

// No node outlives its parent: values are capped by the parent's, those within the tolerance of
// it become equal to it. Leaves hold 0.
void cap_by_parent(const TreeView& tree, std::vector<double>& value, double tolerance) {
  for (std::int32_t t = 0; t < tree.n; ++t) {
    if (tree.is_leaf(t)) {
      value[t] = 0;
      continue;
    }
    for (std::int32_t c = tree.first_child[t]; c < tree.last_child(t); ++c) {
      if (value[c] >= value[t] - tolerance) value[c] = value[t];
    }
  }
}

// The exact weakest link, from below.
//
// Seen from t, a large complexity has collapsed all of its children; each collapse in T_t is an
// event (its complexity, the risk it adds, the leaves it takes away). Undoing events from the
// largest on until none is left at or above g(t) gives the subtree that t really replaces. The
// undone events never happen, since t collapses first, so each event is pushed and popped at
// most once: O(n log n) whatever the shape, where updating all ancestors after each collapse
// takes O(n * depth).
std::vector<double> weakest_link(const TreeView& tree, double tolerance) {
  std::vector<double> alpha(tree.n, 0), added_risk(tree.n, 0);
  std::vector<std::int64_t> lost_leaves(tree.n, 0);
  std::vector<std::int32_t> top(tree.n, NodeHeap::kNone);
  NodeHeap heap(tree.n, alpha);
  for (std::int32_t t = tree.n - 1; t >= 0; --t) {
    if (tree.is_leaf(t)) continue;
    std::int32_t events = NodeHeap::kNone;
    for (std::int32_t c = tree.first_child[t]; c < tree.last_child(t); ++c) {
      events = heap.meld(events, top[c]);
    }
    double below = tree.children_risk(t);
    std::int64_t leaves = tree.n_children[t];
    double g = (tree.risk[t] - below) / static_cast<double>(leaves - 1);
    while (events != NodeHeap::kNone && alpha[events] >= g - tolerance) {
      below -= added_risk[events];
      leaves += lost_leaves[events];
      g = (tree.risk[t] - below) / static_cast<double>(leaves - 1);
      events = heap.pop(events);
    }
    alpha[t] = g;
    added_risk[t] = tree.risk[t] - below;
    lost_leaves[t] = leaves - 1;
    top[t] = heap.meld(t, events);
  }
  cap_by_parent(tree, alpha, tolerance);
  for (double& a : alpha) a = a <= tolerance ? 0 : a;
  return alpha;
}

// The rule of rpart's complexity column, which is not the exact weakest link. A node compares its
// own g with those of its children, smallest first; a child with a smaller one counts as a leaf
// from then on, for this node and for all above it, though a later collapse might need it.
std::vector<double> one_level_link(const TreeView& tree, double tolerance) {
  std::vector<double> alpha(tree.n, 0), below(tree.risk, tree.risk + tree.n);
  std::vector<std::int64_t> n_leaves(tree.n, 1);
  std::vector<std::int32_t> inner;
  for (std::int32_t t = tree.n - 1; t >= 0; --t) {
    if (tree.is_leaf(t)) continue;
    double sum = 0;
    std::int64_t leaves = 0;
    inner.clear();
    for (std::int32_t c = tree.first_child[t]; c < tree.last_child(t); ++c) {
      sum += below[c];
      leaves += n_leaves[c];
      if (!tree.is_leaf(c)) inner.push_back(c);
    }
    std::sort(inner.begin(), inner.end(), [&](std::int32_t a, std::int32_t b) {
      return alpha[a] != alpha[b] ? alpha[a] < alpha[b] : a < b;
    });
    double g = (tree.risk[t] - sum) / static_cast<double>(leaves - 1);
    for (const std::int32_t c : inner) {
      if (!(g > alpha[c] + tolerance)) break;
      sum += tree.risk[c] - below[c];
      leaves -= n_leaves[c] - 1;
      g = (tree.risk[t] - sum) / static_cast<double>(leaves - 1);
    }
    alpha[t] = g;
    below[t] = sum;
    n_leaves[t] = leaves;
  }
  cap_by_parent(tree, alpha, 0);
  return alpha;
}

struct Steps {
  std::vector<double> alpha, risk, node_alpha;
  std::vector<std::int64_t> n_leaves;
};

// The nested subtrees from the complexities of the nodes: at alpha a node is split while its own
// complexity is larger. Complexities within the tolerance of the first of their group take its
// value, those around or below 0 become 0. The first step is always alpha 0.
Steps pruning_steps(const TreeView& tree, const double* node_alpha, double tolerance) {
  std::vector<std::int32_t> order;
  for (std::int32_t t = 0; t < tree.n; ++t) {
    if (!tree.is_leaf(t)) order.push_back(t);
  }
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return node_alpha[a] != node_alpha[b] ? node_alpha[a] < node_alpha[b] : a < b;
  });
  Steps steps;
  steps.alpha.push_back(0);
  steps.node_alpha.assign(tree.n, 0);
  std::vector<std::size_t> start{0};  // group k is order[start[k]:start[k + 1]]
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double a = node_alpha[order[i]];
    if (a > steps.alpha.back() + tolerance) {
      steps.alpha.push_back(a);
      start.push_back(i);
    }
    steps.node_alpha[order[i]] = steps.alpha.back();
  }
  start.push_back(order.size());
  steps.risk.resize(steps.alpha.size());
  steps.n_leaves.resize(steps.alpha.size());
  double risk = tree.risk[0];
  std::int64_t leaves = 1;
  for (std::size_t k = steps.alpha.size(); k-- > 0;) {
    steps.risk[k] = risk;
    steps.n_leaves[k] = leaves;
    for (std::size_t i = start[k]; i < start[k + 1]; ++i) {
      const std::int32_t t = order[i];
      risk -= tree.risk[t] - tree.children_risk(t);
      leaves += tree.n_children[t] - 1;
    }
  }
  return steps;
}

// Whether every node but the root is the child of one earlier node, and inner nodes have several.
bool is_tree(const Ids& first_child, const Ids& n_children) {
  const std::int64_t n = static_cast<std::int64_t>(first_child.shape(0));
  std::vector<bool> has_parent(n, false);
  std::int64_t n_below = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t first = first_child.data()[i], count = n_children.data()[i];
    if (!count) continue;
    if (count < 2 || first <= i || first + count > n) return false;
    for (std::int64_t c = first; c < first + count; ++c) {
      if (has_parent[c]) return false;
      has_parent[c] = true;
    }
    n_below += count;
  }
  return n_below == n - 1;
}

template <class Rule>
nb::object node_alphas(Ids first, Ids count, Numbers risk, double tolerance, Rule rule) {
  std::vector<double> alpha;
  {
    GilRelease released;
    alpha = rule(TreeView(first, count, risk), tolerance);
  }
  return to_numpy(std::move(alpha));
}

}  // namespace

void bind_prune(nb::module_& m) {
  m.def("is_tree", &is_tree, "first_child"_a.noconvert(), "n_children"_a.noconvert(),
        "Whether the child arrays are those of a tree.");
  m.def(
      "weakest_link",
      [](Ids first_child, Ids n_children, Numbers risk, double tolerance) {
        return node_alphas(first_child, n_children, risk, tolerance, weakest_link);
      },
      "first_child"_a.noconvert(), "n_children"_a.noconvert(), "risk"_a.noconvert(), "tolerance"_a,
      "Complexity at which each node collapses, exact weakest link.");
  m.def(
      "one_level_link",
      [](Ids first_child, Ids n_children, Numbers risk, double tolerance) {
        return node_alphas(first_child, n_children, risk, tolerance, one_level_link);
      },
      "first_child"_a.noconvert(), "n_children"_a.noconvert(), "risk"_a.noconvert(), "tolerance"_a,
      "Complexity at which each node collapses, rpart's rule.");
  m.def(
      "pruning_steps",
      [](Ids first_child, Ids n_children, Numbers risk, Numbers node_alpha, double tolerance) {
        Steps steps;
        {
          GilRelease released;
          const TreeView tree(first_child, n_children, risk);
          steps = pruning_steps(tree, node_alpha.data(), tolerance);
        }
        return std::make_tuple(to_numpy(std::move(steps.alpha)),
                               to_numpy(std::move(steps.n_leaves)), to_numpy(std::move(steps.risk)),
                               to_numpy(std::move(steps.node_alpha)));
      },
      "first_child"_a.noconvert(), "n_children"_a.noconvert(), "risk"_a.noconvert(),
      "node_alpha"_a.noconvert(), "tolerance"_a,
      "Alphas, leaf counts and risks of the nested subtrees, and node_alpha made equal to them.");
}

}  // namespace treewright
