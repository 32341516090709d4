#include "binned/short_scores.hpp"

#include <algorithm>
#include <limits>

#include "base/simd.hpp"
#include "binned/score_lanes.hpp"

namespace treewright {
namespace {

using Shorts = i16 __attribute__((vector_size(32), aligned(2), may_alias));
using EightShorts = i16 __attribute__((vector_size(16), aligned(2), may_alias));

// What the rows begin … end − 1 weigh that lie at or below each of 16·V keys.
template <int V>
__attribute__((always_inline)) inline void weigh(const ShortRows& rows, i64 begin, i64 end,
                                                 const Shorts* own, Shorts* sum) {
  for (int v = 0; v < V; ++v) sum[v] = Shorts{};
  for (i64 j = begin; j < end; ++j) {
    const Shorts other = Shorts{} + rows.key[j], count = Shorts{} + rows.count[j];
    for (int v = 0; v < V; ++v) sum[v] += ~(other > own[v]) & count;
  }
}

__attribute__((always_inline)) inline Eight half(const Shorts& sums, int which) {
  const EightShorts part = reinterpret_cast<const EightShorts*>(&sums)[which];
  return __builtin_convertvector(__builtin_convertvector(part, EightInts), Eight);
}

// The sums that the scores of 16·V rows need.
struct Sums {
  alignas(32) float w[64], left[64], products[64];
};

template <int V>
__attribute__((always_inline)) inline void add_classes(const ShortRows& rows, i64 first,
                                                       i64 n_classes, const double* total,
                                                       Sums& out) {
  Shorts own[V], sum[V], w[V];
  Eight left[2 * V], products[2 * V];
  for (int v = 0; v < V; ++v) {
    own[v] = *reinterpret_cast<const Shorts*>(rows.key + first + 16 * v);
    w[v] = Shorts{};
    left[2 * v] = left[2 * v + 1] = products[2 * v] = products[2 * v + 1] = Eight{};
  }
  i64 begin = 0;
  for (i64 k = 0; k < n_classes; ++k) {
    const i64 end = rows.class_end[k];
    weigh<V>(rows, begin, end, own, sum);
    begin = end;
    const Eight all = Eight{} + static_cast<float>(total[k]);
    for (int v = 0; v < V; ++v) {
      w[v] += sum[v];
      for (int h = 0; h < 2; ++h) {
        const Eight here = half(sum[v], h);
        left[2 * v + h] += here * here;
        products[2 * v + h] += here * all;
      }
    }
  }
  for (int v = 0; v < 2 * V; ++v) {
    *reinterpret_cast<Eight*>(out.w + 8 * v) = half(w[v / 2], v % 2);
    *reinterpret_cast<Eight*>(out.left + 8 * v) = left[v];
    *reinterpret_cast<Eight*>(out.products + 8 * v) = products[v];
  }
}

template <int V>
__attribute__((always_inline)) inline void add_pairs(const ShortRows& rows, i64 first, Sums& out) {
  Shorts own[V], zeros[V], ones[V];
  for (int v = 0; v < V; ++v) own[v] = *reinterpret_cast<const Shorts*>(rows.key + first + 16 * v);
  weigh<V>(rows, 0, rows.class_end[0], own, zeros);
  weigh<V>(rows, rows.class_end[0], rows.n, own, ones);
  for (int v = 0; v < 2 * V; ++v) {
    *reinterpret_cast<Eight*>(out.w + 8 * v) = half(zeros[v / 2] + ones[v / 2], v % 2);
    *reinterpret_cast<Eight*>(out.left + 8 * v) = half(ones[v / 2], v % 2);
  }
}

// Keys behind the last row, which no row lies below.
__attribute__((always_inline)) inline void pad(const ShortRows& rows) {
  for (i64 i = 0; i < 64; i += 16) {
    *reinterpret_cast<Shorts*>(rows.key + rows.n + i) = Shorts{} + std::numeric_limits<i16>::min();
  }
}

// 64 rows at a time, or as many sixteens as there are: add(size, first, sums), then scores.
template <class Add, class At>
__attribute__((always_inline)) inline double each_part(const ShortRows& rows, double* score,
                                                       Add&& add, At&& at) {
  pad(rows);
  Sums sums;
  double best = -1;
  for (i64 first = 0; first < rows.n; first += 64) {
    const i64 count = std::min<i64>(rows.n - first, 64);
    if (count <= 16) {
      add(std::integral_constant<int, 1>{}, first, sums);
    } else if (count <= 32) {
      add(std::integral_constant<int, 2>{}, first, sums);
    } else if (count <= 48) {
      add(std::integral_constant<int, 3>{}, first, sums);
    } else {
      add(std::integral_constant<int, 4>{}, first, sums);
    }
    const double here = best_score(
        count, score + first, [&](i64 i) __attribute__((always_inline)) { return at(sums, i); });
    best = std::max(best, here);
  }
  return best;
}

}  // namespace

TREEWRIGHT_VECTORS
double score_short_classes(const ShortRows& rows, i64 n_classes, const ClassTotals& totals,
                           double* score) {
  const ClassScore score_of{totals.all, totals.squares};
  return each_part(
      rows, score,
      [&](auto size, i64 first, Sums& sums) __attribute__((always_inline)) {
        add_classes<decltype(size)::value>(rows, first, n_classes, totals.weight.data(), sums);
      },
      [&](const Sums& sums, i64 i) __attribute__((always_inline)) {
        return score_of(four(sums.w + i), four(sums.left + i), four(sums.products + i));
      });
}

TREEWRIGHT_VECTORS
double score_short_pairs(const ShortRows& rows, TwoClassTotals totals, double* score) {
  const TwoClassScore score_of{totals};
  return each_part(
      rows, score,
      [&](auto size, i64 first, Sums& sums)
          __attribute__((always_inline)) { add_pairs<decltype(size)::value>(rows, first, sums); },
      [&](const Sums& sums, i64 i) __attribute__((always_inline)) {
        return score_of(four(sums.w + i), four(sums.left + i));
      });
}

}  // namespace treewright
