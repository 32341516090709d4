// A node of a tree whose tests are cuts of ordered features.
#pragma once

#include "base/types.hpp"

namespace treewright {

// A row goes to the node `left` places on, or to the one after it if its key is greater than the
// cut. At a leaf `left` is 0, `feature` a place where every row has key 0, and `cut` what rows are
// told there.
template <class V, class K, class P>
struct CutNode {
  using Value = V;
  using Key = K;
  using Place = P;
  Key cut;
  Place feature, left;
};
using FloatNode = CutNode<float, u32, u16>;
using DoubleNode = CutNode<double, u64, u32>;

}  // namespace treewright
