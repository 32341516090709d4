// Subtrees of a forest below nodes of few rows, for classes by Gini's index.
//
// Most nodes of a full tree have a few rows, and what the growth loop does around the search of
// such a node takes longer than the search. Here a node is a set of bits, one per row of the
// subtree's root. So is a binary feature, whose sums are those of the bits they share; other
// features are compared by pairs (choose/by_row_search.hpp, binned/short_scores.hpp), categories
// are counted (choose/table_scan.hpp). Splits are those that the growth loop finds, to the bit.
#pragma once

#include <memory>

#include "choose/chooser.hpp"
#include "grow/node_list.hpp"
#include "grow/pending.hpp"

namespace treewright {

class SmallSubtree {
 public:
  virtual ~SmallSubtree() = default;
  // Whether the subtree below a node is grown here.
  virtual bool takes(const Pending& node, const i64* stats) const = 0;
  // Grows it; the node may be split.
  virtual void grow(const Pending& node, NodeList& list) = 0;
};

// None where the growth loop has to do it. Of one thread.
std::unique_ptr<SmallSubtree> small_subtrees(const Problem& p, const Block& root,
                                             const Chooser& chooser, double gain_unit);

}  // namespace treewright
