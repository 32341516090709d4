#include "binned/adjacent_columns.hpp"

#include <algorithm>
#include <limits>

#include "base/simd.hpp"

namespace treewright {
namespace {

// Eight cells, and what comparing them gives.
template <class Cell>
struct Lanes;
template <>
struct Lanes<float> {
  using Cells = float __attribute__((vector_size(32), aligned(4), may_alias));
  using Mask = i32 __attribute__((vector_size(32)));
  using Whole = i32;
};
template <>
struct Lanes<double> {
  using Cells = double __attribute__((vector_size(64), aligned(8), may_alias));
  using Mask = i64 __attribute__((vector_size(64)));
  using Whole = i64;
};

constexpr i64 kLanes = 8, kPart = 32;  // columns; their bits fit every mask

template <class Cell>
__attribute__((always_inline)) inline void others(const char* row, i64 stride, i64 n, i64 width,
                                                  const Cell* first, const Cell* second,
                                                  i64* other) {
  using L = Lanes<Cell>;
  auto load = [](const Cell* from) __attribute__((always_inline)) {
    return *reinterpret_cast<const typename L::Cells*>(from);
  };
  auto cells = [&](i64 i) __attribute__((always_inline)) {
    return reinterpret_cast<const Cell*>(row + i * stride);
  };
  // The last eight columns may overlap those before.
  for (i64 c = 0; width >= kLanes && c < width; c += kLanes) {
    const i64 at = std::min(c, width - kLanes);
    const typename L::Cells a = load(first + at), b = load(second + at);
    typename L::Mask found{};
    for (i64 i = 0; i < n; ++i) {
      const typename L::Cells x = load(cells(i) + at);
      found |= (x != a) & (x != b);
    }
    for (i64 k = 0; k < kLanes; ++k) other[at + k] |= found[k];
  }
  for (i64 c = 0; width < kLanes && c < width; ++c) {
    for (i64 i = 0; i < n; ++i) other[c] |= (cells(i)[c] != first[c]) & (cells(i)[c] != second[c]);
  }
}

template <class Cell>
__attribute__((always_inline)) inline u64 equal_part(const Cell* x, const Cell* value, i64 width) {
  using L = Lanes<Cell>;
  if (width < kLanes) {
    u64 bits = 0;
    for (i64 c = 0; c < width; ++c) bits |= u64{x[c] == value[c]} << c;
    return bits;
  }
  typename L::Mask found{};
  for (i64 c = 0; c < width; c += kLanes) {
    const i64 at = std::min(c, width - kLanes);
    typename L::Mask bit{1, 2, 4, 8, 16, 32, 64, 128};
    bit <<= static_cast<typename L::Whole>(at);
    found |= (*reinterpret_cast<const typename L::Cells*>(x + at) ==
              *reinterpret_cast<const typename L::Cells*>(value + at)) &
             bit;
  }
  typename L::Whole bits = 0;
  for (i64 k = 0; k < kLanes; ++k) bits |= found[k];
  return static_cast<u32>(bits);
}

template <class Cell>
__attribute__((always_inline)) inline void equal(const char* row, i64 stride, i64 n, i64 width,
                                                 const Cell* value, u64* words) {
  const i64 n_words = (width + 63) / 64;
  std::fill_n(words, n * n_words, 0);
  for (i64 i = 0; i < n; ++i) {
    const Cell* x = reinterpret_cast<const Cell*>(row + i * stride);
    for (i64 c = 0; c < width; c += kPart) {
      words[i * n_words + c / 64] |= equal_part(x + c, value + c, std::min(kPart, width - c))
                                     << c % 64;
    }
  }
}

TREEWRIGHT_VECTORS void others_of(const char* row, i64 stride, i64 n, i64 width, const float* first,
                                  const float* second, i64* other) {
  others(row, stride, n, width, first, second, other);
}
TREEWRIGHT_VECTORS void others_of(const char* row, i64 stride, i64 n, i64 width,
                                  const double* first, const double* second, i64* other) {
  others(row, stride, n, width, first, second, other);
}
TREEWRIGHT_VECTORS void equal_of(const char* row, i64 stride, i64 n, i64 width, const float* value,
                                 u64* words) {
  equal(row, stride, n, width, value, words);
}
TREEWRIGHT_VECTORS void equal_of(const char* row, i64 stride, i64 n, i64 width, const double* value,
                                 u64* words) {
  equal(row, stride, n, width, value, words);
}

}  // namespace

AdjacentColumns::AdjacentColumns(const std::vector<Column>& table,
                                 const std::vector<i32>& columns) {
  if (columns.empty()) return;
  const Column& first = table[columns[0]];
  if (first.type == ColumnType::code) return;
  is_float_ = first.type == ColumnType::f32;
  data_ = first.at(0);
  stride_ = first.stride;
  const i64 cell = is_float_ ? sizeof(float) : sizeof(double);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = table[columns[i]];
    const bool follows = column.type == first.type && column.stride == stride_ &&
                         column.at(0) == data_ + static_cast<i64>(i) * cell;
    if (!follows) return;
  }
  width_ = static_cast<i64>(columns.size());
}

i64 AdjacentColumns::place_of(const Column& column) const {
  return (column.at(0) - data_) / static_cast<i64>(is_float_ ? sizeof(float) : sizeof(double));
}

AdjacentColumns::Cells::Cells(const AdjacentColumns& columns, double value)
    : is_float_(columns.is_float_) {
  if (is_float_) floats_.assign(columns.width_, static_cast<float>(value));
  if (!is_float_) doubles_.assign(columns.width_, value);
}

void AdjacentColumns::Cells::set(i64 column, double value) {
  if (is_float_) floats_[column] = static_cast<float>(value);
  if (!is_float_) doubles_[column] = value;
}

void AdjacentColumns::see_others(i64 begin, i64 end, const Cells& first, const Cells& second,
                                 i64* other) const {
  if (is_float_) {
    others_of(at(begin), stride_, end - begin, width_, first.floats_.data(), second.floats_.data(),
              other);
  } else {
    others_of(at(begin), stride_, end - begin, width_, first.doubles_.data(),
              second.doubles_.data(), other);
  }
}

void AdjacentColumns::see_equal(i64 begin, i64 end, const Cells& value, u64* words) const {
  if (is_float_) {
    equal_of(at(begin), stride_, end - begin, width_, value.floats_.data(), words);
  } else {
    equal_of(at(begin), stride_, end - begin, width_, value.doubles_.data(), words);
  }
}

}  // namespace treewright
