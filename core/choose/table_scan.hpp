// Two classes by Gini's index, without weights, straight from counts per code.
//
// Most categorical data are of this kind, so it has a search of its own: exact in integers until
// the last step (see scan_two_classes), without groups and without divisions. Categories with an
// order are cut in that order, others in the order of their rates (order.hpp).
#pragma once

#include <algorithm>

#include "cuts.hpp"
#include "groups.hpp"

namespace treewright {

// Counts of the two classes per code, gaps last: the node's, or made for the purpose where that
// takes no longer than the instances do.
template <class Id>
const i64* class_counts(const NodeView<Id>& node, const FeatureInfo& info, Scratch& scratch) {
  if (node.tables && info.table >= 0) return node.tables + info.table * 2;
  if (info.n_codes > 64 && info.n_codes > node.size()) return nullptr;
  scratch.dense.resize(2 * (static_cast<std::size_t>(info.n_codes) + 1));
  fill_table(node.problem, node.block, node.begin, node.end, info, scratch.dense.data(), scratch);
  return scratch.dense.data();
}

// The cuts of counts that are offered in order.
class ClassCuts {
 public:
  ClassCuts(i64 n, i64 ones, i64 min_leaf) : n_(n), ones_(ones), min_leaf_(min_leaf) {}

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
    best.cut = cut;
    best.gain = 2 * ratio_.numerator / ratio_.denominator / static_cast<double>(n_);
  }

 private:
  i64 n_, ones_, min_leaf_;
  i64 left_ = 0, d_ = 0, groups_ = 0, first_ = -1;
  BestRatio ratio_{kTie};
};

// Categories by rate; of equal ones the later first, as order_by_profile has them.
inline void cut_by_rate(const i64* count, u32 n_codes, ClassCuts& cuts) {
  struct Category {
    double rate;
    u32 code;
    bool before(const Category& other) const {
      return rate < other.rate || (rate == other.rate && code > other.code);
    }
  };
  Category order[256];
  i32 n = 0;
  for (u32 c = 0; c < n_codes; ++c) {
    const i64 here = count[2 * c] + count[2 * c + 1];
    if (!here) continue;
    const Category category{static_cast<double>(count[2 * c + 1]) / static_cast<double>(here), c};
    i32 at = n++;
    for (; at > 0 && category.before(order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = category;
  }
  for (i32 i = 0; i + 1 < n; ++i) {
    if (!cuts.add(count[2 * order[i].code], count[2 * order[i].code + 1])) break;
  }
}

// False where there is more to the feature.
template <class Id>
bool scan_table(const NodeView<Id>& node, const FeatureInfo& info, Scratch& scratch,
                Candidate& best) {
  const Problem& p = node.problem;
  const Column& column = p.columns[best.feature];
  const Admission admission(node, best.feature);
  const GapPolicy gaps = p.params.gaps;
  if (!p.unit || node.criterion.n_classes != 2 || node.criterion.factor || column.multiway ||
      info.code_bytes != 1 || p.params.random_cut || !admission.plain()) {
    return false;
  }
  const bool gaps_take_part = gaps == GapPolicy::learned || gaps == GapPolicy::own_branch;
  if (info.has_gaps && gaps_take_part && !(node.tables && info.table >= 0)) return false;
  const i64* count = class_counts(node, info, scratch);
  if (!count) return false;
  const i64* gap = count + 2 * i64{info.n_codes};
  if (gaps_take_part && (gap[0] || gap[1])) return false;
  ClassCuts cuts(node.size() - gap[0] - gap[1], node.stats[1] - gap[1], admission.min_leaf);
  if (column.ordered) {
    for (u32 c = 0; c < info.n_codes; ++c) {
      const i64* here = count + 2 * i64{c};
      if (here[0] + here[1] && !cuts.add(here[0], here[1])) break;
    }
  } else {
    cut_by_rate(count, info.n_codes, cuts);
  }
  cuts.keep(best);
  return true;
}

}  // namespace treewright
