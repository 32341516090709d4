// What many cuts of an ordered feature gain, several at once: the same bits as one by one.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <type_traits>

#include "binned/slope_sums.hpp"

namespace treewright::boost {

// Sums of which several are read at once; others, of very many rows, one by one.
template <class Sum>
inline constexpr bool kInVectors = !std::is_same_v<Sum, TallSum>;

// Which of up to 64 bins have rows, a bit for each. The low half of a sum has the number of rows.
template <class Sum>
inline u64 used_bins(const Sum* bin, i32 n) {
  static_assert(Units::kMostRowBits <= 32);
  u64 used = 0;
  i32 b = 0;
#if defined(__SSE2__)
  for (; kInVectors<Sum> && b + 4 <= n; b += 4) {
    const auto* four = reinterpret_cast<const __m128*>(bin + b);
    __m128 rows;
    if constexpr (sizeof(Sum) == 16) {
      const __m128 a = _mm_shuffle_ps(four[0], four[1], _MM_SHUFFLE(2, 2, 2, 2));
      const __m128 c = _mm_shuffle_ps(four[2], four[3], _MM_SHUFFLE(2, 2, 2, 2));
      rows = _mm_shuffle_ps(a, c, _MM_SHUFFLE(2, 0, 2, 0));
    } else {
      const auto* two = reinterpret_cast<const float*>(bin + b);
      rows = _mm_shuffle_ps(_mm_loadu_ps(two), _mm_loadu_ps(two + 4), _MM_SHUFFLE(2, 0, 2, 0));
    }
    const __m128i is_empty = _mm_cmpeq_epi32(_mm_castps_si128(rows), _mm_setzero_si128());
    used |= static_cast<u64>(~_mm_movemask_ps(_mm_castsi128_ps(is_empty)) & 15) << b;
  }
#endif
  for (; b < n; ++b) used |= static_cast<u64>(bin[b].low_half() != 0) << b;
  return used;
}

struct GainTerms {
  const Units& units;
  double l2;
  double parent;    // what the node is worth undivided
  bool skips_flat;  // a side without hessian and l2 makes a cut impossible; else it is worth 0
};

inline double cut_gain(const Moments& left, const Moments& right, const GainTerms& terms) {
  const double below_left = left.hessian + terms.l2, below_right = right.hessian + terms.l2;
  if (terms.skips_flat && (below_left <= 0 || below_right <= 0)) return -kInf;
  auto worth = [](const Moments& side, double below) {
    return below > 0 ? 0.5 * side.gradient * side.gradient / below : 0.0;
  };
  return worth(left, below_left) + worth(right, below_right) - terms.parent;
}

// The same for many. left[i]: sums of the rows of values up to the i-th cut, to which those of gaps
// are added; total: of the node. There must be room for a multiple of kCutsAtOnce.
constexpr i64 kCutsAtOnce = 4;
void cut_gains(const WideSum* left, i64 n, const WideSum& gaps, const WideSum& total,
               const GainTerms& terms, double* gain);
void cut_gains(const NarrowSum* left, i64 n, const NarrowSum& gaps, const NarrowSum& total,
               const GainTerms& terms, double* gain);

}  // namespace treewright::boost
