// Words as sets of bits.
#pragma once

#include <bit>

#include "../types.hpp"

namespace treewright {

// Bit c of word r becomes bit r of word c, of 64 words.
inline void transpose_bits(u64* word) {
  u64 low = 0xFFFFFFFFu;
  for (int j = 32; j; j >>= 1, low ^= low << j) {
    for (int base = 0; base < 64; base += 2 * j) {
      for (int k = base; k < base + j; ++k) {
        const u64 t = (word[k] >> j ^ word[k + j]) & low;
        word[k] ^= t << j;
        word[k + j] ^= t;
      }
    }
  }
}

// Calls f(i) for every bit that is set.
template <class F>
inline void each_bit(u64 bits, F&& f) {
  for (; bits; bits &= bits - 1) f(std::countr_zero(bits));
}

}  // namespace treewright
