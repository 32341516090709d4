#include "boost/cut_gains.hpp"

#include "base/simd.hpp"
#include "base/types.hpp"

namespace treewright::boost {
namespace {

using Whole = i64 __attribute__((vector_size(32), aligned(8), may_alias));
using Unsigned = u64 __attribute__((vector_size(32), aligned(8), may_alias));
using Real = double __attribute__((vector_size(32), aligned(8), may_alias));

// As a conversion of each: both halves are exact, and their sum is rounded once.
__attribute__((always_inline)) inline Real to_real(Whole v) {
  constexpr double kHigh = 0x1p84 + 0x1p63, kLow = 0x1p52;
  const Whole low = (v & 0xffffffff) | std::bit_cast<i64>(kLow);
  const Whole high = (Whole)((Unsigned)v >> 32) ^ (std::bit_cast<i64>(0x1p84) ^ i64{0x80000000});
  return ((Real)high - (kHigh + kLow)) + (Real)low;
}

struct Lanes {
  Real gradient, hessian;
};

__attribute__((always_inline)) inline Lanes read(Whole gradient, Whole rest, const Units& units) {
  return {to_real(gradient) * units.gradient_unit(),
          to_real((Whole)((Unsigned)rest >> units.row_bits())) * units.hessian_unit()};
}

__attribute__((always_inline)) inline Lanes read(Whole packed, const Units& units) {
  return {to_real(packed >> units.row_bits()) * units.gradient_unit(),
          to_real(packed & ((i64{1} << units.row_bits()) - 1)) * units.equal_hessian()};
}

__attribute__((always_inline)) inline Real gains(const Lanes& left, const Lanes& right,
                                                 const GainTerms& terms) {
  auto worth = [](const Lanes& side, Real below) {
    return 0.5 * side.gradient * side.gradient / below;
  };
  const Real below_left = left.hessian + terms.l2, below_right = right.hessian + terms.l2;
  const Whole flat_left = below_left <= 0, flat_right = below_right <= 0;
  const Real of_left = flat_left ? Real{} : worth(left, below_left);
  const Real of_right = flat_right ? Real{} : worth(right, below_right);
  const Whole skipped = (flat_left | flat_right) & -i64{terms.skips_flat};
  return skipped ? Real{} - kInf : of_left + of_right - terms.parent;
}

__attribute__((always_inline)) inline Whole load(const void* from) {
  return *static_cast<const Whole*>(from);
}

}  // namespace

TREEWRIGHT_VECTORS
void cut_gains(const WideSum* left, i64 n, const WideSum& gaps, const WideSum& total,
               const GainTerms& terms, double* gain) {
  const Whole gap{gaps.lanes[0], gaps.lanes[1], gaps.lanes[0], gaps.lanes[1]};
  const Whole all_gradient = Whole{} + total.lanes[0], all_rest = Whole{} + total.lanes[1];
  for (i64 i = 0; i < n; i += kCutsAtOnce) {
    const Whole a = load(left + i) + gap, b = load(left + i + 2) + gap;
    const Whole gradient = shuffle<0, 4, 2, 6>(a, b), rest = shuffle<1, 5, 3, 7>(a, b);
    const Real found = gains(read(gradient, rest, terms.units),
                             read(all_gradient - gradient, all_rest - rest, terms.units), terms);
    *reinterpret_cast<Real*>(gain + i) = shuffle<0, 2, 1, 3>(found, found);
  }
}

TREEWRIGHT_VECTORS
void cut_gains(const NarrowSum* left, i64 n, const NarrowSum& gaps, const NarrowSum& total,
               const GainTerms& terms, double* gain) {
  const Whole gap = Whole{} + gaps.packed, all = Whole{} + total.packed;
  for (i64 i = 0; i < n; i += kCutsAtOnce) {
    const Whole below = load(left + i) + gap;
    *reinterpret_cast<Real*>(gain + i) =
        gains(read(below, terms.units), read(all - below, terms.units), terms);
  }
}

}  // namespace treewright::boost
