// A node of a tree whose tests are cuts of ordered features.
#pragma once

#include <cmath>
#include <limits>

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

// The largest T up to a cut: for values of type T the test is the same.
inline void round_down(double cut, double& out) { out = cut; }
inline void round_down(double cut, float& out) {
  out = static_cast<float>(cut);
  if (static_cast<double>(out) > cut) {
    out = std::nextafter(out, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace treewright
