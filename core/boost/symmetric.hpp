// One test for all leaves of a level (oblivious trees).
//
// What a test gains is summed over the leaves that it divides into allowed children; nominal
// features are ordered by the sums over all leaves.
#pragma once

#include "boost/split_search.hpp"

namespace treewright::boost {

template <class Sum>
struct LevelLeaf {
  const Sum* histogram;
  Sum total;
  Range range;
};

template <class Sum>
class LevelSearch {
 public:
  LevelSearch(const Bins& bins, const GrowParams& params, const Units& units,
              const std::vector<LevelLeaf<Sum>>& leaves)
      : bins_(bins), p_(params), units_(units), leaves_(leaves), one_(bins, params, units) {}

  void feature(i32 f, BinSplit& best) {
    const bool is_nominal = bins_.map(f).is_nominal;
    const i32 n = bins_.map(f).n_bins();
    add_up(f);
    const i64 n_gaps = units_.read(sums_[n]).n_rows;
    order_.clear();
    for (i32 b = 0; b < n + is_nominal; ++b) {
      if (!is_nominal || units_.read(sums_[b]).n_rows) order_.push_back(b);
    }
    if (is_nominal) {
      auto rate = [&](i32 b) {
        const Moments m = units_.read(sums_[b]);
        return m.gradient / (m.hessian + p_.nominal_smoothing);
      };
      std::stable_sort(order_.begin(), order_.end(),
                       [&](i32 a, i32 b) { return rate(a) < rate(b); });
    }
    const double l2 = p_.l2 + (is_nominal && order_.size() > 2 ? p_.nominal_l2 : 0.0);
    const bool both = !is_nominal && n_gaps;
    for (const bool gap_left : {true, false}) {
      if (gap_left && !both) continue;
      // Behind the last bin known values are cut from gaps.
      const i64 n_cuts = std::ssize(order_) - 1 + (both && !gap_left);
      gains_.assign(order_.size(), 0.0);
      for (const LevelLeaf<Sum>& leaf : leaves_) add_gains(f, leaf, n_cuts, gap_left, l2);
      for (i64 i = 0; i < n_cuts; ++i) {
        if (gains_[i] > best.gain + kTie * std::abs(best.gain)) keep(f, i, gap_left, n_gaps, best);
      }
    }
  }

  // Whether a test makes two allowed children of a leaf; its gain and gaps there are noted.
  bool divides(const LevelLeaf<Sum>& leaf, BinSplit& split) {
    const Sum* bin = bins_of_feature(bins_, split.feature, leaf.histogram, leaf.total, buffer_);
    const i32 n = bins_.gap_bin(split.feature);
    Sum below{};
    for (i32 b = 0; b <= n; ++b) {
      if (split.left.has(b)) below += bin[b];
    }
    const Moments left = units_.read(below), right = units_.read(leaf.total - below);
    split.n_gaps = units_.read(bin[n]).n_rows;
    split.gain = one_.worth(left, leaf.range, p_.l2) + one_.worth(right, leaf.range, p_.l2) -
                 one_.worth(units_.read(leaf.total), leaf.range, p_.l2);
    return one_.is_allowed(left) && one_.is_allowed(right);
  }

 private:
  void add_up(i32 f) {
    const i32 n = bins_.gap_bin(f) + 1;
    sums_.assign(n, Sum{});
    for (const LevelLeaf<Sum>& leaf : leaves_) {
      const Sum* bin = bins_of_feature(bins_, f, leaf.histogram, leaf.total, buffer_);
      for (i32 b = 0; b < n; ++b) sums_[b] += bin[b];
    }
  }

  void add_gains(i32 f, const LevelLeaf<Sum>& leaf, i64 n_cuts, bool gap_left, double l2) {
    const Sum* bin = bins_of_feature(bins_, f, leaf.histogram, leaf.total, buffer_);
    const double parent = one_.worth(units_.read(leaf.total), leaf.range, p_.l2);
    Sum below = gap_left ? bin[bins_.gap_bin(f)] : Sum{};
    for (i64 i = 0; i < n_cuts; ++i) {
      below += bin[order_[i]];
      const Moments left = units_.read(below), right = units_.read(leaf.total - below);
      if (!one_.is_allowed(left) || !one_.is_allowed(right)) continue;
      const bool is_bound = !one_.keeps_order(f, order_[i], left, right, leaf.range);
      gains_[i] +=
          is_bound ? -kInf
                   : one_.worth(left, leaf.range, l2) + one_.worth(right, leaf.range, l2) - parent;
    }
  }

  void keep(i32 f, i64 last, bool gap_left, i64 n_gaps, BinSplit& best) const {
    const bool is_nominal = bins_.map(f).is_nominal;
    const i32 n = bins_.map(f).n_bins();
    best = BinSplit{f, is_nominal ? -1 : order_[last], gap_left, gains_[last], n_gaps};
    i64 n_left = 0, n_all = 0;
    for (i64 i = 0; i < std::ssize(order_); ++i) {
      const i64 n_rows = units_.read(sums_[order_[i]]).n_rows;
      best.seen.add(order_[i]);
      if (i <= last) best.left.add(order_[i]), n_left += n_rows;
      n_all += n_rows;
    }
    if (is_nominal && n_gaps) best.gap_left = best.left.has(n);
    if (!n_gaps) best.gap_left = 2 * n_left >= n_all;
    for (i32 b = is_nominal ? 0 : n; best.gap_left && b <= n; ++b) {
      if (!is_nominal || !best.seen.has(b)) best.left.add(b);
    }
  }

  const Bins& bins_;
  const GrowParams& p_;
  const Units& units_;
  const std::vector<LevelLeaf<Sum>>& leaves_;
  SplitSearch<Sum> one_;
  std::vector<Sum> sums_, buffer_;
  std::vector<i32> order_;
  std::vector<double> gains_;
};

}  // namespace treewright::boost
