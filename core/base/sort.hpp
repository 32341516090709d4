// Ranks of a continuous column: sorted once per fit, then kept sorted by stable partition (SLIQ).
#pragma once

#include <vector>

#include "base/types.hpp"

namespace treewright {

// A row with its key, and after ranking with its dense rank.
struct RankedRow {
  u32 rank, row;
};

// Buffers of one thread, used again for every column: fresh memory costs more than the sort.
struct SortBuffers {
  std::vector<RankedRow> items, other;
  std::vector<u32> counts;
};

struct Ranking {
  u32 n_known = 0;  // items [n_known, n) are gaps, in row order
  u32 n_distinct = 0;
};

// Sorts items by their upper 32 bits; `other` is a buffer.
void sort_items(u64* items, i64 n, std::vector<u64>& other);

// Leaves the rows of a column in buffers.items: ascending by value, gaps (NaN) last.
Ranking rank_column(const Column& column, i64 n_rows, SortBuffers& buffers);

}  // namespace treewright
