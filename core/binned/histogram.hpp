// Histograms: what is summed over the rows of every bin, as integers.
//
// Integers make a sum independent of the order of rows, of threads and of blocks, and a sibling's
// sums those of the parent less those of the other, to the bit. What is summed is a type with +=
// and
// -=: slopes of a loss (slope_sums.hpp), classes or numbers of a forest (choose/), stats of any
// criterion (tables of i64).
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "binned/bins.hpp"

namespace treewright {

// Adds rows to the sums of one column: what of_row(i) gives for the i-th of `rows`, at place(row).
template <class Place, class OfRow, class Sum>
inline void add_column(const u32* rows, i64 n, Place&& place, OfRow&& of_row, Sum* sums) {
#pragma GCC unroll 2
  for (i64 i = 0; i < n; ++i) sums[place(rows[i])] += of_row(i);
}

// Adds rows to a histogram of the stored columns listed: what of_row(row) gives, read from `read`
// on. `rows` null: row numbers first, first + 1, … `bins`: Bins, or rows of bins kept elsewhere.
template <class BinRows, class Sum, class OfRow, class Read>
void add_each(const BinRows& bins, std::span<const i32> columns, const u32* rows, i64 first,
              i64 count, Sum* histogram, OfRow&& of_row, const Read* read) {
  constexpr i64 kAhead = 16;  // rows from one that is fetched to one that is added
  const i64 n_columns = static_cast<i64>(columns.size());
  const bool all = n_columns == bins.n_columns();
  const i32* offset = bins.offsets();
  const i64 width = bins.width();
  const u8* by_row = bins.row(0);
  auto add = [&](i64 row) {
    const Sum sum = of_row(row);
    const u8* bin = by_row + row * width;
    if (all) {
      for (i64 c = 0; c < n_columns; ++c) histogram[offset[c] + bin[c]] += sum;
    } else {
      for (const i32 c : columns) histogram[offset[c] + bin[c]] += sum;
    }
  };
  if (!rows) {
    for (i64 row = first; row < first + count; ++row) add(row);
    return;
  }
  rows += first;
  i64 i = 0;
  for (; i < count - kAhead; ++i) {
    const i64 next = rows[i + kAhead];
    __builtin_prefetch(by_row + next * width);
    __builtin_prefetch(read + next);
    add(rows[i]);
  }
  for (; i < count; ++i) add(rows[i]);
}

// The sums of a feature's bins and of its gaps, in order. Those of a shared column lack the bin
// that they have in common: it is what is left of the node's total.
template <class Sum>
const Sum* bins_of_feature(const Bins& bins, i32 feature, const Sum* histogram, const Sum& total,
                           std::vector<Sum>& buffer) {
  const Stored& stored = bins.stored(feature);
  const Sum* byte = histogram + bins.offset(stored.column);
  if (!stored.is_shared()) return byte;
  buffer.assign(bins.gap_bin(feature) + 1, Sum{});
  Sum rest = total;
  for (i32 b = stored.first; b < stored.first + stored.n_bytes; ++b) {
    buffer[stored.bin(b)] = byte[b];
    rest -= byte[b];
  }
  buffer[stored.common] = rest;
  return buffer.data();
}

// Of two siblings the one with fewer rows is counted (0: the left one), and the other gets what is
// left of their parent's sums.
inline int counted_sibling(i64 n_left, i64 n_right) { return n_left > n_right; }
template <class Sum>
void subtract(const Sum* counted, i64 n, Sum* parent) {
  for (i64 i = 0; i < n; ++i) parent[i] -= counted[i];
}

// Histograms of open leaves; their memory is used again.
template <class Sum>
class HistogramPool {
 public:
  void prepare(i64 n_places) {
    if (n_places != n_places_) slots_.clear();
    n_places_ = n_places;
    free_.clear();
    for (i32 i = 0; i < static_cast<i32>(slots_.size()); ++i) free_.push_back(i);
  }
  i32 take() {
    if (free_.empty()) {
      slots_.push_back(std::make_unique<Sum[]>(n_places_));
      return static_cast<i32>(slots_.size()) - 1;
    }
    const i32 slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(i32 slot) {
    if (slot >= 0) free_.push_back(slot);
  }
  Sum* operator[](i32 slot) { return slots_[slot].get(); }
  void clear(i32 slot) {
    std::memset(static_cast<void*>(slots_[slot].get()), 0, n_places_ * sizeof(Sum));
  }

 private:
  i64 n_places_ = 0;
  std::vector<std::unique_ptr<Sum[]>> slots_;
  std::vector<i32> free_;
};

}  // namespace treewright
