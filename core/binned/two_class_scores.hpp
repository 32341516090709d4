// Scores of the cuts of two classes, many at a time.
//
// The score of a cut with weight w and a ones on its left is d² / (w (W − w)) with d = W a − w A:
// the Gini gain but for a factor. Products are exact up to W = 2²⁶.
#pragma once

#include "base/types.hpp"

namespace treewright {

constexpr i64 kRoom = 64;  // entries beyond the last that vector loops may touch

struct TwoClassTotals {
  double all, ones;
};

// Σ tokens of the rows with a key no larger than that of each row.
void sums_by_pairs(const i32* keys, const i32* tokens, i64 n, i32* sums);

// The following write a score per cut, −1 where a side is empty, and return the largest. Sums up to
// four beyond n must be 0.

// From sums packed as ones << 16 | weight.
double score_packed(const i32* sums, i64 n, TwoClassTotals totals, double* score);

// From running weights and ones.
double score_running(const i32* weight, const i32* ones, i64 n, TwoClassTotals totals,
                     double* score);

// Upper bounds for the cuts inside bin 0, 1, … n − 1, whose running sums before and after are
// weight[b], weight[b + 1] and ones[b], ones[b + 1]. The score is convex in the sums on the left,
// so it is largest where a bin has all its ones, or all its zeros, on the left.
double bound_bins(const i32* weight, const i32* ones, i64 n, TwoClassTotals totals, double* bound);

}  // namespace treewright
