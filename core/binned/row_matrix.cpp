#include "binned/row_matrix.hpp"

#include <algorithm>

#include "base/philox.hpp"
#include "base/sort.hpp"
#include "base/threads.hpp"
#include "binned/adjacent_bits.hpp"
#include "binned/bits.hpp"
#include "binned/column_values.hpp"

namespace treewright {
namespace {

constexpr i64 kTile = 128;        // rows that are read together, so that lines are used whole
constexpr i64 kSample = 1 << 15;  // rows that the bins are made from

using Keys = RowFeature::Keys;

i32 key_of_cell(float x) { return x != x ? kGapKey : float_key(x); }
i32 key_of_cell(double x) { return key_of_cell(static_cast<float>(x)); }
i32 key_of_cell(i32 code) { return code < 0 ? kGapKey : code; }

// Keys of some rows of a column whose keys are not ranks; row(i) is the i-th.
template <class Row>
void read_keys(const RowFeature& feature, const Column& column, i64 count, Row&& row, i32* keys) {
  with_cell_type(column, [&](auto type) {
    auto cell = [&](i64 i) { return *reinterpret_cast<const decltype(type)*>(column.at(row(i))); };
    if (feature.kind == Keys::whole) {
      for (i64 i = 0; i < count; ++i) keys[i] = static_cast<i32>(cell(i)) - feature.middle;
    } else {
      for (i64 i = 0; i < count; ++i) keys[i] = key_of_cell(cell(i));
    }
  });
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

void sort_keys(std::vector<i32>& keys, std::vector<u64>& items, std::vector<u64>& other) {
  items.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    items[i] = u64{static_cast<u32>(keys[i]) ^ 0x80000000u} << 32;
  }
  sort_items(items.data(), static_cast<i64>(items.size()), other);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<i32>(static_cast<u32>(items[i] >> 32) ^ 0x80000000u);
  }
}

void make_binary(RowFeature& feature, const FewValues& two) {
  const auto [low, high] = std::minmax(two.value[0], two.value[1]);
  feature.is_binary = true;
  feature.bins_are_values = true;
  switch (feature.kind) {
    case Keys::floats:
      feature.bin_end = {key_of_cell(low), key_of_cell(high)};
      break;
    case Keys::codes:
      feature.bin_end = {static_cast<i32>(low), static_cast<i32>(high)};
      break;
    case Keys::ranks:
      feature.values = {low, high};
      feature.bin_end = {0, 1};
      break;
    case Keys::whole:
      break;  // not before it is known that there are more values
  }
}

}  // namespace

i32 RowFeature::last_left(double t, bool closed) const {
  if (t == kInf) return kGapKey - 1;
  if (kind == Keys::codes || kind == Keys::whole) {
    const double last = closed ? std::floor(t) : std::ceil(t) - 1;
    return static_cast<i32>(std::clamp(last - middle, -0x1p30, 0x1p30));
  }
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
  const AdjacentColumns adjacent(table, columns);
  look_for_kinds(table, adjacent, n_threads);
  allocate();
  fill(table, adjacent, n_threads);
}

void RowMatrix::allocate() {
  const i64 w = width();
  bit_step_ = (n_binary() + 63) / 64;
  auto reserve = [&](Memory& memory, i64 bytes_per_row) {
    memory = Memory(static_cast<std::size_t>(n_rows_ * bytes_per_row));
    return memory.data();
  };
  if (are_short_) {
    short_keys_ = static_cast<i16*>(reserve(key_memory_, w * static_cast<i64>(sizeof(i16))));
  } else {
    keys_ = static_cast<i32*>(reserve(key_memory_, w * static_cast<i64>(sizeof(i32))));
  }
  bins_ = BinBytes(n_rows_, w);
  if (bit_step_) {
    bits_ = static_cast<u64*>(reserve(bit_memory_, bit_step_ * static_cast<i64>(sizeof(u64))));
  }
}

