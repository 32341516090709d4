// Philox4x32-10 (Salmon et al. 2011): random numbers by counter, never from a shared stream.
//
// The key is the seed and the tree, the counter the node's path from the root and a draw number,
// so that no draw depends on threads or on the order in which nodes are grown.
#pragma once

#include <array>

#include "base/types.hpp"

namespace treewright {

class Philox {
 public:
  Philox(u64 key, u64 stream) : key_(key), stream_(stream) {}

  u64 next() {
    if (used_ == 2) refill();
    return buffer_[used_++];
  }

  // Uniform in [0, 1) with 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Uniform in [0, bound) from one word of 32 bits, by rejection (Lemire 2019). Not to be mixed
  // with the calls above: it takes words one by one.
  u32 below32(u32 bound) {
    for (;;) {
      if (half_ == 4) {
        refill();
        half_ = 0;
      }
      const u64 product = word(half_++) * bound;
      if (is_fair(product, bound)) return static_cast<u32>(product >> 32);
    }
  }

  // Calls take(number) for the first `count` of them, which is faster than one by one.
  template <class Take>
  void each_below32(u32 bound, i64 count, Take&& take) {
    while (count > 0) {
      refill();
      for (int half = 0; half < 4; ++half) {
        const u64 product = word(half) * bound;
        if (!is_fair(product, bound)) continue;
        if (count-- > 0) take(product >> 32);
      }
    }
  }

  // Uniform in [0, bound) by rejection.
  u64 below(u64 bound) {
    const u64 limit = bound * (~u64{0} / bound);
    for (;;) {
      const u64 draw = next();
      if (draw < limit) return draw % bound;
    }
  }

 private:
  u64 word(int half) const { return buffer_[half / 2] >> (half % 2 * 32) & 0xFFFFFFFFu; }
  static bool is_fair(u64 product, u32 bound) {
    const u32 low = static_cast<u32>(product);
    return low >= bound || low >= (u32{0} - bound) % bound;
  }

  void refill() {
    std::array<u32, 4> c{static_cast<u32>(block_), static_cast<u32>(block_ >> 32),
                         static_cast<u32>(stream_), static_cast<u32>(stream_ >> 32)};
    u32 k0 = static_cast<u32>(key_), k1 = static_cast<u32>(key_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const u64 p0 = u64{0xD2511F53} * c[0], p1 = u64{0xCD9E8D57} * c[2];
      c = {static_cast<u32>(p1 >> 32) ^ c[1] ^ k0, static_cast<u32>(p1),
           static_cast<u32>(p0 >> 32) ^ c[3] ^ k1, static_cast<u32>(p0)};
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    buffer_[0] = (u64{c[1]} << 32) | c[0];
    buffer_[1] = (u64{c[3]} << 32) | c[2];
    used_ = 0;
    ++block_;
  }

  u64 key_, stream_, block_ = 0;
  std::array<u64, 2> buffer_{};
  int used_ = 2, half_ = 4;
};

// The stream number of branch `branch` below a node: a mix (Steele et al. 2014) of path and branch.
inline u64 child_path(u64 path, i32 branch) {
  u64 z = path + 0x9E3779B97F4A7C15ULL * (static_cast<u64>(branch) + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace treewright
