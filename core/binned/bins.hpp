// Columns cut into bins of one byte: made once, and read by every tree that is grown from them.
//
// A feature has at most 255 bins of values, numbered in order, and one more for gaps behind them.
// Bins know nothing of the response. Edges come from summaries (values with their weights) that can
// be merged, so that blocks of rows, or machines, agree on them.
//
// Twin: treewright.kernels.reference.binned.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace treewright {

// Distinct values of a column, ascending, with their weights.
struct Summary {
  std::vector<double> value, weight;
};

struct WeighedValue {
  double value, weight;
};

Summary summarize(std::vector<WeighedValue>& values);  // sorts them; gaps (NaN) are left out
Summary merge(const Summary& a, const Summary& b);

// Edges between at most max_bins bins: halfway between all neighbours where there are few values,
// else so that bins have about the same weight. A value is in the first bin whose edge it does not
// exceed.
std::vector<double> bin_edges(const Summary& summary, i32 max_bins);

// How one column becomes bins.
struct BinMap {
  bool is_nominal = false;
  std::vector<double> edges;     // ordered columns
  std::vector<i32> code_of_bin;  // nominal ones; codes that are not listed are gaps
  i32 n_categories = 0;

  i32 n_bins() const {
    return static_cast<i32>(is_nominal ? code_of_bin.size() : edges.size() + 1);
  }
};

// Most bins of values; a byte then has room for that of gaps.
constexpr i32 kMostBins = 255;

class Bins {
 public:
  Bins(std::vector<BinMap> maps, const std::vector<Column>& columns, i64 n_rows, int n_threads);

  i64 n_rows() const { return n_rows_; }
  i32 n_features() const { return static_cast<i32>(maps_.size()); }
  const BinMap& map(i32 feature) const { return maps_[feature]; }
  i32 gap_bin(i32 feature) const { return maps_[feature].n_bins(); }

  // Place of a feature's first bin in a histogram, and of all bins.
  i32 offset(i32 feature) const { return offset_[feature]; }
  const i32* offsets() const { return offset_.data(); }
  i32 n_places() const { return offset_.back(); }

  i64 width() const { return width_; }  // bytes of a row
  const u8* row(i64 row) const { return by_row_ + row * width_; }
  const u8* column(i32 feature) const { return by_column_.data() + feature * n_rows_; }

 private:
  void fill(const std::vector<Column>& columns, i64 first, i64 last);

  std::vector<BinMap> maps_;
  i64 n_rows_, width_;
  std::vector<i32> offset_{0};
  std::vector<u8> memory_, by_column_;
  u8* by_row_ = nullptr;  // on a line of the cache
};

}  // namespace treewright
