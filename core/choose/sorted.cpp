#include "sorted.hpp"

#include "../simd.hpp"

namespace treewright {

TREEWRIGHT_WIDE
bool any_beats(const double* c, i64 count, i64 first, i64 n, const BestRatio& best) {
  const double bar = best.bar(), denominator = best.denominator;
  const double total = static_cast<double>(n);
  const double start = static_cast<double>(first);
  int any = 0;
  for (int k = 0; k < static_cast<int>(count); ++k) {
    const double left = start + k;
    any |= c[k] * c[k] * denominator > bar * (left * (total - left));
  }
  return any != 0;
}

}  // namespace treewright
