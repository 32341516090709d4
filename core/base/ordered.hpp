// Unsigned integers in the order of the numbers they stand for; both zeros are one.
#pragma once

#include <bit>

#include "base/types.hpp"

namespace treewright {

inline u32 ordered(float x) {
  const u32 bits = std::bit_cast<u32>(x + 0.0f);  // −0 becomes +0
  return bits ^ (static_cast<u32>(static_cast<i32>(bits) >> 31) | u32{1} << 31);
}
inline u64 ordered(double x) {
  const u64 bits = std::bit_cast<u64>(x + 0.0);
  return bits ^ (static_cast<u64>(static_cast<i64>(bits) >> 63) | u64{1} << 63);
}

}  // namespace treewright