// Which columns are floats, whatever their type, which have gaps and which are binary: these come
// last.
void RowMatrix::look_for_kinds(const std::vector<Column>& table, const AdjacentColumns& adjacent,
                               int n_threads) {
  const i64 tiles = (n_rows_ + kTile - 1) / kTile;
  struct Found {
    bool gap = false, needs_ranks = false;
    FewValues values;
    WholeNumbers whole;
  };
  std::vector<std::vector<Found>> found(std::max(1, n_threads),
                                        std::vector<Found>(features.size()));
  // Columns whose values are known to a thread need no second look where they are adjacent.
  struct KnownValues {
    AdjacentColumns::Cells first, second;
    std::vector<i64> other;
  };
  const AdjacentColumns::Cells none(adjacent, std::numeric_limits<double>::quiet_NaN());
  std::vector<KnownValues> known(found.size(), {none, none, std::vector<i64>(features.size(), 1)});
  parallel_for(tiles, n_threads, [&](i64 tile, int t) {
    const i64 begin = tile * kTile, end = std::min(n_rows_, begin + kTile);
    KnownValues& k = known[t];
    if (adjacent.is_there()) {
      std::fill(k.other.begin(), k.other.end(), 0);
      adjacent.see_others(begin, end, k.first, k.second, k.other.data());
    }
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (!k.other[f]) continue;
      const Column& column = table[features[f].column];
      Found& all = found[t][f];
      // Whole numbers are known, and neither gaps nor in need of ranks.
      if (column.type == ColumnType::f32 && all.values.n > 2 && all.whole.see(column, begin, end))
        continue;
      bool gap = false, needs_ranks = false;
      with_cell_type(column, [&](auto type) {
        using Cell = decltype(type);
        for (i64 row = begin; row < end; ++row) {
          const Cell x = *reinterpret_cast<const Cell*>(column.at(row));
          if constexpr (std::is_same_v<Cell, i32>) {
            gap |= x < 0;
          } else {
            gap |= x != x;
            needs_ranks |= x == x && static_cast<Cell>(static_cast<float>(x)) != x;
          }
        }
      });
      all.gap |= gap;
      all.needs_ranks |= needs_ranks;
      if (!gap) all.values.see(column, begin, end);
      // Two values need no look at all rows.
      if (!all.gap && !all.needs_ranks && all.values.n > 2) all.whole.see(column, begin, end);
      if (adjacent.is_there() && !all.gap && all.values.n <= 2) {
        k.first.set(static_cast<i64>(f), all.values.value[0]);
        k.second.set(static_cast<i64>(f), all.values.value[all.values.n - 1]);
      }
    }
  });
  for (std::size_t f = 0; f < features.size(); ++f) {
    Found all;
    for (const auto& of_thread : found) {
      all.gap |= of_thread[f].gap;
      all.needs_ranks |= of_thread[f].needs_ranks;
      all.values.join(of_thread[f].values);
      all.whole.join(of_thread[f].whole);
      for (i32 i = 0; i < std::min(of_thread[f].values.n, 2); ++i) {
        all.whole.see(of_thread[f].values.value[i]);
      }
    }
    features[f].has_gaps = all.gap;
    features[f].kind = table[features[f].column].type == ColumnType::code ? Keys::codes
                       : all.needs_ranks                                  ? Keys::ranks
                                                                          : Keys::floats;
    if (!all.gap && all.values.n == 2) make_binary(features[f], all.values);
    if (features[f].is_binary) continue;
    features[f].middle = all.whole.middle();
    const bool fits = features[f].kind != Keys::codes || all.whole.most < 32768;
    are_short_ &= !all.gap && !all.needs_ranks && all.whole.are_all() && fits;
  }
  for (RowFeature& f : features) {
    const bool is_whole = are_short_ && !f.is_binary && f.kind == Keys::floats;
    if (is_whole) f.kind = Keys::whole;
    if (!is_whole) f.middle = 0;
  }
  const auto end = std::stable_partition(features.begin(), features.end(),
                                         [](const RowFeature& f) { return !f.is_binary; });
  n_keyed_ = static_cast<i32>(end - features.begin());
}

// The keys of a column that are ranks, and its distinct values.
void RowMatrix::rank_values(const Column& column, i32 f, SortBuffers& buffers) {
  RowFeature& feature = features[f];
  const Ranking ranking = rank_column(column, n_rows_, buffers);
  const RankedRow* items = buffers.items.data();
  feature.values.reserve(ranking.n_distinct);
  for (u32 i = 0; i < n_rows_; ++i) {
    const bool known = i < ranking.n_known;
    if (known && (!i || items[i].rank != items[i - 1].rank)) {
      feature.values.push_back(column.value(items[i].row));
    }
    keys_[static_cast<i64>(items[i].row) * width() + f] =
        known ? static_cast<i32>(items[i].rank) : kGapKey;
  }
}

