// What says how the trees of a booster grow, and what a grown tree is.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "base/types.hpp"

namespace treewright::boost {

enum class Growth : u8 { leaf, depth, symmetric };

struct GrowParams {
  Growth growth = Growth::leaf;
  i64 max_leaves = 31;  // 0: no limit
  i32 max_depth = std::numeric_limits<i32>::max();
  i64 min_rows = 20;          // of a leaf
  double min_hessian = 1e-3;  // of a leaf
  double l1 = 0, l2 = 0;
  double min_gain = 0;
  double max_step = 0;  // of a leaf's value before shrinkage; 0: no limit
  double nominal_smoothing = 10, nominal_l2 = 10;
  i32 nominal_max_groups = 0;  // most categories on the smaller side of a split; 0: any number
  double tree_share = 1, level_share = 1, node_share = 1;  // of the features
  std::vector<i32> monotonic;                              // per feature −1, 0, 1; empty: none
  std::vector<std::vector<i32>> interactions;              // groups of features; empty: no limits
  u64 seed = 0;
};

// Which bins go to the left.
class BinSet {
 public:
  void add(i32 bin) { words_[bin >> 6] |= u64{1} << (bin & 63); }
  void add_up_to(i32 last) {
    for (i32 word = 0; word <= last >> 6; ++word) {
      words_[word] |= word < last >> 6 ? ~u64{0} : ~u64{0} >> (63 - (last & 63));
    }
  }
  bool has(i32 bin) const { return words_[bin >> 6] >> (bin & 63) & 1; }
  std::array<u64, 4>& words() { return words_; }
  const std::array<u64, 4>& words() const { return words_; }

 private:
  std::array<u64, 4> words_{};
};

// A split of a node's bins.
struct BinSplit {
  i32 feature = -1;
  i32 cut = -1;  // ordered features: bins up to it go to the left, behind the last one only gaps
                 // to the right; −1 for nominal ones
  bool gap_left = false;
  double gain = 0;
  i64 n_gaps = 0;
  BinSet left{};        // with the bin of gaps
  BinSet seen{};        // nominal features: bins that the node has rows of
  i32 column = -1;      // where the feature is stored, and which bytes of it go to the left;
  BinSet left_bytes{};  // known once a node is divided
};

struct BinNode {
  i32 left = -1;   // the right child follows; −1 for a leaf
  i32 split = -1;  // place in BinTree::splits
  double value = 0;
  double weight = 0;  // sum of row weights
  double hessian = 0;
  i64 n_rows = 0;
};

struct BinTree {
  std::vector<BinNode> nodes;
  std::vector<BinSplit> splits;
};

// Leaf of a row of bins, where every feature has a column of its own.
inline i32 leaf_of(const BinTree& tree, const u8* row) {
  i32 at = 0;
  while (tree.nodes[at].left >= 0) {
    const BinSplit& split = tree.splits[tree.nodes[at].split];
    at = tree.nodes[at].left + !split.left.has(row[split.feature]);
  }
  return at;
}

}  // namespace treewright::boost
