// The best split of a node, from its histogram.
//
// With sums of gradients G and hessians H, and l1 taken off |G|, a leaf is worth ½ G² / (H + l2)
// and its value is −G / (H + l2) (Friedman 2001, Chen and Guestrin 2016). A split gains what its
// two children are worth above their parent. Ordered features are cut between bins, gaps tried on
// both sides, and behind the last bin where there are gaps: known values against gaps. Nominal
// ones have their categories (gaps are one of them) ordered by G / (H + smoothing) and cut in that
// order (Fisher 1958), with an l2 of their own against the chance that many categories give.
// Candidates are compared in the order feature, cut, gaps left before right.
//
// Twin: tests/twins/boosting.py.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "binned/histogram.hpp"
#include "binned/slope_sums.hpp"
#include "boost/cut_gains.hpp"
#include "boost/params.hpp"

namespace treewright::boost {

// Between which values a node's must lie, where constraints bind.
struct Range {
  double low = -kInf, high = kInf;
  double clip(double v) const { return std::clamp(v, low, high); }
};

inline double shrunk(double gradient, double l1) {
  return gradient > l1 ? gradient - l1 : gradient < -l1 ? gradient + l1 : 0.0;
}

// What a leaf predicts, before the learning rate.
inline double leaf_value(const Moments& m, const GrowParams& p, const Range& range, double l2) {
  const double below = m.hessian + l2;
  double value = below > 0 ? -shrunk(m.gradient, p.l1) / below : 0.0;
  if (p.max_step > 0) value = std::clamp(value, -p.max_step, p.max_step);
  return range.clip(value);
}

// How a constraint orders the sides of a cut: −1, 0 (it does not) or 1. Gaps have no order, so
// behind the last bin there is none.
inline i32 order_of(const GrowParams& p, const Bins& bins, i32 f, i32 cut) {
  return p.monotonic.empty() || cut == bins.map(f).n_bins() - 1 ? 0 : p.monotonic[f];
}

// Candidates of a node: those that are better come later.
template <class Sum>
class SplitSearch {
 public:
  SplitSearch(const Bins& bins, const GrowParams& params, const Units& units)
      : bins_(bins),
        p_(params),
        units_(units),
        is_free_(params.monotonic.empty() && params.max_step <= 0) {}

  // False if no split by feature f can have two allowed sides: one of them lacks the bin that the
  // features of a shared column have in common, and the others have too few rows.
  bool may_divide(i32 f, const Sum* histogram) const {
    const Stored& stored = bins_.stored(f);
    if (!stored.is_shared()) return true;
    const Sum* byte = histogram + bins_.offset(stored.column) + stored.first;
    i64 n_rows = 0;
    for (i32 b = 0; b < stored.n_bytes; ++b) n_rows += units_.n_rows(byte[b]);
    return n_rows >= std::max<i64>(p_.min_rows, 1);
  }

  // The best split by feature f of a node that sums up to `total`, if it beats `best`.
  void feature(i32 f, const Sum* histogram, const Sum& total, const Range& range, BinSplit& best) {
    const Sum* bin = bins_of_feature(bins_, f, histogram, total, buffer_);
    const double parent = worth(units_.read(total), range, p_.l2);
    if (bins_.map(f).is_nominal) {
      nominal(f, bin, total, range, parent, best);
    } else if (is_free_) {
      ordered<false>(f, bin, total, range, parent, best);
    } else {
      ordered<true>(f, bin, total, range, parent, best);
    }
  }

  // What a node is worth as a leaf.
  double worth(const Moments& m, const Range& range, double l2) const {
    if (is_free_) {
      const double g = shrunk(m.gradient, p_.l1), below = m.hessian + l2;
      return below > 0 ? 0.5 * g * g / below : 0.0;
    }
    const double v = leaf_value(m, p_, range, l2);
    return -(m.gradient * v + 0.5 * (m.hessian + l2) * v * v + p_.l1 * std::abs(v));
  }

  bool is_allowed(const Moments& m) const {
    return m.n_rows >= p_.min_rows && m.hessian >= p_.min_hessian;
  }

  // Where a constraint binds, whether the children's values keep the order it asks for.
  bool keeps_order(i32 f, i32 cut, const Moments& left, const Moments& right,
                   const Range& range) const {
    const i32 sign = order_of(p_, bins_, f, cut);
    if (!sign) return true;
    const double l = leaf_value(left, p_, range, p_.l2), r = leaf_value(right, p_, range, p_.l2);
    return sign > 0 ? l <= r : l >= r;
  }

