// When a node is not split.
#pragma once

#include <algorithm>

#include "choose/chooser.hpp"
#include "data/problem.hpp"
#include "grow/node_list.hpp"

namespace treewright {

// Costs that differ by less are left to the pruner.
constexpr double kPriceMargin = 1e-12;

// Risk of a node as a leaf, a share of the total.
inline double risk_of(const Problem& p, const NodeList& list, i64 at) {
  const i64* stats = list.stats_of(at);
  if (!p.is_classification()) {
    return list[at].impurity * static_cast<double>(stats[0]) / static_cast<double>(p.total[0]);
  }
  const i32 k = p.targets.n_classes;
  auto weight = [&](const i64* stats, i32 i) {
    return static_cast<double>(stats[i]) *
           (p.targets.risk_factor.empty() ? 1 : p.targets.risk_factor[i]);
  };
  double total = 0, best = kInf;
  for (i32 i = 0; i < k; ++i) total += weight(p.total.data(), i);
  for (i32 j = 0; j < k; ++j) {
    double cost = 0;
    for (i32 i = 0; i < k; ++i) {
      const double loss = p.targets.loss.empty() ? i != j : p.targets.loss[i * k + j];
      cost += loss * weight(stats, i);
    }
    best = std::min(best, cost);
  }
  return best / total;
}

inline bool is_pure(const Problem& p, const i64* stats) {
  i64 most = 0, total = 0;
  for (i32 k = 0; k < p.targets.n_classes; ++k) {
    most = std::max(most, stats[k]);
    total += stats[k];
  }
  const Params& q = p.params;
  return static_cast<double>(total - most) <=
         std::max(q.slack / p.weight_unit, q.pure_share * static_cast<double>(total));
}

// Whether the best split of a node is made, or why not. A gain that is nothing but rounding
// becomes 0.
inline Stop worth_of(const Params& q, double gain_unit, Candidate& best) {
  if (best.kind == CandidateKind::none) return Stop::no_test;
  const double noise = 1e-15 * best.scale * 8;
  if (best.gain <= noise) {
    if (!q.zero_gain || best.gain < -noise) return Stop::gain;
    best.gain = 0;
  }
  return best.gain * gain_unit < q.min_gain ? Stop::gain : Stop::is_split;
}

// Whether a node stays a leaf, whatever a search would find.
inline bool is_terminal(const Problem& p, const NodeList& list, i64 at, i32 depth) {
  const Params& q = p.params;
  const NodeRecord& record = list[at];
  const i64* stats = list.stats_of(at);
  if (record.n_samples < q.min_split || record.n_samples < 2 * q.min_leaf || depth >= q.max_depth) {
    return true;
  }
  if (p.is_classification()) {
    if (is_pure(p, stats)) return true;
  } else if (!(record.impurity > 0)) {
    return true;
  }
  if (q.min_weight_leaf > 0 &&
      static_cast<double>(p.weight_of(stats)) * p.weight_unit < 2 * q.min_weight_leaf - q.slack) {
    return true;
  }
  return q.leaf_price >= 0 && risk_of(p, list, at) <= q.leaf_price * (1 + 1e-10);
}

// Which rule made a terminal node one: of several, what says most of its rows.
inline Stop why_terminal(const Problem& p, const NodeList& list, i64 at, i32 depth) {
  const Params& q = p.params;
  const NodeRecord& record = list[at];
  if (!record.n_samples) return Stop::empty;
  if (p.is_classification() ? is_pure(p, list.stats_of(at)) : !(record.impurity > 0)) {
    return Stop::pure;
  }
  if (depth >= q.max_depth) return Stop::depth;
  if (record.n_samples < 2 * q.min_leaf) return Stop::leaf_rows;
  if (record.n_samples < q.min_split) return Stop::split_rows;
  const double weight = static_cast<double>(p.weight_of(list.stats_of(at))) * p.weight_unit;
  return weight < 2 * q.min_weight_leaf - q.slack ? Stop::leaf_weight : Stop::price;
}

}  // namespace treewright
