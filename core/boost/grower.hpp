// Grows one tree from the gradients of a round.
//
// Growth::leaf splits the leaf that gains most, Growth::depth level by level, Growth::symmetric all
// leaves of a level by the same test (symmetric.hpp). The rows of a node lie together, in ascending
// order; of two children the one with fewer rows is counted and the other gets what is left of the
// parent's histogram.
//
// Twin: tests/twins/boosting.py.
#pragma once

#include <algorithm>

#include "base/callable.hpp"
#include "binned/packed_rows.hpp"
#include "boost/feature_choice.hpp"
#include "boost/partition.hpp"
#include "boost/split_search.hpp"
#include "boost/symmetric.hpp"

namespace treewright::boost {

template <class Sum>
struct Leaf {
  i32 node = 0;
  i64 start = 0, stop = 0;
  i32 depth = 0;
  u64 path = 0;
  i32 slot = -1;  // of its histogram
  Sum total{};
  Range range;
  BinSplit best;
  std::vector<i32> above;  // features of the splits above, where interactions are limited

  i64 n_rows() const { return stop - start; }
};

template <class Sum>
class Grower {
 public:
  Grower(const Bins& bins, const GrowParams& params, int n_threads)
      : bins_(bins), p_(params), n_threads_(n_threads), pieces_(n_threads) {}

  // Values of leaves are not shrunk yet. `sample`: the rows to grow from, ascending; null: all.
  BinTree grow(const RowSums<Sum>& sums, const Units& units, const std::vector<u32>* sample,
               u64 tree_key, Callable<void()> poll) {
    sums_ = sums;
    units_ = &units;
    search_.clear();
    for (int t = 0; t < n_threads_; ++t) search_.emplace_back(bins_, p_, units);
    FeatureChoice choice(p_, bins_.n_features(), tree_key);
    choice_ = &choice;
    columns_.clear();
    for (const i32 f : choice.of_tree()) columns_.push_back(bins_.stored(f).column);
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    pool_.prepare(bins_.n_places());
    tree_ = {};
    leaves_.clear();
    start(sample);
    p_.growth == Growth::symmetric ? grow_levels(poll) : grow_leaves(poll);
    finish();
    return std::move(tree_);
  }

  // After growth: the rows of each leaf, and the number of its node.
  template <class Take>
  void each_leaf(Take&& take) const {
    for (const Leaf<Sum>& leaf : leaves_) {
      take(leaf.node, std::span(rows_.data() + leaf.start, leaf.n_rows()));
    }
  }
  i64 n_leaves() const { return static_cast<i64>(leaves_.size()); }
  std::pair<i32, std::span<const u32>> leaf(i64 i) const {
    return {leaves_[i].node, std::span(rows_.data() + leaves_[i].start, leaves_[i].n_rows())};
  }

 private:
  void start(const std::vector<u32>* sample) {
    const i64 n = sample ? static_cast<i64>(sample->size()) : bins_.n_rows();
    rows_.resize(n);
    partition_.reserve(n);
    if (sample) {
      std::copy(sample->begin(), sample->end(), rows_.begin());
    } else {
      std::iota(rows_.begin(), rows_.end(), u32{0});
    }
    is_whole_ = !sample;
    Leaf<Sum> root;
    root.stop = n;
    root.slot = pool_.take();
    build(root);
    // Every row has one byte of any column.
    const Sum* byte = pool_[root.slot] + bins_.offset(columns_[0]);
    for (i32 b = 0; b < bins_.n_bytes(columns_[0]); ++b) root.total += byte[b];
    tree_.nodes.push_back({});
    leaves_.push_back(std::move(root));
  }

  void build(const Leaf<Sum>& leaf) {
    pool_.clear(leaf.slot);
    Sum* to = pool_[leaf.slot];
    const bool all = is_whole_ && leaf.n_rows() == bins_.n_rows();
    const u32* rows = all ? nullptr : rows_.data();
    const i64 count = leaf.n_rows();
    const i64 n_pieces = n_threads_ == 1 ? 1 : count / kPiece;
    if (n_pieces < 2) {
      add_rows(bins_, columns_, rows, leaf.start, count, sums_, pieces_[0], to);
      return;
    }
    own_.assign(n_threads_, -1);
    for (int t = 1; t < n_threads_; ++t) own_[t] = pool_.take();
    used_.assign(n_threads_, 0);
    parallel_for(n_pieces, n_threads_, [&](i64 piece, int thread) {
      const i64 first = count * piece / n_pieces, last = count * (piece + 1) / n_pieces;
      if (thread && !used_[thread]) pool_.clear(own_[thread]);
      used_[thread] = 1;
      add_rows(bins_, columns_, rows, leaf.start + first, last - first, sums_, pieces_[thread],
               thread ? pool_[own_[thread]] : to);
    });
    for (int t = 1; t < n_threads_; ++t) {
      if (used_[t]) {
        const Sum* part = pool_[own_[t]];
        for (i64 i = 0; i < bins_.n_places(); ++i) to[i] += part[i];
      }
      pool_.give_back(own_[t]);
    }
  }

