// Scores of the cuts of small nodes by keys of 16 bits, from comparing all pairs of rows.
//
// Rows come in the order of their classes, so that one comparison of a row with sixteen others is
// all it takes, however many classes there are. Each function writes a score per row, that of the
// cut behind its key, −1 where a side is empty, and returns the largest. Sums are exact up to
// kMaxShortWeight.
#pragma once

#include "binned/class_scores.hpp"
#include "binned/two_class_scores.hpp"

namespace treewright {

constexpr i64 kMaxShortRows = 192;
constexpr i64 kMaxShortWeight = 4096;  // its square is exact in single precision

// The rows of a node; keys and scores have room for kRoom more.
struct ShortRows {
  i16* key;
  const i16* count;
  i64 n;
  const i32* class_end;  // behind the last row of each class
};

double score_short_classes(const ShortRows& rows, i64 n_classes, const ClassTotals& totals,
                           double* score);
double score_short_pairs(const ShortRows& rows, TwoClassTotals totals, double* score);

}  // namespace treewright
