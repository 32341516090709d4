// What both ways of counting know of the rows: which tests they pass, and bounds on their cost.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "optimal/problem.hpp"

namespace treewright::optimal {

using Rows = std::span<const i32>;

// A set of rows by the sum of random numbers of its rows; that two sets share 128 bits by chance
// is less likely than that the machine errs.
struct Key {
  u64 high = 0, low = 0;
  Key operator-(const Key& other) const { return {high - other.high, low - other.low}; }
  void add(const Key& other) {
    high += other.high;
    low += other.low;
  }
  bool operator==(const Key&) const = default;
};

inline u64 mixed(u64 x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A part of a node's rows.
struct Part {
  std::vector<i32> rows;
  Key key;
  i64 floor = 0;  // what these rows cost in the best of all trees, however deep
};

class RowTable {
 public:
  explicit RowTable(const Problem& problem)
      : problem_(problem), n_words_((static_cast<i64>(problem.tests.size()) + 63) / 64) {
    bits_.assign(problem.n_rows * n_words_, 0);
    keys_.resize(problem.n_rows);
    for (i64 row = 0; row < problem.n_rows; ++row) {
      const u16* bins = &problem.bins[row * problem.n_columns];
      for (std::size_t t = 0; t < problem.tests.size(); ++t) {
        const Test& test = problem.tests[t];
        const u16 bin = bins[test.column];
        if (bin >= test.low && bin < test.high) bits_[row * n_words_ + t / 64] |= 1ULL << (t % 64);
      }
      keys_[row] = {mixed(2 * row), mixed(2 * row + 1)};
    }
  }

  i64 n_words() const { return n_words_; }
  const u64* bits(i32 row) const { return &bits_[row * n_words_]; }
  void set_floor(std::vector<i64> floor) { floor_ = std::move(floor); }

  Part all(std::vector<i32> rows) const {
    Part part{std::move(rows), {}, 0};
    for (const i32 row : part.rows) take(part, row);
    return part;
  }

  // Rows stay in their order.
  void divide(const Part& whole, i32 test, Part& left, Part& right) const {
    left.rows.resize(whole.rows.size());
    right.rows.resize(whole.rows.size());
    left.key = {};
    left.floor = 0;
    i32* to_left = left.rows.data();
    i32* to_right = right.rows.data();
    const i64 word = test / 64;
    for (const i32 row : whole.rows) {
      const bool passes = bits_[row * n_words_ + word] >> (test % 64) & 1;
      *to_left = *to_right = row;
      to_left += passes;
      to_right += !passes;
      if (passes) take(left, row);
    }
    left.rows.resize(to_left - left.rows.data());
    right.rows.resize(to_right - right.rows.data());
    right.key = whole.key - left.key;
    right.floor = whole.floor - left.floor;
  }

 private:
  void take(Part& part, i32 row) const {
    part.key.add(keys_[row]);
    part.floor += floor_[row];
  }

  const Problem& problem_;
  i64 n_words_;
  std::vector<u64> bits_;  // of the tests, by row
  std::vector<Key> keys_;
  std::vector<i64> floor_;
};

// What every test makes of a node: costs of its two sides as leaves, and how good it looks.
struct Glance {
  std::vector<i64> left, right;
  std::vector<i32> n_left;
  std::vector<double> rank;  // impurity of the two sides; the least first

  void resize(std::size_t n_tests) {
    left.resize(n_tests);
    right.resize(n_tests);
    n_left.resize(n_tests);
    rank.resize(n_tests);
  }
};

// The cheapest way to divide each side of each test by one more test; no penalties.
struct Pairs {
  std::vector<i64> left, right;
  std::vector<i32> left_test, right_test;

  void reset(std::size_t n_tests) {
    left.assign(n_tests, kNever);
    right.assign(n_tests, kNever);
    left_test.assign(n_tests, -1);
    right_test.assign(n_tests, -1);
  }

  // Costs of the four parts that tests i < j make: in both, in i only, in j only, in neither.
  __attribute__((always_inline)) void offer(i32 i, i32 j, i64 both, i64 only_i, i64 only_j,
                                            i64 neither) {
    lower(left[i], left_test[i], both + only_i, j);
    lower(right[i], right_test[i], only_j + neither, j);
    lower(left[j], left_test[j], both + only_j, i);
    lower(right[j], right_test[j], only_i + neither, i);
  }

 private:
  // Of equally cheap tests the first, in whichever order they come.
  __attribute__((always_inline)) static void lower(i64& least, i32& test, i64 cost, i32 offered) {
    if (cost < least || (cost == least && offered < test)) {
      least = cost;
      test = offered;
    }
  }
};

}  // namespace treewright::optimal
