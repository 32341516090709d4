// Walking down the trees of a forest where every test is one cut of an ordered feature.
//
// A node is 8 bytes where features and nodes are few enough, so that a full tree of 50 000 nodes
// stays in the nearest caches. The test is x <= cut; a leaf leads to itself whatever x is, so a walk
// needs no test for it, and several rows walk in turns to hide each other's latency.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../types.hpp"

namespace treewright {

template <class T>
struct NarrowNode {
  static constexpr u32 kMaxFeatures = 1u << 10, kMaxNodes = 1u << 22;
  T cut;
  u32 bits;  // feature << 22 | child

  NarrowNode() = default;
  NarrowNode(T c, u32 feature, u32 child) : cut(c), bits(feature << 22 | child) {}
  u32 feature() const { return bits >> 22; }
  u32 child() const { return bits & (kMaxNodes - 1); }
};

template <class T>
struct WideNode {
  T cut;
  u32 node_feature, first;

  WideNode() = default;
  WideNode(T c, u32 feature, u32 child) : cut(c), node_feature(feature), first(child) {}
  u32 feature() const { return node_feature; }
  u32 child() const { return first; }
};

// A cut that every value passes on the left.
template <class T>
constexpr T kNoCut = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::max();

// The largest T up to a cut: for values of type T the test is the same.
inline void round_down(double cut, double& out) { out = cut; }
inline void round_down(double cut, float& out) {
  out = static_cast<float>(cut);
  if (static_cast<double>(out) > cut) {
    out = std::nextafter(out, -std::numeric_limits<float>::infinity());
  }
}

// Ends of `count` rows, as node numbers. row(i) is a pointer to the values of row i.
template <class Node, class Row>
void walk_rows(const Node* nodes, i64 count, Row&& row, u32* end, std::vector<u32>& active) {
  constexpr int kLanes = 8, kSteps = 4;
  active.resize(count + kLanes);
  for (i64 i = 0; i < count; ++i) {
    active[i] = static_cast<u32>(i);
    end[i] = 0;
  }
  while (count > 0) {
    std::fill_n(active.begin() + count, kLanes, active[count - 1]);  // lanes beyond the last row
    i64 kept = 0;
    for (i64 j = 0; j < count; j += kLanes) {
      u32 at[kLanes], before[kLanes];
      decltype(row(0)) values[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        const u32 i = active[j + lane];
        values[lane] = row(i);
        at[lane] = end[i];
      }
      for (int step = 0; step < kSteps; ++step) {
        for (int lane = 0; lane < kLanes; ++lane) {
          const Node node = nodes[at[lane]];
          if (step == kSteps - 1) before[lane] = at[lane];
          at[lane] = node.child() + (values[lane][node.feature()] > node.cut);
        }
      }
      for (int lane = 0; lane < kLanes; ++lane) {
        const u32 i = active[j + lane];
        end[i] = at[lane];
        active[kept] = i;
        kept += at[lane] != before[lane] && j + lane < count;
      }
    }
    count = kept;
  }
}

}  // namespace treewright
