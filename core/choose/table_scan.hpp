// Two classes by Gini's index, without weights but for the counts of a forest's draws, straight
// from counts per code.
//
// Most categorical data are of this kind, so it has a search of its own: exact in integers until
// the last step (see scan_two_classes), without groups and without divisions. Categories with an
// order are cut in that order, others in the order of their rates (order.hpp).
#pragma once

#include <algorithm>

#include "binned/histogram.hpp"
#include "choose/cuts.hpp"
#include "choose/groups.hpp"

namespace treewright {

// Counts of the two classes per code, gaps last: the node's, or made for the purpose where that
// takes no longer than the instances do. Codes are bytes.
inline const i64* class_counts(const NodeView& node, const FeatureInfo& info, Scratch& scratch) {
  if (node.tables && info.table >= 0) return node.tables + info.table * 2;
  if (info.n_codes > 64 && info.n_codes > node.size()) return nullptr;
  const TargetArrays& target = node.block.target;
  if (!target.count) {
    scratch.dense.resize(2 * (static_cast<std::size_t>(info.n_codes) + 1));
    fill_table(node.problem, node.block, node.begin, node.end, info, scratch.dense.data());
    return scratch.dense.data();
  }
  // Moving the instances needs those of the winner again.
  for (std::size_t i = 0; i < scratch.n_counted; ++i) {
    const CodeCounts& c = scratch.counted[i];
    if (c.slot == info.slot && c.block == &node.block && c.begin == node.begin &&
        c.end == node.end) {
      return c.count.data();
    }
  }
  if (scratch.counted.size() == scratch.n_counted) scratch.counted.emplace_back();
  CodeCounts& made = scratch.counted[scratch.n_counted++];
  made.block = &node.block;
  made.begin = node.begin;
  made.end = node.end;
  made.slot = info.slot;
  made.count.assign(2 * (static_cast<std::size_t>(info.n_codes) + 1), 0);
  const u32* ids = node.block.ids + node.begin;
  with_codes(node.block, info, [&](auto&& code) {
    add_column(
        ids, node.size(), [&](u32 id) { return 2 * code(id) + target.label[id]; },
        [&](i64 i) { return target.count[ids[i]]; }, made.count.data());
  });
  return made.count.data();
}

// The cuts of counts that are offered in order.
class ClassCuts {
 public:
  ClassCuts(i64 n, i64 ones, i64 min_leaf) : n_(n), ones_(ones), min_leaf_(min_leaf) {}

  // Begins again, with gaps on the left.
  void start_with(i64 zeros, i64 ones) {
    left_ = zeros + ones;
    d_ = n_ * ones - left_ * ones_;
    groups_ = kGapsLeft;
  }

  // The cut above one more group; false once the right side is too small.
  bool add(i64 zeros, i64 ones) {
    const i64 here = zeros + ones;
    left_ += here;
    d_ += n_ * ones - here * ones_;
    ++groups_;
    if (left_ < min_leaf_) return true;
    if (n_ - left_ < min_leaf_) return false;
    if (first_ < 0) first_ = groups_;
    const double l = static_cast<double>(left_), numerator = static_cast<double>(d_);
    ratio_.offer(numerator * numerator, l * static_cast<double>(n_ - left_), groups_);
    return true;
  }

  void keep(Candidate& best) const {
    const i64 cut = ratio_.cut < 0 ? first_ : ratio_.cut;
    if (cut < 0) return;
    best.kind = CandidateKind::group_cut;
    best.gaps_left = cut >= kGapsLeft;
    best.cut = cut % kGapsLeft;
    best.gain = 2 * ratio_.numerator / ratio_.denominator / static_cast<double>(n_);
  }

 private:
  static constexpr i64 kGapsLeft = i64{1} << 32;  // added to the cuts of such a pass

