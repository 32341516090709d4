// The part of a tree that all rows pass before they are sorted by the subtree they come to.
//
// Where the largest subtrees are opened first, those that are left below are of like size. Below
// eleven whole levels of trees with 26 000 leaves, half of the rows came to 3 % of the subtrees.
#pragma once

#include <algorithm>
#include <bit>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "predict/top_levels.hpp"

namespace treewright {

struct UpperPart {
  // The first levels are a heap from place 1 on (top_levels.hpp). Below, a line of the cache holds
  // children and what is below the largest of them, so that a way takes fewer lines.
  std::vector<u32> nodes;
  std::vector<u32> left;  // distance to the left child, 0 where the part ends
  int levels = kTopLevels;
};

// Subtrees that are left below, and nodes that each should have; twice as many nodes fit the
// nearest cache.
constexpr i64 kMostSubtrees = 2048, kFewestSubtrees = 64, kSubtreeNodes = 24;

constexpr int kPairsInLine = 4;  // of children, in nodes of 8 bytes

inline UpperPart upper_part(std::span<const i32> first_child) {
  const i64 n = static_cast<i64>(first_child.size());
  const i64 wanted = std::clamp(n / kSubtreeNodes, kFewestSubtrees, kMostSubtrees);
  // Every row takes as many steps as the longest way has.
  const int most_levels = std::bit_width(static_cast<u64>(wanted)) + 4;
  std::vector<i32> leaves(n, 1), level(n, 0);
  for (i64 i = n; i-- > 0;) {
    const i32 child = first_child[i];
    if (child >= 0) leaves[i] = leaves[child] + leaves[child + 1];
  }
  UpperPart out;
  // A leaf in the first levels has places below it, of which rows come to the first.
  out.nodes.resize(2 * kTopEnd, 0);
  out.left.resize(2 * kTopEnd, 0);
  std::priority_queue<std::pair<i32, u32>> closed;
  auto close = [&](u32 node, int at_level) {
    level[node] = at_level;
    if (first_child[node] >= 0 && at_level < most_levels) closed.push({leaves[node], node});
  };
  for (u32 i = 1; i < 2 * kTopEnd; ++i) {
    const u32 node = out.nodes[i];
    if (i >= kTopEnd) {
      close(node, kTopLevels);
      continue;
    }
    out.left[i] = i;
    const bool is_leaf = first_child[node] < 0;
    out.nodes[2 * i] = is_leaf ? node : static_cast<u32>(first_child[node]);
    out.nodes[2 * i + 1] = out.nodes[2 * i] + !is_leaf;
  }
  std::vector<u8> is_open(n, 0);
  for (i64 subtrees = kTopEnd; subtrees < wanted && !closed.empty(); ++subtrees) {
    const u32 node = closed.top().second;
    closed.pop();
    is_open[node] = 1;
    out.levels = std::max(out.levels, level[node] + 1);
    const auto child = static_cast<u32>(first_child[node]);
    close(child, level[node] + 1);
    close(child + 1, level[node] + 1);
  }
  std::queue<u32> lines;  // places of open nodes whose children begin a line
  for (u32 i = kTopEnd; i < 2 * kTopEnd; ++i) {
    if (is_open[out.nodes[i]]) lines.push(i);
  }
  std::vector<u32> here;  // those whose children may come into this line
  for (; !lines.empty(); lines.pop()) {
    here.assign(1, lines.front());
    for (int pair = 0; pair < kPairsInLine && !here.empty(); ++pair) {
      const auto largest = std::max_element(here.begin(), here.end(), [&](u32 a, u32 b) {
        return leaves[out.nodes[a]] < leaves[out.nodes[b]];
      });
      const u32 i = *largest;
      here.erase(largest);
      const auto child = static_cast<u32>(first_child[out.nodes[i]]);
      const auto at = static_cast<u32>(out.nodes.size());
      out.left[i] = at - i;
      out.nodes.insert(out.nodes.end(), {child, child + 1});
      out.left.insert(out.left.end(), {0, 0});
      if (is_open[child]) here.push_back(at);
      if (is_open[child + 1]) here.push_back(at + 1);
    }
    for (const u32 i : here) lines.push(i);
  }
  return out;
}

}  // namespace treewright
