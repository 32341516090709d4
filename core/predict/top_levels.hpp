// The first levels of trees for many rows at once: all their tests are made, eight rows side by
// side, and of their answers those on each row's way are taken. That is less work than the steps it
// saves.
#pragma once

#include "base/types.hpp"
#include "predict/cut_node.hpp"

namespace treewright {

constexpr int kTopLevels = 4, kTopEnd = 1 << kTopLevels;
constexpr i64 kTopRows = 256;     // whose columns stay in the cache
constexpr i64 kTopFeatures = 64;  // more would not

// Columns of the keys of up to kTopRows rows, which stand `width` apart: signed integers of the
// same order. Rows are taken 32 at a time and features eight, so there must be room for as many.
void turn_keys(const u32* keys, i64 width, i64 n_rows, i64 n_features, i32* columns);

// Places below the first levels, which are a heap: the children of place i, from 1 on, are 2 i and
// 2 i + 1.
void pass_top(const FloatNode* heap, const i32* columns, i64 n_rows, u8* place);

}  // namespace treewright
