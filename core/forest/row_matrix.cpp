#include "row_matrix.hpp"

#include <algorithm>

#include "../philox.hpp"
#include "../sort.hpp"
#include "../threads.hpp"

namespace treewright {
namespace {

constexpr i64 kTile = 512;       // rows that are read together, so that lines are used whole
constexpr i64 kSample = 1 << 15; // rows that the bins are made from

using Keys = RowFeature::Keys;

i32 key_of(const Column& column, Keys kind, i64 row) {
  if (column.type == ColumnType::code) {
    const i32 code = column.code(row);
    return code < 0 ? kGapKey : code;
  }
  const double x = column.value(row);
  return x != x ? kGapKey : float_key(static_cast<float>(x));
}

// Rows spread evenly over the table, each at a random place of its stretch.
std::vector<i64> sampled_rows(i64 n) {
  const i64 count = std::min(n, kSample);
  std::vector<i64> rows(count);
  Philox random(0x62696E73, 0);
  for (i64 i = 0; i < count; ++i) {
    const i64 begin = i * n / count, end = (i + 1) * n / count;
    rows[i] = begin + (end - begin > 1 ? static_cast<i64>(random.below(end - begin)) : 0);
  }
  return rows;
}

// Ends of at most kMaxBins bins of about equal size, from sorted keys; perhaps one per value.
std::vector<i32> bin_ends(const std::vector<i32>& sorted, bool& are_values) {
  std::vector<i32> distinct;
  for (const i32 key : sorted) {
    if (distinct.empty() || distinct.back() != key) distinct.push_back(key);
    if (distinct.size() > kMaxBins) break;
  }
  std::vector<i32> ends;
  are_values = distinct.size() <= kMaxBins;
  if (are_values) {
    ends = distinct;
  } else {
    const std::size_t n = sorted.size();
    for (u32 b = 1; b < kMaxBins; ++b) {
      const i32 end = sorted[b * n / kMaxBins - 1];
      if (ends.empty() || ends.back() < end) ends.push_back(end);
    }
    if (ends.back() < sorted.back()) ends.push_back(sorted.back());
  }
  if (ends.empty()) ends.push_back(0);
  // Whatever lies above the sample belongs to the last bin.
  if (!are_values) ends.back() = kGapKey - 1;
  return ends;
}

// The bin of a key: how many ends lie below it, by a search without branches.
struct BinSearch {
  i32 ends[256];

