// Soft thresholds: near a cut, both branches have a say.
//
// Around the cut of a continuous feature lie two bounds. A value outside them takes one branch, a
// value between them both, with shares that change linearly and meet at one half in the middle of
// the gap that was cut. Moving the cut to a bound would raise the training errors below the node by
// no more than one standard error.
//
// References: Quinlan (1993), C4.5: Programs for Machine Learning, chapter 8. C5.0: from its
// recorded runs.
#pragma once

#include <functional>
#include <vector>

#include "base/types.hpp"

namespace treewright {

// A tree and the rows that go down it. A gap goes every way.
struct SoftTree {
  std::vector<i32> first_child, n_children;
  std::vector<Split> splits;
  std::vector<double> weight;
  std::vector<Column> columns;
  i64 n_rows = 0;
};

// Per node; NaN where there is no cut of a continuous feature.
struct SoftBounds {
  std::vector<double> lower, middle, upper;
};

// The bounds of every cut, from rows whose classes are `y` under a tree that gives them `label`.
SoftBounds soft_bounds(const SoftTree& tree, const std::vector<i32>& label, const i32* y,
                       const double* weight, const std::function<void()>& poll);

// Mean of the `width` numbers per node over the leaves that each row reaches, by its shares.
std::vector<double> soft_values(const SoftTree& tree, const SoftBounds& bounds,
                                const double* values, i32 width, int n_threads,
                                const std::function<void()>& poll);

}  // namespace treewright
