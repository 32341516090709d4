// A node that is still to be split, and the block it lies in.
#pragma once

#include <memory>
#include <vector>

#include "block.hpp"

namespace treewright {

using Active = std::shared_ptr<const std::vector<i32>>;

// It lies in one of two kinds of block.
struct Pending {
  std::shared_ptr<Block<u16>> small;
  std::shared_ptr<Block<u32>> large;
  i64 begin = 0, end = 0;
  i64 record = 0;
  i32 depth = 0;
  u64 path = 0;
  double lower = -kInf, upper = kInf;
  Active active;  // features that still vary here
  std::vector<i64> tables;  // of its coded features (groups.hpp), where they pay

  i64 size() const { return end - begin; }
};

template <class Id>
std::shared_ptr<Block<Id>>& block_of(Pending& node) {
  if constexpr (sizeof(Id) == 2) {
    return node.small;
  } else {
    return node.large;
  }
}

// Calls f with an id of the width that the node's block has.
template <class F>
void with_block(Pending& node, F&& f) {
  node.small ? f(u16{}) : f(u32{});
}

}  // namespace treewright
