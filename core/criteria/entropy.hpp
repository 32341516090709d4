// Entropy in bits: side = Σ x_k log2 x_k − X log2 X with X = Σ x_k.
#pragma once

#include "criterion.hpp"

namespace treewright {

inline double x_log2_x(double x) { return x > 0 ? x * std::log2(x) : 0; }

struct Entropy {
  static constexpr bool classes = true;
  static double side(const i64* stats, const CriterionView& v) {
    double sum = 0, plogp = 0;
    for (i32 k = 0; k < v.n_classes; ++k) {
      const double x = class_weight(v, stats, k);
      sum += x;
      plogp += x_log2_x(x);
    }
    return plogp - x_log2_x(sum);
  }
};

}  // namespace treewright
