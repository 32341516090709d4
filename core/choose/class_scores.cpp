#include "class_scores.hpp"

#include "../simd.hpp"
#include "score_lanes.hpp"

namespace treewright {
namespace {

struct ClassScore {
  double all, squares;

  // squares: Σ Lₖ², products: Σ Sₖ Lₖ.
  __attribute__((always_inline)) Four operator()(Four w, Four left, Four products) const {
    const Four right = squares - 2.0 * products + left, rest = all - w, both = w * rest;
    return pick(both > 0.0, (left * rest + right * w) / both, Four{} - 1.0);
  }
};

__attribute__((always_inline)) inline double sum_of(Four x) { return (x[0] + x[1]) + (x[2] + x[3]); }

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

TREEWRIGHT_WIDE
double score_class_bins(const u32* bins, i64 n, const ClassTotals& totals, std::vector<double>& sums,
                        double* score) {
  const i64 room = (n + 3) / 4 * 4;
  sums.assign(3 * room, 0);
  double *w = sums.data(), *left = w + room, *products = left + room;
  const i64 step = totals.step();
  for (i64 k = 0; k < step; k += 4) {
    const Four all = *reinterpret_cast<const Four*>(totals.weight.data() + k);
    Four running = Four{};
    for (i64 b = 0; b < n; ++b) {
      running += four(reinterpret_cast<const i32*>(bins + b * step + k));
      w[b] += sum_of(running);
      left[b] += sum_of(running * running);
      products[b] += sum_of(running * all);
    }
  }
  const ClassScore score_of{totals.all, totals.squares};
  return best_score(n, score, [&](i64 i) __attribute__((always_inline)) {
    auto at = [&](const double* x) __attribute__((always_inline)) {
      return *reinterpret_cast<const Four*>(x + i);
    };
    return score_of(at(w), at(left), at(products));
  });
}

TREEWRIGHT_WIDE
double score_class_bytes(const i32* sums, i64 step, i64 n, const ClassTotals& totals, double* score) {
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
