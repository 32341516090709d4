// Walking down the trees of a forest where every test is one cut of an ordered feature.
//
// The first levels of a tree are small and every row passes them; below, rows are taken subtree by
// subtree, whose nodes lie together and stay in the cache as long as they are needed. That pays the
// more rows go down a tree together.
//
// A node is 8 bytes where features and nodes are few enough, so that a full tree of 50 000 nodes
// stays in the nearest caches. The test is x <= cut; a leaf leads to itself whatever x is, so a walk
// needs no test for it, and several rows walk in turns to hide each other's latency.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
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

// The first levels of a tree as a heap: the children of place i are 2 i + 1 and 2 i + 2, so a step needs
// no address from memory. A leaf above the last level has places below it that all lead left.
template <class T>
struct TopNode {
  T cut;
  u32 feature;
};

// Rows whose steps are interleaved.
constexpr int kLanes = 8;

// b where the mask is all ones, a where it is 0: without a jump, which would be a guess.
inline u32 either(u32 mask, u32 a, u32 b) { return a ^ ((a ^ b) & mask); }
template <class T>
inline const T* either(u32 mask, const T* a, const T* b) {
  const auto wide = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(static_cast<i32>(mask)));
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return reinterpret_cast<const T*>(x ^ ((x ^ y) & wide));
}

// One step from a node.
template <class Node, class T>
inline u32 step_from(const Node* nodes, u32 at, const T* values) {
  const Node node = nodes[at];
  return node.child() + (values[node.feature()] > node.cut);
}

// Walks `count` rows to their leaves; end[i], with room for 2 kLanes more, is where row i ends. row(i)
// points to its values, start(i) is the node where it begins, ahead(i) may fetch what row i needs. A
// lane whose row has arrived takes the next one.
template <class Node, class Row, class Start, class Ahead>
void walk_rows(const Node* nodes, i64 count, Row&& row, Start&& start, Ahead&& ahead, u32* end) {
  constexpr int kSteps = 4;
  u32 at[kLanes], before[kLanes], place[kLanes];
  decltype(row(0)) values[kLanes];
  const u32 last = static_cast<u32>(count) - 1;
  u32 next = 0;
  for (int lane = 0; lane < kLanes; ++lane, ++next) {
    place[lane] = next;
    values[lane] = row(std::min(next, last));
    at[lane] = start(std::min(next, last));
  }
  while (next < count + kLanes) {
    for (int step = 0; step < kSteps; ++step) {
      for (int lane = 0; lane < kLanes; ++lane) {
        if (step == kSteps - 1) before[lane] = at[lane];
        at[lane] = step_from(nodes, at[lane], values[lane]);
      }
    }
    ahead(std::min(next + 2 * kLanes, last));
    ahead(std::min(next + 2 * kLanes + 1, last));
    ahead(std::min(next + 2 * kLanes + 2, last));
    for (int lane = 0; lane < kLanes; ++lane) {
      const u32 arrived = -static_cast<u32>(at[lane] == before[lane]);
      end[place[lane]] = at[lane];
      const u32 i = std::min(next, last);
      values[lane] = either(arrived, values[lane], row(i));
      at[lane] = either(arrived, at[lane], start(i));
      place[lane] = either(arrived, place[lane], next);
      next += arrived & 1;
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if (place[lane] > last) continue;
    for (u32 from = ~u32{0}; from != at[lane];) {
      from = at[lane];
      at[lane] = step_from(nodes, from, values[lane]);
    }
    end[place[lane]] = at[lane];
  }
}

// Sends rows down a tree that has the first levels as a heap: rows are sorted by where they leave it, so
// that each subtree is read by all its rows while it is at hand.
class SubtreeWalk {
 public:
  // Rows in the order of the walk and their ends.
  std::vector<u32> order, end;

  // tree: nodes, top, roots (the node at each place below the heap), levels. A row's values begin at
  // data + i · step. Not compiled anew into each of its callers.
  template <class Tree, class T>
  [[gnu::noinline]] void run(const Tree& tree, i64 count, const T* data, i64 step) {
    const auto row = [=](u32 i) { return data + i * step; };
    end.resize(count + 2 * kLanes);
    order.resize(count);
    auto of = [&](u32 i) { return row(order[i]); };
    if (!tree.levels) {
      for (i64 i = 0; i < count; ++i) order[i] = static_cast<u32>(i);
      walk_rows(tree.nodes.data(), count, of, [](u32) { return 0u; }, [](u32) {}, end.data());
      return;
    }
    leave_top(tree, count, row);
    sort_rows(tree.roots.size(), count);
    walk_rows(
        tree.nodes.data(), count, of, [&](u32 i) { return tree.roots[place_[order[i]]]; },
        [&](u32 i) {
          const auto* values = of(i);
          __builtin_prefetch(values);
          __builtin_prefetch(reinterpret_cast<const char*>(values) + 64);
        },
        end.data());
  }

 private:
  template <class Tree, class Row>
  void leave_top(const Tree& tree, i64 count, Row&& row) {
    place_.resize(count + kLanes);
    const auto* top = tree.top.data();
    const u32 size = static_cast<u32>(tree.top.size());
    for (i64 start = 0; start < count; start += kLanes) {
      u32 at[kLanes] = {};
      decltype(row(0)) values[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        values[lane] = row(static_cast<u32>(std::min(start + lane, count - 1)));
      }
      for (int step = 0; step < tree.levels; ++step) {
        for (int lane = 0; lane < kLanes; ++lane) {
          const auto node = top[at[lane]];
          at[lane] = 2 * at[lane] + 1 + (values[lane][node.feature] > node.cut);
        }
      }
      for (int lane = 0; lane < kLanes; ++lane) {
        place_[start + lane] = static_cast<u16>(at[lane] - size);
      }
    }
  }

  void sort_rows(std::size_t n_places, i64 count) {
    first_.assign(n_places + 1, 0);
    for (i64 i = 0; i < count; ++i) ++first_[place_[i] + 1];
    for (std::size_t s = 0; s < n_places; ++s) first_[s + 1] += first_[s];
    for (i64 i = 0; i < count; ++i) order[first_[place_[i]]++] = static_cast<u32>(i);
  }

  std::vector<u16> place_;
  std::vector<u32> first_;
};

}  // namespace treewright
