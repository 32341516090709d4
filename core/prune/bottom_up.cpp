// Passes over a tree from its leaves to its root: sums over subtrees, and the cheapest pruning.
//
// The arrays are those of a Tree: parents before children, branch b of node t is first_child[t] +
// b, so that one loop over the ids from the last to the first meets every node after all that lie
// below it, whatever the depth. The caller has checked the structure.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"

#include <nanobind/stl/tuple.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

template <class T>
using Flat1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flat2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What becomes of a node; `left` is only possible where costs of being left are given.
enum Fate : std::uint8_t { stays = 0, leaf = 1, left = 2 };

struct Cheapest {
  std::vector<std::uint8_t> fate;
  std::vector<double> below;         // cost of the node as long as it is split; at leaves as a leaf
  std::vector<std::int64_t> leaves;  // of the subtree, as far as it stays
};

struct Costs {
  const double* as_leaf;
  const double* of_test;  // paid by a node that stays split
  const double* as_left;  // of a node's rows if its parent answers for them; may be null
  double slack;           // a leaf wins if it costs no more than this above the subtree
};

// Adds up the children of t; those that are cheaper left to t are marked so, but never all of them:
// t would be a leaf then.
void add_children(const Costs& costs, std::int32_t first, std::int32_t count, std::int32_t t,
                  const std::vector<double>& cost, Cheapest& out) {
  double sum = costs.of_test[t];
  std::int64_t leaves = 0;
  auto extra = [&](std::int32_t c) { return costs.as_left ? costs.as_left[c] - cost[c] : 0.0; };
  std::int32_t dearest = first;
  for (std::int32_t c = first; c < first + count; ++c) {
    if (extra(c) > extra(dearest)) dearest = c;
  }
  for (std::int32_t c = first; c < first + count; ++c) {
    const bool is_left = extra(c) < 0 && !(c == dearest);
    if (is_left) out.fate[c] = left;
    sum += is_left ? costs.as_left[c] : cost[c];
    leaves += is_left || out.fate[c] == leaf ? 1 : out.leaves[c];
  }
  out.below[t] = sum;
  out.leaves[t] = leaves;
}

Cheapest cheapest_pruning(const Flat1<std::int32_t>& first_child,
                          const Flat1<std::int32_t>& n_children, const Costs& costs) {
  const auto n = static_cast<std::int32_t>(first_child.shape(0));
  Cheapest out{std::vector<std::uint8_t>(n, stays), std::vector<double>(n),
               std::vector<std::int64_t>(n, 1)};
  std::vector<double> cost(n);
  for (std::int32_t t = n; t-- > 0;) {
    out.below[t] = costs.as_leaf[t];
    if (n_children.data()[t]) {
      add_children(costs, first_child.data()[t], n_children.data()[t], t, cost, out);
      if (costs.as_leaf[t] <= out.below[t] + costs.slack) out.fate[t] = leaf;
    }
    cost[t] = out.fate[t] == leaf ? costs.as_leaf[t] : out.below[t];
  }
  return out;
}

std::vector<double> subtree_sums(const Flat1<std::int32_t>& first_child,
                                 const Flat1<std::int32_t>& n_children, const Flat2& own) {
  const auto n = static_cast<std::int64_t>(own.shape(0)),
             k = static_cast<std::int64_t>(own.shape(1));
  std::vector<double> sum(own.data(), own.data() + n * k);
  for (std::int64_t t = n; t-- > 0;) {
    for (std::int64_t c = first_child.data()[t], b = n_children.data()[t]; b > 0; ++c, --b) {
      for (std::int64_t j = 0; j < k; ++j) sum[t * k + j] += sum[c * k + j];
    }
  }
  return sum;
}

}  // namespace

void bind_bottom_up(nb::module_& m) {
  m.def(
      "cheapest_pruning",
      [](Flat1<std::int32_t> first_child, Flat1<std::int32_t> n_children, Flat1<double> as_leaf,
         Flat1<double> of_test, nb::object as_left, double slack) {
        Flat1<double> handed;
        if (!as_left.is_none()) handed = nb::cast<Flat1<double>>(as_left);
        Cheapest out;
        {
          GilRelease released;
          out = cheapest_pruning(
              first_child, n_children,
              {as_leaf.data(), of_test.data(), handed.is_valid() ? handed.data() : nullptr, slack});
        }
        return std::make_tuple(to_numpy(std::move(out.fate)), to_numpy(std::move(out.below)),
                               to_numpy(std::move(out.leaves)));
      },
      "first_child"_a.noconvert(), "n_children"_a.noconvert(), "as_leaf"_a.noconvert(),
      "of_test"_a.noconvert(), "as_left"_a.none(), "slack"_a,
      "What becomes of each node in the cheapest pruning, its cost while split, and its leaves.");
  m.def(
      "subtree_sums",
      [](Flat1<std::int32_t> first_child, Flat1<std::int32_t> n_children, Flat2 own) {
        std::vector<double> sum;
        {
          GilRelease released;
          sum = subtree_sums(first_child, n_children, own);
        }
        return to_numpy(std::move(sum), {own.shape(0), own.shape(1)});
      },
      "first_child"_a.noconvert(), "n_children"_a.noconvert(), "own"_a.noconvert(),
      "Sums of each column over every node and all that lies below it.");
}

}  // namespace treewright
