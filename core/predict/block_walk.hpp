// Walking blocks of rows down the trees of a forest where every test is one cut of an ordered
// feature.
//
// Values become unsigned integers of the same order (keys), so that a step is a comparison and an
// addition: to the left child, or one further. A leaf leads to itself whatever the row holds, so a
// walk needs no test for it, and several rows walk in turns to hide each other's latency.
//
// Every row passes the upper part of a tree (upper_part.hpp). Below, rows are sorted by the subtree
// they come to, and subtrees lie one after the other: each is fetched shortly before its rows need
// it and stays in the cache until they are through. (Trees of 50 000 nodes whose lines came from
// memory one by one took twice as long.) Subtrees of like depth come together, so that rows take as
// many steps at once as most of them need.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/types.hpp"
#include "predict/cut_node.hpp"
#include "predict/top_levels.hpp"

namespace treewright {

// Subtrees from which most rows have the same number of steps before them.
struct DepthGroup {
  u32 last;  // place of the last of them
  int steps;
};

template <class Node>
struct BlockTree {
  // The upper part from place 1 on, none for a small tree; where it ends, `cut` is the place of the
  // subtree.
  std::vector<Node, OnLines<Node>> upper;
  int upper_levels = 0;
  std::vector<u32> root;           // first node of the subtree at each place
  std::vector<u32> places;         // the same places in the order of their nodes
  std::vector<DepthGroup> groups;  // of these
  std::vector<Node> nodes;
};

// Keys of a block, row by row, with room for BlockWalk::kSpareRows more.
template <class Key>
struct BlockRows {
  const Key* keys;
  i64 width, count;
  const u32* list =
      nullptr;  // those of many that go, and kSpareRows numbers more; null: the first `count`
};

class BlockWalk {
 public:
  static constexpr i64 kMostRows = i64{1} << 16;
  static constexpr i64 kSpareRows = 32;

  std::vector<u32> leaf;  // where each row ends

  // `top`, if given, tells the places of rows, and of spare ones, below the first levels.
  template <class Node>
  void run(const BlockTree<Node>& tree, const BlockRows<typename Node::Key>& rows, const u8* top) {
    make_room(rows.count);
    const bool has_places = !tree.upper.empty();
    if (has_places) find_places(tree, rows, top);
    const bool is_sorted = has_places && rows.count >= kFewestSorted;
    auto put_in_order = [&](auto row) {
      is_sorted ? sort_rows(tree.places, rows.count, row) : keep_order(has_places, rows.count, row);
    };
    if (rows.list) {
      put_in_order([list = rows.list](i64 i) { return list[i]; });
    } else {
      put_in_order([](i64 i) { return static_cast<u32>(i); });
    }
    rows.width == 32 ? walk_subtrees<32>(tree, rows, is_sorted)
                     : walk_subtrees<0>(tree, rows, is_sorted);
  }

  void make_room(i64 count) {
    const auto size = static_cast<std::size_t>(count + kSpareRows + kAhead);
    if (leaf.size() >= size) return;
    leaf.resize(size);
    order_.resize(size);
    place_.resize(size);
  }

 private:
  static constexpr int kUpperLanes = 10, kLanes = 8;  // rows whose steps are interleaved
  static constexpr int kChunk = 64;                   // rows between two looks at the others
  static constexpr int kSteps = 4;     // of rows that have not arrived with most others
  static constexpr i64 kWaiting = 32;  // of those that may wait until more have come
  static constexpr int kAhead = 16;    // rows from one that is fetched to one that walks
  static constexpr i64 kFewestSorted = 512;
  static_assert(kUpperLanes <= kSpareRows && kLanes <= kSpareRows);

  struct Walker {
    u32 at, row;
  };

  template <class Node>
  static u64 step(const Node* nodes, u64 at, const typename Node::Key* row) {
    const Node& node = nodes[at];
    const auto key = row[node.feature];
    return at + node.left + (node.cut < key);
  }

