// Words as sets of bits.
#pragma once

#include <bit>

#include "base/types.hpp"

namespace treewright {

// Bit c of word r becomes bit r of word c, of 64 words.
void transpose_bits(u64* word);

// Calls f(i) for every bit that is set.
template <class F>
inline void each_bit(u64 bits, F&& f) {
  for (; bits; bits &= bits - 1) f(std::countr_zero(bits));
}

// A set of up to 64 things per word.
template <int Words>
struct Bits {
  u64 word[Words] = {};

  static Bits first(i64 n) {
    Bits out;
    for (int w = 0; w < Words; ++w) {
      const i64 here = n - 64 * w;
      out.word[w] = here >= 64 ? ~u64{0} : here > 0 ? (u64{1} << here) - 1 : 0;
    }
    return out;
  }
  void add(u32 i, bool is_in = true) { word[Words > 1 ? i / 64 : 0] |= u64{is_in} << i % 64; }
  Bits operator&(const Bits& o) const {
    return joined(o, [](u64 a, u64 b) { return a & b; });
  }
  Bits operator|(const Bits& o) const {
    return joined(o, [](u64 a, u64 b) { return a | b; });
  }
  Bits without(const Bits& o) const {
    return joined(o, [](u64 a, u64 b) { return a & ~b; });
  }
  bool operator==(const Bits& o) const = default;
  bool empty() const { return *this == Bits{}; }
  i32 count() const {
    i32 n = 0;
    for (const u64 w : word) n += std::popcount(w);
    return n;
  }
  template <class F>
  void each(F&& f) const {
    for (int w = 0; w < Words; ++w) each_bit(word[w], [&](int i) { f(64 * w + i); });
  }

 private:
  template <class F>
  Bits joined(const Bits& o, F&& f) const {
    Bits out;
    for (int w = 0; w < Words; ++w) out.word[w] = f(word[w], o.word[w]);
    return out;
  }
};

}  // namespace treewright
