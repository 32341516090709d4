// Carrying a split out: instances are marked and moved, children described.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "grow/children.hpp"
#include "grow/extract.hpp"
#include "grow/fractional.hpp"
#include "grow/gaps.hpp"
#include "grow/kept_node.hpp"
#include "grow/mark.hpp"
#include "grow/node_tables.hpp"
#include "grow/significance.hpp"
#include "grow/stopping.hpp"

namespace treewright {

// Finds the surrogates of a split, once it is known that it stays.
using FindLater = std::function<void()>;

class SplitApplication {
 public:
  SplitApplication(Growth& growth, NodeTables& tables, const Children& children)
      : g_(growth),
        p_(growth.p),
        o_(growth.options),
        tables_(tables),
        children_(children),
        marker_(growth.p, growth.options.chooser) {}

  // Splits a node: marks, decides gaps, makes the children's records and moves the instances.
  // Children that can be split again are appended to `children`. With `later`, surrogates that
  // nothing waits for are left to it. A split that could be chance is taken back.
  void apply(Pending& node, Chosen& chosen, NodeList& list, bool shared, Scratch& scratch,
             std::vector<Pending>& children, FindLater* later = nullptr) {
    const NodeView view = g_.view_of(node, list.stats_of(node.record), scratch);
    Split& split = scratch.split;
    split.reset();
    if (chosen.external) {
      split = std::move(chosen.split);
      marker_.mark_external(view, split, scratch);
    } else {
      marker_.mark(view, chosen.candidate, split, scratch);
      split.gain = chosen.candidate.gain * g_.gain_unit;
    }
    auto each = [&](i64 n, OnIndex work) { g_.for_each(n, node.size(), shared, scratch, work); };
    GapDecision gaps = decide_gaps(view, chosen, split, *node.active, later, scratch, each);
    list.set_split(node.record, split, gaps.count);
    list.set_surrogates(node.record, gaps.surrogates);
    if (gaps.fractional) {
      apply_fractional(node, split, list, scratch, children);
    } else {
      apply_whole(node, split, gaps, list, shared, scratch, children, later);
    }
  }

 private:
  void apply_whole(Pending& node, const Split& split, const GapDecision& gaps, NodeList& list,
                   bool shared, Scratch& scratch, std::vector<Pending>& children,
                   FindLater* later) {
    Block& block = *node.block;
    const i64 n = node.size();
    Branches branches;
    branches.n = split.n_branches;
    branches.some_stay = gaps.some_stay;
    branches.bytes = scratch.branch.data();
    if (scratch.has_many) branches.words = scratch.many.data();
    u32* ids = block.ids + node.begin;
    std::vector<i64>& sizes = scratch.sizes;
    sizes.assign(split.n_branches + 1, 0);
    if (gaps.count && !scratch.marked.moved) {
      for (i64 i = 0; i < n; ++i) ++sizes[branches.of(ids[i])];
    } else {
      std::copy(scratch.marked.count.begin(), scratch.marked.count.end(), sizes.begin());
    }
    const bool two = split.n_branches == 2 && !gaps.some_stay;
    if (two && !scratch.marked.moved) {
      partition_two(ids, n, branches.bytes, true, true, scratch.bytes);
    } else if (!two) {
      partition_many(ids, n, branches, sizes, scratch.bytes);
    }
    const i64 first = children_.add_children(list, node.record, split.n_branches);
    // Children are made where those that can be split again are wanted.
    const std::size_t start = children.size();
    children.resize(start + split.n_branches);
    const std::span<Pending> kids{children.data() + start,
                                  static_cast<std::size_t>(split.n_branches)};
    i64 begin = node.begin;
    for (i32 b = 0; b < split.n_branches; ++b) {
      Pending& kid = kids[b] = children_.child_of(node, first + b, b);
      kid.begin = begin;
      kid.end = begin += sizes[b];
      list[kid.record].n_samples = static_cast<i32>(kid.size());
    }
    children_.add_stats(block, node, kids, gaps.some_stay, scratch.marked, list);
    for (const Pending& kid : kids) children_.describe(block, kid, list);
    if (could_be_chance(node, kids, list, [&](const Pending&) -> const Block& { return block; })) {
      children.resize(start);
      return;
    }
    children_.bound(node, split, list, first, kids);
    for (const Pending& kid : kids) children_.clip(kid, list);
    std::vector<u8>& keep = scratch.keep;
    keep.resize(split.n_branches);
    bool any = false, tables = gaps.surrogates_later && !later;
    for (i32 b = 0; b < split.n_branches; ++b) {
      keep[b] = kids[b].size() > 0 && !ends_here(list, first + b, node.depth + 1);
      any = any || keep[b];
      tables = tables || (keep[b] && tables_.pay(kids[b].size()));
    }
    if (two && tables && !node.tables.empty()) tables_.share(node, kids, shared, scratch);
    if (gaps.surrogates_later && later) {
      *later = keep_for_later(node, split, kids, list, scratch);
    } else if (gaps.surrogates_later) {
      find_now(node, split, kids, list, shared, scratch);
    }
    if (!any) {
      children.resize(start);
      return;
    }
    move_entries(node, split, branches, sizes, keep, two, shared, scratch);
    const Active below = children_.active_below(node, split.feature);
    std::size_t end = start;
    for (i32 b = 0; b < split.n_branches; ++b) {
      if (!keep[b]) continue;
      kids[b].block = node.block;
      kids[b].active = below;
      if (!tables_.pay(kids[b].size())) kids[b].tables = {};
      g_.store->drop_constants(kids[b]);
      if (nothing_left(kids[b], list)) continue;
      if (end++ != start + b) children[end - 1] = std::move(kids[b]);
    }
    children.resize(end);
  }

