// Gini index (Breiman et al. 1984, section 4.3): side = −Σ x_k (X − x_k) / X with X = Σ x_k. All
// terms have one sign, so that nearly pure nodes keep their digits.
#pragma once

#include "criteria/criterion.hpp"

namespace treewright {

struct Gini {
  static constexpr bool classes = true;
  static double side(const i64* stats, const CriterionView& v) {
    double sum = 0, cost = 0;
    for (i32 k = 0; k < v.n_classes; ++k) sum += class_weight(v, stats, k);
    for (i32 k = 0; k < v.n_classes; ++k) {
      const double x = class_weight(v, stats, k);
      cost += x * (sum - x);
    }
    return sum > 0 ? -cost / sum : 0;
  }
};

// Gini index with losses (Breiman et al. 1984, section 4.4): side = −Σ_ij loss_ij x_i x_j / Σ x_k.
struct GeneralizedGini {
  static constexpr bool classes = true;
  static double side(const i64* stats, const CriterionView& v) {
    double sum = 0, cost = 0;
    for (i32 i = 0; i < v.n_classes; ++i) {
      const double x = class_weight(v, stats, i);
      sum += x;
      double row = 0;
      for (i32 j = 0; j < v.n_classes; ++j) {
        row += v.loss[i * v.n_classes + j] * class_weight(v, stats, j);
      }
      cost += x * row;
    }
    return sum > 0 ? -cost / sum : 0;
  }
};

}  // namespace treewright
