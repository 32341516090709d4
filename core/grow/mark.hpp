// From a chosen candidate to a Split, and the branch of every instance of the node.
#pragma once

#include <algorithm>
#include <vector>

#include "choose/chooser.hpp"
#include "choose/sorted.hpp"
#include "data/partition.hpp"
#include "data/problem.hpp"
#include "data/route.hpp"
#include "grow/mark_rows.hpp"
#include "grow/split_builder.hpp"
#include "grow/surrogate.hpp"

namespace treewright {

// A split that was chosen but not carried out.
struct Chosen {
  Candidate candidate;
  Split split;  // complete for Python choosers; built from the candidate otherwise
  bool external = false;
  std::vector<Surrogate> surrogates;  // of a Python chooser
};

class Marker {
 public:
  Marker(const Problem& p, Chooser* chooser) : p_(p), chooser_(chooser), rows_(p, chooser) {}

  // Builds the Split of a candidate and marks the branch of every instance that it decides.
  void mark(const NodeView& view, const Candidate& c, Split& split, Scratch& scratch) {
    Block& block = view.block;
    split.feature = c.feature;
    split.closed = p_.params.closed;
    split.n_branches = 2;
    const FeatureInfo& info = p_.features[c.feature];
    if (c.kind == CandidateKind::intervals) {
      mark_intervals(view, c, split, scratch);
      return;
    }
    if (info.store == Store::by_row) {
      rows_.mark(view, c, split, scratch);
      return;
    }
    if (info.store == Store::sorted) {
      const Entry* e = block.entries[info.slot] + view.begin;
      const i64 n = view.size(), known = count_known(e, n);
      scratch.has_many = false;
      const i64 cut = c.kind == CandidateKind::only_gaps ? known : c.cut;
      for (i64 i = 0; i < cut; ++i) view.branch[e[i].id] = 0;
      for (i64 i = cut; i < known; ++i) view.branch[e[i].id] = 1;
      for (i64 i = known; i < n; ++i) view.branch[e[i].id] = kUndecided;
      Marked& marked = scratch.marked;
      marked.reset(2);
      marked.gaps = n - known;
      marked.count = {cut, known - cut};
      marked.weight = marked.count;
      if (block.target.weight) {
        marked.weight = {0, 0};
        for (i64 i = 0; i < known; ++i) marked.weight[i >= cut] += block.target.weight[e[i].id];
      }
      split.kind = SplitKind::breaks;
      split.breaks.assign(1, c.kind == CandidateKind::only_gaps ? kInf
                             : p_.params.random_cut
                                 ? c.threshold
                                 : sorted_break(view, c.feature, e[cut - 1], e[cut]));
      if (c.kind == CandidateKind::only_gaps) split.closed = true;
      return;
    }
    if (!rows_.move_categories(view, c, split, scratch)) mark_groups(view, c, split, scratch);
  }

  // A branch per interval; a coded feature has its values in scratch.groups.
  void mark_intervals(const NodeView& view, const Candidate& c, Split& split, Scratch& scratch) {
    const std::vector<i64> cuts = chooser_->cuts(view, c.feature, scratch);
    split.kind = SplitKind::breaks;
    split.n_branches = static_cast<i32>(cuts.size()) + 1;
    const FeatureInfo& info = p_.features[c.feature];
    const Entry* e =
        info.store == Store::sorted ? view.block.entries[info.slot] + view.begin : nullptr;
    for (const i64 cut : cuts) {
      split.breaks.push_back(
          e ? sorted_break(view, c.feature, e[cut - 1], e[cut])
            : coded_break(p_, c.feature, scratch.groups.code[cut - 1], scratch.groups.code[cut]));
    }
    mark_external(view, split, scratch);
  }

