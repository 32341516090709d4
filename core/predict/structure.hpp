// The structure of compact trees: children from their numbers, sums from leaves to the root.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "base/types.hpp"

namespace treewright {

// First child of each node (−1 at a leaf) of one tree whose nodes are in family order: the children
// of a node get the next numbers when the node is visited, depth first. Throws
// std::invalid_argument where the numbers make no tree.
inline std::vector<i32> first_children(std::span<const i32> n_children) {
  const i64 n = static_cast<i64>(n_children.size());
  auto refuse_tree = [] {
    throw std::invalid_argument(
        "The numbers of children in a forest must make trees; load it again.");
  };
  if (n < 1 || n >= std::numeric_limits<i32>::max()) refuse_tree();
  std::vector<i32> first(n, -1), stack{0};
  i64 next = 1;
  while (!stack.empty()) {
    const i32 at = stack.back();
    stack.pop_back();
    const i64 count = n_children[at];
    if (!count) continue;
    if (count < 2 || next + count > n) refuse_tree();
    first[at] = static_cast<i32>(next);
    for (i64 b = count; b-- > 0;) stack.push_back(static_cast<i32>(next + b));
    next += count;
  }
  if (next != n) refuse_tree();
  return first;
}

}  // namespace treewright
