// Scores of the cuts of several classes, many at a time.
//
// The score of a cut is Σ Lₖ² / l + Σ Rₖ² / r, from the weights of the classes on its left and
// right and their sums: the Gini gain but for what does not depend on the cut. With Sₖ = Lₖ + Rₖ it
// follows from Σ Lₖ², Σ Sₖ Lₖ and l alone. Sums are exact up to a weight of 2²⁶.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace treewright {

struct ClassTotals {
  std::vector<double>& weight;  // of each class, then zeros up to a multiple of four
  double all = 0, squares = 0;

  explicit ClassTotals(std::vector<double>& buffer) : weight(buffer) {}
  ClassTotals(const i64* stats, i64 n, std::vector<double>& buffer) : weight(buffer) {
    set(stats, n);
  }
  void set(const i64* stats, i64 n);
  i64 step() const { return static_cast<i64>(weight.size()); }
};

// From a score to a gain.
struct ClassGain {
  double all, base;

  explicit ClassGain(const ClassTotals& totals)
      : all(totals.all), base(totals.squares / totals.all) {}
  static constexpr double tie = 1e-14;
  double gain(double score) const { return score - base; }
  double scale() const { return all; }
};

// Both write a score per cut, −1 where a side is empty, and return the largest.

// Cuts behind bin 0, 1, … n − 1, from the weights in each bin, step() of them, and zeros for
// kMoreBins bins more. `sums` is a buffer.
constexpr i64 kMoreBins = 3;
double score_class_bins(const u32* bins, i64 n, const ClassTotals& totals,
                        std::vector<double>& sums, double* score);

// From what is on the left of each cut, a byte per class and four of them in a number: those of
// classes 0 … 3 of all cuts, from `step` on those of classes 4 … 7, and so on.
double score_class_bytes(const i32* sums, i64 step, i64 n, const ClassTotals& totals,
                         double* score);

}  // namespace treewright
