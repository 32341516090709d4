#include "boost/slopes.hpp"

#include <bit>
#include <cmath>

#include "base/simd.hpp"
#include "boost/losses.hpp"

namespace treewright::boost {

TREEWRIGHT_VECTORS SlopeRange bound_slopes(const Scale& scale, i64 n, double* __restrict gradient,
                                           double* __restrict hessian) {
  const double most_g = std::ldexp(1.0, scale.gradient), most_h = std::ldexp(1.0, scale.hessian);
  const double per_g = 0x1p16 / most_g, per_h = 0x1p16 / most_h;
  i64 top_g = 0, top_h = 0, sum_g = 0, sum_h = 0;
  for (i64 i = 0; i < n; ++i) {
    const i64 g_bits = std::bit_cast<i64>(std::abs(gradient[i]));
    const i64 h_bits = std::bit_cast<i64>(std::abs(hessian[i]));
    top_g = g_bits > top_g ? g_bits : top_g;
    top_h = h_bits > top_h ? h_bits : top_h;
    gradient[i] = bounded(gradient[i], most_g);
    hessian[i] = bounded(std::abs(hessian[i]), most_h);
    sum_g += Units::nearest(std::abs(gradient[i]) * per_g);
    sum_h += Units::nearest(hessian[i] * per_h);
  }
  return {std::bit_cast<double>(top_g), std::bit_cast<double>(top_h), sum_g, sum_h};
}

TREEWRIGHT_VECTORS void pack_rows(const Units& given, const double* __restrict gradient,
                                  const double* __restrict hessian, i64 first, i64 n,
                                  PackedRow* __restrict to) {
  const Units units = given;
  const u32 start = static_cast<u32>(first);
  for (i64 i = 0; i < n; ++i) {
    const Units::Drawn whole = units.drawn(gradient[i], hessian[i], start + static_cast<u32>(i));
    to[i] = PackedRow(whole.gradient, whole.hessian);
  }
}

TREEWRIGHT_VECTORS void logistic_slopes(const double* __restrict score, const double* __restrict y,
                                        i64 n, double* __restrict gradient,
                                        double* __restrict hessian) {
  for (i64 i = 0; i < n; ++i) {
    const Slope slope = Logistic::slope(score[i], y[i], 0);
    gradient[i] = slope.gradient;
    hessian[i] = slope.hessian;
  }
}

TREEWRIGHT_VECTORS void logistic_losses(const double* __restrict score, const double* __restrict y,
                                        i64 n, double* __restrict loss) {
  for (i64 i = 0; i < n; ++i) loss[i] = Logistic::loss(score[i], y[i], 0);
}

namespace {

constexpr i64 kStrip = 256;  // rows whose classes are looked at together

// The largest of each row's scores, and the sum of the others' exponentials beside it; calls
// take(k, e) for the exponentials of each class.
template <class Take>
__attribute__((always_inline)) inline void sum_classes(const double* score, i64 n, i64 n_columns,
                                                       i64 count, double* __restrict most,
                                                       double* __restrict total, Take&& take) {
  for (i64 i = 0; i < count; ++i) most[i] = -kInf, total[i] = 0;
  for (i64 k = 0; k < n_columns; ++k) {
    const double* __restrict own = score + k * n;
    for (i64 i = 0; i < count; ++i) most[i] = most[i] < own[i] ? own[i] : most[i];
  }
  double e[kStrip];
  for (i64 k = 0; k < n_columns; ++k) {
    const double* __restrict own = score + k * n;
    for (i64 i = 0; i < count; ++i) {
      e[i] = quick_exp(own[i] - most[i]);
      total[i] += e[i];
    }
    take(k, e);
  }
}

}  // namespace

TREEWRIGHT_VECTORS void class_probabilities(const double* score, i64 n, i64 n_columns, i64 first,
                                            i64 last, float* probability) {
  double most[kStrip], total[kStrip];
  for (; first < last; first += kStrip) {
    const i64 count = std::min(kStrip, last - first);
    sum_classes(score + first, n, n_columns, count, most, total, [&](i64 k, const double* e) {
      float* __restrict to = probability + k * n + first;
      for (i64 i = 0; i < count; ++i) to[i] = static_cast<float>(e[i]);
    });
    for (i64 k = 0; k < n_columns; ++k) {
      float* __restrict to = probability + k * n + first;
      for (i64 i = 0; i < count; ++i) to[i] = static_cast<float>(to[i] / total[i]);
    }
  }
}

TREEWRIGHT_VECTORS void class_losses(const double* score, const double* y, i64 n, i64 n_columns,
                                     i64 first, i64 last, double* loss) {
  double most[kStrip], total[kStrip];
  for (; first < last; first += kStrip) {
    const i64 count = std::min(kStrip, last - first);
    sum_classes(score + first, n, n_columns, count, most, total, [](i64, const double*) {});
    for (i64 i = 0; i < count; ++i) {
      const i64 own = static_cast<i64>(y[first + i]);
      *loss++ = std::log(total[i]) + most[i] - score[own * n + first + i];
    }
  }
}

}  // namespace treewright::boost
