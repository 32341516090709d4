// Histograms: what is summed over the rows of every bin, as integers.
//
// Integers make a sum independent of the order of rows, of threads and of blocks. A row's gradient
// is rounded once, to a unit fixed for the round, so fine that sums over all rows just fit:
//
//   WideSum    gradient in 64 bits; hessian and number of rows share another 64
//   NarrowSum  gradient and number of rows share 64 bits, where all hessians are equal
//
// The number of rows takes as many bits as the number of all rows needs (rows of whole weights
// count as often as they weigh). With a million rows that leaves 42 bits for the largest gradient
// and 22 for the largest hessian of a row (narrow: 22 for the gradient).
//
// Twin: treewright.kernels.reference.boosting.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "binned/bins.hpp"

namespace treewright {

// A sum in the user's units.
struct Moments {
  double gradient = 0, hessian = 0;
  i64 n_rows = 0;
};

struct WideSum {
  typedef long long Lanes __attribute__((vector_size(16)));
  Lanes lanes{};

  WideSum& operator+=(const WideSum& o) {
    lanes += o.lanes;
    return *this;
  }
  WideSum& operator-=(const WideSum& o) {
    lanes -= o.lanes;
    return *this;
  }
};

struct NarrowSum {
  i64 packed = 0;

  NarrowSum& operator+=(const NarrowSum& o) {
    packed += o.packed;
    return *this;
  }
  NarrowSum& operator-=(const NarrowSum& o) {
    packed -= o.packed;
    return *this;
  }
};

template <class Sum>
Sum operator+(Sum a, const Sum& b) {
  return a += b;
}
template <class Sum>
Sum operator-(Sum a, const Sum& b) {
  return a -= b;
}

// The units of a round: largest |gradient| and hessian that a row may have, as powers of two.
class Units {
 public:
  // `equal_hessian` is that of every row where Narrow sums are used.
  Units(i64 n_rows, int gradient_power, int hessian_power, double equal_hessian, bool is_narrow)
      : row_bits_(bits(n_rows)), equal_(equal_hessian) {  // n_rows: counted as often as they weigh
    const int room = 62 - row_bits_;                      // bits that one row's gradient may take
    gradient_unit_ = std::ldexp(1.0, gradient_power - (is_narrow ? room - row_bits_ : room));
    hessian_unit_ = std::ldexp(1.0, hessian_power - (62 - 2 * row_bits_));
    per_gradient_ = 1 / gradient_unit_;
    per_hessian_ = 1 / hessian_unit_;
  }

  static int bits(i64 n) { return n > 0 ? 64 - __builtin_clzll(static_cast<u64>(n)) : 1; }

  // A row that counts several times is that many rows, to the bit.
  void pack(double gradient, double hessian, i64 count, WideSum& to) const {
    to.lanes = WideSum::Lanes{whole(gradient * per_gradient_) * count,
                              ((whole(hessian * per_hessian_) << row_bits_) + 1) * count};
  }
  void pack(double gradient, double, i64 count, NarrowSum& to) const {
    to.packed = (whole(gradient * per_gradient_) * (i64{1} << row_bits_) + 1) * count;
  }

  Moments read(const WideSum& sum) const {
    const i64 rest = sum.lanes[1];
    return {static_cast<double>(sum.lanes[0]) * gradient_unit_,
            static_cast<double>(rest >> row_bits_) * hessian_unit_,
            rest & ((i64{1} << row_bits_) - 1)};
  }
  Moments read(const NarrowSum& sum) const {
    const i64 n = sum.packed & ((i64{1} << row_bits_) - 1);
    return {static_cast<double>(sum.packed >> row_bits_) * gradient_unit_,
            static_cast<double>(n) * equal_, n};
  }

 private:
  static i64 whole(double v) { return static_cast<i64>(std::nearbyint(v)); }

  int row_bits_;
  double equal_;
  double gradient_unit_, hessian_unit_, per_gradient_, per_hessian_;
};

// Adds rows to a histogram of the features listed. `rows` null: row numbers first, first + 1, …
template <class Sum>
void add_rows(const Bins& bins, std::span<const i32> features, const u32* rows, i64 first,
              i64 count, const Sum* of_row, Sum* histogram) {
  constexpr i64 kAhead = 16;  // rows from one that is fetched to one that is added
  const i64 n_features = static_cast<i64>(features.size());
  const bool all = n_features == bins.n_features();
  const i32* offset = bins.offsets();
  const i64 width = bins.width();
  const u8* by_row = bins.row(0);
  auto add = [&](i64 row) {
    const Sum sum = of_row[row];
    const u8* bin = by_row + row * width;
    if (all) {
      for (i64 f = 0; f < n_features; ++f) histogram[offset[f] + bin[f]] += sum;
    } else {
      for (const i32 f : features) histogram[offset[f] + bin[f]] += sum;
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
    __builtin_prefetch(of_row + next);
    add(rows[i]);
  }
  for (; i < count; ++i) add(rows[i]);
}

// What a parent held less what one child holds: the other child.
template <class Sum>
void subtract(const Sum* child, i64 n, Sum* parent) {
  for (i64 i = 0; i < n; ++i) parent[i] -= child[i];
}

}  // namespace treewright
