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

// A set of up to 128 things.
struct Bits {
  u64 low = 0, high = 0;

  static Bits first(i64 n) {
    return {n < 64 ? (u64{1} << n) - 1 : ~u64{0}, n > 64 ? ~u64{0} >> (128 - n) : 0};
  }
  void add(u32 i, bool is_in = true) { (i < 64 ? low : high) |= u64{is_in} << i % 64; }
  Bits operator&(const Bits& o) const { return {low & o.low, high & o.high}; }
  Bits operator|(const Bits& o) const { return {low | o.low, high | o.high}; }
  Bits without(const Bits& o) const { return {low & ~o.low, high & ~o.high}; }
  bool operator==(const Bits& o) const = default;
  bool empty() const { return !(low | high); }
  i32 count() const { return std::popcount(low) + std::popcount(high); }
  template <class F>
  void each(F&& f) const {
    each_bit(low, f);
    each_bit(high, [&](int i) { f(64 + i); });
  }
};

}  // namespace treewright
