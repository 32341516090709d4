// Bounds from tests of the same family, whose sides are nested.
//
// The best tree of more rows costs no less than that of fewer, and less by no more than what the
// further rows can cost at worst. So a side that was searched bounds its neighbours.
#pragma once

#include "optimal/rows.hpp"

namespace treewright::optimal {

class FamilyBounds {
 public:
  explicit FamilyBounds(const Problem& problem) : problem_(problem) {
    for (std::size_t t = 0; t < problem.tests.size(); ++t) {
      const i32 family = problem.tests[t].family;
      if (family < 0) continue;
      if (family >= static_cast<i32>(members_.size())) members_.resize(family + 1);
      members_[family].push_back(static_cast<i32>(t));
    }
  }

  // Forget the last node.
  void reset(Rows rows, i64 slack) {
    const std::size_t n_tests = problem_.tests.size();
    left_.assign(n_tests, -1);
    right_.assign(n_tests, -1);
    is_known_.assign(members_.size(), false);
    worst_.assign(n_tests, 0);
    rows_ = rows;
    slack_ = slack;
  }

  void learn(i32 test, i64 left, i64 right) {
    const i32 family = problem_.tests[test].family;
    if (family < 0) return;
    if (!is_known_[family]) measure(family);
    is_known_[family] = true;
    left_[test] = left;
    right_[test] = right;
  }

  // Raises the bounds of both sides of a test.
  void raise(i32 test, i64& left, i64& right) const {
    const i32 family = problem_.tests[test].family;
    if (family < 0 || !is_known_[family]) return;
    const u16 high = problem_.tests[test].high;
    for (const i32 other : members_[family]) {
      if (left_[other] < 0) continue;
      const i64 between = std::abs(worst_[test] - worst_[other]);
      const bool is_within = problem_.tests[other].high <= high;
      left = std::max(left, left_[other] - slack_ - (is_within ? 0 : between));
      right = std::max(right, right_[other] - slack_ - (is_within ? between : 0));
    }
  }

 private:
  // What the rows that pass each test of a family cost at worst.
  void measure(i32 family) {
    const Test& first = problem_.tests[members_[family].front()];
    by_bin_.assign(problem_.n_bins[first.column] + 1, 0);
    for (const i32 row : rows_) {
      const u16 bin = problem_.bins[static_cast<i64>(row) * problem_.n_columns + first.column];
      if (bin >= first.low) by_bin_[bin + 1] += problem_.worst[row];
    }
    std::partial_sum(by_bin_.begin(), by_bin_.end(), by_bin_.begin());
    for (const i32 test : members_[family]) worst_[test] = by_bin_[problem_.tests[test].high];
  }

  const Problem& problem_;
  std::vector<std::vector<i32>> members_;
  std::vector<i64> left_, right_;  // −1: not known
  std::vector<i64> worst_, by_bin_;
  std::vector<bool> is_known_;
  Rows rows_;
  i64 slack_ = 0;
};

}  // namespace treewright::optimal
