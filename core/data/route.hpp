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
      const Column& column = columns[split.term_feature[k]];
      if (column.type == ColumnType::code && column.code(row) < 0) return kNoBranch;
      const double x = column.type == ColumnType::code ? column.code(row) : column.value(row);
      value += split.term_weight[k] * term_value(x, split.term_code[k]);
    }
  } else {
    const Column& column = columns[split.feature];
    if (column.type == ColumnType::code) {
      const i32 code = column.code(row);
      if (code < 0) return kNoBranch;
      if (split.kind == SplitKind::codes) {
        const auto at = std::lower_bound(split.codes.begin(), split.codes.end(), code);
        if (at == split.codes.end() || *at != code) return kNoBranch;
        return split.branches[at - split.codes.begin()];
      }
      value = code;
    } else {
      value = column.value(row);
    }
  }
  if (std::isnan(value)) return kNoBranch;
  i32 branch = 0;
  for (double b : split.breaks) branch += split.closed ? value > b : value >= b;
  return split.reversed ? 1 - branch : branch;
}

}  // namespace treewright
