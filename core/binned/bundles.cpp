#include "binned/bundles.hpp"

#include <algorithm>
#include <numeric>

namespace treewright {

std::vector<double> sparse_edges(const SparseColumns& columns, i32 feature, const double* weight,
                                 double total_weight, i32 max_bins) {
  std::vector<WeighedValue> values;
  double rest = total_weight;
  for (i64 i = columns.start[feature]; i < columns.start[feature + 1]; ++i) {
    const double w = weight ? weight[columns.row[i]] : 1.0;
    values.push_back({columns.value[i], w});
    rest -= w;
  }
  if (columns.start[feature + 1] - columns.start[feature] < columns.n_rows) {
    values.push_back({0.0, rest});
  }
  return bin_edges(summarize(values), max_bins);
}

namespace {

// A stored column on its way: which rows are taken, and how many bytes.
struct Shared {
  std::vector<u64> taken;
  i32 n_bytes = 1;  // byte 0 stands for 0 in all of them
};

class Bundler {
 public:
  Bundler(const std::vector<BinMap>& maps, const SparseColumns& columns)
      : maps_(maps), columns_(columns) {}

  std::vector<Stored> run() {
    const i32 n = columns_.n_features();
    std::vector<Stored> stored(n);
    std::vector<i32> alone;
    for (i32 f = 0; f < n; ++f) {
      look(f, stored[f]);
      if (!may_share(stored[f])) {
        alone.push_back(f);
        continue;
      }
      const i32 at = place(stored[f].n_bytes);
      stored[f].column = at;
      stored[f].first = shared_[at].n_bytes;
      shared_[at].n_bytes += stored[f].n_bytes;
      for (const i32 row : rows_) shared_[at].taken[row >> 6] |= u64{1} << (row & 63);
    }
    i32 next = static_cast<i32>(shared_.size());
    for (const i32 f : alone) stored[f] = Stored{next++, -1, 0, 0};
    return stored;
  }

 private:
  // Rows of a feature away from the bin of 0, and how many bytes it needs.
  void look(i32 f, Stored& s) {
    const std::vector<double>& edges = maps_[f].edges;
    auto bin = [&](double v) {
      return static_cast<i32>(std::lower_bound(edges.begin(), edges.end(), v) - edges.begin());
    };
    s.common = bin(0.0);
    s.n_bytes = maps_[f].n_bins() - 1;
    rows_.clear();
    bool has_gaps = false;
    for (i64 i = columns_.start[f]; i < columns_.start[f + 1]; ++i) {
      const double v = columns_.value[i];
      has_gaps |= v != v;
      if (v != v || bin(v) != s.common) rows_.push_back(columns_.row[i]);
    }
    s.n_bytes += has_gaps;
  }

  // A column that is full of other values gains nothing from company.
  bool may_share(const Stored& s) const {
    return s.n_bytes < 128 && 2 * static_cast<i64>(rows_.size()) < columns_.n_rows;
  }

  // The shared column to put the feature into that was looked at last.
  i32 place(i32 n_bytes) {
    constexpr i32 kTries = 64;  // columns with room that are tried, the latest first
    const i32 n = static_cast<i32>(shared_.size());
    i32 n_tried = 0;
    for (i32 at = n - 1; at >= 0 && n_tried < kTries; --at) {
      if (shared_[at].n_bytes + n_bytes > 256) continue;
      ++n_tried;
      const std::vector<u64>& taken = shared_[at].taken;
      if (std::none_of(rows_.begin(), rows_.end(),
                       [&](i32 row) { return taken[row >> 6] >> (row & 63) & 1; })) {
        return at;
      }
    }
    shared_.push_back({std::vector<u64>((columns_.n_rows + 63) / 64), 1});
    return n;
  }

  const std::vector<BinMap>& maps_;
  const SparseColumns& columns_;
  std::vector<Shared> shared_;
  std::vector<i32> rows_;
};

}  // namespace

std::vector<Stored> bundle(const std::vector<BinMap>& maps, const SparseColumns& columns) {
  return Bundler(maps, columns).run();
}

}  // namespace treewright
