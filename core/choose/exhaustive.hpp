// The exhaustive search: every cut of a feature, scored by criterion C.
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include "choose/by_row.hpp"
#include "choose/cuts.hpp"
#include "choose/groups.hpp"
#include "choose/order.hpp"
#include "choose/random.hpp"
#include "choose/sorted.hpp"
#include "choose/table_scan.hpp"

#include "binned/row_matrix.hpp"
#include "criteria/gini.hpp"
#include "criteria/squared.hpp"

namespace treewright {

template <class C>
class Exhaustive : public Chooser {
 public:
  Candidate best(const NodeView& node, i32 feature, Scratch& scratch) override {
    return search(node, feature, scratch);
  }
  bool best_by_row(const NodeView& node, const i32* features, i32 n, Scratch& scratch,
                   Candidate* out) override {
    const Problem& p = node.problem;
    if (!node.block.target.count || !p.params.monotonic.empty() || p.params.min_weight_leaf > 0) {
      return false;
    }
    if constexpr (std::is_same_v<C, Gini>) {
      if (node.criterion.factor) return false;
      search_classes(node, features, n, scratch, out);
      return true;
    } else if constexpr (std::is_same_v<C, SquaredError>) {
      if (node.criterion.n_outputs != 1) return false;
      search_numbers(node, features, n, scratch, out);
      return true;
    }
    return false;
  }
  void order_groups(const CriterionView& view, const Problem& p, Groups& groups) override {
    order_by_profile(view, p, groups);
  }
  bool is_gini() const override { return std::is_same_v<C, Gini>; }

 private:
  Candidate search(const NodeView& node, i32 feature, Scratch& scratch) {
    const Problem& p = node.problem;
    Candidate best;
    best.feature = feature;
    const FeatureInfo& info = p.features[feature];
    const bool by_row = info.store == Store::by_row;
    const bool in_order = by_row ? !counts_bins(node, feature) : info.store == Store::sorted;
    if (info.store == Store::coded) {
      if (fits_entries(node, info, p.columns[feature])) {
        few(node, info, scratch, best);
        return best;
      }
      if constexpr (std::is_same_v<C, Gini>) {
        if (scan_table(node, info, scratch, best)) return best;
      }
    }
    if (!in_order) build_groups(node, feature, scratch);
    if (p.params.random_cut && !p.columns[feature].multiway) {
      in_order ? random_entry(node, feature, scratch, best)
               : random_group(node, feature, scratch, best);
    } else if (in_order) {
      sorted(node, entries_of(node, feature, scratch), scratch, best);
    } else {
      grouped(node, feature, scratch, best);
    }
    if (by_row) turn_into_key(node, feature, scratch, best);
    return best;
  }

  // Few instances of a feature kept as codes are sorted sooner than they are grouped.
  static constexpr i64 kFew = 32;

  static bool fits_entries(const NodeView& node, const FeatureInfo& info, const Column& column) {
    return node.size() <= kFew && info.code_bytes == 1 && column.ordered && !column.multiway &&
           !node.problem.params.random_cut;
  }

  void few(const NodeView& node, const FeatureInfo& info, Scratch& scratch, Candidate& best) {
    Entry entries[kFew];
    const u8* codes = node.block.codes[info.slot];
    for (i64 i = 0; i < node.size(); ++i) {
      const u32 id = node.block.ids[node.begin + i];
      const u32 rank = codes[id] == u8{255} ? kGap : static_cast<u32>(codes[id]);
      i64 at = i;
      for (; at > 0 && entries[at - 1].rank > rank; --at) entries[at] = entries[at - 1];
      entries[at] = {rank, id};
    }
    sorted(node, entries, scratch, best);
    if (best.kind != CandidateKind::sorted_cut) return;
    i64 groups = 1;
    for (i64 i = 1; i < best.cut; ++i) groups += entries[i].rank != entries[i - 1].rank;
    best.kind = CandidateKind::group_cut;
    best.cut = groups;
  }

