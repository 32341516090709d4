// Squared error (variance reduction): side = Σ_o (S_o − W·centre_o)² / W.
#pragma once

#include "criteria/criterion.hpp"

namespace treewright {

struct SquaredError {
  static constexpr bool classes = false;
  static double side(const i64* stats, const CriterionView& v) {
    const i64 w = stats[0];
    if (w <= 0) return 0;
    double squares = 0;
    for (i32 o = 0; o < v.n_outputs; ++o) {
      const i64 whole = stats[1 + o] - w * v.centre[o];
      const double centred = static_cast<double>(whole) - static_cast<double>(w) * v.rest[o];
      squares += centred * centred;
    }
    return squares / static_cast<double>(w);
  }
};

}  // namespace treewright
