// Gradients and hessians of some rows, on their way to sums: their scale, and packed rows.
#pragma once

#include <algorithm>

#include "binned/packed_rows.hpp"

namespace treewright::boost {

// What the scale of a round follows from.
struct SlopeRange {
  double most_gradient = 0, most_hessian = 0;
  i64 gradient = 0, hessian = 0;  // sums of sizes, in 2⁻¹⁶ of what `tried` allows

  void add(const SlopeRange& o) {
    most_gradient = std::max(most_gradient, o.most_gradient);
    most_hessian = std::max(most_hessian, o.most_hessian);
    gradient += o.gradient;
    hessian += o.hessian;
  }

  // The scale of n_rows rows that were looked at with a scale tried; if it is another, they must be
  // looked at again. Coarse units are for slopes that are, in the mean, eight units or more.
  Scale scale(const Scale& tried, i64 n_rows, bool may_be_coarse) const {
    Scale found{Scale::power_above(most_gradient), Scale::power_above(most_hessian),
                tried.is_coarse};
    if (found == tried) {
      found.is_coarse = may_be_coarse &&
                        gradient >= n_rows * (i64{8} << (16 - Units::kCoarseGradientBits)) &&
                        hessian >= n_rows * (i64{8} << (16 - Units::kCoarseHessianBits));
    }
    return found;
  }
};

// Rows below which units are fine: there is little to gain.
constexpr i64 kCoarseRows = 8192;

// Looks at n slopes and bounds them by a scale.
SlopeRange bound_slopes(const Scale& scale, i64 n, double* gradient, double* hessian);

// Packs n rows of coarse units from row number `first` on.
void pack_rows(const Units& units, const double* gradient, const double* hessian, i64 first, i64 n,
               PackedRow* to);

// Slopes of the logistic loss, and the loss itself.
void logistic_slopes(const double* score, const double* y, i64 n, double* gradient,
                     double* hessian);
void logistic_losses(const double* score, const double* y, i64 n, double* loss);

// Probabilities of the classes by the scores of rows [first, last) of n, both by column, and the
// losses of these rows.
void class_probabilities(const double* score, i64 n, i64 n_columns, i64 first, i64 last,
                         float* probability);
void class_losses(const double* score, const double* y, i64 n, i64 n_columns, i64 first, i64 last,
                  double* loss);

}  // namespace treewright::boost
