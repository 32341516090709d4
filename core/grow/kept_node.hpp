// What the search for surrogates needs of a node, kept until it is known whether its split stays.
//
// Growth below the node moves its entries; most splits of a tree that is pruned do not stay, and
// copying is far cheaper than searching.
#pragma once

#include <memory>
#include <vector>

#include "choose/chooser.hpp"
#include "grow/surrogate.hpp"

namespace treewright {

class KeptNode {
 public:
  // A node that its split has marked, before its entries move. `tables`: of the two children, or
  // empty.
  KeptNode(const NodeView& view, std::shared_ptr<Block> block,
           std::shared_ptr<const std::vector<i32>> active, const Marked& marked,
           std::vector<i64> left, std::vector<i64> right)
      : source_(std::move(block)),
        active_(std::move(active)),
        marked_(marked),
        left_(std::move(left)),
        right_(std::move(right)) {
    const i64 n = view.size();
    ids_.assign(source_->ids + view.begin, source_->ids + view.end);
    branch_.resize(n);
    for (i64 i = 0; i < n; ++i) branch_[i] = view.branch[ids_[i]];
    entries_.reserve(static_cast<std::size_t>(n) * view.problem.n_sorted);
    for (const i32 f : *active_) {
      const FeatureInfo& info = view.problem.features[f];
      if (info.store != Store::sorted) continue;
      const Entry* entries = source_->entries[info.slot] + view.begin;
      entries_.insert(entries_.end(), entries, entries + n);
    }
  }

  // The surrogates of the split on `primary`; `stats` are the node's.
  std::vector<Surrogate> surrogates(const Problem& p, const i64* stats, i32 primary,
                                    Scratch& scratch) {
    const i64 n = static_cast<i64>(ids_.size());
    Block block;
    block.n = source_->n;
    block.source = source_->source;
    block.target = source_->target;
    block.codes = source_->codes;
    block.ids = ids_.data();
    block.entries.assign(source_->entries.size(), nullptr);
    Entry* next = entries_.data();
    for (const i32 f : *active_) {
      const FeatureInfo& info = p.features[f];
      if (info.store != Store::sorted) continue;
      block.entries[info.slot] = next;
      next += n;
    }
    if (scratch.branch.size() < static_cast<std::size_t>(block.n)) scratch.branch.resize(block.n);
    for (i64 i = 0; i < n; ++i) scratch.branch[ids_[i]] = branch_[i];
    NodeView view{p, block, 0, n, stats, {}};
    view.branch = scratch.branch.data();
    SideTables tables;
    if (!left_.empty()) tables = {left_.data(), right_.data()};
    return find_surrogates(view, primary, *active_, marked_, tables,
                           [&](i64 count, OnIndex search) {
                             for (i64 i = 0; i < count; ++i) search(i, scratch);
                           });
  }

 private:
  std::shared_ptr<Block> source_;
  std::shared_ptr<const std::vector<i32>> active_;
  Marked marked_;
  std::vector<i64> left_, right_;
  std::vector<u32> ids_;
  std::vector<u8> branch_;
  std::vector<Entry> entries_;
};

}  // namespace treewright
