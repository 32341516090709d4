// Linear tests of a node: the best cut of given directions, steps along coefficients, deletion.
#pragma once

#include <vector>

#include "base/callable.hpp"
#include "base/philox.hpp"
#include "choose/chooser.hpp"

namespace treewright::oblique {

using Direction = std::vector<double>;  // a coefficient for each column

struct Plan {
  std::vector<const double*> columns;  // values of the node's rows; null where all leave it out
  std::vector<i32> features;           // of the columns
  std::vector<Direction> starts;
  bool refine = false;      // change one coefficient after another as long as that helps
  i32 n_jumps = 0;          // random directions tried where no coefficient helps
  double tolerance = -1.0;  // share of the gain that may be lost for a coefficient less; < 0: none
  bool keeps_two = false;   // features that deletion leaves at least
};

struct Linear {
  Direction weight;        // empty: no direction divides the rows
  double threshold = 0.0;  // the sum lies below it on the left
  double gain = 0.0;       // in the units of Candidate::gain
};

Linear best_linear(const NodeView& node, const Plan& plan, Philox& random, Callable<void()> poll);

}  // namespace treewright::oblique
