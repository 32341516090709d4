// What boosting sums: gradients, hessians and numbers of rows, as integers.
//
// A row's gradient is rounded once, to a unit fixed for the round:
//
//   WideSum    gradient in 64 bits; hessian and number of rows share another 64
//   NarrowSum  gradient and number of rows share 64 bits, where all hessians are equal
//   TallSum    64 bits for each of the three: more rows than the others can count
//
// The number of rows takes as many bits as the number of all rows needs (rows of whole weights
// count as often as they weigh). With a million rows fine units leave 42 bits for the largest
// gradient and 22 for the largest hessian of a row (narrow: 22 for the gradient); coarse ones have
// 13 and 11, and are added several times as fast (packed_rows.hpp). Numbers of less than 16 bits
// are rounded by chance. Nothing overflows below 2^kMostRowBits rows, tall: 2^kMostTallBits.
//
// Twin: tests/twins/boosting.py.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/types.hpp"

namespace treewright {

// A sum in the user's units.
struct Moments {
  double gradient = 0, hessian = 0;
  i64 n_rows = 0;
};

struct WideSum {
  typedef long long Lanes __attribute__((vector_size(16)));
  Lanes lanes{};

  u32 low_half() const { return static_cast<u32>(lanes[1]); }  // with the number of rows
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

  u32 low_half() const { return static_cast<u32>(packed); }
  NarrowSum& operator+=(const NarrowSum& o) {
    packed += o.packed;
    return *this;
  }
  NarrowSum& operator-=(const NarrowSum& o) {
    packed -= o.packed;
    return *this;
  }
};

struct TallSum {
  i64 gradient = 0, hessian = 0, n_rows = 0;
  i64 low_half() const { return n_rows; }

  TallSum& operator+=(const TallSum& o) {
    gradient += o.gradient, hessian += o.hessian, n_rows += o.n_rows;
    return *this;
  }
  TallSum& operator-=(const TallSum& o) {
    gradient -= o.gradient, hessian -= o.hessian, n_rows -= o.n_rows;
    return *this;
  }
};

enum class SumKind : u8 { narrow, wide, tall };

template <class Sum>
constexpr SumKind kind_of = SumKind::wide;
template <>
inline constexpr SumKind kind_of<NarrowSum> = SumKind::narrow;
template <>
inline constexpr SumKind kind_of<TallSum> = SumKind::tall;

// Calls f(a sum of the kind).
template <class F>
auto with_sum(SumKind kind, F&& f) {
  if (kind == SumKind::narrow) return f(NarrowSum{});
  if (kind == SumKind::tall) return f(TallSum{});
  return f(WideSum{});
}

template <class Sum>
Sum operator+(Sum a, const Sum& b) {
  return a += b;
}
template <class Sum>
Sum operator-(Sum a, const Sum& b) {
  return a -= b;
}

// What no gradient and no hessian of a round exceeds, as powers of two, and how finely they are
// rounded. All of it follows from the slopes of the round: a fit that was interrupted and a fit in
// blocks come to the same.
struct Scale {
  int gradient = -200, hessian = -200;
  bool is_coarse = false;

  bool operator==(const Scale&) const = default;

  // The power of two that a number does not exceed.
  static int power_above(double v) {
    int power = 0;
    const double part = std::frexp(v, &power);
    return v > 0 ? std::max(power - (part == 0.5), -200) : -200;
  }
};

// The units of a round.
//
// Fine units use all bits there are. Coarse ones have 13 bits for the largest gradient and 11 for
// the largest hessian, rounded up or down by chance so that sums are right on average; the chance
// depends on the round and the number of the row alone.
class Units {
 public:
  static constexpr int kMostBits = 50;  // a double has two more
  static constexpr int kCoarseGradientBits = 13, kCoarseHessianBits = 11;
  static constexpr int kEnoughBits = 16;  // with fewer, what is lost must be right on average
  // Sums of hessians and rows: so many bits for a hessian, for the rows added, for their number.
  static constexpr int kMostRowBits = 26;
  static constexpr int kMostTallBits = 40;  // leaves 22 for the largest gradient and hessian
  static_assert(kCoarseHessianBits + 2 * kMostRowBits <= 63);