  // Whether a feature kept by row is searched by its bins: where they are exact enough.
  static bool counts_bins(const NodeView& node, i32 feature) {
    const Problem& p = node.problem;
    if (p.params.random_cut) return false;
    const RowFeature& f = p.matrix->features[p.features[feature].slot];
    return f.bins_are_values || (!p.tries_all_cuts && node.size() > 2 * kMostBins);
  }

  // A cut of a feature kept by row is known by the largest key on its left.
  static void turn_into_key(const NodeView& node, i32 feature, Scratch& scratch, Candidate& best) {
    const Problem& p = node.problem;
    const i32 slot = p.features[feature].slot;
    if (best.kind == CandidateKind::sorted_cut) {
      const u32 id = scratch.entries[best.cut - 1].id;
      best.cut = p.matrix->key(node.block.cells, id, slot);
    } else if (best.kind == CandidateKind::group_cut) {
      best.cut = p.matrix->features[slot].bin_end[scratch.groups.code[best.cut - 1]];
    } else {
      return;
    }
    best.kind = CandidateKind::key_cut;
  }

  // Runs `scan(node, pass, left and right stats, extra rows on the left)` once, or once per side
  // for gaps.
  using Scan = Callable<void(const NodeView&, const Pass&, i64*, i64*, i64)>;

  void passes(const NodeView& node, i64 n_gaps, const i64* gap_stats, Scratch& scratch,
              Candidate& best, const Scan& scan) {
    const Problem& p = node.problem;
    const i32 s = p.n_stats;
    const double whole = C::side(node.stats, node.criterion);
    auto run = [&](const NodeView& view, const Pass& pass, const i64* start, i64 extra) {
      if (start) {
        scratch.left.assign(start, start + s);
      } else {
        scratch.left.assign(s, 0);
      }
      scratch.right.resize(s);
      scan(view, pass, scratch.left.data(), scratch.right.data(), extra);
    };
    if (!n_gaps) {
      run(node, {node.stats, node.size(), whole}, nullptr, 0);
      return;
    }
    if (p.params.gaps == GapPolicy::learned) {
      run(node, {node.stats, node.size(), whole, false, true}, nullptr, 0);
      // Known against gap is a test as well: everything known goes left.
      for (i32 k = 0; k < s; ++k) scratch.left[k] = node.stats[k] - gap_stats[k];
      const Admission admission(node, best.feature);
      consider<C>(node, {node.stats, node.size(), whole, false, true}, admission,
                  scratch.left.data(), scratch.right.data(), node.size() - n_gaps, 0, 0, best,
                  CandidateKind::only_gaps);
      run(node, {node.stats, node.size(), whole, true, true}, gap_stats, n_gaps);
      return;
    }
    scratch.known.resize(s);
    for (i32 k = 0; k < s; ++k) scratch.known[k] = node.stats[k] - gap_stats[k];
    if (p.params.gaps == GapPolicy::own_branch) {
      const double base = whole - C::side(gap_stats, node.criterion);
      run(node, {scratch.known.data(), node.size() - n_gaps, base}, nullptr, 0);
      return;
    }
    // Only the known rows take part, so number criteria are centred on their mean.
    NodeView known = node;
    if (!p.is_classification()) centre_on(known.criterion, scratch.known.data());
    const double base = C::side(scratch.known.data(), known.criterion);
    run(known, {scratch.known.data(), node.size() - n_gaps, base}, nullptr, 0);
  }

  void sorted(const NodeView& node, const Entry* entries, Scratch& scratch, Candidate& best) {
    const Problem& p = node.problem;
    const i64 n = node.size();
    if (entries[0].rank == entries[n - 1].rank) return;
    const Admission admission(node, best.feature);
    const bool gaps = entries[n - 1].rank == kGap;
    if (p.unit && !gaps && admission.is_free() && fast(node, entries, admission, scratch, best))
      return;
    const i64 known = count_known(entries, n);
    std::vector<i64> gap_stats(p.n_stats, 0);
    for (i64 i = known; i < n; ++i) {
      add_any(p, node.block.target, entries[i].id, gap_stats.data());
    }
    passes(node, n - known, gap_stats.data(), scratch, best,
           [&](const NodeView& view, const Pass& pass, i64* left, i64* right, i64 extra) {
             if (p.unit) {
               scan_any<C, true>(view, entries, known, pass, admission, extra, left, right, best);
             } else {
               scan_any<C, false>(view, entries, known, pass, admission, extra, left, right, best);
             }
           });
  }

