// Error-based pruning: subtrees give way to a leaf, or to their largest branch, where that does not
// raise the errors to be expected.
//
// The errors of a leaf are its training errors plus what an upper confidence limit of the binomial
// distribution adds. Raising a branch sends the rows of the whole node down that branch, so the
// pruner needs the training rows. They lie in one array of (row, weight) entries; the entries of a
// node are a range of it, and splitting a node sorts its range by branch. Only below a gap, which
// goes down every branch, do children need entries of their own.
//
// Reference: Quinlan (1993), C4.5: Programs for Machine Learning, chapter 4.
#pragma once

#include <functional>
#include <vector>

#include "types.hpp"

namespace treewright {

struct ErrorRules {
  double confidence = 0.25;
  double z = 0.6925;       // normal deviate of the confidence
  double tail = 0.67;      // share of the remaining cases added where nearly all are errors
  double tolerance = 0;    // differences up to this are none
  bool prune = true;       // otherwise rows are only sent down again
  bool raise = true;       // subtree raising
};

// What is added to `errors` among `cases`.
double added_errors(double cases, double errors, const ErrorRules& rules);

// A tree to prune, with the rows it was grown from.
struct Prunable {
  std::vector<i32> first_child, n_children;
  std::vector<Split> splits;  // one per node; gap_branch: where a gap goes, or every way
  std::vector<Column> columns;
  const i32* label = nullptr;
  const double* weight = nullptr;  // may be null: all one
  i64 n_rows = 0;
  i32 n_classes = 0;
};

// The pruned tree: parents first, siblings adjacent.
struct PrunedTree {
  std::vector<i32> source;  // node of the grown tree whose split this node has, or that it was
  std::vector<i32> first_child, n_children;
  std::vector<i64> n_samples;
  std::vector<double> value;   // n_classes per node
  std::vector<double> errors;  // expected errors of the subtree
};

PrunedTree prune_by_errors(const Prunable& tree, const ErrorRules& rules,
                           const std::function<void()>& poll);

// Nodes whose subtree makes no fewer errors than they would as leaves, less `epsilon`.
std::vector<u8> collapsible(const std::vector<i32>& first_child,
                            const std::vector<i32>& n_children,
                            const std::vector<double>& errors, double epsilon);

}  // namespace treewright
