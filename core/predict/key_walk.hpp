// Walking rows down one tree by keys that lie where they are, each row on its own (out_of_bag.cpp).
//
// A leaf leads to itself whatever the row holds, so a walk needs no test for it, and several rows
// walk in turns to hide each other's latency.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/types.hpp"

namespace treewright {

// The test is key <= cut; the children are `child` and the node after it.
struct KeyNode {
  i32 cut;
  u32 feature, child;
};

// A cut that every key passes on the left.
constexpr i32 kNoCut = std::numeric_limits<i32>::max();

// Rows whose steps are interleaved.
constexpr int kLanes = 8;

// b where the mask is all ones, a where it is 0: without a jump, which would be a guess.
inline u32 either(u32 mask, u32 a, u32 b) { return a ^ ((a ^ b) & mask); }
inline const i32* either(u32 mask, const i32* a, const i32* b) {
  const auto all = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(static_cast<i32>(mask)));
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return reinterpret_cast<const i32*>(x ^ ((x ^ y) & all));
}

// One step from a node.
inline u32 step_from(const KeyNode* nodes, u32 at, const i32* keys) {
  const KeyNode node = nodes[at];
  return node.child + (keys[node.feature] > node.cut);
}

// Walks `count` rows to their leaves; end[i], with room for 2 kLanes more, is where row i ends.
// row(i) points to its keys, ahead(i) may fetch what row i needs. A lane whose row has arrived
// takes the next one.
template <class Row, class Ahead>
void walk_rows(const KeyNode* nodes, i64 count, Row&& row, Ahead&& ahead, u32* end) {
  constexpr int kSteps = 4;
  u32 at[kLanes], before[kLanes], place[kLanes];
  const i32* keys[kLanes];
  const u32 last = static_cast<u32>(count) - 1;
  u32 next = 0;
  for (int lane = 0; lane < kLanes; ++lane, ++next) {
    place[lane] = next;
    keys[lane] = row(std::min(next, last));
    at[lane] = 0;
  }
  while (next < count + kLanes) {
    for (int step = 0; step < kSteps; ++step) {
      for (int lane = 0; lane < kLanes; ++lane) {
        if (step == kSteps - 1) before[lane] = at[lane];
        at[lane] = step_from(nodes, at[lane], keys[lane]);
      }
    }
    ahead(std::min(next + 2 * kLanes, last));
    ahead(std::min(next + 2 * kLanes + 1, last));
    ahead(std::min(next + 2 * kLanes + 2, last));
    for (int lane = 0; lane < kLanes; ++lane) {
      const u32 arrived = -static_cast<u32>(at[lane] == before[lane]);
      end[place[lane]] = at[lane];
      const u32 i = std::min(next, last);
      keys[lane] = either(arrived, keys[lane], row(i));
      at[lane] &= ~arrived;
      place[lane] = either(arrived, place[lane], next);
      next += arrived & 1;
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if (place[lane] > last) continue;
    for (u32 from = ~u32{0}; from != at[lane];) {
      from = at[lane];
      at[lane] = step_from(nodes, from, keys[lane]);
    }
    end[place[lane]] = at[lane];
  }
}

}  // namespace treewright