  i64 n_, ones_, min_leaf_;
  i64 left_ = 0, d_ = 0, groups_ = 0, first_ = -1;
  BestRatio ratio_{kTie};
};

// Categories by rate; of equal ones the later first, as order_by_profile has them.
struct RateOrder {
  struct Category {
    double rate;
    i64 zeros, ones;
    u32 code;
    bool before(const Category& other) const {
      return rate < other.rate || (rate == other.rate && code > other.code);
    }
  };
  Category order[256];
  i32 n = 0;

  // One that has rows.
  void add(u32 code, i64 zeros, i64 ones) {
    const double rate = static_cast<double>(ones) / static_cast<double>(zeros + ones);
    const Category category{rate, zeros, ones, code};
    i32 at = n++;
    for (; at > 0 && category.before(order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = category;
  }
  // All of a table of counts.
  void add(const i64* count, u32 n_codes) {
    for (u32 c = 0; c < n_codes; ++c, count += 2) {
      if (count[0] + count[1]) add(c, count[0], count[1]);
    }
  }
};

// The best cut of categories without an order of their own.
// Learned gaps are behind the last category first, then before the first one; others take no part.
inline void cut_by_rate(const RateOrder& by_rate, const i64* stats, const i64* gap, bool learned,
                        i64 min_leaf, Candidate& best) {
  const bool with_gaps = learned && (gap[0] || gap[1]);
  const i64 zeros = stats[0] - (with_gaps ? 0 : gap[0]), ones = stats[1] - (with_gaps ? 0 : gap[1]);
  ClassCuts cuts(zeros + ones, ones, min_leaf);
  auto pass = [&](i32 end) {
    for (i32 i = 0; i < end; ++i) {
      if (!cuts.add(by_rate.order[i].zeros, by_rate.order[i].ones)) break;
    }
  };
  pass(with_gaps ? by_rate.n : by_rate.n - 1);
  if (with_gaps) {
    cuts.start_with(gap[0], gap[1]);
    pass(by_rate.n - 1);
  }
  cuts.keep(best);
  if (!with_gaps || best.kind == CandidateKind::none) return;
  best.learned_gaps = true;
  if (!best.gaps_left && best.cut == by_rate.n) best.kind = CandidateKind::only_gaps;
}

// False where there is more to the feature.
inline bool scan_table(const NodeView& node, const FeatureInfo& info, Scratch& scratch,
                       Candidate& best) {
  const Problem& p = node.problem;
  const Column& column = p.columns[best.feature];
  const Admission admission(node, best.feature);
  const GapPolicy gaps = p.params.gaps;
  // Counts of draws tell weights, not rows.
  const bool counts = p.unit || (node.block.target.count && admission.min_leaf <= 1);
  if (!counts || node.criterion.n_classes != 2 || node.criterion.factor || column.multiway ||
      info.code_bytes != 1 || p.params.random_cut || !admission.is_free()) {
    return false;
  }
  const bool own_branch = info.has_gaps && gaps == GapPolicy::own_branch;
  const bool learned = info.has_gaps && gaps == GapPolicy::learned;
  const bool has_table = node.tables && info.table >= 0;
  if ((own_branch && !has_table) || (learned && column.ordered && !has_table)) return false;
  const i64* count = class_counts(node, info, scratch);
  if (!count) return false;
  const i64* gap = count + 2 * i64{info.n_codes};
  const bool any_gap = gap[0] || gap[1];
  if (any_gap && (own_branch || (learned && column.ordered))) return false;
  if (!column.ordered) {
    RateOrder by_rate;
    by_rate.add(count, info.n_codes);
    cut_by_rate(by_rate, node.stats, gap, learned, admission.min_leaf, best);
    return true;
  }
  ClassCuts cuts(node.stats[0] + node.stats[1] - gap[0] - gap[1], node.stats[1] - gap[1],
                 admission.min_leaf);
  for (u32 c = 0; c < info.n_codes; ++c) {
    const i64* here = count + 2 * i64{c};
    if (here[0] + here[1] && !cuts.add(here[0], here[1])) break;
  }
  cuts.keep(best);
  return true;
}

}  // namespace treewright
