#include "predict/ranked_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/simd.hpp"

namespace treewright {
namespace {

using predict::Input;
using predict::Number;

constexpr i64 kRows = RankedTrees::kRows;
constexpr u8 kTurn = RankedTrees::kTurn;

using Bytes = signed char __attribute__((vector_size(32), aligned(1), may_alias));
using Words = i32 __attribute__((vector_size(32), aligned(1), may_alias));
constexpr i64 kLanes = 32;

// Cells of a column of up to kRows rows beside each other; whether none is infinite.
template <class T>
__attribute__((always_inline)) inline bool read_cells(const T* from, i64 step, i64 count, T* to) {
  bool is_infinite = false;
  for (i64 i = 0; i < count; ++i) {
    to[i] = from[i * step];
    is_infinite |= std::abs(to[i]) == std::numeric_limits<T>::infinity();
  }
  return !is_infinite;
}

// Ranks of values among cuts; gaps have the lowest.
template <class T>
__attribute__((always_inline)) inline void rank_cells(const T* cuts, u32 first_step, const T* value,
                                                      i64 count, u8* rank) {
  constexpr int kAtOnce = 16;
  for (i64 i = 0; i < count; i += kAtOnce) {
    u32 at[kAtOnce] = {};
    for (u32 step = first_step; step; step /= 2) {
      for (int k = 0; k < kAtOnce; ++k) {
        at[k] += cuts[at[k] + step - 1] < value[i + k] ? step : 0;
      }
    }
    for (int k = 0; k < kAtOnce; ++k) rank[i + k] = static_cast<u8>(at[k]) ^ kTurn;
  }
}

template <class T>
__attribute__((always_inline)) inline void lift_gaps(const T* value, const u8* low, i64 count,
                                                     u8* high) {
  for (i64 i = 0; i < count; ++i) high[i] = value[i] != value[i] ? 255 ^ kTurn : low[i];
}

template <class T>
__attribute__((always_inline)) inline bool place_numbers(const T* from, i64 step, i64 count,
                                                         const T* cuts, u32 first_step, u8* low,
                                                         u8* high) {
  T value[kRows];
  const bool is_finite = read_cells(from, step, count, value);
  const i64 whole = (count + 15) / 16 * 16;
  std::fill(value + count, value + whole, T{});
  rank_cells(cuts, first_step, value, whole, low);
  if (high) lift_gaps(value, low, count, high);
  return is_finite;
}

TREEWRIGHT_VECTORS
bool place_floats(const float* from, i64 step, i64 count, const RankedFeature& f, u8* low,
                  u8* high) {
  return place_numbers(from, step, count, f.float_cuts.data(), f.first_step, low, high);
}

TREEWRIGHT_VECTORS
bool place_doubles(const double* from, i64 step, i64 count, const RankedFeature& f, u8* low,
                   u8* high) {
  return place_numbers(from, step, count, f.cuts.data(), f.first_step, low, high);
}

// Whether there is no infinity in a block of rows.
template <class T>
__attribute__((always_inline)) inline bool all_finite(const T* from, i64 step, i64 count, i64 n) {
  bool is_infinite = false;
  for (i64 i = 0; i < count; ++i, from += step) {
    for (i64 k = 0; k < n; ++k) {
      is_infinite |= std::abs(from[k]) == std::numeric_limits<T>::infinity();
    }
  }
  return !is_infinite;
}

TREEWRIGHT_VECTORS
bool floats_are_finite(const float* from, i64 step, i64 count, i64 n) {
  return all_finite(from, step, count, n);
}

TREEWRIGHT_VECTORS
bool doubles_are_finite(const double* from, i64 step, i64 count, i64 n) {
  return all_finite(from, step, count, n);
}

__attribute__((always_inline)) inline Bytes load(const u8* from) {
  return *reinterpret_cast<const Bytes*>(from);
}

// A byte in all lanes. (GCC 12 sets byte by byte what it is not told to set by fours.)
__attribute__((always_inline)) inline Bytes all(u8 byte) {
  return (Bytes)(Words{} + static_cast<i32>(byte * 0x01010101u));
}

// The byte of a set that each lane asks for.
__attribute__((always_inline)) inline Bytes look_up(Bytes set, Bytes at) {
#if defined(__clang__)
  Bytes found{};
  for (int k = 0; k < kLanes; ++k) found[k] = set[at[k]];
  return found;
#else
  return __builtin_shuffle(set, at);
#endif
}

// Calls take(v, right) for the v-th 32 of some rows: which of them a test sends to the right.
template <int kVectors, class Take>
__attribute__((always_inline)) inline void make_test(const RankTest& test, const u8* sets,
                                                     const u8* bytes, Take&& take) {
  const u8* cells = bytes + test.place * kRows;
  if (test.set < 0) {
    const Bytes cut = all(test.cut);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) take(v, ~(cut > load(cells + v * kLanes)));
  } else {
    const Bytes set = load(sets + test.set * kLanes);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Bytes byte = look_up(set, load(cells + v * kLanes));
      take(v, (byte & load(cells + kRows + v * kLanes)) == Bytes{});
    }
  }
}

