// What a forest wants to know of a column before it keeps it: few values, whole numbers.
#pragma once

#include <algorithm>

#include "base/types.hpp"

namespace treewright {

// Calls f with a value of the type of a column's cells.
template <class F>
inline void with_cell_type(const Column& column, F&& f) {
  switch (column.type) {
    case ColumnType::f32:
      f(float{});
      break;
    case ColumnType::f64:
      f(double{});
      break;
    case ColumnType::code:
      f(i32{});
      break;
  }
}

// The values of a column as long as they are no more than two.
struct FewValues {
  double value[2] = {kInf, kInf};
  i32 n = 0;  // 3: more

  void see(double x) {
    if (n > 2 || (n > 0 && x == value[0]) || (n > 1 && x == value[1])) return;
    if (n < 2) value[n] = x;
    ++n;
  }
  // Rows without gaps.
  void see(const Column& column, i64 begin, i64 end) {
    with_cell_type(column, [&](auto type) {
      using Cell = decltype(type);
      auto cell = [&](i64 row) { return *reinterpret_cast<const Cell*>(column.at(row)); };
      i64 row = begin;
      for (; n < 2 && row < end; ++row) see(static_cast<double>(cell(row)));
      if (n != 2) return;
      const Cell first = static_cast<Cell>(value[0]), second = static_cast<Cell>(value[1]);
      bool other = false;
      for (; row < end; ++row) other |= (cell(row) != first) & (cell(row) != second);
      if (other) n = 3;
    });
  }
  void join(const FewValues& other) {
    for (i32 i = 0; i < std::min(other.n, 2); ++i) see(other.value[i]);
    if (other.n > 2) n = 3;
  }
};

// The range of a column as long as it holds whole numbers that 16 bits can tell apart.
struct WholeNumbers {
  float least = kLimit, most = -kLimit;
  bool others = false;

  // Whether these rows are all such numbers as well; gaps are not.
  bool see(const Column& column, i64 begin, i64 end) {
    if (others) return false;
    with_cell_type(column, [&](auto type) {
      float low = least, high = most;
      bool is_other = false;
      for (i64 row = begin; row < end; ++row) {
        const float x =
            static_cast<float>(*reinterpret_cast<const decltype(type)*>(column.at(row)));
        low = std::min(low, x);
        high = std::max(high, x);
        is_other |= (x + kRound) - kRound != x;
      }
      least = low;
      most = high;
      others = is_other || !(low >= -kLimit && high <= kLimit);
    });
    return !others;
  }
  void see(double x) { see({&x, 0, ColumnType::f64}, 0, 1); }
  void join(const WholeNumbers& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    others |= other.others;
  }
  bool are_all() const { return !others && most - least < 65536; }
  i32 middle() const { return are_all() ? static_cast<i32>(least) + 32768 : 0; }

 private:
  static constexpr float kLimit = 0x1p21f;  // sums with the next leave no room for fractions below
  static constexpr float kRound = 0x1.8p23f;
};

}  // namespace treewright
