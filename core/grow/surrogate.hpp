// Surrogates (Breiman et al. 1984, section 5.3): splits on other features that send instances as
// the primary split does, ranked by how much of that they get right.
//
// Counted are instances whose primary value and surrogate value are both known; cuts lie between
// any two values of the node. A surrogate must be right more often than the majority direction; a
// numeric one must send at least two instances each way. With rpart's rule (surrogate_errors) a
// nominal one must send at least two instances wrongly: rpart refuses those that agree better,
// which is of no use to anybody else, but decides where rows with gaps go.
#pragma once

#include <vector>

#include "choose/chooser.hpp"

namespace treewright {

// Tables of the two children, where the primary split decided every instance and they were made.
struct SideTables {
  const i64* left = nullptr;
  const i64* right = nullptr;
};

using OnEach = Callable<void(i64, OnIndex)>;

// The best surrogates of a node whose primary split has marked node.branch (kUndecided for gaps).
// each(n, f) calls f(i, scratch) for every i below n, perhaps on several threads.
std::vector<Surrogate> find_surrogates(const NodeView& node, i32 primary,
                                       const std::vector<i32>& active, const Marked& marked,
                                       SideTables sides, OnEach each);

}  // namespace treewright
