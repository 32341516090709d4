// Eigenvalues of small symmetric matrices.
#pragma once

#include <cmath>
#include <vector>

#include "base/types.hpp"

namespace treewright {

// Eigenvalues closer to zero than this, relative to the largest, are zero.
constexpr double kRankTolerance = 1.4901161193847656e-08;  // √ε

// Eigenvalues and eigenvectors (columns) of a small symmetric matrix by Jacobi's rotations.
inline void symmetric_eigen(std::vector<double> a, i32 n, std::vector<double>& values,
                            std::vector<double>& vectors) {
  vectors.assign(static_cast<std::size_t>(n) * n, 0);
  for (i32 i = 0; i < n; ++i) vectors[i * n + i] = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, on = 0;
    for (i32 i = 0; i < n; ++i) {
      on += a[i * n + i] * a[i * n + i];
      for (i32 j = 0; j < i; ++j) off += a[i * n + j] * a[i * n + j];
    }
    if (off <= 1e-32 * on) break;
    for (i32 p = 0; p < n; ++p) {
      for (i32 q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (i32 k = 0; k < n; ++k) {
          const double kp = a[k * n + p], kq = a[k * n + q];
          a[k * n + p] = c * kp - s * kq;
          a[k * n + q] = s * kp + c * kq;
        }
        for (i32 k = 0; k < n; ++k) {
          const double pk = a[p * n + k], qk = a[q * n + k];
          a[p * n + k] = c * pk - s * qk;
          a[q * n + k] = s * pk + c * qk;
          const double vp = vectors[k * n + p], vq = vectors[k * n + q];
          vectors[k * n + p] = c * vp - s * vq;
          vectors[k * n + q] = s * vp + c * vq;
        }
      }
    }
  }
  values.resize(n);
  for (i32 i = 0; i < n; ++i) values[i] = a[i * n + i];
}

}  // namespace treewright
