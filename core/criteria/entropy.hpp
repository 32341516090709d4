// Entropy in bits: side = Σ x_k log2(x_k / X) with X = Σ x_k.
#pragma once

#include "criteria/criterion.hpp"

namespace treewright {

struct Entropy {
  static constexpr bool classes = true;
  static double side(const i64* stats, const CriterionView& v) {
    double sum = 0, bits = 0;
    for (i32 k = 0; k < v.n_classes; ++k) sum += class_weight(v, stats, k);
    for (i32 k = 0; k < v.n_classes; ++k) {
      const double x = class_weight(v, stats, k);
      if (x > 0) bits += x * std::log2(x / sum);
    }
    return bits;
  }
};

}  // namespace treewright
