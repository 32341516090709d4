// Rows of any input as keys: unsigned integers in the order of the values.
#pragma once

#include <limits>
#include <type_traits>

#include "base/ordered.hpp"
#include "predict/input.hpp"

namespace treewright {

// Keys that a row takes, with one that is 0 behind its last: rows on lines of their own, as every
// tree reads them again and in another order, unless several fit a line.
template <class Key>
i64 row_width(i64 n_features) {
  constexpr i64 kLine = 64 / sizeof(Key);
  const i64 width = n_features + 1;
  return width > kLine / 2 ? (width + kLine - 1) / kLine * kLine : width;
}

// Keys of n values, as type T, in each of some rows; returns whether all are finite.
template <class T, class From, class Key>
__attribute__((always_inline)) inline bool keys_of(const From* from, i64 from_step, i64 count,
                                                   i64 n, Key* to, i64 to_step) {
  const Key lowest = ordered(std::numeric_limits<T>::lowest());
  const Key range = ordered(std::numeric_limits<T>::max()) - lowest;
  Key beyond = 0;  // any key that is out of it
  for (i64 i = 0; i < count; ++i, from += from_step, to += to_step) {
    for (i64 k = 0; k < n; ++k) {
      to[k] = ordered(static_cast<T>(from[k]));
      beyond |= to[k] - lowest > range;
    }
  }
  return !beyond;
}

// The same of floats, with wider instructions.
bool keys_of_floats(const float* from, i64 from_step, i64 count, i64 n, u32* to, i64 to_step);

// The keys of some rows; returns whether all values are finite. T is their type: float, or double
// for all else.
template <class T, class Key>
bool gather_keys(const predict::Input& input, i64 start, i64 count, i64 n_features, i64 width,
                 Key* out) {
  using predict::Number;
  for (i64 i = 0; i < count; ++i) out[i * width + n_features] = 0;
  auto read = [&](Number type, const void* data, i64 step, i64 n, Key* to) {
    auto from = [&](auto cell) { return static_cast<const decltype(cell)*>(data) + start * step; };
    if (type == Number::float64) return keys_of<T>(from(double{}), step, count, n, to, width);
    if (type != Number::float32) return keys_of<T>(from(i32{}), step, count, n, to, width);
    if constexpr (std::is_same_v<T, float>) {
      return keys_of_floats(from(float{}), step, count, n, to, width);
    } else {
      return keys_of<T>(from(float{}), step, count, n, to, width);
    }
  };
  if (input.is_block) return read(input.type, input.data, input.row_step, n_features, out);
  bool are_finite = true;
  for (const predict::Column& column : input.columns) {
    are_finite &= read(column.type, column.data, column.step, 1, out + column.feature);
  }
  return are_finite;
}

}  // namespace treewright