 private:
  static bool is_better(double gain, double best) { return gain > best + kTie * std::abs(best); }

  template <bool kBound>
  void ordered(i32 f, const Sum* bin, const Sum& total, const Range& range, double parent,
               BinSplit& best) {
    const i32 n = bins_.map(f).n_bins();
    const Moments gap = units_.read(bin[n]);
    if (!kBound && p_.l1 == 0) return unbound(f, bin, total, parent, best);
    Sum below{};
    i32 cut = -1;
    bool gap_left = false;
    double best_gain = best.gain;
    auto consider = [&](i32 b, const Moments& left, const Moments& right, bool goes_left) {
      if (!is_allowed(left) || !is_allowed(right)) return;
      if (kBound && !keeps_order(f, b, left, right, range)) return;
      const double gain = worth(left, range, p_.l2) + worth(right, range, p_.l2) - parent;
      if (is_better(gain, best_gain)) best_gain = gain, cut = b, gap_left = goes_left;
    };
    for (i32 b = 0; b + 1 < n; ++b) {
      below += bin[b];
      if (gap.n_rows) {
        const Sum left = below + bin[n];
        consider(b, units_.read(left), units_.read(total - left), true);
      }
      const Moments left = units_.read(below), right = units_.read(total - below);
      consider(b, left, right, !gap.n_rows && left.n_rows >= right.n_rows);
    }
    if (gap.n_rows) consider(n - 1, units_.read(total - bin[n]), gap, false);
    if (cut < 0) return;
    best = BinSplit{f, cut, gap_left, best_gain, gap.n_rows};
    best.left.add_up_to(cut);
    if (gap_left) best.left.add(n);
  }

  // The same without l1 and constraints, for many cuts at once.
  void unbound(i32 f, const Sum* bin, const Sum& total, double parent, BinSplit& best) {
    const i32 n = bins_.map(f).n_bins();
    const i64 n_gaps = units_.n_rows(bin[n]);
    const i64 n_between = list_cuts(bin, n);
    i64 n_cuts = n_between;
    if (n_gaps) {
      left_[n_cuts] = total - bin[n];
      cut_[n_cuts++] = static_cast<u8>(n - 1);
    }
    // As in the other searches to the bit: features that split alike must tie.
    const GainTerms terms{units_, p_.l2, parent, !n_gaps};
    const Reach with = n_gaps ? reach(n_between, bin[n], total) : Reach{};
    if (n_gaps) gains_of(with, bin[n], total, terms, gain_with_);
    const Reach without = reach(n_cuts, Sum{}, total);
    gains_of(without, Sum{}, total, terms, gain_);
    Bar bar(best.gain);
    if (!n_gaps) {
      for (i64 i = without.first; i < without.end; ++i) bar.look(gain_[i], i);
    } else {
      for (i64 i = 0; i < n_cuts; ++i) {
        if (with.has(i)) bar.look(gain_with_[i], i);
        if (without.has(i)) bar.look(gain_[i], ~i);
      }
    }
    const i64 at = bar.at < 0 ? ~bar.at : bar.at;
    bool gap_left = bar.at >= 0;
    if (bar.at == Bar::kNone) return;
    if (!n_gaps) gap_left = 2 * units_.n_rows(left_[at]) >= units_.n_rows(total);
    best = BinSplit{f, cut_[at], gap_left, bar.best, n_gaps};
    best.left.add_up_to(cut_[at]);
    if (gap_left) best.left.add(n);
  }

  // The best of many gains. What it takes to be better is worked out when one is, not for each.
  struct Bar {
    static constexpr i64 kNone = std::numeric_limits<i64>::min();
    double best, least;
    i64 at = kNone;

    explicit Bar(double gain) : best(gain), least(gain + kTie * std::abs(gain)) {}
    void look(double gain, i64 place) {
      if (__builtin_expect(gain > least, 0)) {
        best = gain, at = place;
        least = best + kTie * std::abs(best);
      }
    }
  };

