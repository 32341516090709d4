// Half Poisson deviance: side = Σ_o S_o ln(S_o / (W m_o)) with m the node's mean; a side without
// events is not admissible.
//
// With δ = S/(W m) − 1 this is W m ((1 + δ) ln(1 + δ) − δ) plus a term that cancels between the
// sides: written so, small gains keep their digits.
#pragma once

#include "criteria/criterion.hpp"

namespace treewright {

// (1 + δ) ln(1 + δ) − δ
inline double deviance_term(double delta) {
  if (std::abs(delta) > 1e-3) return (1 + delta) * std::log1p(delta) - delta;
  return delta * delta *
         (1.0 / 2 - delta * (1.0 / 6 - delta * (1.0 / 12 - delta * (1.0 / 20 - delta / 30))));
}

struct Poisson {
  static constexpr bool classes = false;
  static double side(const i64* stats, const CriterionView& v) {
    const i64 w = stats[0];
    double sum = 0;
    for (i32 o = 0; o < v.n_outputs; ++o) {
      if (stats[1 + o] <= 0) return -kInf;
      const double weight = static_cast<double>(w);
      const double expected = weight * (static_cast<double>(v.centre[o]) + v.rest[o]);
      const double excess =
          static_cast<double>(stats[1 + o] - w * v.centre[o]) - weight * v.rest[o];
      sum += expected * deviance_term(excess / expected);
    }
    return sum;
  }
};

}  // namespace treewright