// The bins of each feature, from a sample of its keys.
void RowMatrix::make_bins(const std::vector<Column>& table, int n_threads) {
  const std::vector<i64> sample = sampled_rows(n_rows_);
  const i64 count = static_cast<i64>(sample.size());
  struct Buffers {
    SortBuffers ranks;
    std::vector<i32> keys;
    std::vector<u64> items, other;
  };
  std::vector<Buffers> buffers(std::max(1, n_threads));
  parallel_for(width(), n_threads, [&](i64 f, int t) {
    RowFeature& feature = features[f];
    const Column& column = table[feature.column];
    Buffers& b = buffers[t];
    b.keys.resize(count);
    if (feature.kind == Keys::ranks) {
      rank_values(column, static_cast<i32>(f), b.ranks);
      for (i64 i = 0; i < count; ++i) b.keys[i] = keys_[sample[i] * width() + f];
    } else {
      read_keys(feature, column, count, [&](i64 i) { return sample[i]; }, b.keys.data());
    }
    std::erase(b.keys, kGapKey);
    sort_keys(b.keys, b.items, b.other);
    feature.bin_end = tail_fine_ends(b.keys, kMostBins, feature.bins_are_values);
    if (feature.bin_end.empty()) feature.bin_end.push_back(0);
    // Whatever lies above the sample belongs to the last bin.
    if (!feature.bins_are_values) feature.bin_end.back() = kGapKey - 1;
  });
}

// 64 rows at a time: a word per column, then turned into one per row.
void RowMatrix::fill_bits(const std::vector<Column>& table, i64 start, i64 count) {
  u64 block[64];
  for (i64 word = 0; word < bit_step_; ++word) {
    const i64 n_bits = std::min<i64>(n_binary() - 64 * word, 64);
    for (i64 begin = start; begin < start + count; begin += 64) {
      const i64 n = std::min<i64>(start + count - begin, 64);
      std::fill_n(block, 64, 0);
      for (i64 bit = 0; bit < n_bits; ++bit) {
        const RowFeature& feature = features[width() + 64 * word + bit];
        const Column column = table[feature.column];
        const double high = feature.value(feature.bin_end[1]);
        with_cell_type(column, [&](auto type) {
          using Cell = decltype(type);
          u64 is_high = 0;
          for (i64 i = 0; i < n; ++i) {
            const Cell x = *reinterpret_cast<const Cell*>(column.at(begin + i));
            is_high |= u64{x == static_cast<Cell>(high)} << i;
          }
          block[bit] = is_high;
        });
      }
      transpose_bits(block);
      for (i64 i = 0; i < n; ++i) bits_[(begin + i) * bit_step_ + word] = block[i];
    }
  }
}

void RowMatrix::fill(const std::vector<Column>& table, const AdjacentColumns& adjacent,
                     int n_threads) {
  const i32 w = width();
  make_bins(table, n_threads);
  // Whether the bins of a feature hold one value each, which the sample alone does not tell.
  std::vector<std::vector<i32>> values(w);
  for (i32 f = 0; f < w; ++f) {
    if (!features[f].bins_are_values) continue;
    values[f] = features[f].bin_end;
    values[f].push_back(kGapKey);
    features[f].bin_end.back() = kGapKey - 1;
  }
  std::vector<std::vector<u8>> others(std::max(1, n_threads), std::vector<u8>(w, 0));
  std::vector<BinSearch<i32>> search;
  for (i32 f = 0; f < w; ++f)
    search.emplace_back(std::span(features[f].bin_end).first(features[f].n_bins() - 1));
  const AdjacentBits adjacent_bits(table, adjacent, {features.data() + w, features.size() - w});
  parallel_for((n_rows_ + kTile - 1) / kTile, n_threads, [&](i64 tile, int t) {
    const i64 start = tile * kTile, count = std::min(n_rows_ - start, kTile);
    adjacent_bits.is_there() ? adjacent_bits.fill(start, count, bits_)
                             : fill_bits(table, start, count);
    i32 keys[kTile];
    for (i32 f = 0; f < w; ++f) {
      if (features[f].kind == Keys::ranks) {
        for (i64 i = 0; i < count; ++i) keys[i] = keys_[(start + i) * w + f];
      } else {
        read_keys(
            features[f], table[features[f].column], count, [&](i64 i) { return start + i; }, keys);
        if (are_short_) {
          for (i64 i = 0; i < count; ++i)
            short_keys_[(start + i) * w + f] = static_cast<i16>(keys[i]);
        } else {
          for (i64 i = 0; i < count; ++i) keys_[(start + i) * w + f] = keys[i];
        }
      }
      u8* bins = bins_.column(f) + start;
      search[f].run(keys, count, bins);
      if (features[f].has_gaps) {
        search[f].mark_gaps(keys, count, static_cast<u8>(features[f].n_bins()), bins);
      }
      bins_.spread(f, start, count);
      bool other = false;
      for (i64 i = 0; !values[f].empty() && i < count; ++i) other |= values[f][bins[i]] != keys[i];
      others[t][f] |= other;
    }
  });
  for (i32 f = 0; f < w; ++f) {
    for (const auto& of_thread : others) features[f].bins_are_values &= !of_thread[f];
    if (features[f].bins_are_values)
      features[f].bin_end.back() = values[f][features[f].n_bins() - 1];
  }
}

}  // namespace treewright
