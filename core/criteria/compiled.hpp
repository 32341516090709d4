// A user's own criterion, compiled (numba's cfunc): called once per cut, at the speed of C.
//
// It scores a pair of sides, not each side on its own.
#pragma once

#include <array>

#include "criteria/criterion.hpp"

namespace treewright {

template <bool Classes>
struct Compiled {
  static constexpr bool classes = Classes;
  static constexpr bool pairwise = true;

  static double side(const i64*, const CriterionView&) { return 0; }

  static double gain(const i64* left, const i64* right, const CriterionView& v) {
    const Problem& p = *v.problem;
    std::array<double, 64> few;
    std::vector<double> many;
    double* numbers = few.data();
    if (2 * p.n_stats > 64) {
      many.resize(2 * p.n_stats);
      numbers = many.data();
    }
    for (i32 k = 0; k < p.n_stats; ++k) {
      numbers[k] = static_cast<double>(left[k]) * p.stat_unit(k);
      numbers[p.n_stats + k] = static_cast<double>(right[k]) * p.stat_unit(k);
    }
    return p.one_cut(numbers, numbers + p.n_stats, p.n_stats);
  }
};

}  // namespace treewright
