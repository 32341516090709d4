// Marking the instances of a forest's node, and moving them to its branches where that can be done
// at once.
#pragma once

#include <algorithm>
#include <bit>

#include "binned/byte_partition.hpp"
#include "binned/row_matrix.hpp"
#include "choose/table_scan.hpp"
#include "data/partition.hpp"
#include "grow/split_builder.hpp"

namespace treewright {

class RowMarker {
 public:
  RowMarker(const Problem& p, const Chooser* chooser) : p_(p), chooser_(chooser) {}

  // By the keys of a feature that is kept by row.
  void mark(const NodeView& view, const Candidate& c, Split& split, Scratch& scratch) const {
    const FeatureInfo& info = p_.features[c.feature];
    const RowFeature& feature = p_.matrix->features[info.slot];
    const bool only_gaps = c.kind == CandidateKind::only_gaps;
    const i32 last = only_gaps ? kGapKey - 1 : static_cast<i32>(c.cut);
    Marked& marked = scratch.marked;
    marked.reset(2);
    scratch.has_many = false;
    NextToCut next;
    if (info.has_gaps || p_.params.gaps == GapPolicy::surrogate) {
      mark_by_key(view, info.slot, last, next, marked);
    } else {
      move_rows(view, c, feature, info.slot, last, next, scratch);
    }
    split.kind = SplitKind::breaks;
    double cut = c.threshold;
    if (only_gaps) {
      cut = kInf;
      split.closed = true;
    } else if (!p_.params.random_cut) {
      cut = key_break(p_, c.feature, next);
    }
    split.breaks.assign(1, cut);
  }

  // Moves the instances of categories of two classes by Gini's index: counts per code tell all,
  // where gaps go too. False where there are no such counts.
  bool move_categories(const NodeView& view, const Candidate& c, Split& split,
                       Scratch& scratch) const {
    const FeatureInfo& info = p_.features[c.feature];
    const bool is_cut = c.kind == CandidateKind::group_cut || c.kind == CandidateKind::only_gaps;
    if (!is_cut || info.code_bytes != 1 || p_.columns[c.feature].ordered || p_.params.random_cut ||
        view.criterion.n_classes != 2 || view.criterion.factor || !view.block.target.count ||
        !chooser_->is_gini()) {
      return false;
    }
    const i64* count = class_counts(view, info, scratch);
    if (!count) return false;
    RateOrder by_rate;
    by_rate.add(count, info.n_codes);
    u8 branch[256];
    i64 stats[2][2] = {};  // of the branches
    auto add = [&](i64 code, int to) {
      branch[code] = static_cast<u8>(to);
      stats[to][0] += count[2 * code];
      stats[to][1] += count[2 * code + 1];
    };
    const i64 cut = c.kind == CandidateKind::only_gaps ? by_rate.n : c.cut;
    for (i64 i = 0; i < by_rate.n; ++i) add(by_rate.order[i].code, i >= cut);
    const i64 weight[2] = {stats[0][0] + stats[0][1], stats[1][0] + stats[1][1]};
    split.kind = SplitKind::codes;
    for (i32 code = 0; code < static_cast<i32>(info.n_codes); ++code) {
      if (!(count[2 * code] + count[2 * code + 1])) continue;
      split.codes.push_back(code);
      split.branches.push_back(branch[code]);
    }
    add(info.n_codes, c.learned_gaps ? !c.gaps_left : weight[1] > weight[0]);
    const u8* codes = view.block.codes[info.slot];
    i64 gaps = 0;
    const i64 left =
        partition_by(view.block.ids + view.begin, view.size(), scratch.bytes, [&](u32 id) {
          const u32 code = std::min(u32{codes[id]}, info.n_codes);
          gaps += code == info.n_codes;
          return branch[code] != 0;
        });
    Marked& marked = scratch.marked;
    marked.reset(2);
    scratch.has_many = false;
    marked.moved = true;
    marked.count = {left, view.size() - left};
    marked.summed = left > view.size() - left;
    marked.stats.assign(stats[marked.summed], stats[marked.summed] + 2);
    marked.gaps = gaps;
    marked.weight.assign(weight, weight + 2);
    return true;
  }

