// Walking blocks of rows down the trees of a forest where every test is one cut of an ordered feature.
//
// Values become unsigned integers of the same order (keys), so that a step is a comparison and an
// addition: to the left child, or one further. A leaf leads to itself whatever the row holds, so a
// walk needs no test for it, and several rows walk in turns to hide each other's latency.
//
// The first levels of a tree are a heap that every row passes. Below, rows are sorted by the subtree
// they come to, and subtrees lie one after the other: each is fetched shortly before its rows need it
// and stays near until they are through. (Trees of 50 000 nodes whose lines came from memory one by
// one took twice as long.)
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../ordered.hpp"

namespace treewright {

// A row goes to the node `left` places on, or to the one after it if its key is greater than the cut.
// At a leaf `left` is 0, `feature` a place where every row has key 0, and `cut` the number of the leaf.
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

template <class Node>
struct BlockTree {
  int levels = 0;          // of the heap; none for a small tree
  int steps = 1;           // that most rows still have before them below the heap
  std::vector<Node> heap;  // from place 1; the children of place i are 2 i and 2 i + 1
  std::vector<u32> roots;  // first node of the subtree at each place below the heap, and the end
  std::vector<Node> nodes;
};

// Keys of a block, row by row, with room for kLanes rows more.
template <class Key>
struct BlockRows {
  const Key* keys;
  i64 width, count;
};

class BlockWalk {
 public:
  static constexpr int kLanes = 8;  // rows whose steps are interleaved
  static constexpr i64 kMostRows = i64{1} << 15;

  // Rows in the order of the walk (the lower half of each word) and the leaves where they end.
  std::vector<u32> order, leaf;

  template <class Node>
  void run(const BlockTree<Node>& tree, const BlockRows<typename Node::Key>& rows) {
    make_room(rows.count);
    if (tree.levels) find_places(tree, rows);
    const bool is_sorted = tree.levels && rows.count >= kFewestSorted;
    is_sorted ? sort_rows(tree.roots.size() - 1, rows.count)
              : keep_order(tree.levels > 0, rows.count);
    walk_subtrees(tree, rows, is_sorted);
  }

  void make_room(i64 count) {
    const auto size = static_cast<std::size_t>(count + kLanes + kAhead);
    if (order.size() >= size) return;
    order.resize(size);
    leaf.resize(size);
    place_.resize(size);
  }

 private:
  static constexpr int kChunk = 64;   // rows between two looks at the others
  static constexpr int kSteps = 4;    // of rows that have not arrived with most others
  static constexpr u32 kWaiting = 32; // of those that may wait until more have come
  static constexpr int kAhead = 16;   // rows from one that is fetched to one that walks
  static constexpr i64 kFewestSorted = 512;

  // A row on its way: its node; itself, and above 16 bits its position in the order.
  struct Walker {
    u32 at, who;
  };

  template <class Node>
  static u64 step(const Node* nodes, u64 at, const typename Node::Key* row) {
    const Node& node = nodes[at];
    const auto key = row[node.feature];
    return at + node.left + (node.cut < key);
  }

  // Where kLanes rows leave the heap. A constant width saves an address per row, which must not be
  // made out of those of a loop over rows: so a function of its own.
  template <int kWidth, class Node>
  [[gnu::noinline]] static void leave_heap(const Node* heap, int levels,
                                           const typename Node::Key* keys, i64 width, u16* place) {
    if (kWidth) width = kWidth;
    u64 at[kLanes];
    std::fill_n(at, kLanes, u64{1});
    for (int level = 0; level < levels; ++level) {
      for (int lane = 0; lane < kLanes; ++lane) {
        at[lane] = step(heap, at[lane], keys + lane * width);
      }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      place[lane] = static_cast<u16>(at[lane] - (u64{1} << levels));
    }
  }

  template <class Node>
  void find_places(const BlockTree<Node>& tree, const BlockRows<typename Node::Key>& rows) {
    const auto leave = rows.width == 16   ? leave_heap<16, Node>
                       : rows.width == 32 ? leave_heap<32, Node>
                                          : leave_heap<0, Node>;
    for (i64 i = 0; i < rows.count; i += kLanes) {
      leave(tree.heap.data(), tree.levels, rows.keys + i * rows.width, rows.width, &place_[i]);
    }
  }

