#include "quinlan/in_place/bring.hpp"

#include <algorithm>
#include <array>
#include <limits>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define TREEWRIGHT_BRING_WIDE
#endif

namespace treewright {
namespace {

// Where a walk over the words is.
struct Front {
  const u64* at;
  u64* out;          // where the next word goes that is brought
  u64 *head, *tail;  // of the queue
  i64 n_less = 0;

  void step(u64 bound, u64 less) {
    const u64 word = *at++, oldest = *head;
    const bool goes = word < bound;
    n_less += word < less;
    *out = word;
    *tail++ = word ^ ((word ^ oldest) & (u64{0} - goes));  // without a branch to guess
    out += goes;
    head += goes;
  }
};

#ifdef TREEWRIGHT_BRING_WIDE

// Per mask of four words, for halves of words: `pack` brings the chosen ones together, `spread`
// takes the first ones to where they were chosen.
struct Shuffles {
  alignas(32) std::array<std::array<i32, 8>, 16> pack{}, spread{};
  std::array<i32, 16> count{};

  constexpr Shuffles() {
    for (i32 mask = 0; mask < 16; ++mask) {
      i32 n = 0;
      for (i32 k = 0; k < 4; ++k) {
        if (!(mask >> k & 1)) continue;
        for (i32 half = 0; half < 2; ++half) {
          pack[mask][2 * n + half] = 2 * k + half;
          spread[mask][2 * k + half] = 2 * n + half;
        }
        ++n;
      }
      count[mask] = n;
    }
  }
};

constexpr Shuffles kShuffles;

#define TREEWRIGHT_AVX2 __attribute__((target("avx2"), always_inline)) inline

TREEWRIGHT_AVX2 __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
TREEWRIGHT_AVX2 void store(void* to, __m256i words) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), words);
}
// Comparisons are of signed numbers.
TREEWRIGHT_AVX2 __m256i signed_order(__m256i words) {
  return _mm256_xor_si256(words, _mm256_set1_epi64x(std::numeric_limits<i64>::min()));
}
TREEWRIGHT_AVX2 __m256i four_of(u64 word) {
  return signed_order(_mm256_set1_epi64x(static_cast<i64>(word)));
}

__attribute__((target("avx2"))) void vector_steps(Front& front, const u64* end, u64 bound,
                                                  u64 less) {
  const __m256i bounds = four_of(bound), lesses = four_of(less);
  __m256i n_less = _mm256_setzero_si256();
  Front f = front;
  while (end - f.at >= 4) {
    if (f.tail - f.head < 8) {  // what is read then was written just now
      f.step(bound, less);
      continue;
    }
    const __m256i words = load(f.at), oldest = load(f.head), ordered = signed_order(words);
    const __m256i goes = _mm256_cmpgt_epi64(bounds, ordered);
    n_less = _mm256_sub_epi64(n_less, _mm256_cmpgt_epi64(lesses, ordered));
    const u32 mask = static_cast<u32>(_mm256_movemask_pd(_mm256_castsi256_pd(goes)));
    store(f.out, _mm256_permutevar8x32_epi32(words, load(kShuffles.pack[mask].data())));
    const __m256i spread = _mm256_permutevar8x32_epi32(oldest, load(kShuffles.spread[mask].data()));
    store(f.tail, _mm256_blendv_epi8(words, spread, goes));
    const i64 n = kShuffles.count[mask];
    f.at += 4;
    f.tail += 4;
    f.out += n;
    f.head += n;
  }
  i64 sums[4];
  store(sums, n_less);
  f.n_less += sums[0] + sums[1] + sums[2] + sums[3];
  front = f;
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

#endif

}  // namespace

Brought bring_front(u64* begin, u64* end, u64 bound, u64 less, u64* queue) {
  Front front{begin, begin, queue, queue};
  for (; front.at < end && *front.at < bound; ++front.at) {  // swapped with themselves
    front.n_less += *front.at < less;
  }
  front.out = begin + (front.at - begin);
#ifdef TREEWRIGHT_BRING_WIDE
  if (end - front.at >= 24 && has_avx2()) vector_steps(front, end, bound, less);
#endif
  while (front.at < end) front.step(bound, less);
  std::copy(front.head, front.tail, front.out);
  return {front.out, front.n_less};
}

void bring_back(u64* end, u64* until, u64 least, u64* queue) {
  while (end > until && end[-1] >= least) --end;
  u64 *out = end, *head = queue, *tail = head, *at = end;
  while (out > until) {
    const u64 word = *--at, oldest = *head;
    const bool goes = word >= least;
    out[-1] = word;
    *tail++ = word ^ ((word ^ oldest) & (u64{0} - goes));  // without a branch to guess
    out -= goes;
    head += goes;
  }
  std::reverse_copy(head, tail, at);
}

}  // namespace treewright
