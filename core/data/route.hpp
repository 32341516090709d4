// Evaluates a Split on a row of the user's columns.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/term.hpp"
#include "base/types.hpp"

namespace treewright {

constexpr i32 kNoBranch = -1;

// Branch of a row, or kNoBranch for a gap.
inline i32 branch_of(const Split& split, const std::vector<Column>& columns, i64 row) {
  double value = 0;
  if (split.kind == SplitKind::linear) {
    for (std::size_t k = 0; k < split.term_feature.size(); ++k) {
      value += split.term_weight[k] *
               term_value(columns[split.term_feature[k]].value(row), split.term_code[k]);
    }
  } else if (split.kind == SplitKind::codes) {
    const i32 code = columns[split.feature].code(row);
    const auto at = std::lower_bound(split.codes.begin(), split.codes.end(), code);
    if (at == split.codes.end() || *at != code) return kNoBranch;  // a gap among them
    return split.branches[at - split.codes.begin()];
  } else {
    value = columns[split.feature].value(row);
  }
  if (std::isnan(value)) return kNoBranch;
  i32 branch = 0;
  for (double b : split.breaks) branch += split.closed ? value > b : value >= b;
  return split.reversed ? 1 - branch : branch;
}

}  // namespace treewright
