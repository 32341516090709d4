// Rows in blocks of which a tree is grown level by level, from tables of sums.
//
// A row knows its node. The driver asks for tables of the open nodes (rows and sums of the target
// per bin of a feature), chooses their tests, and has the rows moved. Nodes of few rows are handed
// out whole, to be grown in memory. All sums are integers: blocks and their order change nothing.
//
// Twin: the growth loop in memory, on the same bins (tests/scale/test_trees.py).
#pragma once

#include <span>
#include <vector>

#include "base/callable.hpp"
#include "base/types.hpp"

namespace treewright::blocks {

struct TreeBlock {
  i64 n_rows = 0;
  i64 first_row = 0;            // its place among all rows
  const u8* bins = nullptr;     // by row
  const u16* label = nullptr;   // classes, or
  const double* y = nullptr;    // numbers
  const i64* weight = nullptr;  // scaled; null: all one
  const i64* chance = nullptr;  // of each row to be drawn, those before it in the block added
  u16* count = nullptr;         // how often each row is drawn; null: once
  i32* node = nullptr;          // where each row is; −1: it is not drawn
  char* map = nullptr;          // pages of a file that may be left when the block is done with
  i64 map_size = 0;
};

struct TreeTarget {
  i32 n_classes = 0;  // 0: numbers
  // Numbers are (y − shift) · scale, their squares (y − shift)² · square_scale, a row's as often
  // as it is drawn and as much as it weighs.
  double shift = 0, scale = 1, square_scale = 1;
  double weight_unit = 1;  // of scaled weights

  i32 n_stats() const { return n_classes ? n_classes : 3; }  // of a node: weight, y, y²
};

// The nodes of a depth: ids from `base` on, and the slot of each or −1.
struct TreeLevel {
  i32 base = 0;
  std::span<const i32> slot_of;

  i32 slot(i32 node) const {
    const u32 at = static_cast<u32>(node) - static_cast<u32>(base);
    return node >= 0 && at < slot_of.size() ? slot_of[at] : -1;
  }
};

// Which tables are wanted: of each slot the same number of features.
struct Wanted {
  i32 per_slot = 0;
  std::span<const i32> feature;  // by slot
  std::span<const i64> start;    // of each table among all, in words
  i64 n_words = 0;
};

// Sums of some nodes.
struct NodeSums {
  std::vector<i64> stats, rows;
  std::vector<double> low, high;  // of numbers

  NodeSums(i64 n_nodes, const TreeTarget& target);
  void add(const NodeSums& other);
};

// Rows of some slots, in the order of the blocks.
struct GatheredRows {
  std::vector<i32> slot;
  std::vector<i64> row;
  std::vector<u8> bins;  // a row of n_features each
  std::vector<u16> label, count;
  std::vector<i64> weight;
  std::vector<double> y;
};

// How rows are drawn: n_draws of n_all, with chances that add up to `total`; 0: equal ones.
// Chances of the blocks of all shares begin at `start`, those of rows from `first_row` on.
struct TreeDraws {
  i64 n_all = 0, n_draws = 0, total = 0;
  std::span<const i64> first_row, start;
};

class TreeShare {
 public:
  TreeShare(i32 n_features, i64 width, TreeTarget target, bool draws, bool weighs, int n_threads)
      : n_features_(n_features),
        width_(width),
        n_threads_(n_threads),
        draws_(draws),
        weighs_(weighs),
        target_(target) {}

  void add(TreeBlock block) { blocks_.push_back(block); }

  // Words of a row of a table: rows unless the stats say them, then the stats that scores need.
  i32 table_width() const {
    if (!target_.n_classes) return 3;
    return target_.n_classes + (draws_ || weighs_);
  }

  // All rows at the root; with draws, those of the tree with this seed.
  NodeSums begin_tree(u64 seed, const TreeDraws& draws, Callable<void()> poll);

  std::vector<i64> tables(const TreeLevel& level, const Wanted& wanted,
                          Callable<void()> poll) const;

  // Moves rows to the children of their slot: first_child + branch[256 · slot + bin].
  NodeSums divide(const TreeLevel& level, std::span<const i32> feature, std::span<const u8> branch,
                  std::span<const i32> first_child, Callable<void()> poll);

  GatheredRows gather(const TreeLevel& level, Callable<void()> poll) const;

  i32 n_features() const { return n_features_; }
  i64 width() const { return width_; }
  bool draws() const { return draws_; }
  bool weighs() const { return weighs_; }
  const TreeTarget& target() const { return target_; }

 private:
  template <class Body>
  void each_block(Body&& body, Callable<void()> poll) const;
  void draw(u64 seed, const TreeDraws& draws);
  void add_row(const TreeBlock& block, i64 row, i64 at, NodeSums& sums) const;
  i64 weight_of(const TreeBlock& block, i64 row) const {
    return (block.count ? block.count[row] : 1) * (block.weight ? block.weight[row] : 1);
  }
  // What a row's target counts as where its weight is scaled.
  double factor_of(const TreeBlock& block, i64 row) const {
    return block.weight ? static_cast<double>(block.weight[row]) * target_.weight_unit : 1.0;
  }

  i32 n_features_;
  i64 width_;
  int n_threads_;
  bool draws_, weighs_;
  TreeTarget target_;
  mutable std::vector<TreeBlock> blocks_;
};

}  // namespace treewright::blocks
