// The bins of many rows, a byte for each column, and how values find theirs.
//
// Bytes are kept twice: by row, for passes over all columns of a row, and by column, for passes
// over one. Boosting (bins.hpp) and forests (row_matrix.hpp) keep theirs here.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "base/memory.hpp"
#include "binned/edges.hpp"

namespace treewright {

class BinBytes {
 public:
  BinBytes() = default;
  BinBytes(i64 n_rows, i64 n_columns) : n_rows_(n_rows) {
    // Rows that do not straddle lines of the cache, where that costs little.
    width_ = (n_columns + 3) / 4 * 4;
    if (width_ > 24 && width_ < 32) width_ = 32;
    if (width_ > 56 && width_ < 64) width_ = 64;
    row_memory_ = Memory(n_rows * width_);
    column_memory_ = Memory(n_rows * n_columns);
  }

  i64 n_rows() const { return n_rows_; }
  i64 width() const { return width_; }  // bytes from row to row
  u8* row(i64 row) const { return static_cast<u8*>(row_memory_.data()) + row * width_; }
  u8* column(i64 column) const {
    return static_cast<u8*>(column_memory_.data()) + column * n_rows_;
  }

  // Copies rows of a column to where they are kept by row.
  void spread(i64 at, i64 first, i64 count) const {
    const u8* from = column(at) + first;
    u8* to = row(first) + at;
    for (i64 i = 0; i < count; ++i) to[i * width_] = from[i];
  }

 private:
  i64 n_rows_ = 0, width_ = 0;
  Memory row_memory_, column_memory_;
};

// The bin of a value: how many ends lie below it, by halving steps without jumps.
template <class T>
class BinSearch {
 public:
  // The ends of all bins but the last.
  explicit BinSearch(std::span<const T> ends) {
    std::fill(std::begin(ends_), std::end(ends_), kBeyond);
    std::copy(ends.begin(), ends.end(), ends_);
  }

  u32 bin(T value) const {
    u32 at = 0;
    for (u32 step = 128; step; step /= 2) {
      at += step & -static_cast<u32>(ends_[at + step - 1] < value);
    }
    return at;
  }
  void run(const T* values, i64 count, u8* bins) const {
    for (i64 i = 0; i < count; ++i) bins[i] = static_cast<u8>(bin(values[i]));
  }
  // Gaps, which are NaN or the largest integer, have a bin of their own.
  static void mark_gaps(const T* values, i64 count, u8 gap, u8* bins) {
    for (i64 i = 0; i < count; ++i) bins[i] = is_gap(values[i]) ? gap : bins[i];
  }

 private:
  static constexpr T kBeyond = std::numeric_limits<T>::has_infinity
                                   ? std::numeric_limits<T>::infinity()
                                   : std::numeric_limits<T>::max();
  static bool is_gap(T value) {
    if constexpr (std::numeric_limits<T>::has_infinity) return value != value;
    return value == kBeyond;
  }

  T ends_[256];
};

}  // namespace treewright
