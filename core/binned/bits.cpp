#include "binned/bits.hpp"

#include "base/simd.hpp"

namespace treewright {
namespace {

using WordLanes = u64 __attribute__((vector_size(32), aligned(8), may_alias));

// Exchanges blocks of j × j bits across the diagonal of each 2 j × 2 j, for j and all smaller ones.
template <int j>
__attribute__((always_inline)) inline void exchange(u64* word, u64 low) {
  auto swap = [low](auto& a, auto& b) __attribute__((always_inline)) {
    const auto t = (a >> j ^ b) & low;
    a ^= t << j;
    b ^= t;
  };
  for (int base = 0; base < 64; base += 2 * j) {
    if constexpr (j >= 4) {
      for (int k = base; k < base + j; k += 4) {
        swap(reinterpret_cast<WordLanes&>(word[k]), reinterpret_cast<WordLanes&>(word[k + j]));
      }
    } else {
      for (int k = base; k < base + j; ++k) swap(word[k], word[k + j]);
    }
  }
  if constexpr (j > 1) exchange<j / 2>(word, low ^ low << j / 2);
}

}  // namespace

TREEWRIGHT_VECTORS
void transpose_bits(u64* word) { exchange<32>(word, 0xFFFFFFFFu); }

}  // namespace treewright
