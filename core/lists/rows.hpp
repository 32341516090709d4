// Where an entry of an attribute list finds its node and its class.
//
// SLIQ looks both up in a class list that stays in memory (ClassList). SPRINT's entries carry the
// class with them and lie by node (Segments). Both hand f(entry, slot, label, weight) the entries
// of nodes that are still open; slots are the open nodes of a level, in order.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace treewright::lists {

// How far ahead entries of the class list are fetched: they come in the order of another list.
constexpr i64 kAhead = 24;

// Class and leaf of every row.
class ClassList {
 public:
  explicit ClassList(bool wide, bool weighted) : wide_(wide), weighted_(weighted) {}

  // Sizes of all that is to come, so that nothing is copied while it grows.
  void reserve(i64 n_rows) {
    leaf_.reserve(n_rows);
    wide_ ? label16_.reserve(n_rows) : label8_.reserve(n_rows);
    if (weighted_) weight_.reserve(n_rows);
  }

  void append(std::span<const i32> label, std::span<const i64> weight) {
    leaf_.resize(leaf_.size() + label.size(), 0);
    for (const i32 k : label) {
      wide_ ? label16_.push_back(static_cast<u16>(k)) : label8_.push_back(static_cast<u8>(k));
    }
    if (weighted_) weight_.insert(weight_.end(), weight.begin(), weight.end());
  }

  // The nodes of a level: ids from `base` on, and the slot of each or −1 for a leaf.
  void set_level(i32 base, std::vector<i32> slot_of) {
    base_ = base;
    slot_of_ = std::move(slot_of);
  }

  i64 size() const { return static_cast<i64>(leaf_.size()); }
  i32 slot(u32 row) const {
    const u32 at = static_cast<u32>(leaf_[row] - base_);
    return at < slot_of_.size() ? slot_of_[at] : -1;
  }
  i32 label(u32 row) const { return wide_ ? label16_[row] : label8_[row]; }
  i64 weight(u32 row) const { return weighted_ ? weight_[row] : 1; }
  void move(u32 row, i32 node) { leaf_[row] = node; }

  template <class F>
  void each(std::span<const u32> rows, F&& f) const {
    const i64 n = std::ssize(rows);
    for (i64 i = 0; i < n; ++i) {
      if (i + kAhead < n) {
        const u32 later = rows[i + kAhead];
        __builtin_prefetch(&leaf_[later]);
        wide_ ? __builtin_prefetch(&label16_[later]) : __builtin_prefetch(&label8_[later]);
      }
      const u32 row = rows[i];
      const i32 at = slot(row);
      if (at >= 0) f(i, at, label(row), weight(row));
    }
  }

 private:
  bool wide_, weighted_;
  std::vector<i32> leaf_;
  std::vector<u8> label8_;
  std::vector<u16> label16_;
  std::vector<i64> weight_;
  i32 base_ = 0;
  std::vector<i32> slot_of_{0};
};

// Entries [begin, begin + n) of a list that lies by slot; slot s has [offset[s], offset[s + 1]).
struct Segments {
  std::span<const u16> label;
  std::span<const i64> weight;  // empty: all one
  i64 begin;
  std::span<const i64> offset;

  template <class F>
  void each(F&& f) const {
    const i64 n = std::ssize(label);
    i64 slot = std::upper_bound(offset.begin(), offset.end(), begin) - offset.begin() - 1;
    for (i64 i = 0; i < n; ++slot) {
      const i64 end = std::min(n, offset[slot + 1] - begin);
      for (; i < end; ++i) {
        f(i, static_cast<i32>(slot), static_cast<i32>(label[i]), weight.empty() ? 1 : weight[i]);
      }
    }
  }
};

}  // namespace treewright::lists
