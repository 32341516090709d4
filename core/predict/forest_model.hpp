// Prediction by a forest: a sum over its trees, block of rows by block of rows.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "predict/block_walk.hpp"
#include "predict/predict.hpp"
#include "predict/ranked_trees.hpp"

namespace treewright {

// Terms of the linear tests of a forest; all empty where there are none.
struct ForestTerms {
  std::span<const i32> count;  // per inner node
  std::span<const i32> feature;
  std::span<const double> weight;
  std::span<const i32> code;
};

// The arrays of a forest, as treewright.tree.forest keeps them (widened to these types).
struct ForestArrays {
  std::span<const i32> n_categories;  // per feature, -1 for continuous ones
  std::span<const i64> node_offset;
  std::span<const i32> n_children;
  std::span<const i32> feature, gap_branch;
  std::span<const u8> kind, closed;
  std::span<const i32> n_breaks, n_codes;
  std::span<const double> breaks;
  std::span<const i32> codes, branches;
  ForestTerms terms = {};
  std::span<const u8> leaf_codes = {};  // none, or one for each leaf
};

class ForestModel {
 public:
  explicit ForestModel(const ForestArrays& arrays);  // throws std::invalid_argument

  std::vector<i32> n_categories, used;  // as predict::Input asks for
  i64 n_trees() const { return static_cast<i64>(offset_.size()) - 1; }
  i64 n_leaves() const { return leaf_offset_.back(); }
  i64 n_nodes(i64 tree) const { return offset_[tree + 1] - offset_[tree]; }
  bool is_plain() const { return plain_; }
  const std::vector<i64>& leaf_offset() const { return leaf_offset_; }
  // Rows come to a leaf's label: its number among those of its tree and, if it fits, its code.
  u32 leaf_label(i64 tree, i64 node) const { return label_[offset_[tree] + node]; }
  bool has_codes() const { return has_codes_; }
  static u32 code_of(u32 label) { return label >> kNumberBits; }
  u32 number_of(u32 label) const { return has_codes_ ? label & kNumber : label; }
  // −1 for an inner node.
  i32 leaf_number(i64 tree, i64 node) const {
    const i64 at = offset_[tree] + node;
    return first_child_[at] < 0 ? static_cast<i32>(number_of(label_[at])) : -1;
  }

  i32 leaf_node(i64 tree, u32 label) const {
    return leaf_node_[leaf_offset_[tree] + number_of(label)];
  }

  const BlockTree<FloatNode>& tree(i64 tree, FloatNode) const { return floats_[tree]; }
  const BlockTree<DoubleNode>& tree(i64 tree, DoubleNode) const { return doubles_[tree]; }
  const predict::Router& router(i64 tree) const { return *routers_[tree]; }

  const RankedTrees& ranked() const { return *ranked_; }
  u32 label_of_leaf(i64 tree, u8 number) const {
    return has_codes_ ? leaf_label(tree, leaf_node(tree, number)) : number;
  }

  // Makes what rows of a kind need; not thread-safe, so before the work is handed out. Floats may
  // not do, if a tree has too many nodes or features.
  bool need_floats();
  bool need_ranks();  // false if trees are not small
  void need_doubles();
  void need_routers();

 private:
  template <class Node>
  bool make_trees(std::vector<BlockTree<Node>>& trees) const;
  template <class Node>
  bool make_tree(i64 tree, BlockTree<Node>& out) const;
  predict::Router make_router(i64 tree) const;

  static constexpr int kNumberBits = 24;
  static constexpr u32 kNumber = (u32{1} << kNumberBits) - 1;

  // Copies: a model outlives the arrays that it was made of.
  std::vector<i64> offset_, inner_offset_, leaf_offset_{0};
  std::vector<i32> first_child_, leaf_node_, n_children_;
  std::vector<u32> label_;  // 0 for inner nodes
  std::vector<i32> feature_, gap_branch_;
  std::vector<u8> kind_, closed_;
  std::vector<i64> break_offset_{0}, code_offset_{0};
  std::vector<double> breaks_;
  std::vector<i32> codes_, branches_;
  std::vector<i64> term_offset_{0};
  std::vector<i32> term_feature_, term_code_;
  std::vector<double> term_weight_;
  bool plain_ = true, floats_do_ = true, ranks_do_ = true, has_codes_ = false;
  std::vector<BlockTree<FloatNode>> floats_;
  std::vector<BlockTree<DoubleNode>> doubles_;
  std::vector<std::unique_ptr<predict::Router>> routers_;
  std::unique_ptr<RankedTrees> ranked_;
};

}  // namespace treewright
