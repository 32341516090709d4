// Groups of a coded feature: one pass over the node's instances, no sorting of instances.
#pragma once

#include <algorithm>

#include "choose/chooser.hpp"

namespace treewright {

// Calls f with a function from an instance to its code of a feature, or to its bin where the
// feature is kept by row; a gap has the one after the last.
template <class F>
inline void with_codes(const Block& block, const FeatureInfo& info, F&& f) {
  if (info.store == Store::by_row) {
    f([&block, slot = info.slot](u32 id) { return u32{block.cells.bin(id, slot)}; });
    return;
  }
  with_code_type(info.code_bytes, [&](auto type) {
    f([codes = block.codes[info.slot], n = info.n_codes](u32 id) {
      return std::min(read_code<decltype(type)>(codes, id), n);
    });
  });
}

// Counts instances by code and by a key below `width` into a table of zeros. Two tables are taken
// in turn where that pays, so that a run of one category does not wait for its own last store: a
// tenth of the time of a tree with surrogates on adult.
template <class Code, class Key>
void count_pairs(const Block& block, i64 begin, i64 end, i64 n_cells, i32 width, Code&& code,
                 Key&& key, i64* table) {
  auto cell = [&](i64 i) {
    const u32 id = block.ids[i];
    return static_cast<std::size_t>(code(id)) * width + key(id);
  };
  i64 i = begin;
  if (end - begin >= n_cells) {
    std::vector<i64> other(n_cells, 0);
    for (; i + 1 < end; i += 2) {
      ++table[cell(i)];
      ++other[cell(i + 1)];
    }
    for (i64 k = 0; k < n_cells; ++k) table[k] += other[k];
  }
  for (; i < end; ++i) ++table[cell(i)];
}

// A table over the codes of a feature: a row per code, the last for gaps. A row holds the number
// of instances and their stats; class counts without weights need no number beside them.
inline i32 table_width(const Problem& p) { return p.n_stats + !(p.is_classification() && p.unit); }

void fill_table(const Problem& p, const Block& block, i64 begin, i64 end, const FeatureInfo& info,
                i64* table);

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
