// A block: instances with their targets and their columns in a searchable form.
//
// Sorted features keep one Entry array each; the entries of a node are contiguous and stay sorted
// because splits move them by stable partition. Coded features (few distinct values, or
// categories) keep one code per instance and need no moving.
#pragma once

#include <vector>

#include "base/memory.hpp"
#include "base/types.hpp"

namespace treewright {

// by_row: unsorted in a RowMatrix that all trees of a forest share.
enum class Store : u8 { sorted, coded, by_row };

// How a feature is kept, the same for all blocks of a fit.
struct FeatureInfo {
  Store store = Store::sorted;
  i32 slot = 0;       // among the features of the same store
  u8 code_bytes = 1;  // coded: width of a code
  u32 n_codes = 0;    // coded: codes 0 … n_codes − 1; all bits set is a gap
  bool has_gaps = false;
  bool constant = false;
  i64 table = -1;  // first row of its table among those of a node; −1: it has none
  // Distinct values in order: of the codes of a continuous feature, and of a sorted one where
  // thresholds are values of the data.
  std::vector<double> code_value;
};

struct Entry {
  u32 rank, id;
};

constexpr u32 kGap = ~u32{0};  // as a rank or a code

struct TargetArrays {
  const u16* label = nullptr;   // classification
  const i64* weight = nullptr;  // scaled; null: every weight is one, or there are counts
  const u8* count = nullptr;    // the same as bytes, where weights are small counts of a forest
  const i64* wy = nullptr;      // scaled w·y, n × n_outputs
  const i64* wy2 = nullptr;     // scaled w·y², only for a user's criterion
  const double* y = nullptr;    // n × n_outputs

  // Weight of an instance, in scaled units, where not every one is one.
  i64 weight_of(i64 id) const { return weight ? weight[id] : count[id]; }
};

inline i64 instance_weight(const TargetArrays& t, i64 id) {
  return t.weight || t.count ? t.weight_of(id) : 1;
}

// The bins of one feature.
struct BinColumn {
  const u8* data;
  i64 step;
  u8 operator()(i64 id) const { return data[id * step]; }
};

// One bit of each instance.
struct BitColumn {
  const u64* data;
  i64 step;
  i32 shift;
  bool operator[](i64 id) const { return data[id * step] >> shift & 1; }
};

// The keys of one feature.
template <class Key>
struct KeyColumn {
  const Key* data;
  const u32* row;  // where those of an instance are; null: at its number
  i64 step;
  const Key* at(i64 id) const { return data + (row ? row[id] : id) * step; }
  i32 operator[](i64 id) const { return *at(id); }
};

// What instances hold of the features that are kept by row (binned/row_matrix.hpp). Those behind
// the last key are binary: bits that say which rows have the larger value.
struct RowCells {
  const i32* key_data = nullptr;
  const i16* short_data = nullptr;  // the keys, where 16 bits are enough for all
  const u8* bin_data = nullptr;
  const u8* bin_columns = nullptr;  // the same column by column, perhaps
  i64 key_step = 0, bin_step = 0, n_rows = 0;
  const u32* key_row = nullptr;  // where the keys of an instance are; null: at its number
  const u64* bit_data = nullptr;
  i64 bit_step = 0;  // words of an instance

  // Where the keys of an instance begin.
  i64 key_place(i64 id) const { return (key_row ? key_row[id] : id) * key_step; }
  const i32* keys(i64 id) const { return key_data + key_place(id); }
  const i16* short_keys(i64 id) const { return short_data + key_place(id); }
  i32 key(i64 id, i32 slot) const { return short_data ? short_keys(id)[slot] : keys(id)[slot]; }
  // Calls f with the keys of a feature, for loops over many.
  template <class F>
  void with_keys(i32 slot, F&& f) const {
    short_data ? f(KeyColumn<i16>{short_data + slot, key_row, key_step})
               : f(KeyColumn<i32>{key_data + slot, key_row, key_step});
  }
  i64 key_bytes() const {
    return key_step * static_cast<i64>(short_data ? sizeof(i16) : sizeof(i32));
  }
  const u8* bins(i64 id) const { return bin_data + id * bin_step; }
  bool is_bit(i32 slot) const { return slot >= key_step; }
  BitColumn bits_of(i32 slot) const {
    const i32 bit = slot - static_cast<i32>(key_step);
    return {bit_data + bit / 64, bit_step, bit % 64};
  }
  u8 bin(i64 id, i32 slot) const { return is_bit(slot) ? bits_of(slot)[id] : bins(id)[slot]; }
  // Whether a pass over `n` instances needs most of a column's cache lines.
  bool is_dense(i64 n) const { return bin_columns && n * 64 >= n_rows; }
  BinColumn bins_of(i32 slot, i64 n) const {
    return is_dense(n) ? BinColumn{bin_columns + slot * n_rows, 1}
                       : BinColumn{bin_data + slot, bin_step};
  }
};

struct Block {
  i64 n = 0;
  const u32* source = nullptr;  // table row of each instance; null: the same number
  TargetArrays target;
  std::vector<Entry*> entries;   // per sorted slot
  std::vector<const u8*> codes;  // per coded slot, of the feature's width
  RowCells cells;                // of a forest
  u32* ids = nullptr;            // instances, a node's contiguous and ascending
  std::vector<Memory> memory;    // owns whatever of the above it made

  u32 row(u32 id) const { return source ? source[id] : id; }

  template <class T>
  T* allocate(i64 count) {
    memory.emplace_back(static_cast<std::size_t>(count) * sizeof(T));
    return static_cast<T*>(memory.back().data());
  }
};

// Reads a code of width 1, 2 or 4 bytes; a gap is kGap.
template <class Code>
inline u32 read_code(const u8* codes, i64 id) {
  const Code c = reinterpret_cast<const Code*>(codes)[id];
  return c == static_cast<Code>(~Code{0}) ? kGap : static_cast<u32>(c);
}

// Calls f with a value of the code's type.
template <class F>
inline void with_code_type(u8 bytes, F&& f) {
  if (bytes == 1) {
    f(u8{});
  } else if (bytes == 2) {
    f(u16{});
  } else {
    f(u32{});
  }
}

}  // namespace treewright