  explicit BinSearch(const RowFeature& feature) {
    std::fill(std::begin(ends), std::end(ends), kGapKey);
    std::copy(feature.bin_end.begin(), feature.bin_end.end() - 1, ends);
  }
  u8 operator()(i32 key) const {
    u32 at = 0;
    for (u32 step = 128; step; step /= 2) at += ends[at + step - 1] < key ? step : 0;
    return static_cast<u8>(at);
  }
};

}  // namespace

i32 RowFeature::last_left(double t, bool closed) const {
  if (t == kInf) return kGapKey - 1;
  if (kind == Keys::codes) return static_cast<i32>(std::floor(t));
  if (kind == Keys::ranks) {
    const auto at = closed ? std::upper_bound(values.begin(), values.end(), t)
                           : std::lower_bound(values.begin(), values.end(), t);
    return static_cast<i32>(at - values.begin()) - 1;
  }
  float x = static_cast<float>(t + 0.0);
  const bool left = closed ? static_cast<double>(x) <= t : static_cast<double>(x) < t;
  if (!left) x = std::nextafter(x, -std::numeric_limits<float>::infinity());
  return float_key(x);
}

RowMatrix::RowMatrix(const std::vector<Column>& table, const std::vector<i32>& columns, i64 n_rows,
                     int n_threads)
    : features(columns.size()), n_rows_(n_rows) {
  for (std::size_t f = 0; f < columns.size(); ++f) features[f].column = columns[f];
  // The bins of a row share as few cache lines as they can: steps of 1, 2, 4 … 32, 64, 96 …
  const i64 w = static_cast<i64>(columns.size());
  bin_step_ = w <= 32 ? static_cast<i64>(std::bit_ceil(static_cast<u64>(w))) : (w + 31) / 32 * 32;
  key_memory_ = Memory(static_cast<std::size_t>(n_rows) * w * sizeof(i32));
  bin_memory_ = Memory(static_cast<std::size_t>(n_rows) * bin_step_);
  keys_ = static_cast<i32*>(key_memory_.data());
  bins_ = static_cast<u8*>(bin_memory_.data());
  column_memory_ = Memory(static_cast<std::size_t>(n_rows) * w);
  columns_ = static_cast<u8*>(column_memory_.data());
  look_for_kinds(table, n_threads);
  fill(table, n_threads);
}

// Which columns are floats, whatever their type, and which have gaps.
void RowMatrix::look_for_kinds(const std::vector<Column>& table, int n_threads) {
  enum : u8 { gap = 1, wide = 2 };
  const i64 tiles = (n_rows_ + kTile - 1) / kTile;
  std::vector<std::vector<u8>> found(std::max(1, n_threads), std::vector<u8>(features.size(), 0));
  parallel_for(tiles, n_threads, [&](i64 tile, int t) {
    const i64 end = std::min(n_rows_, (tile + 1) * kTile);
    for (std::size_t f = 0; f < features.size(); ++f) {
      const Column& column = table[features[f].column];
      u8 flags = 0;
      for (i64 row = tile * kTile; row < end; ++row) {
        if (column.type == ColumnType::code) {
          flags |= column.code(row) < 0 ? gap : 0;
        } else {
          const double x = column.value(row);
          flags |= x != x ? gap : static_cast<double>(static_cast<float>(x)) != x ? wide : 0;
        }
      }
      found[t][f] |= flags;
    }
  });
  for (std::size_t f = 0; f < features.size(); ++f) {
    u8 flags = 0;
    for (const auto& of_thread : found) flags |= of_thread[f];
    features[f].has_gaps = flags & gap;
    features[f].kind = table[features[f].column].type == ColumnType::code ? Keys::codes
                       : flags & wide                                      ? Keys::ranks
                                                                           : Keys::floats;
  }
}

void RowMatrix::fill(const std::vector<Column>& table, int n_threads) {
  const i32 w = width();
  const std::vector<i64> sample = sampled_rows(n_rows_);
  std::vector<SortBuffers> buffers(std::max(1, n_threads));
  parallel_for(w, n_threads, [&](i64 f, int t) {
    RowFeature& feature = features[f];
    const Column& column = table[feature.column];
    if (feature.kind == Keys::ranks) {
      const Ranking ranking = rank_column(column, n_rows_, buffers[t]);
      const RankedRow* items = buffers[t].items.data();
      feature.values.reserve(ranking.n_distinct);
      for (u32 i = 0; i < n_rows_; ++i) {
        const bool known = i < ranking.n_known;
        if (known && (!i || items[i].rank != items[i - 1].rank)) {
          feature.values.push_back(column.value(items[i].row));
        }
        keys_[static_cast<i64>(items[i].row) * w + f] =
            known ? static_cast<i32>(items[i].rank) : kGapKey;
      }
    }
    std::vector<i32> keys;
    keys.reserve(sample.size());
    for (const i64 row : sample) {
      const i32 key = feature.kind == Keys::ranks ? keys_[row * w + f]
                                                  : key_of(column, feature.kind, row);
      if (key != kGapKey) keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end());
    feature.bin_end = bin_ends(keys, feature.bins_are_values);
  });
  // Whether the bins of a feature hold one value each, which the sample alone does not tell.
  std::vector<std::vector<i32>> values(w);
  for (i32 f = 0; f < w; ++f) {
    if (!features[f].bins_are_values) continue;
    values[f] = features[f].bin_end;
    values[f].push_back(kGapKey);
    features[f].bin_end.back() = kGapKey - 1;
  }
  std::vector<std::vector<u8>> others(std::max(1, n_threads), std::vector<u8>(w, 0));
  const std::vector<BinSearch> search(features.begin(), features.end());
  parallel_for((n_rows_ + kTile - 1) / kTile, n_threads, [&](i64 tile, int t) {
    const i64 end = std::min(n_rows_, (tile + 1) * kTile);
    for (i32 f = 0; f < w; ++f) {
      const Keys kind = features[f].kind;
      const Column& column = table[features[f].column];
      const u8 gap_bin = static_cast<u8>(features[f].n_bins());
      for (i64 row = tile * kTile; row < end; ++row) {
        i32& key = keys_[row * w + f];
        if (kind != Keys::ranks) key = key_of(column, kind, row);
        const u8 bin = key == kGapKey ? gap_bin : search[f](key);
        bins_[row * bin_step_ + f] = columns_[f * n_rows_ + row] = bin;
        if (!values[f].empty()) others[t][f] |= values[f][bin] != key;
      }
    }
  });
  for (i32 f = 0; f < w; ++f) {
    for (const auto& of_thread : others) features[f].bins_are_values &= !of_thread[f];
    if (features[f].bins_are_values) features[f].bin_end.back() = values[f][features[f].n_bins() - 1];
  }
}

}  // namespace treewright