  void random_entry(const NodeView& node, i32 feature, Scratch& scratch, Candidate& best) {
    const Problem& p = node.problem;
    const Entry* entries = entries_of(node, feature, scratch);
    const i64 n = node.size(), known = count_known(entries, n);
    std::vector<i64> gap_stats(p.n_stats, 0);
    for (i64 i = known; i < n; ++i) add_any(p, node.block.target, entries[i].id, gap_stats.data());
    const i64 cut = random_entry_cut(node, feature, entries, known, best.threshold);
    const Admission admission(node, feature);
    passes(node, n - known, gap_stats.data(), scratch, best,
           [&](const NodeView& view, const Pass& pass, i64* left, i64* right, i64 extra) {
             if (!cut) return;
             for (i64 i = 0; i < cut; ++i) add_any(p, node.block.target, entries[i].id, left);
             consider<C>(view, pass, admission, left, right, cut + extra, cut, 0, best,
                         CandidateKind::sorted_cut);
           });
  }

  void random_group(const NodeView& node, i32 feature, Scratch& scratch, Candidate& best) {
    const Problem& p = node.problem;
    Groups& g = scratch.groups;
    if (!g.size()) return;
    const i64 cut = random_group_cut(node, feature, g, best.threshold);
    const Admission admission(node, feature);
    passes(node, g.gap_count, g.gap_stats.data(), scratch, best,
           [&](const NodeView& view, const Pass& pass, i64* left, i64* right, i64 n_left) {
             if (!cut) return;
             for (i64 i = 0; i < cut; ++i) {
               const i64 k = g.order[i];
               n_left += g.count[k];
               for (i32 j = 0; j < p.n_stats; ++j) left[j] += g.stats[k * p.n_stats + j];
             }
             consider<C>(view, pass, admission, left, right, n_left, cut, 0, best,
                         CandidateKind::group_cut);
           });
  }

  // The loops of the common cases; false where there is none.
  bool fast(const NodeView& node, const Entry* entries, const Admission& admission,
            Scratch& scratch, Candidate& best) {
    if constexpr (std::is_same_v<C, Gini>) {
      if (node.criterion.factor) return false;
      if (node.criterion.n_classes == 2) {
        scan_two_classes(node, entries, admission.min_leaf, best);
      } else {
        scan_classes(node, entries, admission.min_leaf, scratch, best);
      }
      return true;
    }
    if constexpr (std::is_same_v<C, SquaredError>) {
      if (node.criterion.n_outputs != 1) return false;
      scan_numbers(node, entries, admission.min_leaf, best);
      return true;
    }
    return false;
  }

  void grouped(const NodeView& node, i32 feature, Scratch& scratch, Candidate& best) {
    const Problem& p = node.problem;
    Groups& g = scratch.groups;
    if (g.size() < 1 || (g.size() < 2 && !(g.gap_count && p.params.gaps == GapPolicy::learned)))
      return;
    const Column& column = p.columns[feature];
    if (column.multiway) {
      multiway(node, scratch, best);
      return;
    }
    const Admission admission(node, feature);
    const bool subsets = !column.ordered;
    const bool all = subsets && !order_is_optimal(p) && g.size() <= p.params.max_exhaustive;
    if (subsets && !all) order_by_profile(node.criterion, p, g);
    passes(node, g.gap_count, g.gap_stats.data(), scratch, best,
           [&](const NodeView& view, const Pass& pass, i64* left, i64* right, i64 extra) {
             if (all) {
               try_subsets(view, g, pass, admission, left, right, extra, best);
             } else {
               try_order(view, g, pass, admission, left, right, extra, best);
             }
           });
  }

