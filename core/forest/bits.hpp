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

// A set of up to 192 things.
struct Bits {
  static constexpr int kWords = 3;
  u64 word[kWords] = {};

  static Bits first(i64 n) {
    Bits out;
    for (int w = 0; w < kWords; ++w) {
      const i64 here = n - 64 * w;
      out.word[w] = here >= 64 ? ~u64{0} : here > 0 ? (u64{1} << here) - 1 : 0;
    }
    return out;
  }
  void add(u32 i, bool is_in = true) { word[i / 64] |= u64{is_in} << i % 64; }
  Bits operator&(const Bits& o) const {
    return {{word[0] & o.word[0], word[1] & o.word[1], word[2] & o.word[2]}};
  }
  Bits operator|(const Bits& o) const {
    return {{word[0] | o.word[0], word[1] | o.word[1], word[2] | o.word[2]}};
  }
  Bits without(const Bits& o) const {
    return {{word[0] & ~o.word[0], word[1] & ~o.word[1], word[2] & ~o.word[2]}};
  }
  bool operator==(const Bits& o) const = default;
  bool empty() const { return !(word[0] | word[1] | word[2]); }
  i32 count() const { return std::popcount(word[0]) + std::popcount(word[1]) + std::popcount(word[2]); }
  template <class F>
  void each(F&& f) const {
    for (int w = 0; w < kWords; ++w) each_bit(word[w], [&](int i) { f(64 * w + i); });
  }
};

}  // namespace treewright