  // Places where rows leave the upper part. A constant width saves an address per row; where rows
  // are listed, each has one in a register, so that fewer go at once.
  template <int kWidth, bool kListed, class Node>
  [[gnu::noinline]] static void pass_upper(const BlockTree<Node>& tree,
                                           const BlockRows<typename Node::Key>& rows, const u8* top,
                                           u16* place) {
    constexpr int kAtOnce = kListed ? kLanes : kUpperLanes;
    const i64 width = kWidth ? kWidth : rows.width;
    const Node* nodes = tree.upper.data();
    const int steps = tree.upper_levels - (top ? kTopLevels : 0);
    const typename Node::Key* keys = rows.keys;
    for (i64 i = 0; i < rows.count; i += kAtOnce, keys += kListed ? 0 : kAtOnce * width) {
      asm("" : "+r"(keys));  // or the compiler keeps an address for each lane
      auto keys_at = [&](int lane) {
        return keys + (kListed ? rows.list[i + lane] : lane) * width;
      };
      u64 at[kAtOnce];
      const typename Node::Key* row[kAtOnce];
      for (int lane = 0; lane < kAtOnce; ++lane) {
        at[lane] = !top ? 1 : kListed ? top[rows.list[i + lane]] : top[i + lane];
        if constexpr (kListed) {
          row[lane] = keys_at(lane);
          asm("" : "+r"(row[lane]));
        }
        const auto* next = keys_at(kAtOnce + lane);  // which may be far away still
        __builtin_prefetch(next);
        __builtin_prefetch(next + width / 2);
      }
      for (int k = 0; k < steps; ++k) {
#pragma GCC unroll 10
        for (int lane = 0; lane < kAtOnce; ++lane) {
          at[lane] = step(nodes, at[lane], kListed ? row[lane] : keys + lane * width);
        }
      }
      for (int lane = 0; lane < kAtOnce; ++lane) {
        place[i + lane] = static_cast<u16>(nodes[at[lane]].cut);
      }
    }
  }

  template <class Node>
  void find_places(const BlockTree<Node>& tree, const BlockRows<typename Node::Key>& rows,
                   const u8* top) {
    (rows.list          ? pass_upper<0, true, Node>
     : rows.width == 16 ? pass_upper<16, false, Node>
     : rows.width == 32 ? pass_upper<32, false, Node>
                        : pass_upper<0, false, Node>)(tree, rows, top, place_.data());
  }

  // Leaves the end of each subtree's rows in end_.
  template <class Row>
  void sort_rows(const std::vector<u32>& places, i64 count, Row&& row) {
    end_.assign(places.size(), 0);
    for (i64 i = 0; i < count; ++i) ++end_[place_[i]];
    u32 start = 0;
    for (const u32 place : places) start += std::exchange(end_[place], start);
    for (i64 i = 0; i < count; ++i) {
      order_[end_[place_[i]]++] = row(i) | static_cast<u32>(place_[i]) << 16;
    }
    fill_lanes(count);
  }

  template <class Row>
  void keep_order(bool has_places, i64 count, Row&& row) {
    for (i64 i = 0; i < count; ++i) {
      order_[i] = row(i) | (has_places ? static_cast<u32>(place_[i]) << 16 : 0);
    }
    fill_lanes(count);
  }

  // Copies of the last row keep all lanes busy to the end.
  void fill_lanes(i64 count) {
    std::fill_n(order_.begin() + count, kSpareRows + kAhead, order_[count - 1]);
  }