  bool has_rows(const Leaf<Sum>& leaf) const {
    return leaf.n_rows() > 1 &&
           units_->read(leaf.total).n_rows >= 2 * std::max<i64>(p_.min_rows, 1);
  }

  bool may_split(const Leaf<Sum>& leaf) const {
    return leaf.depth < p_.max_depth && has_rows(leaf);
  }

  // Looks for the best split of a leaf that has its histogram.
  void search(Leaf<Sum>& leaf) {
    leaf.best = {};
    leaf.best.gain = std::max(p_.min_gain, 0.0);
    if (!may_split(leaf)) return;
    const std::vector<i32> features = choice_->of_node(leaf.depth, leaf.path, leaf.above);
    const i64 n = static_cast<i64>(features.size()), n_parts = (n + kPart - 1) / kPart;
    const BinSplit none = leaf.best;
    found_.assign(n_parts, none);
    auto look = [&](i64 part, int thread) {
      BinSplit own;
      for (i64 i = part * kPart; i < std::min(n, (part + 1) * kPart); ++i) {
        if (!search_[thread].may_divide(features[i], pool_[leaf.slot])) continue;
        own.feature = -1;
        own.gain = none.gain;
        search_[thread].feature(features[i], pool_[leaf.slot], leaf.total, leaf.range, own);
        keep_better(own, found_[part]);
      }
    };
    if (n_threads_ > 1 && (leaf.n_rows() >= kShared || n_parts >= kManyParts)) {
      parallel_for(n_parts, n_threads_, look);
    } else {
      for (i64 part = 0; part < n_parts; ++part) look(part, 0);
    }
    for (const BinSplit& split : found_) keep_better(split, leaf.best);
  }

  static void keep_better(const BinSplit& split, BinSplit& best) {
    if (split.feature >= 0 && split.gain > best.gain + kTie * std::abs(best.gain)) best = split;
  }

  void drop_histogram(Leaf<Sum>& leaf) {
    pool_.give_back(leaf.slot);
    leaf.slot = -1;
  }

  // By gain, or by level.
  void grow_leaves(Callable<void()> poll) {
    search(leaves_[0]);
    std::vector<i32> open{0};
    while (!open.empty() && (!p_.max_leaves || n_leaves() < p_.max_leaves)) {
      poll();
      std::size_t at = 0;
      for (std::size_t i = 1; p_.growth == Growth::leaf && i < open.size(); ++i) {
        if (leaves_[open[i]].best.gain > leaves_[open[at]].best.gain) at = i;
      }
      const i32 parent = open[at];
      open.erase(open.begin() + static_cast<i64>(at));
      if (leaves_[parent].best.feature < 0) {
        drop_histogram(leaves_[parent]);
        continue;
      }
      const bool is_last = p_.max_leaves && n_leaves() + 1 >= p_.max_leaves;
      const i32 other = divide(parent, leaves_[parent].best);
      if (is_last) break;
      count_children(parent, other);
      for (const i32 child : {parent, other}) {
        search(leaves_[child]);
        if (leaves_[child].best.feature >= 0) {
          open.push_back(child);
        } else {
          drop_histogram(leaves_[child]);
        }
      }
    }
  }

  // The leaf becomes its left child; the right one is added and its place returned.
  i32 divide(i32 place, BinSplit split) {
    Leaf<Sum>& leaf = leaves_[place];
    const Stored& stored = bins_.stored(split.feature);
    split.column = stored.column;
    for (i32 byte = 0; byte < bins_.n_bytes(stored.column); ++byte) {
      if (split.left.has(stored.bin(byte))) split.left_bytes.add(byte);
    }
    Leaf<Sum> right;
    const i64 n_left = partition_.run(bins_.column(split.column), split, rows_.data() + leaf.start,
                                      leaf.n_rows(), n_threads_);
    const i32 first = static_cast<i32>(tree_.nodes.size());
    tree_.nodes[leaf.node].left = first;
    tree_.nodes[leaf.node].split = static_cast<i32>(tree_.splits.size());
    tree_.nodes[leaf.node].n_rows = leaf.n_rows();
    tree_.splits.push_back(split);
    tree_.nodes.resize(first + 2);
    right.node = first + 1;
    right.start = leaf.start + n_left;
    right.stop = leaf.stop;
    right.depth = leaf.depth + 1;
    right.path = child_path(leaf.path, 1);
    right.above = leaf.above;
    if (!p_.interactions.empty()) right.above.push_back(split.feature);
    const Sum left_total = sum_left(leaf, split);
    right.total = leaf.total - left_total;
    narrow_ranges(split, left_total, leaf.range, right);
    leaf.node = first;
    leaf.stop = leaf.start + n_left;
    leaf.depth += 1;
    leaf.path = child_path(leaf.path, 0);
    leaf.above = right.above;
    leaf.total = left_total;
    leaves_.push_back(std::move(right));
    return static_cast<i32>(leaves_.size()) - 1;
  }

