// The features as growth in place reads them; nothing here changes while a tree grows.
#pragma once

#include <cmath>
#include <vector>

#include "data/problem.hpp"

namespace treewright {

inline bool any_gap(const Column& column, i64 n) {
  for (i64 i = 0; i < n; ++i) {
    if (std::isnan(column.value(i))) return true;
  }
  return false;
}

class InPlaceColumns {
 public:
  explicit InPlaceColumns(const Problem& p)
      : p_(p), keys_(p.n_features()), codes_(p.n_features()), has_gaps_(p.n_features()) {
    for (i32 f = 0; f < p.n_features(); ++f) {
      const Column& column = p.columns[f];
      has_gaps_[f] = any_gap(column, p.n_rows);
      if (is_coded(f)) {
        codes_[f].resize(p.n_rows);
        for (i64 i = 0; i < p.n_rows; ++i) {
          codes_[f][i] = column.code(i) < 0 ? column.n_categories : column.code(i);
        }
      } else {
        keys_[f].resize(p.n_rows);
        for (i64 i = 0; i < p.n_rows; ++i) keys_[f][i] = static_cast<float>(column.value(i));
      }
    }
  }

  bool is_coded(i32 f) const { return p_.columns[f].type == ColumnType::code; }
  bool has_gaps(i32 f) const { return has_gaps_[f]; }
  bool is_gap(i32 f, i32 row) const {
    return is_coded(f) ? codes_[f][row] == p_.columns[f].n_categories : std::isnan(keys_[f][row]);
  }
  const float* keys(i32 f) const { return keys_[f].data(); }  // continuous; NaN is a gap
  // Coded; a gap is one more than the last.
  const i32* codes(i32 f) const { return codes_[f].data(); }

 private:
  const Problem& p_;
  std::vector<std::vector<float>> keys_;
  std::vector<std::vector<i32>> codes_;
  std::vector<char> has_gaps_;
};

}  // namespace treewright
