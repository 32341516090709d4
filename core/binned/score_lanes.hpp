// Four scores at a time, for the files that compute them with vector instructions.
#pragma once

#include <algorithm>

#include "base/simd.hpp"
#include "base/types.hpp"
#include "binned/two_class_scores.hpp"

namespace treewright {

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
using FourWords = i64 __attribute__((vector_size(32), aligned(8), may_alias));
using Eight = float __attribute__((vector_size(32), aligned(4), may_alias));
using FourFloats = float __attribute__((vector_size(16), aligned(4), may_alias));
using EightInts = i32 __attribute__((vector_size(32), aligned(4), may_alias));
using FourKeys = i32 __attribute__((vector_size(16), aligned(4), may_alias));

// Where the mask is set a, else b. (Conditional expressions of vectors become jumps.)
__attribute__((always_inline)) static inline Four pick(FourWords mask, Four a, Four b) {
  return reinterpret_cast<Four>((reinterpret_cast<FourWords>(a) & mask) |
                                (reinterpret_cast<FourWords>(b) & ~mask));
}

// Writes scores four at a time, the last of them beyond n, and returns the largest.
template <class At>
__attribute__((always_inline)) static inline double best_score(i64 n, double* score, At&& at) {
  Four best = Four{} - 1.0;
  for (i64 i = 0; i < n; i += 4) {
    const Four here = *reinterpret_cast<Four*>(score + i) = at(i);
    best = pick(here > best, here, best);
  }
  return std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
}

__attribute__((always_inline)) static inline Four four(const i32* numbers) {
  return __builtin_convertvector(*reinterpret_cast<const FourKeys*>(numbers), Four);
}

__attribute__((always_inline)) static inline Four four(const float* numbers) {
  return __builtin_convertvector(*reinterpret_cast<const FourFloats*>(numbers), Four);
}

// Scores of four cuts: see class_scores.hpp and two_class_scores.hpp.

struct ClassScore {
  double all, squares;

  // squares: Σ Lₖ², products: Σ Sₖ Lₖ.
  __attribute__((always_inline)) Four operator()(Four w, Four left, Four products) const {
    const Four right = squares - 2.0 * products + left, rest = all - w, both = w * rest;
    return pick(both > 0.0, (left * rest + right * w) / both, Four{} - 1.0);
  }
};

struct TwoClassScore : TwoClassTotals {
  __attribute__((always_inline)) Four operator()(Four w, Four a) const {
    const Four d = all * a - w * ones, product = w * (all - w);
    return pick(product > 0.0, d * d / product, Four{} - 1.0);
  }
};

}  // namespace treewright
