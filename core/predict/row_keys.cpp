#include "predict/row_keys.hpp"

#include "base/simd.hpp"

namespace treewright {

TREEWRIGHT_VECTORS
bool keys_of_floats(const float* from, i64 from_step, i64 count, i64 n, u32* to, i64 to_step) {
  return keys_of<float>(from, from_step, count, n, to, to_step);
}

}  // namespace treewright
