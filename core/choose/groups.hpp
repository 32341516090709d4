// Groups of a coded feature: one pass over the node's instances, no sorting of instances.
#pragma once

#include <algorithm>
#include <numeric>

#include "chooser.hpp"

namespace treewright {

// Class counts of a dense table, for instances without weights: one increment each, and two tables
// taken in turn, so that a run of one category does not wait for its own last store.
template <class Code, class Id>
void count_classes(const NodeView<Id>& node, const FeatureInfo& info, const u8* codes,
                   Scratch& scratch) {
  const i32 classes = node.problem.n_stats;
  const std::size_t size = static_cast<std::size_t>(info.n_codes + 1) * classes;
  scratch.counts.assign(2 * size, 0);
  u32* table[2] = {scratch.counts.data(), scratch.counts.data() + size};
  const Code* code = reinterpret_cast<const Code*>(codes);
  const u16* label = node.block.target.label;
  const Id* ids = node.block.ids;
  auto cell = [&](i64 i) {
    const Id id = ids[i];
    const Code raw = code[id];
    const u32 c = raw == static_cast<Code>(~Code{0}) ? info.n_codes : static_cast<u32>(raw);
    return static_cast<std::size_t>(c) * classes + label[id];
  };
  i64 i = node.begin;
  for (; i + 1 < node.end; i += 2) {
    ++table[0][cell(i)];
    ++table[1][cell(i + 1)];
  }
  if (i < node.end) ++table[0][cell(i)];
  for (std::size_t k = 0; k < size; ++k) table[0][k] += table[1][k];
}

// Turns the counts into groups.
inline void groups_of_counts(const FeatureInfo& info, i32 classes, Scratch& scratch) {
  Groups& g = scratch.groups;
  for (u32 c = 0; c <= info.n_codes; ++c) {
    const u32* row = scratch.counts.data() + static_cast<std::size_t>(c) * classes;
    i64 count = 0;
    for (i32 k = 0; k < classes; ++k) count += row[k];
    if (c == info.n_codes) {
      g.gap_count = count;
      g.gap_stats.assign(row, row + classes);
    } else if (count) {
      g.code.push_back(c);
      g.count.push_back(count);
      g.stats.insert(g.stats.end(), row, row + classes);
    }
  }
}

// Fills groups from a dense table: for features whose codes are not many more than the node's
// instances.
template <bool Classes, bool Unit, class Code, class Id>
void dense_groups(const NodeView<Id>& node, const FeatureInfo& info, const u8* codes,
                  Scratch& scratch) {
  if constexpr (Classes && Unit) {
    count_classes<Code>(node, info, codes, scratch);
    groups_of_counts(info, node.problem.n_stats, scratch);
    return;
  }
  const Problem& p = node.problem;
  const i32 s = p.n_stats;
  Groups& g = scratch.groups;
  const i64 width = s + 1;
  scratch.dense.assign(static_cast<std::size_t>(info.n_codes + 1) * width, 0);
  i64* table = scratch.dense.data();
  for (i64 i = node.begin; i < node.end; ++i) {
    const Id id = node.block.ids[i];
    const Code raw = reinterpret_cast<const Code*>(codes)[id];
    const u32 c = raw == static_cast<Code>(~Code{0}) ? info.n_codes : static_cast<u32>(raw);
    i64* row = table + c * width;
    ++row[0];
    add_instance<Classes, Unit>(p, node.block.target, id, row + 1);
  }
  for (u32 c = 0; c < info.n_codes; ++c) {
    const i64* row = table + c * width;
    if (!row[0]) continue;
    g.code.push_back(c);
    g.count.push_back(row[0]);
    g.stats.insert(g.stats.end(), row + 1, row + width);
  }
  const i64* row = table + info.n_codes * width;
  g.gap_count = row[0];
  g.gap_stats.assign(row + 1, row + width);
}

// The same through a stamped map from code to group: the cost does not depend on the number of
// codes, so that 100 000 categories at a node of ten instances cost ten steps.
template <bool Classes, bool Unit, class Code, class Id>
void sparse_groups(const NodeView<Id>& node, const FeatureInfo& info, const u8* codes,
                   Scratch& scratch) {
  const Problem& p = node.problem;
  const i32 s = p.n_stats;
  Groups& g = scratch.groups;
  if (scratch.slot.size() < info.n_codes) {
    scratch.slot.resize(info.n_codes);
    scratch.stamp.assign(info.n_codes, 0);
    scratch.epoch = 0;
  }
  if (++scratch.epoch == 0) {
    std::fill(scratch.stamp.begin(), scratch.stamp.end(), 0);
    scratch.epoch = 1;
  }
  g.gap_stats.assign(s, 0);
  std::vector<u32> seen;
  for (i64 i = node.begin; i < node.end; ++i) {
    const u32 c = read_code<Code>(codes, node.block.ids[i]);
    if (c == kGap<u32> || scratch.stamp[c] == scratch.epoch) continue;
    scratch.stamp[c] = scratch.epoch;
    seen.push_back(c);
  }
  std::sort(seen.begin(), seen.end());
  for (u32 k = 0; k < seen.size(); ++k) scratch.slot[seen[k]] = k;
  g.code = seen;
  g.count.assign(seen.size(), 0);
  g.stats.assign(seen.size() * s, 0);
  for (i64 i = node.begin; i < node.end; ++i) {
    const Id id = node.block.ids[i];
    const u32 c = read_code<Code>(codes, id);
    i64* stats = g.gap_stats.data();
    if (c == kGap<u32>) {
      ++g.gap_count;
    } else {
      stats = g.stats.data() + static_cast<i64>(scratch.slot[c]) * s;
      ++g.count[scratch.slot[c]];
    }
    add_instance<Classes, Unit>(p, node.block.target, id, stats);
  }
}

// Builds scratch.groups for a coded feature at a node.
template <class Id>
void build_groups(const NodeView<Id>& node, i32 feature, Scratch& scratch) {
  const FeatureInfo& info = node.problem.features[feature];
  Groups& g = scratch.groups;
  g.code.clear();
  g.count.clear();
  g.stats.clear();
  g.gap_count = 0;
  const u8* codes = node.block.codes[info.slot];
  with_target_kind(node.problem, [&](auto classes, auto unit) {
    with_code_type(info.code_bytes, [&](auto code) {
      using Code = decltype(code);
      if (info.n_codes <= 16 || info.n_codes <= node.size()) {
        dense_groups<classes.value, unit.value, Code>(node, info, codes, scratch);
      } else {
        sparse_groups<classes.value, unit.value, Code>(node, info, codes, scratch);
      }
    });
  });
  g.order.resize(g.code.size());
  std::iota(g.order.begin(), g.order.end(), 0);
}

}  // namespace treewright
