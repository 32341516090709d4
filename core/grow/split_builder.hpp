// From a winning candidate back to a Split: thresholds, category lists.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "binned/row_matrix.hpp"
#include "choose/chooser.hpp"
#include "choose/groups.hpp"

namespace treewright {

// The midpoint, or for neighbouring floats the end that keeps a and b apart under the test.
inline double midpoint(double a, double b, bool closed) {
  const double mid = a / 2 + b / 2;
  if (closed) return mid < b && mid >= a ? mid : a;
  return mid > a && mid <= b ? mid : b;
}

// The largest value of the training set up to the midpoint of a and b, and below b: the midpoint
// may be rounded to it or be infinite.
template <class Real>
double data_value(std::span<const double> values, double a, double b, double slack) {
  const Real middle = static_cast<Real>(0.5 * (static_cast<double>(static_cast<Real>(a)) +
                                               static_cast<double>(static_cast<Real>(b))) +
                                        slack);
  const Real beyond = static_cast<Real>(b);
  const auto above = std::partition_point(values.begin(), values.end(), [&](double v) {
    return static_cast<Real>(v) <= middle && static_cast<Real>(v) < beyond;
  });
  return above == values.begin() ? a : std::max(a, *(above - 1));
}

// A break of a feature between two of its values.
inline double value_break(const Problem& p, i32 feature, double a, double b) {
  const Params& q = p.params;
  if (!q.data_thresholds) return midpoint(a, b, q.closed);
  const std::span<const double> values =
      p.cut_values.empty() ? p.features[feature].code_value : p.cut_values[feature];
  return q.single_thresholds ? data_value<float>(values, a, b, 0)
                             : data_value<double>(values, a, b, q.threshold_slack);
}

// A break of a feature between the values of two rows.
inline double sorted_break(const NodeView& node, i32 feature, const Entry& below,
                           const Entry& above) {
  const Column& column = node.problem.columns[feature];
  return value_break(node.problem, feature, column.value(node.block.row(below.id)),
                     column.value(node.block.row(above.id)));
}

// A break between two codes of an ordered coded feature.
inline double coded_break(const Problem& p, i32 feature, u32 below, u32 above) {
  const FeatureInfo& info = p.features[feature];
  // Halfway, never on a category: one in the middle goes with those below.
  if (info.code_value.empty()) return static_cast<double>((below + above) / 2) + 0.5;
  return value_break(p, feature, info.code_value[below], info.code_value[above]);
}

// A break of a feature that is kept by row.
inline double key_break(const Problem& p, i32 f, const NextToCut& next) {
  const RowFeature& feature = p.matrix->features[p.features[f].slot];
  if (feature.kind == RowFeature::Keys::codes) {
    return coded_break(p, f, static_cast<u32>(next.below), static_cast<u32>(next.above));
  }
  return value_break(p, f, feature.value(next.below), feature.value(next.above));
}

}  // namespace treewright
