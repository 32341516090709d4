// Linear tests of a node: the best cut of given directions, steps along coefficients, deletion.
//
// Targets are columns of numbers: indicators of classes, or outputs. The score of a division is the
// sum over both sides of Σ_k S_k² / W, with W the weight of a side and S_k its weighted sum of
// target k; its increase, over the weight of the node, is the decrease of Gini's index or of the
// squared error.
#pragma once

#include <vector>

#include "base/callable.hpp"
#include "base/types.hpp"

namespace treewright::oblique {

struct Node {
  i64 n_rows = 0;
  i32 n_columns = 0, n_targets = 0;
  const double* columns = nullptr;  // by column
  const double* targets = nullptr;  // by row
  const double* weight = nullptr;
  const double* mass = nullptr;  // weight that counts for min_mass, without factors of classes
  i64 min_leaf = 1;
  double min_mass = 0.0;
};

struct Plan {
  std::vector<double> starts;  // directions, one after another
  bool refine = false;         // change one coefficient after another as long as that helps
  i32 n_jumps = 0;             // random directions tried where no coefficient helps
  double tolerance =
      0.0;  // share of the gain that may be lost for a coefficient less; below 0 all stay
  u64 seed = 0;
};

struct Linear {
  std::vector<double> weight;  // empty: no direction divides the rows
  double threshold = 0.0;      // the sum lies below it on the left
  double gain = 0.0;
};

Linear best_linear(const Node& node, const Plan& plan, Callable<void()> poll);

}  // namespace treewright::oblique
