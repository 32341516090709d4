// Classification error: side = max x_k.
#pragma once

#include <algorithm>

#include "criteria/criterion.hpp"

namespace treewright {

struct ClassError {
  static constexpr bool classes = true;
  static double side(const i64* stats, const CriterionView& v) {
    double best = 0;
    for (i32 k = 0; k < v.n_classes; ++k) best = std::max(best, class_weight(v, stats, k));
    return best;
  }
};

}  // namespace treewright
