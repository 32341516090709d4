// What hybrids of two rows are made of: the values of a leaf's features, and rows of numbers.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace treewright::explain {

// (p - 1)! n! / (p + n)! and p! (n - 1)! / (p + n)!, and the same of pairs.
class Shares {
 public:
  explicit Shares(i32 most) : size_(most + 2), table_((most + 2) * (most + 2)) {
    // the integral of t^a (1 - t)^b
    for (i32 a = 0; a < size_; ++a) {
      table_[a * size_] = 1.0 / (a + 1);
      for (i32 b = 1; b < size_; ++b) table_[a * size_ + b] = integral(a, b - 1) * b / (a + b + 1);
    }
  }
  double of_row(i32 p, i32 n) const { return integral(p - 1, n); }
  double of_background(i32 p, i32 n) const { return -integral(p, n - 1); }
  double both_row(i32 p, i32 n) const { return integral(p - 2, n); }
  double mixed(i32 p, i32 n) const { return -integral(p - 1, n - 1); }
  double both_background(i32 p, i32 n) const { return integral(p, n - 2); }

 private:
  double integral(i32 a, i32 b) const { return table_[a * size_ + b]; }
  i32 size_;
  std::vector<double> table_;
};

struct HybridRow {
  const double* data;
  i64 step;
  double operator[](u32 f) const { return data[f * step]; }
};

// Rows as doubles, NaN at gaps: value of feature f of row i at f * step + i.
struct Rows {
  const double* data;
  i64 step, count;
  HybridRow operator[](i64 i) const { return {data + i, step}; }
};

// Sums by row: (row * n_features + feature) * n_outputs + output; pairs as in PathSums.
struct HybridSums {
  double *values, *pairs;
  i64 n_features, n_outputs;
};

}  // namespace treewright::explain
