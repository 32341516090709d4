// A node that is still to be split, and the block it lies in.
#pragma once

#include <memory>
#include <vector>

#include "data/block.hpp"

namespace treewright {

using Active = std::shared_ptr<const std::vector<i32>>;

struct Pending {
  std::shared_ptr<Block> block;
  i64 begin = 0, end = 0;
  i64 record = 0;
  i32 depth = 0;
  u64 path = 0;
  double lower = -kInf, upper = kInf;
  Active active;            // features that still vary here
  std::vector<i64> tables;  // of its coded features (groups.hpp), where they pay

  i64 size() const { return end - begin; }
};

}  // namespace treewright