  // n_rows: counted as often as they weigh. `equal_hessian` is that of every row where Narrow sums
  // are used. `key` of the round, for coarse units.
  Units(i64 n_rows, const Scale& scale, double equal_hessian, SumKind kind, u64 key)
      : row_bits_(bits(n_rows)),
        is_coarse_(scale.is_coarse),
        key_(static_cast<u32>(key ^ key >> 32)),
        equal_(equal_hessian) {
    const int room = 62 - row_bits_;  // bits that one row's gradient may take
    const bool is_narrow = kind == SumKind::narrow;
    const int gradient_bits = std::min(is_narrow ? room - row_bits_ : room, kMostBits);
    const int hessian_bits = std::min(kind == SumKind::tall ? room : room - row_bits_, kMostBits);
    gradient_unit_ =
        std::ldexp(1.0, scale.gradient - (is_coarse_ ? kCoarseGradientBits : gradient_bits));
    hessian_unit_ =
        std::ldexp(1.0, scale.hessian - (is_coarse_ ? kCoarseHessianBits : hessian_bits));
    is_drawn_ = is_coarse_ || (is_narrow ? gradient_bits : hessian_bits) < kEnoughBits;
    per_gradient_ = 1 / gradient_unit_;
    per_hessian_ = 1 / hessian_unit_;
  }

  static int bits(i64 n) { return n > 0 ? 64 - __builtin_clzll(static_cast<u64>(n)) : 1; }

  int row_bits() const { return row_bits_; }
  double gradient_unit() const { return gradient_unit_; }
  double hessian_unit() const { return hessian_unit_; }
  double equal_hessian() const { return equal_; }
  i64 n_rows(const WideSum& sum) const { return sum.lanes[1] & ((i64{1} << row_bits_) - 1); }
  i64 n_rows(const NarrowSum& sum) const { return sum.packed & ((i64{1} << row_bits_) - 1); }
  i64 n_rows(const TallSum& sum) const { return sum.n_rows; }
  bool is_coarse() const { return is_coarse_; }

  // Whole units of a row's gradient and hessian, rounded by chance.
  struct Drawn {
    i64 gradient, hessian;
  };
  Drawn drawn(double gradient, double hessian, u32 row) const {
    u32 z = (row ^ key_) * 0x9E3779B1u;
    z = (z ^ z >> 15) * 0x85EBCA77u;
    z = (z ^ z >> 13) * 0xC2B2AE3Du;
    z ^= z >> 16;
    // Nearest to a number moved by up to a half is the number rounded by chance.
    const double first = (static_cast<double>(static_cast<i32>(z & 0xFFFF)) - 32767.5) * 0x1p-16;
    const double second = (static_cast<double>(static_cast<i32>(z >> 16)) - 32767.5) * 0x1p-16;
    return {nearest(gradient * per_gradient_ + first), nearest(hessian * per_hessian_ + second)};
  }

  // A row that counts several times is that many rows, to the bit.
  void pack(double gradient, double hessian, i64 count, u32 row, WideSum& to) const {
    const Drawn whole =
        is_drawn_ ? drawn(gradient, hessian, row)
                  : Drawn{nearest(gradient * per_gradient_), nearest(hessian * per_hessian_)};
    to.lanes = WideSum::Lanes{whole.gradient * count, ((whole.hessian << row_bits_) + 1) * count};
  }
  void pack(double gradient, double, i64 count, u32 row, NarrowSum& to) const {
    const i64 whole =
        is_drawn_ ? drawn(gradient, 0, row).gradient : nearest(gradient * per_gradient_);
    to.packed = (whole * (i64{1} << row_bits_) + 1) * count;
  }

  void pack(double gradient, double hessian, i64 count, u32 row, TallSum& to) const {
    const Drawn whole =
        is_drawn_ ? drawn(gradient, hessian, row)
                  : Drawn{nearest(gradient * per_gradient_), nearest(hessian * per_hessian_)};
    to = {whole.gradient * count, whole.hessian * count, count};
  }

  Moments read(const TallSum& sum) const {
    return {static_cast<double>(sum.gradient) * gradient_unit_,
            static_cast<double>(sum.hessian) * hessian_unit_, sum.n_rows};
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

  // The nearest whole number of one below 2⁵¹, ties to even.
  static i64 nearest(double v) {
    constexpr double kWhole = 0x1.8p52;
    return std::bit_cast<i64>(v + kWhole) - std::bit_cast<i64>(kWhole);
  }

 private:
  int row_bits_;
  bool is_coarse_, is_drawn_;
  u32 key_;
  double equal_;
  double gradient_unit_, hessian_unit_, per_gradient_, per_hessian_;
};

}  // namespace treewright
