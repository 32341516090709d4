// TreeSHAP where a feature that is not known sends a row down every branch, by training weight.
#pragma once

#include <vector>

#include "explain/game.hpp"
#include "explain/shap_tree.hpp"

namespace treewright::explain {

// Rows that walk together; a multiple of every vector's width.
constexpr i32 kLanes = 16;
static_assert(max_piece % kLanes == 0);

// A piece of rows as predict::gather_all leaves it: feature by feature, max_piece apart.
using PieceRow = predict::Row<double, max_piece>;

// Sums of one piece: (feature * n_outputs + output) * max_piece + row.
struct PathSums {
  double* values;
  double* pairs;  // null, or by row: ((feature * n_features + other) * n_outputs + output)
  i64 n_features, n_outputs;
};

class PathWorker {
 public:
  explicit PathWorker(const Rules& rules) : rules_(rules) {}

  // Adds the values of rows [first, first + count), count at most kLanes, of a piece.
  void add(const ShapTree& tree, const double* piece, i32 first, i32 count, const PathSums& sums);

 private:
  void add_together(const ShapTree& tree, const double* piece, i32 first, const PathSums& sums);
  void add_alone(const ShapTree& tree, const double* piece, i32 row, const PathSums& sums);
  void add_pairs(const ShapTree& tree, const Edge& end, i32 first, const PathSums& sums);

  const Rules& rules_;
  double start_[kLanes];  // 1 for rows that walk together
  // by depth: what a row's edges let through of the last feature; the sum of their tests' answers
  std::vector<double> one_, branch_, lower_;
  // by depth and point: product over features, its inverse without the last, the slope
  std::vector<double> product_, inverse_, slope_;
  std::vector<double> sum_;  // by depth, point and output: over the leaves below
  std::vector<i32> at_;      // edge at each depth
  std::vector<i32> hidden_;  // by depth: edges below that test the same feature
};

}  // namespace treewright::explain
