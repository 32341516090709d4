// Moving a node's instances to its children, in place and without changing their order.
#pragma once

#include <cstring>
#include <vector>

#include "data/block.hpp"

namespace treewright {

// Branch of an instance that ends at the node (a gap that nothing decides).
constexpr u8 kStays = 254;
// Branch of an instance that is not decided yet.
constexpr u8 kUndecided = 255;
// Branches that fit a byte, with room for one more: the gaps' own.
constexpr i32 kMaxByteBranches = 253;

// The branch of each instance: bytes, or words where a node has very many.
struct Branches {
  const u8* bytes = nullptr;
  const i32* words = nullptr;
  i32 n = 2;
  bool some_stay = false;

  i32 of(i64 id) const {
    if (words) return words[id];
    return bytes[id] == kStays ? n : bytes[id];
  }
};

inline u32 id_of(const Entry& e) { return e.id; }
inline u32 id_of(const u32& id) { return id; }

// Two branches by what right(item) says, once per item and in order; returns those on the left.
template <class Item, class Right>
i64 partition_by(Item* items, i64 n, std::vector<char>& bytes, Right&& right) {
  if (bytes.size() < static_cast<std::size_t>(n) * sizeof(Item)) bytes.resize(n * sizeof(Item));
  Item* other = reinterpret_cast<Item*>(bytes.data());
  i64 l = 0, r = 0;
  for (i64 i = 0; i < n; ++i) {
    const Item item = items[i];
    const bool s = right(item);
    items[l] = item;
    other[r] = item;
    l += 1 - s;
    r += s;
  }
  if (r > 16) {
    std::memcpy(items + l, other, r * sizeof(Item));
  } else {
    for (i64 i = 0; i < r; ++i) items[l + i] = other[i];
  }
  return l;
}

// Two branches, branch-free: each item is written to both ends, one end moves on. A branch
// that nobody will read is not kept.
template <class Item>
void partition_two(Item* items, i64 n, const u8* branch, bool keep_left, bool keep_right,
                   std::vector<char>& bytes) {
  if (keep_left && !keep_right) {
    i64 l = 0;
    for (i64 i = 0; i < n; ++i) {
      const Item item = items[i];
      items[l] = item;
      l += 1 - branch[id_of(item)];
    }
    return;
  }
  if (!keep_left && keep_right) {  // from the back, so that writing never overtakes reading
    i64 r = n - 1;
    for (i64 i = n - 1; i >= 0; --i) {
      const Item item = items[i];
      items[r] = item;
      r -= branch[id_of(item)];
    }
    return;
  }
  partition_by(items, n, bytes, [branch](const Item& item) { return branch[id_of(item)] != 0; });
}

// Any number of branches; instances that stay come last. Returns nothing: sizes are known.
template <class Item>
void partition_many(Item* items, i64 n, const Branches& branches, const std::vector<i64>& sizes,
                    std::vector<char>& bytes) {
  if (bytes.size() < static_cast<std::size_t>(n) * sizeof(Item)) bytes.resize(n * sizeof(Item));
  Item* out = reinterpret_cast<Item*>(bytes.data());
  std::vector<i64> at(sizes.size() + 1, 0);
  for (std::size_t b = 0; b < sizes.size(); ++b) at[b + 1] = at[b] + sizes[b];
  for (i64 i = 0; i < n; ++i) out[at[branches.of(id_of(items[i]))]++] = items[i];
  std::memcpy(items, out, n * sizeof(Item));
}

}  // namespace treewright
