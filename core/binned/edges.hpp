// Where the bins of an ordered column end.
//
// Two policies. Quantiles: bins of about the same weight, where a value that fills a bin has one
// alone (boosting). Tail-fine: the fewer rows in a bin, the closer it is to either end, for bins of
// equal size leave no cuts in the tails, where those of rare classes are (forests). Both have one
// bin for every value where there are no more values than bins.
//
// Twins: tests/twins/binned.py, and of tail_fine tests/twins/forest.py.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace treewright {

// Most bins of values; a byte then has room for that of gaps.
constexpr i32 kMostBins = 255;

// The last key of every bin by the tail-fine policy, from sorted keys; whether bins are values.
std::vector<i32> tail_fine_ends(const std::vector<i32>& sorted, i32 max_bins, bool& are_values);

// Distinct values of a column, ascending, with their weights.
struct Summary {
  std::vector<double> value, weight;
};

struct WeighedValue {
  double value, weight;
};

Summary summarize(std::vector<WeighedValue>& values);  // sorts them; gaps (NaN) are left out

// Edges between at most max_bins bins by quantiles, halfway between neighbours. A value is in the
// first bin whose edge it does not exceed.
std::vector<double> bin_edges(const Summary& summary, i32 max_bins);

}  // namespace treewright