struct Tests {
  const RankTest* test;
  i64 n;
  const u8* sets;
  u8 first_leaf;
};

// The leaves of some rows, or the answers to all tests.
template <int kVectors, bool kIndexed>
__attribute__((always_inline)) inline void pass_tests(const Tests& tests, const u8* bytes,
                                                      u8* leaf) {
  Bytes now[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) now[v] = all(tests.first_leaf);
  for (const RankTest* test = tests.test; test != tests.test + tests.n; ++test) {
    const Bytes at = all(test->at), change = all(test->change);
    make_test<kVectors>(*test, tests.sets, bytes, [&](int v, Bytes right) {
      now[v] ^= kIndexed ? right & change : (now[v] == at) & right & change;
    });
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) *reinterpret_cast<Bytes*>(leaf + v * kLanes) = now[v];
}

template <bool kIndexed>
__attribute__((always_inline)) inline void pass_rows(const Tests& tests, const u8* bytes, i64 count,
                                                     u8* leaf) {
  constexpr int kVectors = 4;
  i64 i = 0;
  for (; i + (kVectors - 1) * kLanes < count; i += kVectors * kLanes) {
    pass_tests<kVectors, kIndexed>(tests, bytes + i, leaf + i);
  }
  for (; i < count; i += kLanes) pass_tests<1, kIndexed>(tests, bytes + i, leaf + i);
}

TREEWRIGHT_VECTORS
void pass_all(const Tests& tests, const u8* bytes, i64 count, u8* leaf) {
  pass_rows<false>(tests, bytes, count, leaf);
}

TREEWRIGHT_VECTORS
void answer_all(const Tests& tests, const u8* bytes, i64 count, u8* answers) {
  pass_rows<true>(tests, bytes, count, answers);
}

}  // namespace

bool RankedTrees::gather(const Input& input, i64 start, i64 count, u8* bytes) const {
  auto numbers = [&](const RankedFeature& f, Number type, const void* data, i64 step) {
    u8 buffer[kRows];
    u8* low = f.low < 0 ? buffer : bytes + f.low * kRows;
    u8* high = f.high < 0 ? nullptr : bytes + f.high * kRows;
    return type == Number::float32 ? place_floats(static_cast<const float*>(data) + start * step,
                                                  step, count, f, low, high)
                                   : place_doubles(static_cast<const double*>(data) + start * step,
                                                   step, count, f, low, high);
  };
  if (input.is_block) {
    const bool is_float = input.type == Number::float32;
    const i64 step = input.row_step, n = std::ssize(place_of_feature_);
    for (const RankedFeature& f : features_) {
      const i64 size = is_float ? sizeof(float) : sizeof(double);
      numbers(f, input.type, static_cast<const char*>(input.data) + f.feature * size, step);
    }
    // Features that no tree tests may not be infinite either.
    return is_float ? floats_are_finite(static_cast<const float*>(input.data) + start * step, step,
                                        count, n)
                    : doubles_are_finite(static_cast<const double*>(input.data) + start * step,
                                         step, count, n);
  }
  bool is_finite = true;
  for (const predict::Column& column : input.columns) {
    const i32 at = place_of_feature_[column.feature];
    if (at < 0) continue;
    const RankedFeature& f = features_[at];
    if (column.type != Number::code) {
      is_finite &= numbers(f, column.type, column.data, column.step);
      continue;
    }
    const i32* code = static_cast<const i32*>(column.data) + start * column.step;
    const auto n = static_cast<u32>(column.n_categories);
    for (const RankedFeature::CodePlace& place : f.of_codes) {
      u8* to = bytes + place.place * kRows;
      for (i64 i = 0; i < count; ++i) {
        to[i] = place.byte_of_code[std::min(static_cast<u32>(code[i * column.step]), n)];
      }
    }
  }
  return is_finite;
}

void RankedTrees::find_leaves(i64 tree, const u8* bytes, i64 count, u8* leaf) const {
  const RankedTree& t = trees_[tree];
  const Tests tests{t.tests.data(), std::ssize(t.tests), reinterpret_cast<const u8*>(sets_.data()),
                    t.first_leaf};
  if (!t.is_indexed) return pass_all(tests, bytes, count, leaf);
  answer_all(tests, bytes, count, leaf);
  if (t.leaf_of_answers.empty()) return;
  for (i64 i = 0; i < count; ++i) leaf[i] = t.leaf_of_answers[leaf[i]];
}

}  // namespace treewright
