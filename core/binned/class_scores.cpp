#include "binned/class_scores.hpp"

#include "base/simd.hpp"
#include "binned/score_lanes.hpp"

namespace treewright {
namespace {

// The sums over the lanes of each of four vectors.
__attribute__((always_inline)) inline Four sums_of(Four a, Four b, Four c, Four d) {
  const Four ab = shuffle<0, 4, 2, 6>(a, b) + shuffle<1, 5, 3, 7>(a, b);
  const Four cd = shuffle<0, 4, 2, 6>(c, d) + shuffle<1, 5, 3, 7>(c, d);
  return shuffle<0, 1, 4, 5>(ab, cd) + shuffle<2, 3, 6, 7>(ab, cd);
}

}  // namespace

void ClassTotals::set(const i64* stats, i64 n) {
  weight.assign((n + 3) / 4 * 4, 0);
  all = squares = 0;
  for (i64 k = 0; k < n; ++k) {
    const double s = weight[k] = static_cast<double>(stats[k]);
    all += s;
    squares += s * s;
  }
}

TREEWRIGHT_VECTORS
double score_class_bins(const u32* bins, i64 n, const ClassTotals& totals,
                        std::vector<double>& sums, double* score) {
  const i64 room = (n + 3) / 4 * 4;
  sums.assign(3 * room, 0);
  double *w = sums.data(), *left = w + room, *products = left + room;
  const i64 step = totals.step();
  for (i64 k = 0; k < step; k += 4) {
    const Four all = *reinterpret_cast<const Four*>(totals.weight.data() + k);
    Four last = Four{};
    for (i64 b = 0; b < n; b += 4) {
      const i32* here = reinterpret_cast<const i32*>(bins + b * step + k);
      const Four r0 = last + four(here), r1 = r0 + four(here + step),
                 r2 = r1 + four(here + 2 * step), r3 = last = r2 + four(here + 3 * step);
      auto add = [&](double* to, Four sums)
                     __attribute__((always_inline)) { *reinterpret_cast<Four*>(to + b) += sums; };
      add(w, sums_of(r0, r1, r2, r3));
      add(left, sums_of(r0 * r0, r1 * r1, r2 * r2, r3 * r3));
      add(products, sums_of(r0 * all, r1 * all, r2 * all, r3 * all));
    }
  }
  const ClassScore score_of{totals.all, totals.squares};
  return best_score(n, score, [&](i64 i) __attribute__((always_inline)) {
    auto at = [&](const double* x)
                  __attribute__((always_inline)) { return *reinterpret_cast<const Four*>(x + i); };
    return score_of(at(w), at(left), at(products));
  });
}

TREEWRIGHT_VECTORS
double score_class_bytes(const i32* sums, i64 step, i64 n, const ClassTotals& totals,
                         double* score) {
  const ClassScore score_of{totals.all, totals.squares};
  const double* weight = totals.weight.data();
  const i64 words = totals.step() / 4;
  return best_score(n, score, [&](i64 i) __attribute__((always_inline)) {
    Four w = Four{}, left = Four{}, products = Four{};
    for (i64 word = 0; word < words; ++word) {
      const FourKeys packed = *reinterpret_cast<const FourKeys*>(sums + word * step + i);
      for (int byte = 0; byte < 4; ++byte) {
        const Four here = __builtin_convertvector(packed >> (8 * byte) & 255, Four);
        w += here;
        left += here * here;
        products += here * weight[4 * word + byte];
      }
    }
    return score_of(w, left, products);
  });
}

}  // namespace treewright
