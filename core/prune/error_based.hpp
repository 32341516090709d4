// Error-based pruning: subtrees give way to a leaf, or to their largest branch, where that does not
// raise the errors to be expected.
//
// The errors of a leaf are its training errors plus what an upper confidence limit of the binomial
// distribution adds. Raising a branch sends the rows of the whole node down that branch, so the
// pruner needs the training rows (divide.hpp).
//
// C5.0 raises the largest branch that is not a leaf, unless it is small or cuts the same feature
// again. A raised branch that had not nearly all rows keeps its test, and what lies below is grown
// again from the rows that come down now; in a branch grown again nothing is grown a third time.
// Leaves too light to stand alone share one estimate with their siblings of the same class. Where
// errors have prices, a leaf predicts the class whose errors cost least, and all its expected
// errors, also those that are only feared, are counted at that price.
//
// References: Quinlan (1993), C4.5: Programs for Machine Learning, chapter 4. C5.0: from its
// recorded runs.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "base/types.hpp"

namespace treewright {

struct ErrorRules {
  double confidence = 0.25;
  double z = 0.6925;   // normal deviate of the confidence
  double tail = 0.67;  // share of the remaining cases added where nearly all are errors
  double least_tail = -std::numeric_limits<double>::infinity();  // and the least it may add
  double tolerance = 0;                                          // differences up to this are none
  bool prune = true;           // otherwise rows are only sent down again
  bool raise = true;           // subtree raising
  bool c50 = false;            // the rules of C5.0
  double min_items = 2;        // C5.0: lighter leaves share an estimate
  std::vector<double> price;   // of an error, per class that is predicted; empty: all one
  std::vector<double> factor;  // of the weights of each class where a tree is grown again
};

// A tree grown below a raised test: its nodes as in Prunable.
struct Regrown {
  std::vector<i32> first_child, n_children;
  std::vector<Split> splits;
};
// Grows a tree from rows and their weights.
using Regrow = std::function<Regrown(const std::vector<i32>&, const std::vector<double>&)>;

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

// What pruning did to one node, in the order in which it was done.
struct NodeCut {
  i32 node;     // of the tree that was pruned, or one grown again, counted on from there
  bool raised;  // its largest branch took its place; otherwise it became a leaf
  i64 n_samples;
  double weight;
  double before, after;  // expected errors of the subtree, and of what took its place
  i64 leaves;            // of the subtree
};

// The pruned tree: parents first, siblings adjacent.
struct PrunedTree {
  // Node of the grown tree whose split this node has, or that it was; nodes of trees that were
  // grown again are counted on from there.
  std::vector<i32> source;
  std::vector<i32> first_child, n_children;
  std::vector<i64> n_samples;
  std::vector<double> value;   // n_classes per node
  std::vector<double> errors;  // expected errors of the subtree
  std::vector<i32> place;      // node of the grown tree in whose place this one stands
  std::vector<NodeCut> cuts;
};

PrunedTree prune_by_errors(const Prunable& tree, const ErrorRules& rules,
                           const std::function<void()>& poll, const Regrow& regrow = {});

// Global pruning of C5.0: among the subtrees that would fit into what is left of one standard error
// of the training errors, those that save the fewest per leaf give way to leaves, all of the
// weakest at once; it ends where they do not fit together. `errors` are those of each node as a
// leaf, `start` those of the tree, `is_empty` marks leaves without rows, which do not count.
std::vector<u8> weakest_links(const std::vector<i32>& first_child,
                              const std::vector<i32>& n_children, const std::vector<double>& errors,
                              const std::vector<u8>& is_empty, double cases, double start);

// Nodes whose subtree makes no fewer errors than they would as leaves, less `epsilon`.
std::vector<u8> collapsible(const std::vector<i32>& first_child, const std::vector<i32>& n_children,
                            const std::vector<double>& errors, double epsilon);

}  // namespace treewright
