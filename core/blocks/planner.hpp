// Plans one tree from histograms alone; the rows are elsewhere.
//
// The tree is that of boost::Grower, split for split. Growth by gain takes the best leaf first, but
// one pass over all rows for every split would be slow where rows are on disk or on other machines.
// So a pass may divide several nodes ahead of time: those that the remaining splits can still
// reach. A node that was divided in vain stays a leaf, whose rows still lie together.
//
// Twin: tests/twins/boosting.py, which grows the same trees.
#pragma once

#include <algorithm>
#include <optional>

#include "blocks/expansion.hpp"
#include "boost/grower.hpp"

namespace treewright::blocks {

using namespace boost;

template <class Sum>
class Planner {
 public:
  using SumType = Sum;

  Planner(const Bins& bins, const GrowParams& params) : bins_(bins), p_(params) {}

  // Draws the features of the tree.
  const std::vector<i32>& begin(u64 tree_key) {
    choice_.emplace(p_, bins_.n_features(), tree_key);
    return choice_->of_tree();
  }

  // With the histogram of all rows.
  void start(const Units& units, const Sum* root, i64 n_rows) {
    units_.emplace(units);
    search_.emplace(bins_, p_, *units_);
    pool_.prepare(bins_.n_places());
    nodes_.clear();
    pending_.clear();
    committed_.clear();
    level_above_.clear();
    level_ = 0;
    n_leaves_ = 1;
    is_done_ = false;
    Node node;
    node.slot = pool_.take();
    std::copy_n(root, bins_.n_places(), pool_[node.slot]);
    const i32 f = choice_->of_tree().front();  // every row is in one bin of any feature
    for (i32 b = 0; b <= bins_.gap_bin(f); ++b) node.total += bin(node, f)[b];
    node.n_rows = n_rows;
    nodes_.push_back(std::move(node));
    open_ = {0};
    if (p_.growth != Growth::symmetric) look(0);
  }

  // What to do next, at most `most` nodes at once; nothing when the tree is done.
  std::vector<Expansion> wanted(i64 most) {
    if (p_.growth == Growth::symmetric) return wanted_level();
    advance();
    std::vector<Expansion> out;
    if (is_done_) return out;
    const i64 left = p_.max_leaves ? p_.max_leaves - n_leaves_ : kNoBound;
    for (const i32 place : reachable(left)) {
      if (nodes_[place].left >= 0) continue;
      out.push_back(divide(place, nodes_[place].best, left > 1));
      if (static_cast<i64>(out.size()) >= most) break;
    }
    return out;
  }

