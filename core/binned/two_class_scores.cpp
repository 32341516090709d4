#include "binned/two_class_scores.hpp"

#include "base/simd.hpp"
#include "binned/score_lanes.hpp"

namespace treewright {
namespace {

using Wide = i32 __attribute__((vector_size(32), aligned(4), may_alias));
using WideSums =
    u32 __attribute__((vector_size(32), aligned(4), may_alias));  // the last byte may fill

// Sums for 8·V rows, each over all n.
template <int V>
__attribute__((always_inline)) inline void pair_block(const i32* keys, const i32* tokens, i64 n,
                                                      const i32* own, i32* sums) {
  Wide key[V];
  WideSums sum[V];
  for (int v = 0; v < V; ++v) {
    key[v] = *reinterpret_cast<const Wide*>(own + 8 * v);
    sum[v] = WideSums{};
  }
  for (i64 j = 0; j < n; ++j) {
    const Wide other = Wide{} + keys[j], token = Wide{} + tokens[j];
    for (int v = 0; v < V; ++v) sum[v] += (WideSums)(~(other > key[v]) & token);
  }
  for (int v = 0; v < V; ++v) *reinterpret_cast<WideSums*>(sums + 8 * v) = sum[v];
}

}  // namespace

TREEWRIGHT_VECTORS
void sums_by_pairs(const i32* keys, const i32* tokens, i64 n, i32* sums) {
  i64 i = 0;
  for (; n - i > 16; i += 32) pair_block<4>(keys, tokens, n, keys + i, sums + i);
  if (n - i > 8) {
    pair_block<2>(keys, tokens, n, keys + i, sums + i);
  } else if (n > i) {
    pair_block<1>(keys, tokens, n, keys + i, sums + i);
  }
}

TREEWRIGHT_VECTORS
double score_packed(const i32* sums, i64 n, TwoClassTotals totals, double* score) {
  const TwoClassScore score_of{totals};
  return best_score(n, score, [&](i64 i) __attribute__((always_inline)) {
    const FourKeys packed = *reinterpret_cast<const FourKeys*>(sums + i);
    return score_of(__builtin_convertvector(packed & 0xFFFF, Four),
                    __builtin_convertvector(packed >> 16, Four));
  });
}

TREEWRIGHT_VECTORS
double score_running(const i32* weight, const i32* ones, i64 n, TwoClassTotals totals,
                     double* score) {
  const TwoClassScore score_of{totals};
  return best_score(n, score, [&](i64 i) __attribute__((always_inline)) {
    return score_of(four(weight + i), four(ones + i));
  });
}

TREEWRIGHT_VECTORS
double bound_bins(const i32* weight, const i32* ones, i64 n, TwoClassTotals totals, double* bound) {
  const TwoClassScore score_of{totals};
  return best_score(n, bound, [&](i64 i) __attribute__((always_inline)) {
    const Four before = four(ones + i), after = four(ones + i + 1), here = after - before;
    const Four ones_first = score_of(four(weight + i) + here, after);
    const Four zeros_first = score_of(four(weight + i + 1) - here, before);
    return pick(ones_first > zeros_first, ones_first, zeros_first);
  });
}

}  // namespace treewright
