// Growing a forest: the growth loop once per tree, trees handed out among threads.
//
// Everything that does not depend on the tree (keys, bins, codes, scaled targets) is made once and
// shared; a tree has its row counts, the rows it was drawn and their weights. Trees come out in
// order, whichever was finished first, so that sums over trees do not depend on threads either.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "data/problem.hpp"
#include "forest/compact.hpp"
#include "forest/out_of_bag.hpp"
#include "forest/sample.hpp"
#include "grow/grow.hpp"

namespace treewright {

struct ForestPlan {
  i64 first_tree = 0, n_trees = 0;
  u64 seed = 0;
  bool exact = true;
  i32 n_threads = 1;
  Sampling sampling;
  OutOfBag oob;
  // From the calling thread, now and then: trees finished. May throw to end the growth.
  std::function<void(i64)> poll;
};

struct GrownForest {
  std::vector<CompactTree> trees;
  std::exception_ptr interrupted;  // what ended the growth before all trees were there
};

// `options` has a chooser and criterion; `problem` columns, targets and parameters.
GrownForest grow_forest(Problem& problem, const GrowOptions& options, ForestPlan& plan);

}  // namespace treewright
