// The blocks that one process holds, and what is done with all their rows.
//
// A block is rows as bins, with targets and scores, in memory that Python owns: arrays, or a file
// mapped into memory. A call goes over all blocks and gives integer sums, so that neither blocks
// nor processes nor their order can change a model.
#pragma once

#include <span>
#include <vector>

#include "base/callable.hpp"
#include "binned/histogram.hpp"
#include "binned/slope_sums.hpp"
#include "blocks/expansion.hpp"
#include "boost/booster.hpp"
#include "boost/slopes.hpp"

namespace treewright::blocks {

using boost::BinTree;
using boost::LossSum;
using boost::LossUnit;

struct Block {
  i64 n_rows = 0;
  i64 first_row = 0;          // its place among all rows of training
  const u8* bins = nullptr;   // by row
  const double* y = nullptr;  // by column; either of the two
  const float* small_y = nullptr;
  const i32* count = nullptr;      // how often each row counts; null: once
  const double* factor = nullptr;  // weight of each row; null: all one
  double* score = nullptr;         // by column
  float* probability = nullptr;    // multinomial, by column
  char* sums = nullptr;            // packed slopes of the tree being grown
  u32* rows = nullptr;             // row numbers; those of a node lie together
  char* map = nullptr;             // pages of a file that may be left when the block is done with
  i64 map_size = 0;

  struct Range {
    i64 start, stop;
  };
  std::vector<Range> nodes;  // of the tree being grown

  i64 count_of(i64 row) const { return count ? count[row] : 1; }
  double factor_of(i64 row) const { return factor ? factor[row] : 1.0; }
};

// Rows of bins, as add_rows reads them.
class BinRows {
 public:
  BinRows(const u8* bins, i64 width, std::span<const i32> offsets)
      : bins_(bins), width_(width), offsets_(offsets) {}
  i32 n_features() const { return static_cast<i32>(offsets_.size()) - 1; }
  i32 n_columns() const { return n_features(); }  // blocks share none
  i32 n_bytes(i32 column) const { return offsets_[column + 1] - offsets_[column]; }
  const i32* offsets() const { return offsets_.data(); }
  i32 offset(i32 feature) const { return offsets_[feature]; }
  i32 gap_bin(i32 feature) const { return offsets_[feature + 1] - offsets_[feature] - 1; }
  i32 n_places() const { return offsets_.back(); }
  i64 width() const { return width_; }
  const u8* row(i64 row) const { return bins_ + row * width_; }

 private:
  const u8* bins_;
  i64 width_;
  std::span<const i32> offsets_;
};

struct ShareParams {
  std::vector<i32> offsets;  // of the features' bins in a histogram, and of all bins
  i64 width = 0;             // bytes of a row
  boost::LossParams loss;
  boost::SamplingParams sampling;
  i64 n_counted = 0;  // rows of all shares, as often as they count
  double factor_unit = 1;
  SumKind sum = SumKind::wide;
  int n_threads = 1;

  i64 n_places() const { return offsets.back(); }
};

// What the start of a tree gives.
struct Begun {
  boost::SlopeRange slopes;
  i64 n_rows = 0;              // that the tree is grown from
  std::vector<i64> histogram;  // of all of them, in the words of a sum
};

struct Divided {
  std::vector<i64> n_left, n_right;
  std::vector<i64> histograms;
};

struct LeafSums {
  std::vector<i64> n_rows, weight;  // weight in units of the factors
};

// Memory of a thread, which stays from question to question.
struct Hand {
  PieceBuffer piece;
  std::vector<u32> others;  // rows that go right
  std::vector<i64> words;   // of sums
};

class Share {
 public:
  explicit Share(ShareParams params) : p_(std::move(params)), hands_(p_.n_threads) {}

  void add(Block block) { blocks_.push_back(std::move(block)); }

  double most_loss() const;  // of a row
  void set_loss_unit(LossUnit unit) { loss_unit_ = unit; }
  LossSum loss() const;

  void begin_round();
  // `keeps_first`: whether the first row of all stands in where the draw left none.
  Begun begin_tree(i32 column, const Scale& scale, u64 key, i64 number,
                   std::span<const i32> features, bool keeps_first, Callable<void()> poll);
  Divided expand(std::span<const Expansion> expansions, Callable<void()> poll);
  // Adds the values of the leaves to the scores; number_of_node is −1 for nodes that are split.
  LeafSums finish_tree(const BinTree& tree, std::span<const i32> number_of_node);
  // The same for rows that did not grow the tree.
  void follow(const BinTree& tree, i32 column);

 private:
  template <class Sum>
  Begun begin(const Scale& scale, u64 key, i64 number, bool keeps_first, Callable<void()> poll);
  template <class Sum>
  void fill(Block& block, const Units& units, const Scale& scale, Begun& part) const;
  template <class Sum>
  RowSums<Sum> sums_of(const Block& block) const;
  void draw(Block& block, i64 number, bool keeps_first) const;
  template <class Sum>
  Divided divide(std::span<const Expansion> expansions, Callable<void()> poll);
  i64 weight_of(const Block& block, Block::Range node) const;
  template <class F>
  void each_loss(const Block& block, F&& f) const;
  // body(block, thread) on all blocks.
  template <class Body>
  void each_block(Body&& body, Callable<void()> poll) const;
  template <class Body>
  void each_block(Body&& body) const {
    auto nothing = [] {};
    each_block(body, nothing);
  }

  ShareParams p_;
  LossUnit loss_unit_;
  i32 column_ = 0;          // of the tree being grown
  bool is_coarse_ = false;  // its slopes
  int row_bits_ = 0;
  std::vector<i32> features_;
  std::vector<Hand> hands_;
  mutable std::vector<Block> blocks_;
};

}  // namespace treewright::blocks