  Sum sum_left(const Leaf<Sum>& leaf, const BinSplit& split) {
    Sum sum{};
    const Sum* byte = pool_[leaf.slot] + bins_.offset(split.column);
    for (i32 b = 0; b < bins_.n_bytes(split.column); ++b) {
      if (split.left_bytes.has(b)) sum += byte[b];
    }
    return sum;
  }

  // Below a constrained split the two sides stay on their sides of the middle.
  void narrow_ranges(const BinSplit& split, const Sum& left_total, Range& left, Leaf<Sum>& right) {
    right.range = left;
    const i32 sign = order_of(p_, bins_, split.feature, split.cut);
    if (!sign) return;
    const double l = leaf_value(units_->read(left_total), p_, left, p_.l2);
    const double r = leaf_value(units_->read(right.total), p_, left, p_.l2);
    const double middle = l + (r - l) / 2;
    (sign > 0 ? left.high : left.low) = middle;
    (sign > 0 ? right.range.low : right.range.high) = middle;
  }

  // Histograms of two children, from that of their parent, which the left one still has.
  void count_children(i32 left, i32 right) {
    Leaf<Sum>&a = leaves_[left], &b = leaves_[right];
    const bool is_right = counted_sibling(a.n_rows(), b.n_rows());
    Leaf<Sum>&small = is_right ? b : a, &large = is_right ? a : b;
    const i32 parent = a.slot;
    if (!may_split(a) && !may_split(b)) return drop_histogram(a);
    small.slot = pool_.take();
    large.slot = parent;
    build(small);
    subtract(pool_[small.slot], bins_.n_places(), pool_[parent]);
  }

  // All leaves of a level by one test; those that it would make too small stay as they are.
  void grow_levels(Callable<void()> poll) {
    std::vector<i32> above;
    const i32 n_levels =
        std::min<i32>(p_.max_depth, p_.max_leaves ? Units::bits(p_.max_leaves) - 1 : 62);
    for (i32 level = 0; level < n_levels; ++level) {
      poll();
      std::vector<LevelLeaf<Sum>> open;
      std::vector<i32> places;
      for (i32 i = 0; i < static_cast<i32>(leaves_.size()); ++i) {
        Leaf<Sum>& leaf = leaves_[i];
        if (!has_rows(leaf)) drop_histogram(leaf);
        if (leaf.slot < 0) continue;
        open.push_back({pool_[leaf.slot], leaf.total, leaf.range});
        places.push_back(i);
      }
      LevelSearch<Sum> search(bins_, p_, *units_, open);
      BinSplit best;
      best.gain = std::max(p_.min_gain, 0.0);
      for (const i32 f : choice_->of_node(level, 0, above)) search.feature(f, best);
      if (best.feature < 0) return;
      above.push_back(best.feature);
      for (std::size_t i = 0; i < open.size(); ++i) {
        BinSplit own = best;
        if (!search.divides(open[i], own)) continue;
        const i32 other = divide(places[i], own);
        if (level + 1 < n_levels) count_children(places[i], other);
      }
    }
  }

  void finish() {
    for (Leaf<Sum>& leaf : leaves_) {
      pool_.give_back(leaf.slot);
      leaf.slot = -1;
      BinNode& node = tree_.nodes[leaf.node];
      const Moments m = units_->read(leaf.total);
      node.value = leaf_value(m, p_, leaf.range, p_.l2);
      node.hessian = m.hessian;
      node.n_rows = leaf.n_rows();
    }
  }

  static constexpr i64 kPiece = PackedRow::kPieceRows;  // that one thread counts at a time
  static constexpr i64 kPart = 8;                       // features that are searched together
  static constexpr i64 kManyParts = 16;                 // which threads share in any node
  static constexpr i64 kShared = 16384;  // rows of a node whose features threads share

  const Bins& bins_;
  const GrowParams& p_;
  const int n_threads_;
  std::vector<PieceBuffer> pieces_;  // by thread
  RowSums<Sum> sums_;
  const Units* units_ = nullptr;
  const FeatureChoice* choice_ = nullptr;
  std::vector<i32> columns_;  // stored ones that have the features of the tree
  bool is_whole_ = true;
  std::vector<SplitSearch<Sum>> search_;
  HistogramPool<Sum> pool_;
  RowPartition partition_;
  std::vector<u32> rows_;
  std::vector<Leaf<Sum>> leaves_;
  BinTree tree_;
  std::vector<i32> own_;
  std::vector<u8> used_;
  std::vector<BinSplit> found_;  // the best split of each part of the features
};

}  // namespace treewright::boost
