// Passes over the numbers of a feature at a node, without weights.
//
// Sums run in four lanes side by side: one after the other, each addition would wait. The lanes
// are the same for any width of the machine's registers, and so are the sums.
#pragma once

#include "base/types.hpp"

namespace treewright {

// Σ f(i) over i < n.
template <class F>
double sum_of(i64 n, F&& f) {
  double lanes[4] = {0, 0, 0, 0};
  i64 i = 0;
  for (; i + 4 <= n; i += 4) {
    for (i64 k = 0; k < 4; ++k) lanes[k] += f(i + k);
  }
  for (; i < n; ++i) lanes[0] += f(i);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// The least and the largest of x.
void find_ends(const double* x, i64 n, double& low, double& high);

// to = (from − middle) · unit; its sum.
double scale_numbers(const double* from, i64 n, double middle, double unit, double* to);

// x −= mean; the sums of x² and of x.
void centre_numbers(double* x, i64 n, double mean, double& squares, double& rest);

// Σ label · x
double sum_labelled(const i32* label, const double* x, i64 n);

// Sums over x = values[rows[i]] − shift: of x, of x² and of h x.
struct ShiftedSums {
  double sum = 0, squares = 0, product = 0;
};
ShiftedSums shifted_sums(const float* values, const i64* rows, const double* h, i64 n,
                         double shift);
ShiftedSums shifted_sums(const double* values, const i64* rows, const double* h, i64 n,
                         double shift);

}  // namespace treewright
