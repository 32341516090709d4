// Half Poisson deviance: side = Σ_o S_o ln(S_o / W); a side without events is not admissible.
#pragma once

#include "criterion.hpp"

namespace treewright {

struct Poisson {
  static constexpr bool classes = false;
  static double side(const i64* stats, const CriterionView& v) {
    const double w = static_cast<double>(stats[0]);
    double sum = 0;
    for (i32 o = 0; o < v.n_outputs; ++o) {
      const double s = static_cast<double>(stats[1 + o]);
      if (!(s > 0)) return -kInf;
      sum += s * std::log(s / w);
    }
    return sum;
  }
};

}  // namespace treewright