  // Whether a child is a leaf, whatever a search would find; its record says why.
  bool ends_here(NodeList& list, i64 at, i32 depth) const {
    if (!is_terminal(p_, list, at, depth)) return false;
    if (list.keeps_reasons) list.stop(at, why_terminal(p_, list, at, depth));
    return true;
  }

  bool nothing_left(const Pending& kid, NodeList& list) const {
    if (o_.ask || !kid.active->empty()) return false;
    list.stop(kid.record, Stop::values);
    return true;
  }

  // Whether target and branch seem independent, so that the node stays a leaf.
  template <class BlockOf>
  bool could_be_chance(const Pending& node, std::span<const Pending> kids, NodeList& list,
                       BlockOf&& block_of) const {
    for (const Pending& kid : kids) {
      if (!kid.size()) list.stop(kid.record, Stop::empty);
    }
    if (p_.params.max_p_value >= 1) return false;
    const double p = split_p(p_, o_.numbers, list, kids, block_of);
    list.set_p_value(node.record, p);
    if (!(p > p_.params.max_p_value)) return false;
    list.undo_split(node.record, Stop::significance);
    return true;
  }

  // Surrogates of a split that decided every instance, from the tables of its children.
  void find_now(Pending& node, const Split& split, std::span<const Pending> kids, NodeList& list,
                bool shared, Scratch& scratch) {
    const NodeView view = g_.view_of(node, list.stats_of(node.record), scratch);
    auto each = [&](i64 n, OnIndex work) { g_.for_each(n, node.size(), shared, scratch, work); };
    list.set_surrogates(node.record,
                        find_surrogates(view, split.feature, *node.active, scratch.marked,
                                        {kids[0].tables.data(), kids[1].tables.data()}, each));
  }

  FindLater keep_for_later(Pending& node, const Split& split, std::span<const Pending> kids,
                           NodeList& list, Scratch& scratch) {
    auto kept = std::make_shared<KeptNode>(g_.view_of(node, list.stats_of(node.record), scratch),
                                           node.block, node.active, scratch.marked, kids[0].tables,
                                           kids[1].tables);
    return [this, kept, record = node.record, primary = split.feature, &list, &scratch] {
      list.set_surrogates(record, kept->surrogates(p_, list.stats_of(record), primary, scratch));
    };
  }

  void move_entries(Pending& node, const Split& split, const Branches& branches,
                    const std::vector<i64>& sizes, const std::vector<u8>& keep, bool two,
                    bool shared, Scratch& scratch) {
    if (!p_.n_sorted) return;
    Block& block = *node.block;
    const i64 n = node.size();
    std::vector<i32> move;
    for (i32 f : *node.active) {
      // The split feature is in order already unless gaps or a reversal moved something.
      const bool ordered = f == split.feature && two && !p_.features[f].has_gaps;
      if (p_.features[f].store == Store::sorted && !ordered) move.push_back(f);
    }
    g_.for_each(static_cast<i64>(move.size()), n, shared, scratch, [&](i64 i, Scratch& s) {
      Entry* entries = block.entries[p_.features[move[i]].slot] + node.begin;
      if (two) {
        partition_two(entries, n, branches.bytes, keep[0], keep[1], s.bytes);
      } else {
        partition_many(entries, n, branches, sizes, s.bytes);
      }
    });
  }

  // Only children that are split again need a block of their own.
  void apply_fractional(Pending& node, const Split& split, NodeList& list, Scratch& scratch,
                        std::vector<Pending>& children) {
    Block& block = *node.block;
    const std::vector<Part> parts =
        share_out(p_, node, block, split.n_branches, list.stats_of(node.record), scratch);
    const i64 first = children_.add_children(list, node.record, split.n_branches);
    const Active below = children_.active_below(node, split.feature);
    std::vector<Pending> kids(split.n_branches);
    for (i32 b = 0; b < split.n_branches; ++b) {
      Pending& kid = kids[b] = children_.child_of(node, first + b, b);
      kid.active = below;
      kid.end = static_cast<i64>(parts[b].ids.size());
      list[kid.record].n_samples = static_cast<i32>(kid.size());
      if (!kid.size()) continue;
      i64* stats = list.stats_of(kid.record);
      if (p_.is_classification()) {
        for (i64 i = 0; i < kid.end; ++i) {
          const u32 id = parts[b].ids[i];
          stats[block.target.label[id]] +=
              shared_weight(p_, block.target.weight[id], parts[b].share[i]);
        }
        if (ends_here(list, kid.record, kid.depth)) continue;
      }
      kid.block = extract(p_, block, node.begin, node.end, parts[b].ids, parts[b].share.data(),
                          *node.active, scratch);
      if (p_.is_classification()) continue;
      for (i64 i = 0; i < kid.end; ++i) add_any(p_, kid.block->target, i, stats);
      children_.describe(*kid.block, kid, list);
    }
    if (could_be_chance(node, kids, list,
                        [](const Pending& kid) -> const Block& { return *kid.block; })) {
      return;
    }
    children_.bound(node, split, list, first, kids);
    for (const Pending& kid : kids) children_.clip(kid, list);
    for (i32 b = 0; b < split.n_branches; ++b) {
      if (!kids[b].block || ends_here(list, first + b, node.depth + 1)) continue;
      g_.store->drop_constants(kids[b]);
      if (nothing_left(kids[b], list)) continue;
      children.push_back(std::move(kids[b]));
    }
  }

  Growth& g_;
  const Problem& p_;
  const GrowOptions& o_;
  NodeTables& tables_;
  const Children& children_;
  Marker marker_;
};

}  // namespace treewright
