// Rows whose gradient, hessian and number share 64 bits, for histograms that are made in pieces.
//
// A histogram of 64-bit sums takes half the cache of one of WideSum, and adding to it half the
// time. Within a piece of kPieceRows rows nothing overflows; then its sums are added to the wide
// ones. They are the same numbers: packing changes how fast sums are made, not what they are.
#pragma once

#include <algorithm>

#include "binned/histogram.hpp"
#include "binned/slope_sums.hpp"

namespace treewright {

class PackedRow {
 public:
  static constexpr i64 kPieceRows = 4096;
  static constexpr int kGradientBits = Units::kCoarseGradientBits,
                       kHessianBits = Units::kCoarseHessianBits;

  PackedRow() = default;
  // Whole units of the round, |gradient| at most 2^kGradientBits and hessian 2^kHessianBits.
  PackedRow(i64 gradient, i64 hessian)
      : packed_((gradient << kGradientAt) + (hessian << kHessianAt) + 1) {}

  PackedRow& operator+=(PackedRow o) {
    packed_ += o.packed_;
    return *this;
  }

  // The same sum, as the rest of the code has it; `row_bits` of the round's units.
  template <class Sum>
  Sum unpacked(int row_bits) const {
    const i64 gradient = packed_ >> kGradientAt, hessian = (packed_ & kHessianMask) >> kHessianAt,
              n_rows = packed_ & kRowMask;
    if constexpr (std::is_same_v<Sum, TallSum>) {
      return {gradient, hessian, n_rows};
    } else {
      return {WideSum::Lanes{gradient, (hessian << row_bits) + n_rows}};
    }
  }

 private:
  static constexpr int kHessianAt = 13, kGradientAt = kHessianAt + kHessianBits + 13;
  static constexpr i64 kRowMask = (i64{1} << kHessianAt) - 1,
                       kHessianMask = (i64{1} << kGradientAt) - 1 - kRowMask;
  static_assert(kPieceRows < i64{1} << kHessianAt);
  static_assert(kGradientAt + kGradientBits + 14 <= 64);

  i64 packed_ = 0;
};

// What the rows of a round add: packed ones where they are coarse (histogram.hpp), or whole sums.
template <class Sum>
struct RowSums {
  const Sum* whole = nullptr;
  const PackedRow* packed = nullptr;
  int row_bits = 0;
};

// Memory for the sums of one piece; zero between calls.
using PieceBuffer = std::vector<PackedRow>;

// Adds at most kPieceRows rows to a piece in which every stored column has 256 places.
template <class BinRows>
void add_to_piece(const BinRows& bins, const u32* rows, i64 first, i64 count,
                  const PackedRow* of_row, PackedRow* piece) {
  constexpr i64 kAhead = 16;  // rows from one that is fetched to one that is added
  const i64 n_columns = bins.n_columns(), width = bins.width();
  const u8* by_row = bins.row(0);
  auto add = [&](i64 row) {
    const PackedRow sum = of_row[row];
    const u8* bin = by_row + row * width;
    PackedRow* to = piece;
    i64 c = 0;
    for (; c + 4 <= n_columns; c += 4, to += 1024) {
      to[bin[c]] += sum;
      to[256 + bin[c + 1]] += sum;
      to[512 + bin[c + 2]] += sum;
      to[768 + bin[c + 3]] += sum;
    }
    for (; c < n_columns; ++c, to += 256) to[bin[c]] += sum;
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
    __builtin_prefetch(of_row + next);
    add(rows[i]);
  }
  for (; i < count; ++i) add(rows[i]);
}

// Adds what is in a piece to a histogram, and leaves it empty.
template <class BinRows, class Sum>
void end_piece(const BinRows& bins, int row_bits, PackedRow* piece, Sum* histogram) {
  for (i32 c = 0; c < bins.n_columns(); ++c, piece += 256) {
    Sum* to = histogram + bins.offset(c);
    for (i32 b = 0; b < bins.n_bytes(c); ++b) {
      to[b] += piece[b].template unpacked<Sum>(row_bits);
      piece[b] = {};
    }
  }
}

// Adds rows to a histogram.
template <class BinRows, class Sum>
void add_rows(const BinRows& bins, std::span<const i32> columns, const u32* rows, i64 first,
              i64 count, const RowSums<Sum>& sums, PieceBuffer& buffer, Sum* histogram) {
  if constexpr (!std::is_same_v<Sum, NarrowSum>) {
    // What ends a piece costs as much as a few hundred rows; few bins need no pieces.
    constexpr i64 kFew = 384;
    const i64 n_columns = bins.n_columns();
    const bool is_full = static_cast<i64>(columns.size()) == n_columns;
    if (sums.packed && (count < kFew || !is_full || bins.n_places() < 64 * n_columns)) {
      add_each(
          bins, columns, rows, first, count, histogram,
          [&](i64 row) { return sums.packed[row].template unpacked<Sum>(sums.row_bits); },
          sums.packed);
      return;
    }
    if (sums.packed) {
      if (buffer.empty()) buffer.resize(256 * n_columns);
      for (i64 at = 0; at < count; at += PackedRow::kPieceRows) {
        add_to_piece(bins, rows, first + at, std::min(count - at, PackedRow::kPieceRows),
                     sums.packed, buffer.data());
        end_piece(bins, sums.row_bits, buffer.data(), histogram);
      }
      return;
    }
  }
  add_each(
      bins, columns, rows, first, count, histogram, [&](i64 row) { return sums.whole[row]; },
      sums.whole);
}

}  // namespace treewright
