// The parents in the order in which they are tried: Friedman's Fast MARS (1993).
//
// A parent's rank by what it gained when it was last tried grows by fast_beta for every slot since
// then; those of least aged rank come first, and only fast_k of them are tried. Entries are
// numbered as earth numbers them: entry i is the term in slot i. A step adds two entries if it
// looked for pairs and one otherwise, though it always takes two slots, so a term whose slot lies
// beyond the entries waits until the queue has grown that long, and an entry whose slot is empty is
// passed over.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/types.hpp"

namespace treewright::mars {

class ParentQueue {
 public:
  ParentQueue(i32 fast_k, double fast_beta) : fast_k_(fast_k), beta_(fast_beta) {}

  void add(i32 count, i32 stamp) {
    for (i32 i = 0; i < count; ++i) entries_.push_back({static_cast<float>(kInf), stamp});
  }

  // What the parent in a slot gained at its last trial, in single precision: parents whose products
  // have the same span gain the same, and rounding must not rank them.
  void tried(i32 slot, double gain, i32 stamp) {
    entries_[slot] = {static_cast<float>(gain), stamp};
  }

  // Slots in the order of aged rank, at most fast_k of them.
  std::vector<i32> order(i32 stamp) const {
    const i32 n = static_cast<i32>(entries_.size());
    std::vector<i32> slots(n);
    std::iota(slots.begin(), slots.end(), 0);
    std::stable_sort(slots.begin(), slots.end(),
                     [&](i32 a, i32 b) { return entries_[a].gain > entries_[b].gain; });
    std::vector<double> aged(n);
    for (i32 rank = 0; rank < n; ++rank)
      aged[slots[rank]] = rank + beta_ * (stamp - entries_[slots[rank]].stamp);
    std::stable_sort(slots.begin(), slots.end(), [&](i32 a, i32 b) { return aged[a] < aged[b]; });
    if (fast_k_ > 0 && n > fast_k_) slots.resize(fast_k_);
    return slots;
  }

 private:
  struct Entry {
    float gain;
    i32 stamp;
  };
  i32 fast_k_;
  double beta_;
  std::vector<Entry> entries_;
};

}  // namespace treewright::mars
