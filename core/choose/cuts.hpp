// Scoring of cuts: instances or groups move from right to left, one after another.
#pragma once

#include <algorithm>
#include <cmath>

#include "choose/chooser.hpp"

namespace treewright {

// One pass over the cuts of a feature: what counts, and what is added to both sides.
struct Pass {
  const i64* total;  // stats of everything that takes part
  i64 n_total;       // and its instances
  double base;       // side(parent), less what an own branch for gaps brings
  bool gaps_left = false;
  bool learned = false;
};

// Magnitude of what a gain is a difference of: its rounding error is a few ulps of this. Number
// criteria are centred and exact in this respect.
inline double gain_scale(const CriterionView& v, const Problem& p, const i64* total) {
  double sum = 0;
  for (i32 k = 0; p.is_classification() && k < v.n_classes; ++k) sum += class_weight(v, total, k);
  return sum;
}

inline double location(const CriterionView& v, const Problem& p, const i64* stats) {
  if (!p.is_classification()) return static_cast<double>(stats[1]) / static_cast<double>(stats[0]);
  const double x1 = class_weight(v, stats, 1);
  return x1 / (class_weight(v, stats, 0) + x1);
}

// Conditions that a pair of children must meet, besides the criterion.
struct Admission {
  i64 min_leaf;
  double min_weight;  // scaled
  i32 direction;      // monotonic constraint of the feature

  Admission(const NodeView& node, i32 feature) {
    const Problem& p = node.problem;
    min_leaf = std::max<i64>(p.params.min_leaf, 1);
    min_weight = p.params.min_weight_leaf / p.weight_unit;
    direction = p.params.monotonic.empty() ? 0 : p.params.monotonic[feature];
  }

  bool is_free() const { return direction == 0 && min_weight <= 0; }

  bool allows(const NodeView& node, const i64* left, const i64* right) const {
    const Problem& p = node.problem;
    if (min_weight > 0 && (static_cast<double>(p.weight_of(left)) < min_weight ||
                           static_cast<double>(p.weight_of(right)) < min_weight)) {
      return false;
    }
    if (direction == 0) return true;  // values are clipped to the bounds instead
    const double l = location(node.criterion, p, left), r = location(node.criterion, p, right);
    return l >= node.lower && l <= node.upper && r >= node.lower && r <= node.upper &&
           (l - r) * direction <= 0;
  }
};

// Scores the cut that `left` describes and keeps it if it beats the best so far.
template <class C>
inline void consider(const NodeView& node, const Pass& pass, const Admission& admission,
                     const i64* left, i64* right, i64 n_left, i64 cut, u64 mask, Candidate& best,
                     CandidateKind kind) {
  if (n_left < admission.min_leaf || pass.n_total - n_left < admission.min_leaf) return;
  const i32 s = node.problem.n_stats;
  for (i32 k = 0; k < s; ++k) right[k] = pass.total[k] - left[k];
  Candidate candidate;
  if constexpr (requires { C::pairwise; }) {
    candidate.gain = C::gain(left, right, node.criterion);
  } else {
    candidate.gain = C::side(left, node.criterion) + C::side(right, node.criterion) - pass.base;
  }
  candidate.kind = kind;
  if (!(candidate.gain > -kInf) || !candidate.beats(best)) return;
  if (!admission.is_free() && !admission.allows(node, left, right)) return;
  best.kind = kind;
  best.gain = candidate.gain;
  best.scale = gain_scale(node.criterion, node.problem, pass.total) + std::abs(pass.base);
  best.cut = cut;
  best.mask = mask;
  best.gaps_left = pass.gaps_left;
  best.learned_gaps = pass.learned;
}

// The best ratio numerator/denominator over positions, compared without dividing. A later one
// must be larger by more than a tie.
struct BestRatio {
  double numerator = 0, denominator = 1;
  i64 cut = -1;
  double margin;

  explicit BestRatio(double tie) : margin(1 + tie) {}
  double bar() const { return numerator * margin; }
  void offer(double num, double den, i64 at) {
    if (num * denominator > bar() * den) {
      numerator = num;
      denominator = den;
      cut = at;
    }
  }
};

}  // namespace treewright