  void mark_groups(const NodeView& view, const Candidate& c, Split& split, Scratch& scratch) {
    Block& block = view.block;
    build_groups(view, c.feature, scratch);
    Groups& g = scratch.groups;
    const i32 n = g.size();
    const Column& column = p_.columns[c.feature];
    const FeatureInfo& info = p_.features[c.feature];
    std::vector<i32> branch(n, 1);
    const bool all = c.kind == CandidateKind::multiway && p_.params.all_branches;
    if (all) {
      split.n_branches = static_cast<i32>(info.n_codes);
      branch.assign(g.code.begin(), g.code.end());
    } else if (c.kind == CandidateKind::multiway) {
      split.n_branches = n;
      for (i32 i = 0; i < n; ++i) branch[i] = i;
    } else if (c.kind == CandidateKind::merged) {
      chooser_->merge_groups(p_, view.stats, g, branch);
      split.n_branches = c.n_branches;
    } else if (c.kind == CandidateKind::subset_mask) {
      for (i32 i = 0; i < n; ++i) branch[i] = !((c.mask >> i) & 1);
    } else if (c.kind == CandidateKind::only_gaps) {
      branch.assign(n, 0);
    } else {
      if (!column.ordered) chooser_->order_groups(view.criterion, p_, g);
      for (i32 i = 0; i < c.cut; ++i) branch[g.order[i]] = 0;
    }
    if (column.ordered && !column.multiway) {
      split.kind = SplitKind::breaks;
      if (c.kind == CandidateKind::only_gaps) {
        split.breaks.assign(1, kInf);
        split.closed = true;
      } else {
        split.breaks.assign(1, p_.params.random_cut
                                   ? c.threshold
                                   : coded_break(p_, c.feature, g.code[c.cut - 1], g.code[c.cut]));
      }
    } else {
      split.kind = SplitKind::codes;
      list_codes(c, g, branch, split);
    }
    Marked& marked = scratch.marked;
    marked.reset(split.n_branches);
    marked.gaps = g.gap_count;
    for (i32 i = 0; i < n; ++i) {
      marked.count[branch[i]] += g.count[i];
      marked.weight[branch[i]] += p_.weight_of(g.stats.data() + static_cast<i64>(i) * p_.n_stats);
    }
    std::vector<i32> of_code;
    const bool dense = info.n_codes <= 4096;
    if (dense) {
      of_code.assign(info.n_codes, 0);
      for (i32 i = 0; i < n; ++i) of_code[g.code[i]] = branch[i];
    }
    const bool many = scratch.has_many = split.n_branches > kMaxByteBranches;
    if (many) scratch.many.assign(block.n, -1);
    with_code_type(info.code_bytes, [&](auto code) {
      for (i64 i = view.begin; i < view.end; ++i) {
        const u32 id = block.ids[i];
        const u32 value = read_code<decltype(code)>(block.codes[info.slot], id);
        i32 b = -1;
        if (value != kGap) {
          b = dense
                  ? of_code[value]
                  : branch[std::lower_bound(g.code.begin(), g.code.end(), value) - g.code.begin()];
        }
        if (many) {
          scratch.many[id] = b;
        } else {
          view.branch[id] = b < 0 ? kUndecided : static_cast<u8>(b);
        }
      }
    });
  }

  // The codes of a split and their branches. With branches for categories not seen at the node each
  // has one of its own, or all share the last where categories are grouped.
  void list_codes(const Candidate& c, const Groups& g, const std::vector<i32>& branch,
                  Split& split) const {
    const bool every = p_.params.all_branches &&
                       (c.kind == CandidateKind::multiway || c.kind == CandidateKind::merged);
    const i32 n_codes = static_cast<i32>(p_.features[c.feature].n_codes);
    split.codes.reserve(every ? n_codes : g.size());
    split.branches.reserve(every ? n_codes : g.size());
    i32 seen = 0;
    for (i32 code = 0; every && code < n_codes; ++code) {
      const bool is_seen = seen < g.size() && static_cast<i32>(g.code[seen]) == code;
      split.codes.push_back(code);
      split.branches.push_back(is_seen                           ? branch[seen++]
                               : c.kind == CandidateKind::merged ? split.n_branches - 1
                                                                 : code);
    }
    for (i32 i = 0; !every && i < g.size(); ++i) {
      split.codes.push_back(static_cast<i32>(g.code[i]));
      split.branches.push_back(branch[i]);
    }
  }

  // One break of a continuous feature, the usual case, without a jump per row.
  template <class Value>
  void mark_break(const NodeView& view, const Split& split, Scratch& scratch) const {
    const Column& column = p_.columns[split.feature];
    const double at = split.breaks[0];
    Marked& marked = scratch.marked;
    for (i64 i = view.begin; i < view.end; ++i) {
      const u32 id = view.block.ids[i];
      const double value = *reinterpret_cast<const Value*>(column.at(view.block.row(id)));
      const bool is_gap = value != value;
      const u8 branch = (split.closed ? value > at : value >= at) != split.reversed;
      view.branch[id] = is_gap ? kUndecided : branch;
      marked.gaps += is_gap;
      marked.count[1] += branch & !is_gap;
    }
    marked.count[0] = view.size() - marked.gaps - marked.count[1];
    marked.weight = marked.count;
    const i64* weight = view.block.target.weight;
    if (!weight) return;
    marked.weight.assign(2, 0);
    for (i64 i = view.begin; i < view.end; ++i) {
      const u32 id = view.block.ids[i];
      if (view.branch[id] != kUndecided) marked.weight[view.branch[id]] += weight[id];
    }
  }

  void mark_external(const NodeView& view, const Split& split, Scratch& scratch) {
    const bool many = scratch.has_many = split.n_branches > kMaxByteBranches;
    if (many) scratch.many.assign(view.block.n, -1);
    Marked& marked = scratch.marked;
    marked.reset(split.n_branches);
    if (split.kind == SplitKind::breaks && split.n_branches == 2 && split.breaks.size() == 1) {
      const ColumnType type = p_.columns[split.feature].type;
      if (type == ColumnType::f32) return mark_break<float>(view, split, scratch);
      if (type == ColumnType::f64) return mark_break<double>(view, split, scratch);
    }
    for (i64 i = view.begin; i < view.end; ++i) {
      const u32 id = view.block.ids[i];
      const i32 b = branch_of(split, p_.columns, view.block.row(id));
      if (b == kNoBranch) {
        ++marked.gaps;
      } else {
        ++marked.count[b];
        marked.weight[b] += instance_weight(view.block.target, id);
      }
      if (many) {
        scratch.many[id] = b;
      } else {
        view.branch[id] = b == kNoBranch ? kUndecided : static_cast<u8>(b);
      }
    }
  }

 private:
  const Problem& p_;
  Chooser* chooser_;
  RowMarker rows_;
};

}  // namespace treewright
