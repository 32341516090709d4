// The ordered columns of a forest, row by row and unsorted.
//
// A forest looks at a few drawn features per node, so keeping every column sorted does not pay.
// Here each value is a signed 32-bit key of the same order: the bits of a float32 (and of a double
// that is one), the code of an ordinal category, or the rank among the distinct values of the
// column. Where every column has whole numbers or codes that 16 bits can tell apart, the keys are
// these: half of the bytes, and twice as many in a register. A row's keys lie together, so that
// what a subtree reads stays in the cache. Beside the key stands the number of a quantile bin, one
// byte, for counting in large nodes. A column of two values without gaps needs neither, only a bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/memory.hpp"
#include "base/sort.hpp"
#include "base/types.hpp"
#include "binned/adjacent_columns.hpp"
#include "binned/bin_bytes.hpp"
#include "data/block.hpp"

namespace treewright {

constexpr i32 kGapKey = std::numeric_limits<i32>::max();

// Bits of a float as an integer of the same order; one zero.
inline i32 float_key(float x) {
  const i32 bits = std::bit_cast<i32>(x + 0.0f);
  return bits ^ ((bits >> 31) & 0x7FFFFFFF);
}
inline float key_float(i32 key) { return std::bit_cast<float>(key ^ ((key >> 31) & 0x7FFFFFFF)); }

struct RowFeature {
  enum class Keys : u8 { floats, codes, ranks, whole };

  i32 column = 0;  // of the table
  Keys kind = Keys::floats;
  bool has_gaps = false;
  i32 middle = 0;                // whole: the number whose key is 0
  std::vector<double> values;    // ranks: the distinct values, ascending
  std::vector<i32> bin_end;      // largest key of each bin; the last is open
  bool bins_are_values = false;  // every bin holds one value
  bool is_binary = false;        // two values, no gaps: kept as a bit

  u32 n_bins() const { return static_cast<u32>(bin_end.size()); }

  double value(i32 key) const {
    if (kind == Keys::floats) return key_float(key);
    return kind == Keys::ranks ? values[key] : static_cast<double>(key + middle);
  }
  // The bin of a key that is no gap.
  u32 bin_of(i32 key) const {
    return static_cast<u32>(std::lower_bound(bin_end.begin(), bin_end.end() - 1, key) -
                            bin_end.begin());
  }
  // The largest key that a test sends left: x <= t if closed, else x < t.
  i32 last_left(double t, bool closed) const;
};

// The keys next to a cut.
struct NextToCut {
  i32 below = std::numeric_limits<i32>::min(), above = kGapKey;

  // Without a jump, which would be a guess.
  void see(i32 key, bool right) {
    const i32 mask = -static_cast<i32>(right);
    below = std::max(below, (key & ~mask) | (std::numeric_limits<i32>::min() & mask));
    above = std::min(above, (key & mask) | (kGapKey & ~mask));
  }
};

class RowMatrix {
 public:
  // Reads the columns listed in `columns`; a forest's rows are those of the table.
  RowMatrix(const std::vector<Column>& table, const std::vector<i32>& columns, i64 n_rows,
            int n_threads);

  i64 n_rows() const { return n_rows_; }
  // Features that have keys; binary ones follow them.
  i32 width() const { return n_keyed_; }
  i32 n_binary() const { return static_cast<i32>(features.size()) - n_keyed_; }
  const i32* keys(i64 row) const { return keys_ + row * width(); }
  bool has_short_keys() const { return are_short_; }
  RowCells cells() const {
    return {keys_,         short_keys_, bins_.row(0), bins_.column(0), width(),
            bins_.width(), n_rows_,     nullptr,      bits_,           bit_step_};
  }
  // The key of an instance of any feature.
  i32 key(const RowCells& cells, i64 id, i32 slot) const {
    if (!cells.is_bit(slot)) return cells.key(id, slot);
    return features[slot].bin_end[cells.bits_of(slot)[id]];
  }

  std::vector<RowFeature> features;

 private:
  void look_for_kinds(const std::vector<Column>& table, const AdjacentColumns& adjacent,
                      int n_threads);
  void allocate();
  void make_bins(const std::vector<Column>& table, int n_threads);
  void rank_values(const Column& column, i32 f, SortBuffers& buffers);
  void fill(const std::vector<Column>& table, const AdjacentColumns& adjacent, int n_threads);
  void fill_bits(const std::vector<Column>& table, i64 start, i64 count);

  i64 n_rows_, bit_step_ = 0;
  i32 n_keyed_ = 0;
  bool are_short_ = true;  // all keys
  Memory key_memory_, bit_memory_;
  i32* keys_ = nullptr;        // or
  i16* short_keys_ = nullptr;  // where they are enough
  BinBytes bins_;
  u64* bits_ = nullptr;
};

}  // namespace treewright
