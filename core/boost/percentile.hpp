// Percentiles of weighted numbers.
#pragma once

#include <algorithm>
#include <vector>

#include "base/types.hpp"

namespace treewright::boost {

struct Weighed {
  double value, weight;
};

// The least value with at least `share` of the weight up to it; halfway to the next where it is
// just that.
inline double weighted_percentile(std::vector<Weighed>& items, double share) {
  if (items.empty()) return 0;
  std::sort(items.begin(), items.end(),
            [](const Weighed& a, const Weighed& b) { return a.value < b.value; });
  double total = 0;
  for (const Weighed& item : items) total += item.weight;
  const double wanted = share * total;
  double held = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    held += items[i].weight;
    if (held > wanted) return items[i].value;
    if (held == wanted && i + 1 < items.size())
      return items[i].value + (items[i + 1].value - items[i].value) / 2;
  }
  return items.back().value;
}

// Mean of what items differ from `centre`, by at most `limit` (Friedman 2001, Huber's leaves).
inline double mean_within(const std::vector<Weighed>& items, double centre, double limit) {
  double sum = 0, total = 0;
  for (const Weighed& item : items) {
    sum += item.weight * std::clamp(item.value - centre, -limit, limit);
    total += item.weight;
  }
  return total > 0 ? sum / total : 0;
}

}  // namespace treewright::boost
