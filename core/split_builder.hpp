// From a winning candidate back to a Split: thresholds, category lists.
#pragma once

#include <cmath>

#include "choose/chooser.hpp"
#include "choose/groups.hpp"

namespace treewright {

// The midpoint, or for neighbouring floats the end that keeps a and b apart under the test.
inline double midpoint(double a, double b, bool closed) {
  const double mid = a / 2 + b / 2;
  if (closed) return mid < b && mid >= a ? mid : a;
  return mid > a && mid <= b ? mid : b;
}

// A break of a feature between the values of two rows.
template <class Id>
double sorted_break(const NodeView<Id>& node, i32 feature, const Entry<Id>& below,
                    const Entry<Id>& above) {
  const Column& column = node.problem.columns[feature];
  return midpoint(column.value(node.block.row(below.id)), column.value(node.block.row(above.id)),
                  node.problem.params.closed);
}

// A break between two codes of an ordered coded feature.
inline double coded_break(const Problem& p, i32 feature, u32 below, u32 above) {
  const FeatureInfo& info = p.features[feature];
  // Halfway, never on a category: one in the middle goes with those below.
  if (info.code_value.empty()) return static_cast<double>((below + above) / 2) + 0.5;
  return midpoint(info.code_value[below], info.code_value[above], p.params.closed);
}

}  // namespace treewright
