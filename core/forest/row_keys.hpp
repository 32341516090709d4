// Rows of any input as keys: unsigned integers in the order of the values.
#pragma once

#include <limits>

#include "../ordered.hpp"
#include "../predict_input.hpp"

namespace treewright {

// Keys that a row takes, with one that is 0 behind its last: rows on lines of their own, as every tree
// reads them again and in another order, unless several fit a line.
template <class Key>
i64 row_width(i64 n_features) {
  constexpr i64 kLine = 64 / sizeof(Key);
  const i64 width = n_features + 1;
  return width > kLine / 2 ? (width + kLine - 1) / kLine * kLine : width;
}

// The keys of some rows; returns whether all values are finite. T is their type: float, or double for
// all else.
template <class T, class Key>
bool gather_keys(const predict::Input& input, i64 start, i64 count, i64 n_features, i64 width, Key* out) {
  for (i64 i = 0; i < count; ++i) out[i * width + n_features] = 0;
  const Key lowest = ordered(std::numeric_limits<T>::lowest());
  const Key range = ordered(std::numeric_limits<T>::max()) - lowest;
  Key beyond = 0;  // any key that is out of it
  if (input.is_block) {
    auto copy = [&](auto type) {
      using From = decltype(type);
      const From* data = static_cast<const From*>(input.data) + start * input.row_step;
      for (i64 i = 0; i < count; ++i) {
        for (i64 f = 0; f < n_features; ++f) {
          const Key key = ordered(static_cast<T>(data[i * input.row_step + f]));
          out[i * width + f] = key;
          beyond |= key - lowest > range;
        }
      }
    };
    input.type == predict::Number::float64 ? copy(double{}) : copy(float{});
    return !beyond;
  }
  for (const predict::Column& column : input.columns) {
    auto copy = [&](auto type) {
      using From = decltype(type);
      const From* data = static_cast<const From*>(column.data) + start * column.step;
      for (i64 i = 0; i < count; ++i) {
        const Key key = ordered(static_cast<T>(data[i * column.step]));
        out[i * width + column.feature] = key;
        beyond |= key - lowest > range;
      }
    };
    if (column.type == predict::Number::float64) {
      copy(double{});
    } else if (column.type == predict::Number::float32) {
      copy(float{});
    } else {
      copy(i32{});
    }
  }
  return !beyond;
}

}  // namespace treewright
