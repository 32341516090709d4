// Optimal trees: what is searched, and what comes of it.
//
// Rows are known by the bin that each column puts them into. A test sends the rows of some bins of
// a column, [low, high), to the left: cuts of ordered columns, categories in the order of their
// target, and single categories are all of this form. Costs are integers, so that sums are exact
// and two trees are equally good or not: no rounding, no thread decides.
#pragma once

#include <cstdint>
#include <exception>
#include <limits>
#include <vector>

#include "base/types.hpp"

namespace treewright::optimal {

constexpr i64 kNever = std::numeric_limits<i64>::max() / 4;  // two of them can be added

struct Test {
  i32 column = 0;
  u16 low = 0, high = 0;
  i32 family = -1;  // tests of one family are nested: the same column and low, another high
};

// The cost of a leaf from the sums over its rows.
enum class Leaf : u8 {
  labels,   // a channel per label: what it costs to say it; the cheapest one is said
  squares,  // weight, weighted squares, then a weighted sum per output
};

struct Problem {
  i64 n_rows = 0;
  i32 n_columns = 0;
  std::vector<u16> bins;    // by row
  std::vector<i32> n_bins;  // by column
  std::vector<Test> tests;
  Leaf leaf = Leaf::labels;
  i32 n_channels = 0;
  std::vector<i64> values;   // channels by row
  double square_unit = 1.0;  // what a squared sum, divided by the weight, is multiplied by
  i64 unit = 0;              // cost of every error, where all errors cost the same; otherwise 0
  std::vector<i32> classes;  // of each row, where unit is not 0
  std::vector<i64> worst;    // most that a row can cost in any leaf
  i64 penalty = 0;           // cost of a leaf
};

struct Settings {
  i32 max_depth = 3;
  i32 n_threads = 1;
  double seconds = 0.0;  // 0: no limit
};

// Node 0 is the root; test −1 is a leaf.
struct Found {
  std::vector<i32> test, left, right;
  i64 cost = 0;
  i64 lower = 0;  // no tree of this depth costs less
  bool is_interrupted = false;
  std::exception_ptr failure;  // what poll threw
};

}  // namespace treewright::optimal
