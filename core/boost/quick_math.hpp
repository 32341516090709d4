// exp and log1p without jumps or tables, which compilers turn into vector instructions; the same
// bits everywhere, to about 1e-15 of the value.
#pragma once

#include <algorithm>
#include <bit>

#include "base/types.hpp"

namespace treewright::boost {

// Numbers of 0 and above are in the order of their bits; compilers have vectors for whole numbers
// where a comparison of doubles, which may trap, makes a jump.
inline double bounded(double x, double size) {
  constexpr u64 kSign = u64{1} << 63;
  const u64 bits = std::bit_cast<u64>(x), sign = bits & kSign;
  const i64 own = static_cast<i64>(bits & ~kSign), most = std::bit_cast<i64>(size);
  return std::bit_cast<double>(static_cast<u64>(own < most ? own : most) | sign);
}

inline double quick_exp(double x) {
  x = bounded(x, 700.0);
  constexpr double kWhole = 0x1.8p52;  // added, it leaves the nearest whole number in the low bits
  const double shifted = x * 1.4426950408889634 + kWhole, k = shifted - kWhole;
  const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  double p = 1.0 / 479001600;  // Taylor's series; |r| is at most half of log 2
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1;
  p = p * r + 1;
  return std::bit_cast<double>(std::bit_cast<u64>(p) + (std::bit_cast<u64>(shifted) << 52));
}

// log(1 + u) for u from 0 to 1, by the series of the inverse hyperbolic tangent.
inline double quick_log1p(double u) {
  const double t = u / (2 + u), s = t * t;
  double p = 1.0 / 31;
  p = p * s + 1.0 / 29;
  p = p * s + 1.0 / 27;
  p = p * s + 1.0 / 25;
  p = p * s + 1.0 / 23;
  p = p * s + 1.0 / 21;
  p = p * s + 1.0 / 19;
  p = p * s + 1.0 / 17;
  p = p * s + 1.0 / 15;
  p = p * s + 1.0 / 13;
  p = p * s + 1.0 / 11;
  p = p * s + 1.0 / 9;
  p = p * s + 1.0 / 7;
  p = p * s + 1.0 / 5;
  p = p * s + 1.0 / 3;
  p = p * s + 1;
  return 2 * t * p;
}

}  // namespace treewright::boost