  void try_order(const NodeView& node, const Groups& g, const Pass& pass,
                 const Admission& admission, i64* left, i64* right, i64 n_left, Candidate& best) {
    const i32 s = node.problem.n_stats;
    for (i32 i = 0; i + 1 < g.size(); ++i) {
      const i32 k = g.order[i];
      n_left += g.count[k];
      const i64* stats = g.stats.data() + static_cast<i64>(k) * s;
      for (i32 j = 0; j < s; ++j) left[j] += stats[j];
      consider<C>(node, pass, admission, left, right, n_left, i + 1, 0, best,
                  CandidateKind::group_cut);
    }
  }

  // Every subset in Gray code order: one group moves at a time, the last stays on the right.
  void try_subsets(const NodeView& node, const Groups& g, const Pass& pass,
                   const Admission& admission, i64* left, i64* right, i64 n_left, Candidate& best) {
    const i32 s = node.problem.n_stats;
    const u64 count = u64{1} << (g.size() - 1);
    u64 mask = 0;
    for (u64 i = 1; i < count; ++i) {
      const i32 k = std::countr_zero(i);
      mask ^= u64{1} << k;
      const i64 sign = (mask >> k) & 1 ? 1 : -1;
      n_left += sign * g.count[k];
      const i64* stats = g.stats.data() + static_cast<i64>(k) * s;
      for (i32 j = 0; j < s; ++j) left[j] += sign * stats[j];
      consider<C>(node, pass, admission, left, right, n_left, 0, mask, best,
                  CandidateKind::subset_mask);
    }
  }

  // One branch per group. Learned gaps join the group where they cost least.
  void multiway(const NodeView& node, Scratch& scratch, Candidate& best) {
    const Problem& p = node.problem;
    const Groups& g = scratch.groups;
    const i32 s = p.n_stats;
    if (g.size() < 2) return;
    double score = 0;
    i32 lacking = -1;  // a group that is no branch unless the gaps join it
    const double min_weight = p.params.min_weight_leaf / p.weight_unit;
    for (i32 i = 0; i < g.size(); ++i) {
      const double weight =
          static_cast<double>(p.weight_of(g.stats.data() + static_cast<i64>(i) * s));
      if (g.count[i] < p.params.min_leaf || weight < min_weight) return;
      const double side = C::side(g.stats.data() + static_cast<i64>(i) * s, node.criterion);
      if (side > -kInf) {
        score += side;
      } else if (lacking >= 0) {
        return;
      } else {
        lacking = i;
      }
    }
    if (lacking >= 0 && !(g.gap_count && p.params.gaps == GapPolicy::learned)) return;
    scratch.known.assign(node.stats, node.stats + s);
    if (g.gap_count) {
      if (p.params.gaps == GapPolicy::own_branch) {
        score += C::side(g.gap_stats.data(), node.criterion);
      } else if (p.params.gaps == GapPolicy::learned) {
        double change = -kInf;
        scratch.left.resize(s);
        for (i32 i = 0; i < g.size(); ++i) {
          if (lacking >= 0 && i != lacking) continue;
          const i64* stats = g.stats.data() + static_cast<i64>(i) * s;
          for (i32 j = 0; j < s; ++j) scratch.left[j] = stats[j] + g.gap_stats[j];
          double joined = C::side(scratch.left.data(), node.criterion);
          if (i != lacking) joined -= C::side(stats, node.criterion);
          if (joined > change) {
            change = joined;
            best.cut = i;
          }
        }
        score += change;
        best.learned_gaps = true;
      } else {
        for (i32 j = 0; j < s; ++j) scratch.known[j] -= g.gap_stats[j];
      }
    }
    const double base = C::side(scratch.known.data(), node.criterion);
    if (!(score - base > -kInf)) return;
    best.kind = CandidateKind::multiway;
    best.gain = score - base;
    best.scale = gain_scale(node.criterion, p, node.stats);
  }
};

}  // namespace treewright
