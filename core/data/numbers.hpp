// Location and impurity of a node's numbers, the same for any order of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/problem.hpp"

namespace treewright {

enum class NumberCriterion : u8 { squared, absolute, poisson };

// Σ term(i) in an order-free way: terms are rounded to integers on a grid fixed by their bound.
template <class Term>
double ordered_free_sum(i64 n, double bound_of_sum, Term&& term) {
  if (!(bound_of_sum > 0)) return 0;
  int exponent = 0;
  std::frexp(bound_of_sum, &exponent);
  const double scale = std::ldexp(1.0, std::clamp(60 - exponent, -1000, 1000));
  i64 sum = 0;
  for (i64 i = 0; i < n; ++i) sum += std::llrint(term(i) * scale);
  return static_cast<double>(sum) / scale;
}

// Weighted median of (y, weight) pairs: the mean of the two middle values where the halves meet.
inline double weighted_median(std::vector<std::pair<double, double>>& items) {
  std::sort(items.begin(), items.end());
  double total = 0;
  for (const auto& item : items) total += item.second;
  double below = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    below += items[i].second;
    if (below > total / 2) return items[i].first;
    if (below == total / 2 && i + 1 < items.size()) {
      return items[i].first / 2 + items[i + 1].first / 2;
    }
  }
  return items.back().first;
}

// Fills value (one location per output) and returns the mean impurity per unit of weight.
inline double describe_numbers(const Problem& p, NumberCriterion criterion, const Block& block,
                               i64 begin, i64 end, const i64* stats, double* value) {
  const i32 outputs = p.targets.n_outputs;
  const i64 n = end - begin;
  const double total = static_cast<double>(stats[0]) * p.weight_unit;
  double impurity = 0;
  std::vector<std::pair<double, double>> items;
  for (i32 o = 0; o < outputs; ++o) {
    auto y = [&](i64 i) {
      return block.target.y[static_cast<i64>(block.ids[begin + i]) * outputs + o];
    };
    auto w = [&](i64 i) {
      return block.target.weight
                 ? static_cast<double>(block.target.weight[block.ids[begin + i]]) * p.weight_unit
                 : 1.0;
    };
    double low = y(0), high = low;
    for (i64 i = 1; i < n; ++i) {
      low = std::min(low, y(i));
      high = std::max(high, y(i));
    }
    if (low == high || !(total > 0)) {
      value[o] = low;
      continue;
    }
    if (criterion == NumberCriterion::absolute) {
      items.clear();
      for (i64 i = 0; i < n; ++i) items.emplace_back(y(i), w(i));
      const double median = value[o] = weighted_median(items);
      impurity += ordered_free_sum(n, total * (high - low),
                                   [&](i64 i) { return w(i) * std::abs(y(i) - median); });
      continue;
    }
    const double mean = value[o] = static_cast<double>(stats[1 + o]) * p.y_unit / total;
    if (criterion == NumberCriterion::squared) {
      impurity += ordered_free_sum(n, total * (high - low) * (high - low),
                                   [&](i64 i) { return w(i) * (y(i) - mean) * (y(i) - mean); });
    } else {  // half Poisson deviance: Σ w (y ln(y / mean) − y + mean)
      impurity += ordered_free_sum(
          n, total * (high * (std::abs(std::log(high / mean)) + 1) + mean), [&](i64 i) {
            const double yi = y(i);
            return w(i) * ((yi > 0 ? yi * std::log(yi / mean) : 0) - yi + mean);
          });
    }
  }
  return total > 0 ? impurity / total / outputs : 0;
}

}  // namespace treewright