 private:
  // Marks each instance by its key.
  void mark_by_key(const NodeView& view, i32 slot, i32 last, NextToCut& next,
                   Marked& marked) const {
    const TargetArrays& target = view.block.target;
    for (i64 i = view.begin; i < view.end; ++i) {
      const u32 id = view.block.ids[i];
      const i32 key = p_.matrix->key(view.block.cells, id, slot);
      if (key == kGapKey) {
        view.branch[id] = kUndecided;
        ++marked.gaps;
        continue;
      }
      const bool right = key > last;
      view.branch[id] = right;
      next.see(key, right);
      ++marked.count[right];
      marked.weight[right] += instance_weight(target, id);
    }
  }

  // Without gaps there is nothing left to decide: the instances go to their places at once, and
  // the stats of the smaller branch are summed while its instances are at hand.
  void move_rows(const NodeView& view, const Candidate& c, const RowFeature& feature, i32 slot,
                 i32 last, NextToCut& next, Scratch& scratch) const {
    const RowCells& rows = view.block.cells;
    u32* ids = view.block.ids + view.begin;
    const i64 n = view.size();
    i64 left = 0;
    auto no_key = [](u32) { return false; };  // for bins that decide alone
    if (rows.is_bit(slot)) {
      next = {feature.bin_end[0], feature.bin_end[1]};
      left = partition_by_byte(ids, n, view.block.n, bit_test(rows.bits_of(slot)), scratch.bytes,
                               no_key);
    } else if (c.bin_below < 0) {
      rows.with_keys(slot, [&](const auto& keys) {
        left = partition_by(ids, n, scratch.bytes, [&](u32 id) {
          const i32 key = keys[id];
          const bool right = key > last;
          next.see(key, right);
          return right;
        });
      });
    } else if (feature.bins_are_values) {
      next = {feature.bin_end[c.bin_below], feature.bin_end[c.bin_above]};
      left = partition_bins(view, slot, c.bin_below, 0, scratch, no_key);
    } else {
      // The bins decide; keys are read only next to the cut.
      rows.with_keys(slot, [&](const auto& keys) {
        const i32 n_close = c.bin_above - c.bin_below + 1;
        left = partition_bins(view, slot, c.bin_below, n_close, scratch, [&](u32 id) {
          const i32 key = keys[id];
          const bool right = key > last;
          next.see(key, right);
          return right;
        });
      });
    }
    end_move(view, left, scratch);
  }

  // Those that have the bit go right.
  static ByteTest bit_test(const BitColumn& bits) {
    constexpr i64 kWord = sizeof(u64);
    const int byte =
        std::endian::native == std::endian::little ? bits.shift / 8 : 7 - bits.shift / 8;
    return {reinterpret_cast<const u8*>(bits.data) + byte, bits.step * kWord, 1u << bits.shift % 8,
            0, 0};
  }

  // Describes the branches of instances that were moved, the first `left` of them to the left.
  void end_move(const NodeView& view, i64 left, Scratch& scratch) const {
    const u32* ids = view.block.ids + view.begin;
    const i64 n = view.size();
    Marked& marked = scratch.marked;
    marked.moved = true;
    marked.count = {left, n - left};
    const i32 small = marked.summed = left <= n - left ? 0 : 1;
    marked.stats.assign(p_.n_stats, 0);
    const u32* begin = small ? ids + left : ids;
    with_target_kind(p_, [&](auto classes, auto unit) {
      for (const u32* id = begin; id < begin + marked.count[small]; ++id) {
        add_instance<classes.value, unit.value>(p_, view.block.target, *id, marked.stats.data());
      }
    });
    marked.weight[small] = p_.weight_of(marked.stats.data());
    marked.weight[!small] = p_.weight_of(view.stats) - marked.weight[small];
  }

  // Goes by the bins of a feature, down its column where the node has most of the rows.
  static i64 partition_bins(const NodeView& view, i32 slot, i32 below, i32 n_close,
                            Scratch& scratch, Callable<bool(u32)> is_right) {
    const BinColumn bins = view.block.cells.bins_of(slot, view.size());
    const ByteTest test{bins.data, bins.step, 255, static_cast<u32>(below),
                        static_cast<u32>(n_close)};
    return partition_by_byte(view.block.ids + view.begin, view.size(), view.block.n, test,
                             scratch.bytes, is_right);
  }

  const Problem& p_;
  const Chooser* chooser_;
};

}  // namespace treewright
