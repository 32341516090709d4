// Growth of release 8 of C4.5 on rows with gaps: one array of rows, reordered in place.
//
// Without gaps every sum is a whole number and no order matters; then the growth loop (../grow.hpp)
// gives the same tree, faster. With gaps a row may be at several nodes with a fraction of its
// weight, and the last bit of a sum decides whether a branch has the least weight. Nodes are
// visited depth first: a node's gaps are brought to its front, the rows of a branch are brought
// next to them, and both are the child; then the gaps are collected again and get their weights
// back by division, which may change their last bit. The tree depends on the order of the rows in
// these bits.
//
// Branches share the rows with gaps in the feature that was tested. Where there are none, here and
// above, the branches are parts of their own that threads grow at the same time: what is done in
// one does not reach the other.
#pragma once

#include "grow/assemble.hpp"
#include "grow/grow.hpp"

namespace treewright {

// Whether the tree is one of release 8 and its sums depend on the order of rows.
bool has_fractions(const Problem& problem, const QuinlanRules& rules);

FlatTree grow_in_place(Problem& problem, const GrowOptions& options, const QuinlanRules& rules);

}  // namespace treewright
