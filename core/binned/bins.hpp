// Columns cut into bins of one byte: made once, and read by every tree that is grown from them.
//
// A feature has at most 255 bins of values, numbered in order, and one more for gaps behind them.
// Features that are 0 nearly everywhere may share a stored column (bundles.hpp), so that the byte
// of a row is that of a column; all others have a column of their own, whose bytes are their bins.
// Bins know nothing of the response.
//
// Twin: tests/twins/binned.py.
#pragma once

#include <span>
#include <vector>

#include "binned/bin_bytes.hpp"

namespace treewright {

// How one column becomes bins.
struct BinMap {
  bool is_nominal = false;
  std::vector<double> edges;     // ordered columns
  std::vector<i32> code_of_bin;  // nominal ones; codes that are not listed are gaps
  i32 n_categories = 0;

  i32 n_bins() const {
    return static_cast<i32>(is_nominal ? code_of_bin.size() : edges.size() + 1);
  }

  // The largest value of an ordered bin; the last one has no end.
  double end(i32 bin) const { return bin < std::ssize(edges) ? edges[bin] : kInf; }
};

// Where a feature's bins are stored.
struct Stored {
  i32 column = 0;
  i32 common = -1;  // of a shared column: the bin that bytes of other features stand for
  i32 first = 0;    // byte of the first of its other bins
  i32 n_bytes = 0;  // how many it has

  bool is_shared() const { return common >= 0; }

  // Bin of a byte of the column.
  i32 bin(i32 byte) const {
    if (!is_shared()) return byte;
    const i32 at = byte - first;
    if (at < 0 || at >= n_bytes) return common;
    return at < common ? at : at + 1;
  }
};

// Values of a column by row, where most rows have 0 (scipy's CSC).
struct SparseColumns {
  i64 n_rows = 0;
  std::span<const i64> start;  // of each column, and the end
  std::span<const i32> row;
  std::span<const double> value;

  i32 n_features() const { return static_cast<i32>(start.size()) - 1; }
};

class Bins {
 public:
  Bins(std::vector<BinMap> maps, const std::vector<Column>& columns, i64 n_rows, int n_threads);
  Bins(std::vector<BinMap> maps, const SparseColumns& columns, std::vector<Stored> stored);

  i64 n_rows() const { return bytes_.n_rows(); }
  i32 n_features() const { return static_cast<i32>(maps_.size()); }
  const BinMap& map(i32 feature) const { return maps_[feature]; }
  i32 gap_bin(i32 feature) const { return maps_[feature].n_bins(); }

  const Stored& stored(i32 feature) const { return stored_[feature]; }
  i32 n_columns() const { return static_cast<i32>(offset_.size()) - 1; }

  // Place of a column's first byte in a histogram, and of all bytes.
  i32 offset(i32 column) const { return offset_[column]; }
  const i32* offsets() const { return offset_.data(); }
  i32 n_places() const { return offset_.back(); }
  i32 n_bytes(i32 column) const { return offset_[column + 1] - offset_[column]; }

  i64 width() const { return bytes_.width(); }  // bytes of a row
  const u8* row(i64 row) const { return bytes_.row(row); }
  const u8* column(i32 column) const { return bytes_.column(column); }

 private:
  std::vector<BinMap> maps_;
  std::vector<Stored> stored_;
  std::vector<i32> offset_{0};
  BinBytes bytes_;
};

}  // namespace treewright
