// Is the target independent of the branch? The test that `max_p_value` asks of every split.
//
// Classes: Pearson's chi-squared; a table of two branches and two classes gets Fisher's exact test
// where an expected count is below 5, and Yates' correction where one is below 10. Numbers: the F
// test of one-way analysis of variance. The twin is treewright.tree.growing.significance.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/tails.hpp"
#include "data/numbers.hpp"
#include "grow/growth.hpp"

namespace treewright {

constexpr double kFisherBelow = 5, kYatesBelow = 10;

// Of a table with two rows and two columns, where it is small; `plain` otherwise.
inline double small_table_p(const double (&t)[2][2], double plain) {
  const double row[2] = {t[0][0] + t[0][1], t[1][0] + t[1][1]};
  const double column[2] = {t[0][0] + t[1][0], t[0][1] + t[1][1]};
  const double total = row[0] + row[1];
  const double least = std::min(row[0], row[1]) * std::min(column[0], column[1]) / total;
  if (least >= kYatesBelow) return plain;
  bool is_whole = true;
  for (const auto& r : t) {
    for (const double x : r) is_whole = is_whole && std::abs(x - std::rint(x)) < 1e-9;
  }
  if (least < kFisherBelow && is_whole) {
    return fisher_tail(std::rint(t[0][0]), std::rint(t[0][1]), std::rint(t[1][0]),
                       std::rint(t[1][1]));
  }
  const double gap = std::abs(t[0][0] * t[1][1] - t[0][1] * t[1][0]);
  const double left = gap - std::min(gap, total / 2);
  return chi_squared_tail(1, total * left * left / (row[0] * row[1] * column[0] * column[1]));
}

// `cells` holds the class weights of one branch after the other.
inline double class_table_p(std::span<const double> cells, i32 n_classes) {
  const i64 n = static_cast<i64>(cells.size()) / n_classes;
  std::vector<double> by_class(n_classes, 0.0), by_branch(n, 0.0);
  double total = 0;
  for (i64 b = 0; b < n; ++b) {
    for (i32 k = 0; k < n_classes; ++k) {
      by_branch[b] += cells[b * n_classes + k];
      by_class[k] += cells[b * n_classes + k];
    }
    total += by_branch[b];
  }
  const auto is_there = [](double weight) { return weight > 0; };
  const i64 branches = std::count_if(by_branch.begin(), by_branch.end(), is_there);
  const i64 classes = std::count_if(by_class.begin(), by_class.end(), is_there);
  const double df = static_cast<double>(branches - 1) * static_cast<double>(classes - 1);
  if (!(df > 0)) return 1;
  double statistic = 0;
  for (i64 b = 0; b < n; ++b) {
    for (i32 k = 0; k < n_classes; ++k) {
      const double expected = by_branch[b] * by_class[k] / total;
      const double off = cells[b * n_classes + k] - expected;
      if (expected > 0) statistic += off * off / expected;
    }
  }
  const double p = chi_squared_tail(df, statistic);
  if (branches != 2 || classes != 2) return p;
  double square[2][2] = {};
  i32 r = 0;
  for (i64 b = 0; b < n; ++b) {
    if (!(by_branch[b] > 0)) continue;
    i32 c = 0;
    for (i32 k = 0; k < n_classes; ++k) {
      if (by_class[k] > 0) square[r][c++] = cells[b * n_classes + k];
    }
    ++r;
  }
  return small_table_p(square, p);
}

// Σ w (y − mean)², averaged over outputs, of a child whose impurity is not that.
inline double squares_of(const Problem& p, const Block& block, const Pending& kid,
                         const i64* stats) {
  const i32 outputs = p.targets.n_outputs;
  const double weight = static_cast<double>(stats[0]) * p.weight_unit;
  double sum = 0;
  for (i32 o = 0; o < outputs; ++o) {
    const double shift = p.targets.shift.empty() ? 0 : p.targets.shift[o];
    const double mean = static_cast<double>(stats[1 + o]) * p.y_unit / weight + shift;
    auto off = [&](i64 i) {
      return block.target.y[static_cast<i64>(block.ids[kid.begin + i]) * outputs + o] - mean;
    };
    double widest = 0;
    for (i64 i = 0; i < kid.size(); ++i) widest = std::max(widest, std::abs(off(i)));
    sum += ordered_free_sum(kid.size(), weight * widest * widest, [&](i64 i) {
      const i64 scaled = instance_weight(block.target, block.ids[kid.begin + i]);
      return static_cast<double>(scaled) * p.weight_unit * off(i) * off(i);
    });
  }
  return sum / outputs;
}

// The p-value of a split from the records of its children. `block_of` gives the block of a child
// of numbers; the squares of several outputs are averaged.
template <class BlockOf>
double split_p(const Problem& p, NumberCriterion criterion, const NodeList& list,
               std::span<const Pending> kids, BlockOf&& block_of) {
  if (p.is_classification()) {
    std::vector<double> cells;
    cells.reserve(kids.size() * p.n_stats);
    for (const Pending& kid : kids) {
      const i64* stats = list.stats_of(kid.record);
      for (i32 k = 0; k < p.n_stats; ++k) {
        cells.push_back(static_cast<double>(stats[k]) * p.weight_unit);
      }
    }
    return class_table_p(cells, p.n_stats);
  }
  const i32 outputs = p.targets.n_outputs;
  auto weight_of = [&](i64 at) {
    return static_cast<double>(list.stats_of(at)[0]) * p.weight_unit;
  };
  auto mean_of = [&](i64 at, i32 o) {
    return static_cast<double>(list.stats_of(at)[1 + o]) * p.y_unit / weight_of(at);
  };
  double total = 0, within = 0, between = 0;
  i32 branches = 0;
  std::vector<double> mean(outputs, 0.0);
  for (const Pending& kid : kids) {
    const double weight = weight_of(kid.record);
    if (!kid.size() || !(weight > 0)) continue;
    ++branches;
    total += weight;
    for (i32 o = 0; o < outputs; ++o) mean[o] += weight * mean_of(kid.record, o);
    within += criterion == NumberCriterion::squared
                  ? weight * list[kid.record].impurity
                  : squares_of(p, block_of(kid), kid, list.stats_of(kid.record));
  }
  if (branches < 2 || !(total > branches)) return 1;
  for (const Pending& kid : kids) {
    const double weight = weight_of(kid.record);
    if (!kid.size() || !(weight > 0)) continue;
    for (i32 o = 0; o < outputs; ++o) {
      const double off = mean_of(kid.record, o) - mean[o] / total;
      between += weight * off * off / outputs;
    }
  }
  // weights, not rows: a weight of two is a row that came twice
  return f_tail(branches - 1, total - branches, between, within);
}

}  // namespace treewright
