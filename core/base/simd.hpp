// Wider instructions, chosen at run time where the platform can; the results are the same bits.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TREEWRIGHT_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define TREEWRIGHT_VECTORS
#endif

namespace treewright {

// Elements of two vectors, counted through both.
template <int... I, class Vector>
__attribute__((always_inline)) static inline Vector shuffle(Vector a, Vector b) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, I...);
#else
  return __builtin_shuffle(a, b, decltype(a == b){I...});
#endif
}

}  // namespace treewright