  void sort_rows(std::size_t n_places, i64 count) {
    first_.assign(n_places + 1, 0);
    for (i64 i = 0; i < count; ++i) ++first_[place_[i] + 1];
    for (std::size_t s = 0; s < n_places; ++s) first_[s + 1] += first_[s];
    for (i64 i = 0; i < count; ++i) {
      order[first_[place_[i]]++] = static_cast<u32>(i) | static_cast<u32>(place_[i]) << 16;
    }
    fill_lanes(count);
  }

  void keep_order(bool has_places, i64 count) {
    for (i64 i = 0; i < count; ++i) {
      order[i] = static_cast<u32>(i) | (has_places ? static_cast<u32>(place_[i]) << 16 : 0);
    }
    fill_lanes(count);
  }

  // Copies of the last row keep all lanes busy to the end.
  void fill_lanes(i64 count) {
    std::fill_n(order.begin() + count, kLanes + kAhead, order[count - 1]);
  }

  template <class Node>
  [[gnu::noinline]] void walk_subtrees(const BlockTree<Node>& tree,
                                       const BlockRows<typename Node::Key>& rows, bool is_sorted) {
    const Node* nodes = tree.nodes.data();
    Walker waiting[kChunk + kWaiting + kLanes];
    u32 n_waiting = 0;
    u32 fetched = is_sorted ? 0 : ~u32{0};
    for (i64 start = 0; start < rows.count; start += kChunk) {
      const i64 end = std::min(start + kChunk, rows.count), last = rows.count - 1;
      const u32 needed = tree.roots[(order[std::min(start + 2 * kChunk, last)] >> 16) + 1];
      for (; fetched < needed; fetched += 64 / sizeof(Node)) __builtin_prefetch(nodes + fetched);
      for (i64 i = start; i < end; i += kLanes) {
        u64 at[kLanes];
        u32 who[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) {
          const char* next = reinterpret_cast<const char*>(
              rows.keys + (order[i + lane + kAhead] & 0xffff) * rows.width);
          __builtin_prefetch(next);
          __builtin_prefetch(next + 64);
          at[lane] = tree.roots[order[i + lane] >> 16];
          who[lane] = (order[i + lane] & 0xffff) | static_cast<u32>(i + lane) << 16;
        }
        n_waiting = advance(nodes, rows, tree.steps, at, who, waiting, n_waiting);
      }
      const bool is_last = end == rows.count;
      while (n_waiting >= (is_last ? 1 : kWaiting)) {
        if (is_last) {
          for (; n_waiting % kLanes; ++n_waiting) waiting[n_waiting] = waiting[n_waiting - 1];
        }
        n_waiting = advance_all(nodes, rows, waiting, n_waiting);
      }
    }
  }

  // Rows that wait take some steps, as many at once as there are lanes; the rest stays.
  template <class Node>
  u32 advance_all(const Node* nodes, const BlockRows<typename Node::Key>& rows, Walker* waiting,
                  u32 count) {
    u32 kept = 0, i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      u64 at[kLanes];
      u32 who[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        at[lane] = waiting[i + lane].at;
        who[lane] = waiting[i + lane].who;
      }
      kept = advance(nodes, rows, kSteps, at, who, waiting, kept);
    }
    for (; i < count; ++i) waiting[kept++] = waiting[i];
    return kept;
  }

  // Takes steps with kLanes rows; those that have not arrived are put behind the first n that wait.
  template <class Node>
  u32 advance(const Node* nodes, const BlockRows<typename Node::Key>& rows, int steps,
              u64 (&at)[kLanes], const u32 (&who)[kLanes], Walker* waiting, u32 n) {
    const typename Node::Key* row[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      row[lane] = rows.keys + (who[lane] & 0xffff) * rows.width;
      asm("" : "+r"(row[lane]));  // one address, not a base and an index to be added at every step
    }
    do {
      for (int lane = 0; lane < kLanes; ++lane) at[lane] = step(nodes, at[lane], row[lane]);
    } while (--steps);
    u32* to = leaf.data();
    for (int lane = 0; lane < kLanes; ++lane) {
      const Node& node = nodes[at[lane]];
      to[who[lane] >> 16] = static_cast<u32>(node.cut);
      waiting[n] = {static_cast<u32>(at[lane]), who[lane]};
      n += node.left != 0;
    }
    return n;
  }

  std::vector<u16> place_;
  std::vector<u32> first_;
};

}  // namespace treewright
