// Weights in single precision, as release 8 of C4.5 has them.
//
// Scaled weights are rows times a power of two, so that rounding them is rounding the rows.
#pragma once

#include <cmath>

#include "base/types.hpp"

namespace treewright {

struct KnownSingle {
  float total, known;  // scaled
};

// Weight of a node's classes, added one after the other, and that less the gaps of a feature.
inline KnownSingle known_single(const i64* stats, i32 n_classes, i64 gaps) {
  float total = 0;
  for (i32 k = 0; k < n_classes; ++k) total += static_cast<float>(stats[k]);
  return {total, total - static_cast<float>(gaps)};
}

// A share of a scaled weight.
inline i64 shared_single(i64 weight, double share) {
  return std::llrint(static_cast<float>(weight) * static_cast<float>(share));
}

}  // namespace treewright
