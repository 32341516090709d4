// Walking down the trees of a forest where every test is one cut of an ordered feature.
//
// The first levels of a tree are small and every row passes them; below, rows are taken subtree by
// subtree, whose nodes lie together and stay in the cache as long as they are needed.
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

// Rows whose steps are interleaved.
constexpr int kLanes = 8;

// Takes `steps` steps with `count` rows from the root. row(i) is a pointer to the values of row i.
template <class Node, class Row>
void walk_top(const Node* nodes, i64 count, int steps, Row&& row, u32* end) {
  for (i64 start = 0; start < count; start += kLanes) {
    const int lanes = static_cast<int>(std::min<i64>(kLanes, count - start));
    u32 at[kLanes] = {};
    decltype(row(0)) values[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      values[lane] = row(static_cast<u32>(start + std::min(lane, lanes - 1)));
    }
    for (int step = 0; step < steps; ++step) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const Node node = nodes[at[lane]];
        at[lane] = node.child() + (values[lane][node.feature()] > node.cut);
      }
    }
    std::copy_n(at, lanes, end + start);
  }
}

// Walks on to the ends of the rows in active[0 … count − 1], which has room for kLanes more and is
// used up; end[i] is where row i stands.
template <class Node, class Row>
void walk_on(const Node* nodes, u32* active, i64 count, Row&& row, u32* end) {
  constexpr int kSteps = 4;
  while (count > 0) {
    std::fill_n(active + count, kLanes, active[count - 1]);  // lanes beyond the last row
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

// Ends of `count` rows, as node numbers.
template <class Node, class Row>
void walk_rows(const Node* nodes, i64 count, Row&& row, u32* end, std::vector<u32>& active) {
  active.resize(count + kLanes);
  for (i64 i = 0; i < count; ++i) {
    active[i] = static_cast<u32>(i);
    end[i] = 0;
  }
  walk_on(nodes, active.data(), count, row, end);
}

// The same for a tree whose first levels come first, nodes from `deep` on being roots of subtrees:
// rows are sorted by subtree on the way.
class SubtreeWalk {
 public:
  template <class Node, class Row>
  void run(const Node* nodes, u32 deep, u32 n_deep, int levels, i64 count, Row&& row, u32* end) {
    walk_top(nodes, count, levels, row, end);
    start_.assign(n_deep + 1, 0);
    for (i64 i = 0; i < count; ++i) {
      if (end[i] >= deep) ++start_[end[i] - deep + 1];
    }
    for (u32 s = 0; s < n_deep; ++s) start_[s + 1] += start_[s];
    order_.resize(start_[n_deep] + kGroup + kLanes);
    at_.assign(start_.begin(), start_.end() - 1);
    for (i64 i = 0; i < count; ++i) {
      if (end[i] >= deep) order_[at_[end[i] - deep]++] = static_cast<u32>(i);
    }
    const i64 n = start_[n_deep];
    u32 group[kGroup + kLanes];
    for (i64 first = 0; first < n; first += kGroup) {
      const i64 size = std::min<i64>(kGroup, n - first);
      std::copy_n(order_.begin() + first, size, group);
      const i64 ahead = std::min<i64>(first + 2 * kGroup, n);
      for (i64 i = first + kGroup; i < ahead; ++i) {
        const auto* values = row(order_[i]);
        __builtin_prefetch(values);
        __builtin_prefetch(reinterpret_cast<const char*>(values) + 64);
      }
      walk_on(nodes, group, size, row, end);
    }
  }

 private:
  static constexpr i64 kGroup = 64;
  std::vector<u32> start_, at_, order_;
};

}  // namespace treewright
