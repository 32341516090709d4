#include "binned/byte_partition.hpp"

#include <cstring>
#include <limits>

#include "binned/bits.hpp"
#include "data/partition.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define TREEWRIGHT_GATHER __attribute__((target("avx512f,popcnt")))
#endif

namespace treewright {
namespace {

i64 one_by_one(u32* ids, i64 n, const ByteTest& test, std::vector<char>& bytes,
               Callable<bool(u32)> is_right) {
  return partition_by(ids, n, bytes, [&](u32 id) {
    const u32 byte = test(id);
    return byte - test.below < test.n_close ? is_right(id) : byte > test.below;
  });
}

#ifdef TREEWRIGHT_GATHER

constexpr i64 kGathered = 16;

// Sixteen at a time. What goes to the left is written over what was read already.
TREEWRIGHT_GATHER i64 sixteen_at_once(u32* ids, i64 n, const ByteTest& test, u32* other,
                                      Callable<bool(u32)> is_right) {
  const __m512i step = _mm512_set1_epi32(static_cast<int>(test.step));
  const __m512i mask = _mm512_set1_epi32(static_cast<int>(test.mask));
  const __m512i below = _mm512_set1_epi32(static_cast<int>(test.below));
  const __m512i n_close = _mm512_set1_epi32(static_cast<int>(test.n_close));
  i64 l = 0, r = 0;
  for (i64 i = 0; i < n; i += kGathered) {
    const auto here = static_cast<__mmask16>(n - i < kGathered ? (1 << (n - i)) - 1 : -1);
    const __m512i id = _mm512_maskz_loadu_epi32(here, ids + i);
    const __m512i cell = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), here,
                                                     _mm512_mullo_epi32(id, step), test.data, 1);
    const __m512i byte = _mm512_and_si512(cell, mask);
    u32 right = _mm512_mask_cmpgt_epu32_mask(here, byte, below);
    const u32 close = _mm512_mask_cmplt_epu32_mask(here, _mm512_sub_epi32(byte, below), n_close);
    right &= ~close;
    each_bit(close, [&](int lane) { right |= static_cast<u32>(is_right(ids[i + lane])) << lane; });
    const auto left = static_cast<__mmask16>(here & ~right);
    _mm512_storeu_si512(other + r, _mm512_maskz_compress_epi32(static_cast<__mmask16>(right), id));
    _mm512_mask_storeu_epi32(ids + l, here, _mm512_maskz_compress_epi32(left, id));
    l += __builtin_popcount(left);
    r += __builtin_popcount(right);
  }
  std::memcpy(ids + l, other, r * sizeof(u32));
  return l;
}

bool can_gather() {
  static const bool can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("popcnt");
  return can;
}

#endif

}  // namespace

i64 partition_by_byte(u32* ids, i64 n, i64 n_all, const ByteTest& test, std::vector<char>& bytes,
                      Callable<bool(u32)> is_right) {
#ifdef TREEWRIGHT_GATHER
  if (n >= 2 * kGathered && n_all <= std::numeric_limits<i32>::max() / test.step && can_gather()) {
    const std::size_t room = static_cast<std::size_t>(n + kGathered) * sizeof(u32);
    if (bytes.size() < room) bytes.resize(room);
    return sixteen_at_once(ids, n, test, reinterpret_cast<u32*>(bytes.data()), is_right);
  }
#endif
  return one_by_one(ids, n, test, bytes, is_right);
}

}  // namespace treewright
