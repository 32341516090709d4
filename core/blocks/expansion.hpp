// What the planner of a tree asks of those who hold the rows.
#pragma once

#include <vector>

#include "boost/params.hpp"

namespace treewright::blocks {

using boost::BinSet;

// A node is divided; of one child the histogram is wanted, that of the other follows from it.
struct Expansion {
  i32 parent = 0, left = 0, right = 0;  // numbers of nodes
  i32 feature = 0;
  i32 counted = -1;  // 0: the left child, 1: the right one, −1: none
  BinSet left_bins;
};

// Most nodes that a tree may have while it is planned; their numbers are in messages and blocks.
constexpr i32 kMostNodes = 1 << 24;

}  // namespace treewright::blocks
