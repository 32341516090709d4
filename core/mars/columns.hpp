// Columns of numbers kept four side by side, as the search reads them, and an orthonormal basis.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/types.hpp"

namespace treewright::mars {

constexpr int kLanes = 4;
typedef double Lanes __attribute__((vector_size(32), aligned(8)));

inline Lanes load(const double* at) { return *reinterpret_cast<const Lanes*>(at); }
inline void store(double* at, Lanes value) { *reinterpret_cast<Lanes*>(at) = value; }

// Column j is lane j % 4 of block j / 4; a block holds four values for each row.
class Columns {
 public:
  explicit Columns(i64 n_rows) : n_rows_(n_rows) {}

  i32 size() const { return size_; }
  i32 n_blocks() const { return static_cast<i32>(blocks_.size()); }
  const double* block(i32 b) const { return blocks_[b].data(); }
  double* block(i32 b) { return blocks_[b].data(); }
  double at(i32 column, i64 row) const {
    return blocks_[column / kLanes][row * kLanes + column % kLanes];
  }

  void append(const double* values, double factor = 1) {
    if (size_ % kLanes == 0) blocks_.emplace_back(n_rows_ * kLanes, 0.0);
    double* to = blocks_.back().data() + size_ % kLanes;
    for (i64 i = 0; i < n_rows_; ++i) to[i * kLanes] = values[i] * factor;
    ++size_;
  }

 private:
  i64 n_rows_;
  i32 size_ = 0;
  std::vector<std::vector<double>> blocks_;
};

// Products of a column with the four of a block.
inline Lanes dots(const double* block, const double* values, i64 n) {
  Lanes sum[2] = {};
  i64 i = 0;
  for (; i + 1 < n; i += 2) {
    sum[0] += load(block + i * kLanes) * values[i];
    sum[1] += load(block + (i + 1) * kLanes) * values[i + 1];
  }
  if (i < n) sum[0] += load(block + i * kLanes) * values[i];
  return sum[0] + sum[1];
}

// Takes from a column its part in the span of orthonormal columns. Twice is enough (Kahan).
inline void orthogonalise(const Columns& q, std::vector<double>& values) {
  const i64 n = static_cast<i64>(values.size());
  for (int pass = 0; pass < 2; ++pass) {
    for (i32 b = 0; b < q.n_blocks(); ++b) {
      const double* block = q.block(b);
      const Lanes part = dots(block, values.data(), n);
      for (i64 i = 0; i < n; ++i) {
        const Lanes product = load(block + i * kLanes) * part;
        values[i] -= (product[0] + product[1]) + (product[2] + product[3]);
      }
    }
  }
}

inline double squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return sum;
}

}  // namespace treewright::mars
