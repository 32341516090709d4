// Rules that vote: which rows they cover, for which class, and how strongly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/binding.hpp"

namespace treewright::rules {

constexpr double kLeastSaving = 1e-9;  // bits; rounding saves nothing

inline bool are_below(std::span<const std::int32_t> values, std::int64_t end) {
  return std::all_of(values.begin(), values.end(),
                     [end](std::int32_t v) { return v >= 0 && v < end; });
}

inline void check_coverage(std::span<const std::int64_t> offset, std::span<const std::int32_t> rows,
                           std::int64_t n_rows) {
  if (offset.front() != 0 || offset.back() != std::ssize(rows) ||
      !std::is_sorted(offset.begin(), offset.end()))
    refuse("The offsets of the rules do not fit their rows.");
  if (!are_below(rows, n_rows)) refuse("A row is out of range.");
}

struct Voting {
  std::span<const std::int64_t> offset;  // rule r covers rows[offset[r]:offset[r + 1]]
  std::span<const std::int32_t> rows;
  std::span<const std::int32_t> label;  // per rule
  std::span<const double> strength;
  std::span<const std::int32_t> y;  // per row
  std::int32_t n_classes;

  std::int64_t n_rules() const { return std::ssize(label); }
  std::int64_t n_rows() const { return std::ssize(y); }
  std::span<const std::int32_t> rows_of(std::int64_t rule) const {
    return rows.subspan(offset[rule], offset[rule + 1] - offset[rule]);
  }

  void check() const {
    if (std::ssize(offset) != n_rules() + 1 || std::ssize(strength) != n_rules())
      refuse("The arrays of the rules differ in length.");
    check_coverage(offset, rows, n_rows());
    if (!are_below(label, n_classes) || !are_below(y, n_classes))
      refuse("A class is out of range.");
  }
};

// The rules that cover each row.
struct RowRules {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> rules;

  RowRules(std::span<const std::int64_t> offset, std::span<const std::int32_t> rows,
           std::int64_t n_rows)
      : start(n_rows + 1, 0), rules(rows.size()) {
    for (const std::int32_t row : rows) ++start[row + 1];
    for (std::int64_t row = 0; row < n_rows; ++row) start[row + 1] += start[row];
    std::vector<std::int64_t> at(start.begin(), start.end() - 1);
    for (std::int64_t r = 0; r + 1 < std::ssize(offset); ++r)
      for (std::int64_t i = offset[r]; i < offset[r + 1]; ++i)
        rules[at[rows[i]]++] = static_cast<std::int32_t>(r);
  }

  std::span<const std::int32_t> of(std::int64_t row) const {
    return {rules.data() + start[row], static_cast<std::size_t>(start[row + 1] - start[row])};
  }
};

}  // namespace treewright::rules
