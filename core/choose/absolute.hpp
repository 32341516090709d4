// Absolute error: each side is charged Σ w |y − median|.
//
// No stats vector describes a median, so this chooser walks instances. A Fenwick tree over the
// ranks of y holds weight and weighted sum; the cost after each instance takes O(log n), once from
// the left and once from the right.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "choose/cuts.hpp"
#include "choose/groups.hpp"
#include "choose/random.hpp"
#include "choose/sorted.hpp"

namespace treewright {

class MedianTree {
 public:
  explicit MedianTree(i64 n) : weight_(n + 1, 0), sum_(n + 1, 0), n_(n) {
    while (step_ * 2 <= n) step_ *= 2;
  }
  void clear() {
    std::fill(weight_.begin(), weight_.end(), 0);
    std::fill(sum_.begin(), sum_.end(), 0);
    total_weight_ = total_sum_ = 0;
  }
  void add(i64 rank, i64 weight, i64 sum) {
    total_weight_ += weight;
    total_sum_ += sum;
    for (i64 i = rank + 1; i <= n_; i += i & -i) {
      weight_[i] += weight;
      sum_[i] += sum;
    }
  }
  // Cost of the instances added so far; y holds the value of each rank.
  double cost(const std::vector<double>& y, double weight_unit, double y_unit) const {
    i64 at = 0, below = 0, below_sum = 0;
    for (i64 step = step_; step; step /= 2) {
      if (at + step <= n_ && 2 * (below + weight_[at + step]) < total_weight_) {
        at += step;
        below += weight_[at];
        below_sum += sum_[at];
      }
    }
    const double q = y[at];  // the first rank whose cumulative weight reaches one half
    // Σ_{y<q} w (q − y) + Σ_{y≥q} w (y − q)
    return q * static_cast<double>(2 * below - total_weight_) * weight_unit +
           static_cast<double>(total_sum_ - 2 * below_sum) * y_unit;
  }

  // The value of a leaf: the mean of the two middle values where the halves meet.
  double median(const std::vector<double>& y) const {
    i64 low = 0, high = 0, below_low = 0, below_high = 0;
    for (i64 step = step_; step; step /= 2) {
      if (low + step <= n_ && 2 * (below_low + weight_[low + step]) < total_weight_) {
        below_low += weight_[low += step];
      }
      if (high + step <= n_ && 2 * (below_high + weight_[high + step]) <= total_weight_) {
        below_high += weight_[high += step];
      }
    }
    return high < n_ ? y[low] / 2 + y[high] / 2 : y[low];
  }

 private:
  std::vector<i64> weight_, sum_;
  i64 n_, step_ = 1;
  i64 total_weight_ = 0, total_sum_ = 0;
};

class AbsoluteError : public Chooser {
 public:
  Candidate best(const NodeView& node, i32 feature, Scratch& scratch) override {
    return search(node, feature, scratch);
  }
  // Categories by mean: a heuristic here, the best subset need not be in this order.
  void order_groups(const CriterionView& view, const Problem& p, Groups& groups) override;

 private:
  // Instances in the order of the feature; cuts[i] counts the instances before a boundary.
  struct Sequence {
    std::vector<u32> ids, gaps;
    std::vector<i64> cuts;
    std::vector<i64> positions;  // what Candidate::cut says of each: entries or groups
    CandidateKind kind = CandidateKind::sorted_cut;
  };

  Candidate search(const NodeView& node, i32 feature, Scratch& scratch) {
    Candidate best;
    best.feature = feature;
    const Sequence sequence = order_instances(node, feature, scratch, best.threshold);
    if (sequence.cuts.empty() && sequence.gaps.empty()) return best;
    if (node.problem.columns[feature].multiway) {
      multiway(node, sequence, best);
      return best;
    }
    const Admission admission(node, feature);
    const bool learned = node.problem.params.gaps == GapPolicy::learned && !sequence.gaps.empty();
    score(node, sequence, admission, false, learned, best);
    if (learned) score(node, sequence, admission, true, true, best);
    return best;
  }

  Sequence order_instances(const NodeView& node, i32 feature, Scratch& scratch, double& threshold) {
    const Problem& p = node.problem;
    const FeatureInfo& info = p.features[feature];
    Sequence out;
    const bool random = p.params.random_cut && !p.columns[feature].multiway;
    if (info.store == Store::sorted) {
      const Entry* e = node.block.entries[info.slot] + node.begin;
      const i64 known = count_known(e, node.size());
      const i64 only = random ? random_entry_cut(node, feature, e, known, threshold) : 0;
      for (i64 i = 0; i < known; ++i) {
        const bool boundary = i && e[i].rank != e[i - 1].rank;
        if (boundary && (!random || i == only)) out.cuts.push_back(i);
        out.ids.push_back(e[i].id);
      }
      out.positions = out.cuts;
      for (i64 i = known; i < node.size(); ++i) out.gaps.push_back(e[i].id);
      return out;
    }
    out.kind = CandidateKind::group_cut;
    build_groups(node, feature, scratch);
    Groups& g = scratch.groups;
    const i64 only = random ? random_group_cut(node, feature, g, threshold) : 0;
    const Column& column = p.columns[feature];
    if (!random && !column.ordered && !column.multiway) order_groups(node.criterion, p, g);
    std::vector<i64> start(g.size());
    i64 at = 0, position = 0;
    for (i32 k : g.order) {
      if (position && (!random || position == only)) {
        out.cuts.push_back(at);
        out.positions.push_back(position);
      }
      ++position;
      start[k] = at;
      at += g.count[k];
    }
    out.ids.resize(at);
    with_code_type(info.code_bytes, [&](auto code) {
      for (i64 i = node.begin; i < node.end; ++i) {
        const u32 id = node.block.ids[i];
        const u32 c = read_code<decltype(code)>(node.block.codes[info.slot], id);
        if (c == kGap) {
          out.gaps.push_back(id);
        } else {
          const auto k = std::lower_bound(g.code.begin(), g.code.end(), c) - g.code.begin();
          out.ids[start[k]++] = id;
        }
      }
    });
    return out;
  }

  // One branch per group.
  void multiway(const NodeView& node, const Sequence& s, Candidate& best);

  void score(const NodeView& node, const Sequence& s, const Admission& admission, bool gaps_left,
             bool learned, Candidate& best);
};

}  // namespace treewright
