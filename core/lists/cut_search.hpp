// The best cut of an ordered attribute at every open node, in one pass over its sorted list.
//
// Entries of many nodes come interleaved, each node's in ascending order and its gaps (NaN) first.
// A node keeps what lies left of the next cut and the best cut so far. Scores and ties are those
// of the growth loop in memory (choose/sorted.hpp, choose/cuts.hpp): integers until the last step
// where all weights are one and no value is missing; otherwise both sides are tried for the gaps.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "choose/cuts.hpp"
#include "criteria/gini.hpp"

namespace treewright::lists {

enum class Found : u8 { none = 0, cut = 1, only_gaps = 2 };

struct Best {
  Found kind = Found::none;
  double gain = -kInf, scale = 0, below = 0, above = 0;
  bool gaps_left = false;

  // As Candidate::beats.
  bool is_beaten_by(double other) const {
    return kind == Found::none || other > gain + kTie * std::abs(gain) + 1e-15 * scale;
  }
};

class CutSearch {
 public:
  // totals: class weights of `n` slots from `first` on; rows: how many rows each has.
  CutSearch(std::span<const i64> totals, std::span<const i64> rows, i32 n_classes, i32 first,
            i64 min_leaf, bool unit)
      : k_(n_classes),
        first_(first),
        min_leaf_(std::max<i64>(min_leaf, 1)),
        unit_(unit),
        total_(totals.begin(), totals.end()),
        rows_(rows.begin(), rows.end()),
        slots_(rows.size()),
        left_(totals.size(), 0),
        gap_(totals.size(), 0),
        right_(n_classes),
        known_(n_classes) {
    view_.n_classes = k_;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      for (i32 c = 0; c < k_ && unit_; ++c) {  // squares of scaled weights would be too large
        const i64 x = total_[s * k_ + c];
        slots_[s].right_squares += x * x;
      }
      slots_[s].ratio = BestRatio(k_ == 2 ? kTie : 1e-14);
      if (k_ != 2) slots_[s].ratio.numerator = -1;
    }
  }

  bool takes(i32 slot) const { return static_cast<u32>(slot - first_) < slots_.size(); }

  void take(i32 slot, double value, i32 label, i64 weight) {
    const std::size_t at = slot - first_;
    Slot& s = slots_[at];
    i64* left = left_.data() + at * k_;
    if (value != value) {
      ++s.n_gaps;
      gap_[at * k_ + label] += weight;
      return;
    }
    if (value != s.last) {
      if (s.n_left) boundary(at, value);
      s.last = value;
    }
    ++s.n_left;
    if (k_ != 2 && unit_) {
      s.left_squares += 2 * left[label] + 1;
      s.right_squares -= 2 * (total_[at * k_ + label] - left[label]) - 1;
    }
    left[label] += weight;
  }

  // The best of each slot, once all entries were taken.
  Best best(std::size_t at) {
    Slot& s = slots_[at];
    if (!has_counts_alone(s)) return with_gaps(at);
    Best best;
    const double n = static_cast<double>(rows_[at]);
    if (s.ratio.cut < 0 && !s.any) return best;
    best.kind = Found::cut;
    const bool improves = s.ratio.cut >= 0;
    best.below = improves ? s.below : s.first_below;
    best.above = improves ? s.above : s.first_above;
    if (k_ == 2) {
      best.gain = 2 * s.ratio.numerator / s.ratio.denominator / n;
    } else {
      double squares = 0;
      for (i32 c = 0; c < k_; ++c) {
        squares +=
            static_cast<double>(total_[at * k_ + c]) * static_cast<double>(total_[at * k_ + c]);
      }
      best.gain = s.ratio.numerator / s.ratio.denominator - squares / n;
      best.scale = n;
    }
    return best;
  }

  i64 n_gaps(std::size_t at) const { return slots_[at].n_gaps; }
  std::size_t size() const { return slots_.size(); }

 private:
  struct Slot {
    double last = -kInf;
    i64 n_left = 0, n_gaps = 0, left_squares = 0, right_squares = 0;
    BestRatio ratio{kTie};  // without gaps and weights
    double below = 0, above = 0, first_below = 0, first_above = 0;
    bool any = false;
    Best right, left;  // otherwise: gaps on the right, on the left
  };

  bool has_counts_alone(const Slot& s) const { return unit_ && !s.n_gaps; }

  // A cut between the last value and `above`.
  void boundary(std::size_t at, double above) {
    Slot& s = slots_[at];
    const i64 n = rows_[at], nl = s.n_left;
    if (!has_counts_alone(s)) {
      consider(at, left_.data() + at * k_, nl, s.last, above, false, s.right);
      if (!s.n_gaps) return;
      for (i32 c = 0; c < k_; ++c) known_[c] = left_[at * k_ + c] + gap_[at * k_ + c];
      consider(at, known_.data(), nl + s.n_gaps, s.last, above, true, s.left);
      return;
    }
    if (nl < min_leaf_ || n - nl < min_leaf_) return;
    if (!s.any) {
      s.any = true;
      s.first_below = s.last;
      s.first_above = above;
    }
    const double l = static_cast<double>(nl), r = static_cast<double>(n - nl);
    const i64 before = s.ratio.cut;
    if (k_ == 2) {
      const double d = static_cast<double>(n * left_[at * 2 + 1] - nl * total_[at * 2 + 1]);
      s.ratio.offer(d * d, l * r, nl);
    } else {
      s.ratio.offer(
          static_cast<double>(s.left_squares) * r + static_cast<double>(s.right_squares) * l, l * r,
          nl);
    }
    if (s.ratio.cut == before) return;
    s.below = s.last;
    s.above = above;
  }

  void consider(std::size_t at, const i64* left, i64 n_left, double below, double above,
                bool gaps_left, Best& best) {
    if (n_left < min_leaf_ || rows_[at] - n_left < min_leaf_) return;
    const i64* total = total_.data() + at * k_;
    for (i32 c = 0; c < k_; ++c) right_[c] = total[c] - left[c];
    const double base = Gini::side(total, view_);
    const double gain = Gini::side(left, view_) + Gini::side(right_.data(), view_) - base;
    if (!best.is_beaten_by(gain)) return;
    double sum = 0;
    for (i32 c = 0; c < k_; ++c) sum += static_cast<double>(total[c]);
    best = {Found::cut, gain, sum + std::abs(base), below, above, gaps_left};
  }

  Best with_gaps(std::size_t at) {
    Slot& s = slots_[at];
    if (!s.n_gaps || !s.n_left) return s.right;
    // Known against gap is a test as well: everything known goes left.
    Best best = s.right, apart;
    for (i32 c = 0; c < k_; ++c) known_[c] = total_[at * k_ + c] - gap_[at * k_ + c];
    consider(at, known_.data(), rows_[at] - s.n_gaps, 0, 0, false, apart);
    if (apart.kind != Found::none && best.is_beaten_by(apart.gain)) {
      best = apart;
      best.kind = Found::only_gaps;
    }
    if (s.left.kind != Found::none && best.is_beaten_by(s.left.gain)) best = s.left;
    return best;
  }

  i32 k_, first_;
  i64 min_leaf_;
  bool unit_;
  std::vector<i64> total_, rows_;
  std::vector<Slot> slots_;
  std::vector<i64> left_, gap_, right_, known_;
  CriterionView view_;
};

}  // namespace treewright::lists