  template <int kWidth, class Node>
  [[gnu::noinline]] void walk_subtrees(const BlockTree<Node>& tree,
                                       const BlockRows<typename Node::Key>& rows, bool is_sorted) {
    const Node* nodes = tree.nodes.data();
    const u32* order = order_.data();
    const i64 last = rows.count - 1;
    Walker waiting[kChunk + kWaiting + 2 * kLanes];
    Walker* end = waiting;  // of those that wait
    u32 fetched = is_sorted ? 0 : ~u32{0};
    i64 i = 0;
    for (const DepthGroup& group : tree.groups) {
      // Rows in any order go with the group in the middle.
      if (!is_sorted && &group != &tree.groups[tree.groups.size() / 2]) continue;
      const i64 group_end = is_sorted ? end_[group.last] : rows.count;
      for (; is_sorted && !group.steps && i < group_end; ++i) {  // at leaves already
        leaf[order[i] & 0xffff] = static_cast<u32>(nodes[tree.root[order[i] >> 16]].cut);
      }
      while (i < group_end) {
        const u32 needed = tree.root[order[std::min(i + 3 * kChunk, last)] >> 16];
        for (; fetched < needed; fetched += 64 / sizeof(Node)) __builtin_prefetch(nodes + fetched);
        for (const i64 stop = std::min(i + kChunk, group_end); i < stop; i += kLanes) {
          u64 at[kLanes];
          u32 row[kLanes];
          for (int lane = 0; lane < kLanes; ++lane) {
            const char* next = reinterpret_cast<const char*>(
                keys_of<kWidth>(rows, order[i + lane + kAhead] & 0xffff));
            __builtin_prefetch(next);
            __builtin_prefetch(next + 64);
            at[lane] = tree.root[order[i + lane] >> 16];
            row[lane] = order[i + lane] & 0xffff;
          }
          end = advance<kWidth>(nodes, rows, std::max(group.steps, 1), at, row, end);
        }
        while (end - waiting >= kWaiting) end = advance_all<kWidth>(nodes, rows, waiting, end);
      }
    }
    while (end > waiting) {
      for (; (end - waiting) % kLanes; ++end) *end = end[-1];
      end = advance_all<kWidth>(nodes, rows, waiting, end);
    }
  }

  template <int kWidth, class Key>
  static const Key* keys_of(const BlockRows<Key>& rows, i64 row) {
    return rows.keys + row * (kWidth ? kWidth : rows.width);
  }

  // Rows that wait take some steps, as many at once as there are lanes; the rest stays.
  template <int kWidth, class Node>
  Walker* advance_all(const Node* nodes, const BlockRows<typename Node::Key>& rows, Walker* waiting,
                      const Walker* end) {
    Walker* kept = waiting;
    for (; waiting + kLanes <= end; waiting += kLanes) {
      u64 at[kLanes];
      u32 row[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        at[lane] = waiting[lane].at;
        row[lane] = waiting[lane].row;
      }
      kept = advance<kWidth>(nodes, rows, kSteps, at, row, kept);
    }
    return std::copy(static_cast<const Walker*>(waiting), end, kept);
  }

  // Takes steps with kLanes rows; those that have not arrived are put where `waiting` points, and
  // the end of them is returned.
  template <int kWidth, class Node>
  Walker* advance(const Node* nodes, const BlockRows<typename Node::Key>& rows, int steps,
                  u64 (&at)[kLanes], const u32 (&row)[kLanes], Walker* waiting) {
    const typename Node::Key* keys[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      keys[lane] = keys_of<kWidth>(rows, row[lane]);
      asm("" : "+r"(keys[lane]));  // one address, not a base and an index to be added at every step
    }
    do {
      for (int lane = 0; lane < kLanes; ++lane) at[lane] = step(nodes, at[lane], keys[lane]);
    } while (--steps);
    u32* to = leaf.data();
    for (int lane = 0; lane < kLanes; ++lane) {
      const Node& node = nodes[at[lane]];
      to[row[lane]] = static_cast<u32>(node.cut);
      *waiting = {static_cast<u32>(at[lane]), row[lane]};
      waiting += node.left != 0;
    }
    return waiting;
  }

  std::vector<u32> order_;  // rows in the order of the walk, and above 16 bits their places
  std::vector<u16> place_;
  std::vector<u32> end_;
};

}  // namespace treewright
