// Weights of rows as integers, so that sums over rows have no order.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/binding.hpp"

namespace treewright {

// A power of two brings their sum below 2^62, so that sums have no order.
struct ScaledWeights {
  std::vector<std::int64_t> each;  // empty: all one
  double unit = 1;

  explicit ScaledWeights(std::span<const double> weight) {
    if (weight.empty()) return;
    double total = 0;
    for (const double w : weight) total += w;
    if (!std::isfinite(total) || total <= 0) refuse("Weights must be finite and above 0.");
    int exponent = 0;
    std::frexp(total, &exponent);
    unit = std::ldexp(1.0, exponent - 61);
    each.reserve(weight.size());
    for (const double w : weight) each.push_back(std::llrint(w / unit));
  }

  std::int64_t operator[](std::int64_t row) const { return each.empty() ? 1 : each[row]; }
};

}  // namespace treewright
