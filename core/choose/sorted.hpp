// Cuts of a sorted feature.
//
// The common cases (two classes by Gini, several classes by Gini, one number by squared error, all
// without weights) have loops of their own that keep one or two running integers and compare
// ratios without dividing: measured, they carry a fit's time.
#pragma once

#include <algorithm>

#include "choose/cuts.hpp"

namespace treewright {

// Calls offer(n_left) at every boundary between distinct values, after step(id) for each entry.
template <class Step, class Offer>
inline void each_boundary(const Entry* entries, i64 known, i64 min_leaf, Step&& step,
                          Offer&& offer) {
  const i64 last = known - std::max<i64>(min_leaf, 1);
  i64 i = 0;
  for (; i < min_leaf - 1 && i <= last; ++i) step(entries[i].id);
  for (; i < last; ++i) {
    step(entries[i].id);
    if (entries[i].rank != entries[i + 1].rank) offer(i + 1);
  }
}

// Squares of `c` over left·(n − left), whether any beats the best so far. The only loop of the
// search that wider instructions pay for; position i has first + i instances on the left.
bool any_beats(const double* c, i64 count, i64 first, i64 n, const BestRatio& best);

// Where gain = c² / (left (n − left)) up to a factor: `step(id)` gives c at each position. Chunks
// are first checked as a whole; only one that holds a better cut is looked at in detail. Few
// positions are looked at one by one: the check would cost as much. The step comes by value and
// holds its running sum itself: behind a reference the sum would live in memory. Inlined, as a call
// would pass it through memory: full regression trees take a tenth less time.
//
// With a ratio `to_beat`, all chunks are checked against it first; most features of a node end
// there. One that does not is scanned as if there were no such ratio, so that it cannot decide
// between cuts of the same feature.
template <class Step>
[[gnu::always_inline]] inline void scan_ratio(const Entry* entries, i64 n, i64 min_leaf,
                                              double to_beat, BestRatio& best, Step step) {
  constexpr i64 kChunk = 128;
  double c[kChunk];
  const i64 last = n - std::max<i64>(min_leaf, 1);
  i64 i = 0;
  const double total = static_cast<double>(n);
  auto fill = [&](Step& s, i64 from, i64 count) {
    for (i64 k = 0; k < count; ++k) {
      const double value = s(entries[from + k].id, from + k + 1);
      c[k] = entries[from + k].rank != entries[from + k + 1].rank ? value : 0.0;
    }
  };
  if (to_beat > 0 && last - min_leaf >= 16) {
    BestRatio bar(-1e-13);
    bar.numerator = to_beat;
    Step ahead = step;
    for (; i < min_leaf - 1; ++i) ahead(entries[i].id, i + 1);
    bool any = false;
    for (i64 count; i < last && !any; i += count) {
      count = std::min(kChunk, last - i);
      fill(ahead, i, count);
      any = any_beats(c, count, i + 1, n, bar);
    }
    if (!any) return;
    i = 0;
  }
  for (; i < min_leaf - 1 && i < last; ++i) step(entries[i].id, i + 1);
  if (last - i < 16) {
    for (; i < last; ++i) {
      const double value = step(entries[i].id, i + 1), left = static_cast<double>(i + 1);
      if (entries[i].rank == entries[i + 1].rank) continue;
      best.offer(value * value, left * (total - left), i + 1);
    }
    return;
  }
  while (i < last) {
    const i64 count = std::min(kChunk, last - i);
    fill(step, i, count);
    if (any_beats(c, count, i + 1, n, best)) {
      for (i64 k = 0; k < count; ++k) {
        const double left = static_cast<double>(i + k + 1);
        best.offer(c[k] * c[k], left * (total - left), i + k + 1);
      }
    }
    i += count;
  }
}

// The first admissible cut, for nodes where no cut gains anything.
inline i64 first_boundary(const Entry* entries, i64 n, i64 min_leaf) {
  for (i64 i = min_leaf - 1; i < n - min_leaf; ++i) {
    if (entries[i].rank != entries[i + 1].rank) return i + 1;
  }
  return -1;
}

// Two classes by Gini: gain = 2 d² / (n nL nR) with d = n a − nL A, exact in integers. Each
// instance moves d by n − A or by −A.
inline void scan_two_classes(const NodeView& node, const Entry* entries, i64 min_leaf,
                             Candidate& best) {
  const i64 n = node.size(), total = node.stats[1];
  const u16* label = node.block.target.label;
  BestRatio ratio(kTie);
  const double to_beat = node.to_beat * static_cast<double>(n) / 2;
  scan_ratio(entries, n, min_leaf, to_beat, ratio, [=, d = i64{0}](u32 id, i64) mutable {
    d += (n & -static_cast<i64>(label[id])) - total;
    return static_cast<double>(d);
  });
  if (ratio.cut < 0 && to_beat <= 0) ratio.cut = first_boundary(entries, n, min_leaf);
  if (ratio.cut < 0) return;
  best.kind = CandidateKind::sorted_cut;
  best.cut = ratio.cut;
  best.gain = 2 * ratio.numerator / ratio.denominator / static_cast<double>(n);
}

// Several classes by Gini: the sums of squares are integers, moved by one instance at a time.
inline void scan_classes(const NodeView& node, const Entry* entries, i64 min_leaf, Scratch& scratch,
                         Candidate& best) {
  const i64 n = node.size();
  const i32 classes = node.problem.targets.n_classes;
  const u16* label = node.block.target.label;
  scratch.left.assign(classes, 0);
  scratch.right.assign(node.stats, node.stats + classes);
  i64* left = scratch.left.data();
  i64* right = scratch.right.data();
  i64 left_squares = 0, right_squares = 0;
  for (i32 k = 0; k < classes; ++k) right_squares += right[k] * right[k];
  const double base = static_cast<double>(right_squares) / static_cast<double>(n);
  BestRatio ratio(1e-14);
  ratio.numerator = -1;
  each_boundary(
      entries, n, min_leaf,
      [&](u32 id) {
        const u16 k = label[id];
        left_squares += 2 * left[k]++ + 1;
        right_squares -= 2 * right[k]-- - 1;
      },
      [&](i64 n_left) {
        const double l = static_cast<double>(n_left), r = static_cast<double>(n - n_left);
        ratio.offer(static_cast<double>(left_squares) * r + static_cast<double>(right_squares) * l,
                    l * r, n_left);
      });
  if (ratio.cut < 0) return;
  best.kind = CandidateKind::sorted_cut;
  best.cut = ratio.cut;
  best.gain = ratio.numerator / ratio.denominator - base;
  best.scale = static_cast<double>(n);
}

// One number by squared error: gain = n c² / (nL nR), c the centred sum on the left.
inline void scan_numbers(const NodeView& node, const Entry* entries, i64 min_leaf,
                         Candidate& best) {
  const i64 n = node.size();
  const i64* wy = node.block.target.wy;
  const i64 centre = node.criterion.centre[0];
  const double rest = node.criterion.rest[0];
  BestRatio ratio(kTie);
  // sum: of y − centre, exact
  const double to_beat = node.to_beat / static_cast<double>(n);
  scan_ratio(entries, n, min_leaf, to_beat, ratio, [=, sum = i64{0}](u32 id, i64 left) mutable {
    sum += wy[id] - centre;
    return static_cast<double>(sum) - static_cast<double>(left) * rest;
  });
  if (ratio.cut < 0 && to_beat <= 0) ratio.cut = first_boundary(entries, n, min_leaf);
  if (ratio.cut < 0) return;
  best.kind = CandidateKind::sorted_cut;
  best.cut = ratio.cut;
  best.gain = ratio.numerator / ratio.denominator * static_cast<double>(n);
}

// Any criterion: stats on the left grow entry by entry.
template <class C, bool Unit>
void scan_any(const NodeView& node, const Entry* entries, i64 known, const Pass& pass,
              const Admission& admission, i64 extra_left, i64* left, i64* right, Candidate& best) {
  for (i64 i = 0; i + 1 < known; ++i) {
    add_instance<C::classes, Unit>(node.problem, node.block.target, entries[i].id, left);
    if (entries[i].rank == entries[i + 1].rank) continue;
    consider<C>(node, pass, admission, left, right, i + 1 + extra_left, i + 1, 0, best,
                CandidateKind::sorted_cut);
  }
}

// The entries of a node in order: kept so by the block, or made here of a feature kept by row.
const Entry* entries_of(const NodeView& node, i32 feature, Scratch& scratch);

// Entries before the gaps.
inline i64 count_known(const Entry* entries, i64 n) {
  if (entries[n - 1].rank != kGap) return n;
  return std::partition_point(entries, entries + n, [](const Entry& e) { return e.rank != kGap; }) -
         entries;
}

}  // namespace treewright
