// Carrying out the tests of a level that ask one attribute: where each row goes, what children get.
//
// SLIQ moves rows in the class list. SPRINT notes in one bit per row whether it goes right; the
// bits take the place of the paper's hash table of row ids (the ids are dense, so they are their
// own perfect hash), and every other list is divided by looking its rows up there.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace treewright::lists {

// The tests of all slots of a level; an attribute carries out its own.
struct Tests {
  std::span<const i32> feature;  // per slot; −1: none
  std::span<const double> threshold;
  std::span<const u8> closed, gap_branch;
  std::span<const i64> code_offset;  // nominal: codes of a slot, ascending, and their branches
  std::span<const i32> codes, branches;

  i32 branch_of(i32 slot, double value) const {
    if (value != value) return gap_branch[slot];
    return closed[slot] ? value > threshold[slot] : value >= threshold[slot];
  }
  i32 branch_of(i32 slot, i32 code) const {
    if (code < 0) return gap_branch[slot];
    const i32* begin = codes.data() + code_offset[slot];
    const i32* end = codes.data() + code_offset[slot + 1];
    const i32* at = std::lower_bound(begin, end, code);
    if (at == end || *at != code) return gap_branch[slot];
    return branches[at - codes.data()];
  }
};

// Class weights and rows of the two children of every slot.
class Children {
 public:
  Children(i64 n_slots, i32 n_classes)
      : k_(n_classes), stats_(2 * n_slots * n_classes, 0), rows_(2 * n_slots, 0) {}

  void add(i32 slot, i32 branch, i32 label, i64 weight) {
    const i64 at = 2 * i64{slot} + branch;
    ++rows_[at];
    stats_[at * k_ + label] += weight;
  }
  const std::vector<i64>& stats() const { return stats_; }
  const std::vector<i64>& rows() const { return rows_; }
  i32 n_classes() const { return k_; }

 private:
  i32 k_;
  std::vector<i64> stats_, rows_;
};

// Which rows of [begin, end) go right.
class RowBits {
 public:
  RowBits(i64 begin, i64 end) : begin_(begin), end_(end), bits_((end - begin + 63) / 64, 0) {}

  bool holds(u32 row) const { return row >= begin_ && row < end_; }
  void set(u32 row) { bits_[(row - begin_) / 64] |= u64{1} << ((row - begin_) % 64); }
  bool get(u32 row) const { return bits_[(row - begin_) / 64] >> ((row - begin_) % 64) & 1; }

 private:
  i64 begin_, end_;
  std::vector<u64> bits_;
};

// Runs of entries that lie together in the lists of the next level.
struct Runs {
  std::vector<i64> order;          // entries of the chunk, those without a child left out
  std::vector<i64> start, length;  // where each run goes, and its entries
};

// The order in which the entries [begin, begin + n) of a list go to the next level, by slot and
// branch. next[2·slot + branch]: where the next entry goes, moved on; −1: the child is a leaf.
inline Runs divide(std::span<const u8> branch, i64 begin, std::span<const i64> offset,
                   std::vector<i64>& next) {
  Runs runs;
  const i64 n = std::ssize(branch);
  runs.order.resize(n + 1);  // one more is written than kept
  i64 slot = std::upper_bound(offset.begin(), offset.end(), begin) - offset.begin() - 1;
  i64 out = 0;
  for (i64 i = 0; i < n; ++slot) {
    const i64 end = std::min(n, offset[slot + 1] - begin);
    for (u8 b = 0; b < 2; ++b) {
      i64& to = next[2 * slot + b];
      if (to < 0) continue;
      const i64 first = out;
      for (i64 j = i; j < end; ++j) {
        runs.order[out] = j;
        out += branch[j] == b;
      }
      const i64 count = out - first;
      if (!count) continue;
      if (!runs.start.empty() && runs.start.back() + runs.length.back() == to) {
        runs.length.back() += count;
      } else {
        runs.start.push_back(to);
        runs.length.push_back(count);
      }
      to += count;
    }
    i = end;
  }
  runs.order.resize(out);
  return runs;
}

}  // namespace treewright::lists
