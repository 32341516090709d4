// Groups of a coded feature: one pass over the node's instances, no sorting of instances.
#pragma once

#include <algorithm>

#include "choose/chooser.hpp"

namespace treewright {

// Counts instances without weights by code and by a second key below `width`: one increment each,
// and two tables taken in turn, so that a run of one category does not wait for its own last store.
// A gap counts as the code after the last.
template <class Code, class Key>
void count_pairs(const Block& block, i64 begin, i64 end, const FeatureInfo& info, i32 width,
                 Key&& key, i64* table, Scratch& scratch) {
  const std::size_t size = static_cast<std::size_t>(info.n_codes + 1) * width;
  std::fill_n(table, size, 0);
  const Code* code = reinterpret_cast<const Code*>(block.codes[info.slot]);
  auto cell = [&](i64 i) {
    const u32 id = block.ids[i];
    const Code raw = code[id];
    const u32 c = raw == static_cast<Code>(~Code{0}) ? info.n_codes : static_cast<u32>(raw);
    return static_cast<std::size_t>(c) * width + key(id);
  };
  i64 i = begin;
  if (end - begin < static_cast<i64>(size)) {  // a second table would cost more than the waiting
    for (; i < end; ++i) ++table[cell(i)];
    return;
  }
  scratch.turns.assign(size, 0);
  i64* other = scratch.turns.data();
  for (; i + 1 < end; i += 2) {
    ++table[cell(i)];
    ++other[cell(i + 1)];
  }
  if (i < end) ++table[cell(i)];
  for (std::size_t k = 0; k < size; ++k) table[k] += other[k];
}

// A table over the codes of a feature: a row per code, the last for gaps. A row holds the number
// of instances and their stats; class counts without weights need no number beside them.
inline i32 table_width(const Problem& p) { return p.n_stats + !(p.is_classification() && p.unit); }

void fill_table(const Problem& p, const Block& block, i64 begin, i64 end, const FeatureInfo& info,
                i64* table, Scratch& scratch);

// Reads rows of such a table.
struct TableRow {
  const i64* row;
  bool counts_only;
  i32 n_stats;

  TableRow(const Problem& p, const i64* table, i32 width, u32 code)
      : row(table + static_cast<std::size_t>(code) * width),
        counts_only(width == p.n_stats),
        n_stats(p.n_stats) {}

  const i64* stats() const { return counts_only ? row : row + 1; }
  i64 count() const {
    if (!counts_only) return row[0];
    i64 sum = 0;
    for (i32 k = 0; k < n_stats; ++k) sum += row[k];
    return sum;
  }
};

// Builds scratch.groups for a coded feature at a node: from the node's tables, from a table made
// for the purpose where the codes are not many more than the instances, or from a map.
void build_groups(const NodeView& node, i32 feature, Scratch& scratch);

}  // namespace treewright
