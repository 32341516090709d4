#include "ctree/passes.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace treewright {
namespace {

template <class T>
[[gnu::always_inline]] inline ShiftedSums sums_of(const T* values, const i64* rows, const double* h,
                                                  i64 n, double shift) {
  double sum[4] = {0, 0, 0, 0}, square[4] = {0, 0, 0, 0}, product[4] = {0, 0, 0, 0};
  i64 i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; ++k) {
      const double x = static_cast<double>(values[rows[i + k]]) - shift;
      sum[k] += x;
      square[k] += x * x;
      product[k] += h[i + k] * x;
    }
  }
  for (; i < n; ++i) {
    const double x = static_cast<double>(values[rows[i]]) - shift;
    sum[0] += x;
    square[0] += x * x;
    product[0] += h[i] * x;
  }
  const auto total = [](const double* v) { return (v[0] + v[1]) + (v[2] + v[3]); };
  return {total(sum), total(square), total(product)};
}

}  // namespace

TREEWRIGHT_VECTORS
ShiftedSums shifted_sums(const float* values, const i64* rows, const double* h, i64 n,
                         double shift) {
  return sums_of(values, rows, h, n, shift);
}

TREEWRIGHT_VECTORS
ShiftedSums shifted_sums(const double* values, const i64* rows, const double* h, i64 n,
                         double shift) {
  return sums_of(values, rows, h, n, shift);
}

TREEWRIGHT_VECTORS
void find_ends(const double* x, i64 n, double& low, double& high) {
  double lows[4], highs[4];
  for (int k = 0; k < 4; ++k) lows[k] = highs[k] = x[0];
  i64 i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; ++k) {
      lows[k] = x[i + k] < lows[k] ? x[i + k] : lows[k];
      highs[k] = x[i + k] > highs[k] ? x[i + k] : highs[k];
    }
  }
  for (; i < n; ++i) {
    lows[0] = x[i] < lows[0] ? x[i] : lows[0];
    highs[0] = x[i] > highs[0] ? x[i] : highs[0];
  }
  low = *std::min_element(lows, lows + 4);
  high = *std::max_element(highs, highs + 4);
}

TREEWRIGHT_VECTORS
double scale_numbers(const double* from, i64 n, double middle, double unit, double* to) {
  return sum_of(n, [=](i64 i) { return to[i] = (from[i] - middle) * unit; });
}

TREEWRIGHT_VECTORS
void centre_numbers(double* x, i64 n, double mean, double& squares, double& rest) {
  double square[4] = {0, 0, 0, 0}, sum[4] = {0, 0, 0, 0};
  i64 i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; ++k) {
      const double z = x[i + k] - mean;
      x[i + k] = z;
      square[k] += z * z;
      sum[k] += z;
    }
  }
  for (; i < n; ++i) {
    x[i] -= mean;
    square[0] += x[i] * x[i];
    sum[0] += x[i];
  }
  squares = (square[0] + square[1]) + (square[2] + square[3]);
  rest = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

TREEWRIGHT_VECTORS
double sum_labelled(const i32* label, const double* x, i64 n) {
  return sum_of(n, [=](i64 i) { return label[i] * x[i]; });
}

}  // namespace treewright
