// A term of a linear test.
#pragma once

#include <cstdint>

namespace treewright {

constexpr std::int32_t kNoCode = -1;

// What a term weighs: the value itself, or with a code whether the value is that category; NaN at a
// gap either way.
inline double term_value(double x, std::int32_t code) {
  return code == kNoCode || x != x ? x : static_cast<double>(x == code);
}

}  // namespace treewright
