#include "predict/top_levels.hpp"

#include <limits>

#include "base/simd.hpp"

namespace treewright {
namespace {

using Eight = i32 __attribute__((vector_size(32), aligned(1), may_alias));
using Four = i64 __attribute__((vector_size(32), aligned(4), may_alias));

constexpr i32 kSign = std::numeric_limits<i32>::min();

// Eight rows of eight become columns: pairs, fours, halves.
__attribute__((always_inline)) inline void turn(const u32* from, i64 from_step, i32* to,
                                                i64 to_step) {
  Eight row[8], pair[8], four[8];
  for (int r = 0; r < 8; ++r)
    row[r] = *reinterpret_cast<const Eight*>(from + r * from_step) ^ kSign;
  for (int r = 0; r < 8; r += 2) {
    pair[r] = shuffle<0, 8, 1, 9, 4, 12, 5, 13>(row[r], row[r + 1]);
    pair[r + 1] = shuffle<2, 10, 3, 11, 6, 14, 7, 15>(row[r], row[r + 1]);
  }
  for (int r = 0; r < 8; r += 4) {
    for (int k = 0; k < 2; ++k) {
      const auto a = (Four)pair[r + k], b = (Four)pair[r + k + 2];
      four[r + 2 * k] = (Eight)shuffle<0, 4, 2, 6>(a, b);
      four[r + 2 * k + 1] = (Eight)shuffle<1, 5, 3, 7>(a, b);
    }
  }
  for (int k = 0; k < 4; ++k) {
    const auto a = (Four)four[k], b = (Four)four[k + 4];
    *reinterpret_cast<Eight*>(to + k * to_step) = (Eight)shuffle<0, 1, 4, 5>(a, b);
    *reinterpret_cast<Eight*>(to + (k + 4) * to_step) = (Eight)shuffle<2, 3, 6, 7>(a, b);
  }
}

struct TopTest {
  const i32* keys;
  i32 cut;
};

// The way of eight rows from a test on, a bit for each level, the first one highest: 0 is left.
template <int test, int levels>
__attribute__((always_inline)) inline Eight way_from(const TopTest* tests, i64 at) {
  const Eight right =
      *reinterpret_cast<const Eight*>(tests[test].keys + at) > Eight{} + tests[test].cut;
  if constexpr (levels == 1) {
    return right & 1;
  } else {
    const Eight in_left = way_from<2 * test, levels - 1>(tests, at);
    const Eight in_right = way_from<2 * test + 1, levels - 1>(tests, at) | 1 << (levels - 1);
    return right ? in_right : in_left;
  }
}

}  // namespace

// Of every 32 rows, each eighth of the columns has every fourth, which is how pass_top wants them.
TREEWRIGHT_VECTORS
void turn_keys(const u32* keys, i64 width, i64 n_rows, i64 n_features, i32* columns) {
  for (i64 i = 0; i < n_rows; i += 32) {
    for (i64 part = 0; part < 4; ++part) {
      for (i64 f = 0; f < n_features; f += 8) {
        turn(keys + (i + part) * width + f, 4 * width, columns + f * kTopRows + i + 8 * part,
             kTopRows);
      }
    }
  }
}

TREEWRIGHT_VECTORS
void pass_top(const FloatNode* heap, const i32* columns, i64 n_rows, u8* place) {
  TopTest tests[kTopEnd];
  for (int t = 1; t < kTopEnd; ++t) {
    tests[t] = {columns + heap[t].feature * kTopRows,
                static_cast<i32>(heap[t].cut ^ (u32{1} << 31))};
  }
  for (i64 i = 0; i < n_rows; i += 32) {
    Eight places = Eight{};  // four in each
    for (int part = 0; part < 4; ++part) {
      places |= (way_from<1, kTopLevels>(tests, i + 8 * part) | kTopEnd) << (8 * part);
    }
    *reinterpret_cast<Eight*>(place + i) = places;
  }
}

}  // namespace treewright
