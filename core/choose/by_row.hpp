// Cuts of features that are kept by row and unsorted (binned/row_matrix.hpp), for the common cases:
// classes by Gini and one number by squared error, with small integer weights and no gaps.
//
// Large nodes are counted by bin. Where every cut counts ("exact"), a bin is looked into if a cut
// inside it may be better than the best so far: the gain of two classes is convex in the sums on
// the left, so the corners of what a bin can reach bound it. Small nodes are sorted; for two
// classes even that is not needed: the sums on the left of each row come from comparing all
// pairs, which vector instructions do faster than a sort.
#pragma once

#include <vector>

#include "choose/chooser.hpp"

namespace treewright {

// Scores `n` features that are kept by row and have no gaps.
void search_classes(const NodeView& node, const i32* features, i32 n, Scratch& scratch,
                    Candidate* out);
// Nodes where only two classes are left, without a least number of rows per leaf: search_classes
// leaves them to this.
void search_two_classes(const NodeView& node, i32 first, i32 second, const i32* features, i32 n,
                        Scratch& scratch, Candidate* out);
void search_numbers(const NodeView& node, const i32* features, i32 n, Scratch& scratch,
                    Candidate* out);

}  // namespace treewright