  // Cuts between bins, behind those that have rows, as others divide nothing else; the first one
  // may have only gaps to its left. How many there are.
  i64 list_cuts(const Sum* bin, i32 n) {
    if (n == 1) return 0;
    Sum below = bin[0];
    i64 count = 0;
    left_[count] = below;
    cut_[count++] = 0;
    for (i32 first = 0; first < n - 1; first += 64) {
      const i32 end = std::min(n - 1 - first, 64);
      u64 used = used_bins(bin + first, end) & (first ? ~u64{0} : ~u64{1});
      for (; used; used &= used - 1) {
        const i32 b = first + __builtin_ctzll(used);
        below += bin[b];
        left_[count] = below;
        cut_[count++] = static_cast<u8>(b);
      }
    }
    return count;
  }

  // Cuts with two allowed sides, which have none between them that are not.
  struct Reach {
    i64 first = 0, end = 0;
    bool has(i64 i) const { return i >= first && i < end; }
  };
  Reach reach(i64 n_cuts, const Sum& gaps, const Sum& total) const {
    Reach found{0, n_cuts};
    while (found.first < n_cuts && !is_allowed(units_.read(left_[found.first] + gaps)))
      ++found.first;
    while (found.end > found.first &&
           !is_allowed(units_.read(total - (left_[found.end - 1] + gaps))))
      --found.end;
    return found;
  }

  void gains_of(const Reach& reach, const Sum& gaps, const Sum& total, const GainTerms& terms,
                double* gain) const {
    const i64 n = reach.end - reach.first;
    if constexpr (kInVectors<Sum>) {
      if (n > kFew)
        return cut_gains(left_ + reach.first, n, gaps, total, terms, gain + reach.first);
    }
    for (i64 i = reach.first; i < reach.end; ++i) {
      const Sum left = left_[i] + gaps;
      gain[i] = cut_gain(units_.read(left), units_.read(total - left), terms);
    }
  }
  static constexpr i64 kFew = 2;  // that take longer at once; columns of one-hot codes have one

  void nominal(i32 f, const Sum* bin, const Sum& total, const Range& range, double parent,
               BinSplit& best) {
    const i32 n = bins_.map(f).n_bins();
    order_.clear();
    for (i32 b = 0; b <= n; ++b) {
      const Moments m = units_.read(bin[b]);
      if (m.n_rows) order_.push_back({m.gradient / (m.hessian + p_.nominal_smoothing), b});
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [](const auto& a, const auto& b) { return a.rate < b.rate; });
    const i64 n_seen = static_cast<i64>(order_.size());
    // Two categories leave nothing to choose.
    const double l2 = n_seen > 2 ? p_.l2 + p_.nominal_l2 : p_.l2;
    double best_gain = best.gain;
    i64 first = -1;
    Sum below{};
    for (i64 i = 0; i + 1 < n_seen; ++i) {
      below += bin[order_[i].bin];
      const i64 smaller = std::min(i + 1, n_seen - i - 1);
      if (p_.nominal_max_groups && smaller > p_.nominal_max_groups) continue;
      const Moments left = units_.read(below), right = units_.read(total - below);
      if (!is_allowed(left) || !is_allowed(right)) continue;
      const double gain = worth(left, range, l2) + worth(right, range, l2) - parent;
      if (is_better(gain, best_gain)) best_gain = gain, first = i;
    }
    if (first < 0) return;
    const Moments gap = units_.read(bin[n]);
    best = BinSplit{f, -1, false, best_gain, gap.n_rows};
    i64 n_left = 0;
    for (i64 i = 0; i < n_seen; ++i) {
      best.seen.add(order_[i].bin);
      if (i <= first)
        best.left.add(order_[i].bin), n_left += units_.read(bin[order_[i].bin]).n_rows;
    }
    best.gap_left = gap.n_rows ? best.left.has(n) : 2 * n_left >= units_.read(total).n_rows;
    if (best.gap_left) {
      for (i32 b = 0; b <= n; ++b) {
        if (!best.seen.has(b)) best.left.add(b);
      }
    }
  }

  struct Ordered {
    double rate;
    i32 bin;
  };

  const Bins& bins_;
  const GrowParams& p_;
  const Units& units_;
  const bool is_free_;
  std::vector<Ordered> order_;
  static constexpr i64 kMostCuts = 256 + kCutsAtOnce;
  Sum left_[kMostCuts];
  u8 cut_[kMostCuts];
  double gain_[kMostCuts], gain_with_[kMostCuts];
  std::vector<Sum> buffer_;
};

}  // namespace treewright::boost