  // Answers to wanted(), in its order: histograms of the children that are counted, and rows.
  void take(const Sum* histograms, const i64* n_left, const i64* n_right) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const Expansion& e = pending_[i];
      nodes_[e.left].n_rows = n_left[i];
      nodes_[e.right].n_rows = n_right[i];
      i32& parent = nodes_[e.parent].slot;
      if (e.counted < 0) {
        pool_.give_back(parent);
      } else {
        Node& small = nodes_[e.counted ? e.right : e.left];
        Node& large = nodes_[e.counted ? e.left : e.right];
        small.slot = pool_.take();
        std::copy_n(histograms, bins_.n_places(), pool_[small.slot]);
        histograms += bins_.n_places();
        large.slot = parent;
        subtract(pool_[small.slot], bins_.n_places(), pool_[large.slot]);
      }
      parent = -1;
      if (p_.growth == Growth::symmetric) continue;
      look(e.left);
      look(e.right);
    }
    pending_.clear();
  }

  // The tree; values of leaves are not shrunk yet. `leaves`: the number of each node, or −1.
  BinTree finish(std::vector<i32>& number_of_node) {
    BinTree tree;
    std::vector<i32> at(nodes_.size(), -1);
    number_of_node.assign(1, 0);
    at[0] = 0;
    tree.nodes.push_back({});
    for (const i32 place : committed_) {
      const Node& node = nodes_[place];
      const i32 first = static_cast<i32>(tree.nodes.size());
      tree.nodes[at[place]].left = first;
      tree.nodes[at[place]].split = static_cast<i32>(tree.splits.size());
      tree.splits.push_back(node.best);
      tree.nodes.resize(first + 2);
      for (const i32 side : {0, 1}) {
        at[node.left + side] = first + side;
        number_of_node.push_back(node.left + side);
      }
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const Node& node = nodes_[number_of_node[i]];
      const Moments m = units_->read(node.total);
      tree.nodes[i].n_rows = node.n_rows;
      if (tree.nodes[i].left >= 0) {
        number_of_node[i] = -1;
        continue;
      }
      tree.nodes[i].value = leaf_value(m, p_, node.range, p_.l2);
      tree.nodes[i].hessian = m.hessian;
    }
    return tree;
  }

 private:
  static constexpr i64 kNoBound = std::numeric_limits<i64>::max();

  struct Node {
    i32 depth = 0;
    u64 path = 0;
    i32 slot = -1;  // of its histogram
    i32 left = -1;  // its left child; the right one follows
    i64 n_rows = 0;
    Sum total{};
    Range range;
    BinSplit best;
    std::vector<i32> above;
  };

  const Sum* bin(const Node& node, i32 f) { return pool_[node.slot] + bins_.offset(f); }

  bool has_rows(const Node& node) const {
    return units_->read(node.total).n_rows >= 2 * std::max<i64>(p_.min_rows, 1);
  }
  bool may_split(const Node& node) const { return node.depth < p_.max_depth && has_rows(node); }

  // The best split of a node that has its histogram.
  void look(i32 place) {
    Node& node = nodes_[place];
    node.best = {};
    node.best.gain = std::max(p_.min_gain, 0.0);
    if (node.slot >= 0 && may_split(node)) {
      const BinSplit none = node.best;
      for (const i32 f : choice_->of_node(node.depth, node.path, node.above)) {
        BinSplit found = none;
        search_->feature(f, pool_[node.slot], node.total, node.range, found);
        if (found.feature >= 0 && found.gain > node.best.gain + kTie * std::abs(node.best.gain)) {
          node.best = found;
        }
      }
    }
    if (node.best.feature < 0) {
      pool_.give_back(node.slot);
      node.slot = -1;
    }
  }

  // Splits in their order, as far as they are known.
  void advance() {
    while (!open_.empty() && (!p_.max_leaves || n_leaves_ < p_.max_leaves)) {
      std::size_t at = 0;
      for (std::size_t i = 1; p_.growth == Growth::leaf && i < open_.size(); ++i) {
        if (nodes_[open_[i]].best.gain > nodes_[open_[at]].best.gain) at = i;
      }
      const i32 place = open_[at];
      const Node& node = nodes_[place];
      if (node.best.feature >= 0 && node.left < 0) return;
      open_.erase(open_.begin() + static_cast<i64>(at));
      if (node.best.feature < 0) continue;
      committed_.push_back(place);
      ++n_leaves_;
      for (const i32 child : {node.left, node.left + 1}) {
        if (nodes_[child].best.feature >= 0) open_.push_back(child);
      }
    }
    is_done_ = true;
  }

  // Nodes that may be among the next n splits: a node comes after those above it.
  std::vector<i32> reachable(i64 n) {
    struct Candidate {
      double gain;
      i32 place;
    };
    std::vector<Candidate> all;
    for (const i32 place : open_) all.push_back({nodes_[place].best.gain, place});
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Candidate from = all[i];
      const i32 left = nodes_[from.place].left;
      for (i32 child = left; left >= 0 && child < left + 2; ++child) {
        if (nodes_[child].best.feature < 0) continue;
        all.push_back({std::min(from.gain, nodes_[child].best.gain), child});
      }
    }
    if (p_.growth == Growth::leaf) {
      std::stable_sort(all.begin(), all.end(),
                       [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
    }
    std::vector<i32> out;
    for (const Candidate& c : all) {
      if (static_cast<i64>(out.size()) >= n) break;
      out.push_back(c.place);
    }
    return out;
  }

  Expansion divide(i32 place, const BinSplit split, bool is_counted) {
    const i32 first = static_cast<i32>(nodes_.size());
    if (first > kMostNodes - 2) throw std::length_error("a tree must have fewer nodes");
    nodes_.resize(first + 2);
    Node &node = nodes_[place], &left = nodes_[first], &right = nodes_[first + 1];
    node.left = first;
    node.best = split;
    left.depth = right.depth = node.depth + 1;
    left.path = child_path(node.path, 0);
    right.path = child_path(node.path, 1);
    left.above = node.above;
    if (!p_.interactions.empty()) left.above.push_back(split.feature);
    right.above = left.above;
    const Sum* bins = bin(node, split.feature);
    for (i32 b = 0; b <= bins_.gap_bin(split.feature); ++b) {
      if (split.left.has(b)) left.total += bins[b];
    }
    right.total = node.total - left.total;
    left.range = right.range = node.range;
    narrow_ranges(split, node.range, left, right);
    Expansion e{place, first, first + 1, split.feature, -1, split.left};
    if (is_counted && (may_split(left) || may_split(right))) {
      e.counted =
          counted_sibling(units_->read(left.total).n_rows, units_->read(right.total).n_rows);
    }
    pending_.push_back(e);
    return e;
  }

  void narrow_ranges(const BinSplit& split, const Range& range, Node& left, Node& right) {
    const i32 sign = order_of(p_, bins_, split.feature, split.cut);
    if (!sign) return;
    const double l = leaf_value(units_->read(left.total), p_, range, p_.l2);
    const double r = leaf_value(units_->read(right.total), p_, range, p_.l2);
    const double middle = l + (r - l) / 2;
    (sign > 0 ? left.range.high : left.range.low) = middle;
    (sign > 0 ? right.range.low : right.range.high) = middle;
  }

  // All leaves of a level by one test; open_ holds all leaves.
  std::vector<Expansion> wanted_level() {
    std::vector<Expansion> out;
    const i32 n_levels =
        std::min<i32>(p_.max_depth, p_.max_leaves ? Units::bits(p_.max_leaves) - 1 : 62);
    if (is_done_ || level_ >= n_levels) return out;
    std::vector<LevelLeaf<Sum>> leaves;
    std::vector<i32> places;
    for (const i32 place : open_) {
      Node& node = nodes_[place];
      if (!has_rows(node) && node.slot >= 0) pool_.give_back(node.slot), node.slot = -1;
      if (node.slot < 0) continue;
      leaves.push_back({pool_[node.slot], node.total, node.range});
      places.push_back(place);
    }
    LevelSearch<Sum> search(bins_, p_, *units_, leaves);
    BinSplit best;
    best.gain = std::max(p_.min_gain, 0.0);
    for (const i32 f : choice_->of_node(level_, 0, level_above_)) search.feature(f, best);
    is_done_ = best.feature < 0;
    if (is_done_) return out;
    level_above_.push_back(best.feature);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      BinSplit own = best;
      if (!search.divides(leaves[i], own)) continue;
      out.push_back(divide(places[i], own, level_ + 1 < n_levels));
      committed_.push_back(places[i]);
      *std::find(open_.begin(), open_.end(), places[i]) = out.back().left;
      open_.push_back(out.back().right);
    }
    ++level_;
    return out;
  }

  const Bins& bins_;
  const GrowParams& p_;
  std::optional<Units> units_;
  std::optional<SplitSearch<Sum>> search_;
  std::optional<FeatureChoice> choice_;
  HistogramPool<Sum> pool_;
  std::vector<Node> nodes_;
  std::vector<i32> open_;       // leaves that may be split next; in a symmetric tree all
  std::vector<i32> committed_;  // nodes of the tree that are split, in their order
  std::vector<Expansion> pending_;
  std::vector<i32> level_above_;
  i32 level_ = 0;
  i64 n_leaves_ = 1;
  bool is_done_ = false;
};

}  // namespace treewright::blocks
