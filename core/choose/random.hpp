// One cut at a uniform place between the least and the largest value (Geurts et al. 2006).
#pragma once

#include <algorithm>

#include "choose/groups.hpp"
#include "choose/order.hpp"
#include "choose/sorted.hpp"

namespace treewright {

// A place in (low, high] for x < t, in [low, high) for x <= t.
inline double random_between(const NodeView& node, i32 feature, double low, double high) {
  Philox random(node.problem.params.seed, child_path(~node.path, feature));
  const double u = random.uniform();
  if (node.problem.params.closed) {
    const double t = low + u * (high - low);
    return t < high ? t : low;
  }
  const double t = high - u * (high - low);
  return t > low ? t : high;
}

// Entries of a sorted feature that go left under a random threshold; 0 where nothing varies.
inline i64 random_entry_cut(const NodeView& node, i32 feature, const Entry* entries, i64 known,
                            double& threshold) {
  if (known < 2 || entries[0].rank == entries[known - 1].rank) return 0;
  const Column& column = node.problem.columns[feature];
  const bool closed = node.problem.params.closed;
  auto value = [&](const Entry& e) { return column.value(node.block.row(e.id)); };
  threshold = random_between(node, feature, value(entries[0]), value(entries[known - 1]));
  return std::partition_point(entries, entries + known,
                              [&](const Entry& e) {
                                return closed ? value(e) <= threshold : value(e) < threshold;
                              }) -
         entries;
}

// Groups (in g.order) that go left: a random place between codes, or, for nominal features, a
// random cut of the order by rate.
inline i64 random_group_cut(const NodeView& node, i32 feature, Groups& g, double& threshold) {
  const Problem& p = node.problem;
  const i32 n = g.size();
  if (n < 2) return 0;
  if (!p.columns[feature].ordered) {
    order_by_profile(node.criterion, p, g);
    Philox random(p.params.seed, child_path(~node.path, feature));
    return 1 + static_cast<i64>(random.below(n - 1));
  }
  const FeatureInfo& info = p.features[feature];
  auto value = [&](i64 i) {
    return info.code_value.empty() ? static_cast<double>(g.code[i]) : info.code_value[g.code[i]];
  };
  threshold = random_between(node, feature, value(0), value(n - 1));
  i64 cut = 0;
  while (p.params.closed ? value(cut) <= threshold : value(cut) < threshold) ++cut;
  return cut;
}

}  // namespace treewright
