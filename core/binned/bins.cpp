#include "binned/bins.hpp"

#include <algorithm>
#include <cmath>

#include "base/threads.hpp"
#include "binned/column_values.hpp"

namespace treewright {
namespace {

constexpr i64 kTile = 256;  // rows that are read together

// How the cells of a column find their bins.
class CellBins {
 public:
  CellBins(const BinMap& map, const Column& column)
      : column_(column), search_(map.edges), gap_(static_cast<u8>(map.n_bins())) {
    if (!map.is_nominal) return;
    of_code_.assign(map.n_categories + 1, gap_);
    for (std::size_t b = 0; b < map.code_of_bin.size(); ++b) {
      of_code_[map.code_of_bin[b]] = static_cast<u8>(b);
    }
  }

  void run(i64 first, i64 count, u8* to) const {
    if (!of_code_.empty()) {
      for (i64 i = 0; i < count; ++i) {
        const i32 code = column_.code(first + i);
        to[i] = code < 0 ? gap_ : of_code_[code];
      }
      return;
    }
    double values[kTile];
    with_cell_type(column_, [&](auto type) {
      for (i64 i = 0; i < count; ++i) {
        const auto cell = *reinterpret_cast<const decltype(type)*>(column_.at(first + i));
        const bool is_gap = column_.type == ColumnType::code && cell < 0;
        values[i] = is_gap ? std::nan("") : static_cast<double>(cell);
      }
    });
    search_.run(values, count, to);
    search_.mark_gaps(values, count, gap_, to);
  }

 private:
  Column column_;
  BinSearch<double> search_;
  u8 gap_;
  std::vector<u8> of_code_;  // nominal columns
};

}  // namespace

Bins::Bins(std::vector<BinMap> maps, const std::vector<Column>& columns, i64 n_rows, int n_threads)
    : maps_(std::move(maps)), stored_(maps_.size()), bytes_(n_rows, n_features()) {
  std::vector<CellBins> cells;
  for (i32 f = 0; f < n_features(); ++f) {
    stored_[f].column = f;
    offset_.push_back(offset_.back() + maps_[f].n_bins() + 1);
    cells.emplace_back(maps_[f], columns[f]);
  }
  parallel_for((n_rows + kTile - 1) / kTile, n_threads, [&](i64 tile, int) {
    const i64 first = tile * kTile, count = std::min(kTile, n_rows - first);
    for (i32 f = 0; f < n_features(); ++f) {
      cells[f].run(first, count, bytes_.column(f) + first);
      bytes_.spread(f, first, count);
    }
  });
}

Bins::Bins(std::vector<BinMap> maps, const SparseColumns& columns, std::vector<Stored> stored)
    : maps_(std::move(maps)), stored_(std::move(stored)) {
  std::vector<i32> n_bytes;
  for (i32 f = 0; f < n_features(); ++f) {
    const Stored& s = stored_[f];
    if (s.column >= static_cast<i32>(n_bytes.size())) n_bytes.resize(s.column + 1, 0);
    n_bytes[s.column] =
        std::max(n_bytes[s.column], s.is_shared() ? s.first + s.n_bytes : maps_[f].n_bins() + 1);
  }
  for (const i32 n : n_bytes) offset_.push_back(offset_.back() + n);
  const i64 n_rows = columns.n_rows;
  bytes_ = BinBytes(n_rows, n_columns());
  std::fill_n(bytes_.column(0), n_rows * n_columns(), u8{0});
  for (i32 f = 0; f < n_features(); ++f) {
    const Stored& s = stored_[f];
    const BinSearch<double> search(maps_[f].edges);
    const i32 gap = maps_[f].n_bins();
    u8* to = bytes_.column(s.column);
    if (!s.is_shared()) std::fill_n(to, n_rows, static_cast<u8>(search.bin(0.0)));
    for (i64 i = columns.start[f]; i < columns.start[f + 1]; ++i) {
      const double v = columns.value[i];
      const i32 bin = v == v ? static_cast<i32>(search.bin(v)) : gap;
      if (s.is_shared() && bin == s.common) continue;
      to[columns.row[i]] = static_cast<u8>(s.is_shared() ? s.first + bin - (bin > s.common) : bin);
    }
  }
  for (i64 first = 0; first < n_rows; first += kTile) {
    for (i32 c = 0; c < n_columns(); ++c) bytes_.spread(c, first, std::min(kTile, n_rows - first));
  }
}

}  // namespace treewright
