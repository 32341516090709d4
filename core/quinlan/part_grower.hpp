// Trees grown from some of the rows of a table, for what C5.0 grows again.
#pragma once

#include <vector>

#include "grow/assemble.hpp"
#include "grow/grow.hpp"

namespace treewright {

// Copies the rows it is given out of the columns and grows a tree from them by the parameters of
// the whole fit; `whole` and `options` outlive it. Thresholds are values of the whole table.
class PartGrower {
 public:
  PartGrower(const Problem& whole, const GrowOptions& options) : whole_(whole), options_(options) {}

  FlatTree grow(const std::vector<i32>& rows, const std::vector<double>& weights);

 private:
  const Problem& whole_;
  const GrowOptions& options_;
  std::vector<std::vector<char>> cells_;  // per column, of the rows at hand
  std::vector<i32> label_;
};

}  // namespace treewright
