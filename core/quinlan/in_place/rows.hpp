// The rows of a fit in one array that is reordered in place, with weights in single precision.
//
// Release 8 of C4.5 adds up weights row by row, so that the last bit of a sum depends on the order
// of its rows. What brings them into that order was found by trying families of sorts and
// partitions on its recorded runs: this one gives every recorded class weight to the bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "base/ordered.hpp"
#include "data/problem.hpp"
#include "quinlan/in_place/bring.hpp"

namespace treewright {

class InPlaceRows {
 public:
  struct Row {
    float weight;
    i32 label;
  };

  // rows: by number, shared with those who have other rows of them.
  InPlaceRows(Row* rows, std::vector<i32> ids) : ids_(std::move(ids)), rows_(rows) {}

  i64 size() const { return static_cast<i64>(ids_.size()); }
  i32 id(i64 place) const { return ids_[place]; }

  std::vector<i32> ids(i64 begin, i64 end) const {
    return {ids_.begin() + begin, ids_.begin() + end};
  }

  // The rows of a range one after the other in memory, until they are moved or weighed again.
  const Row* in_order(i64 begin, i64 end) {
    if (begin != copied_begin_ || end != copied_end_) {
      copy_.resize(end - begin);
      for (i64 i = begin; i < end; ++i) copy_[i - begin] = rows_[ids_[i]];
      copied_begin_ = begin;
      copied_end_ = end;
    }
    return copy_.data();
  }

  // Weight of the rows of a range, added in their order.
  float sum(i64 begin, i64 end) {
    const Row* rows = in_order(begin, end);
    float total = 0;
    for (i64 i = 0; i < end - begin; ++i) total += rows[i].weight;
    return total;
  }

  template <class Change>
  void change_weights(i64 begin, i64 end, Change&& change) {
    copied_end_ = -1;
    for (i64 i = begin; i < end; ++i) {
      float& weight = rows_[ids_[i]].weight;
      weight = change(weight);
    }
  }

  // Swaps the rows that go first to the front of a range; where they end.
  template <class GoesFirst>
  i64 bring(i64 begin, i64 end, GoesFirst&& first) {
    copied_end_ = -1;
    i64 next = begin;
    for (i64 i = begin; i < end; ++i) {
      if (first(ids_[i])) std::swap(ids_[next++], ids_[i]);
    }
    return next;
  }

  // Sorts a range by a key per row, without gaps; `sorted` receives the keys. Distinct keys have
  // one order; rows of equal keys are left in that which this quicksort gives them.
  void sort(i64 begin, i64 end, const float* key, float* sorted) {
    copied_end_ = -1;
    const i64 n = end - begin;
    words_.resize(n);
    queue_.resize(n);
    i32* const ids = ids_.data() + begin;
    for (i64 i = 0; i < n; ++i)
      words_[i] = u64{ordered(key[ids[i]])} << 32 | static_cast<u32>(ids[i]);
    // Enough for any input but one made to be slow.
    budget_ = n * 8 * std::bit_width(static_cast<u64>(n));
    quicksort(words_.data(), words_.data() + n);
    for (i64 i = 0; i < n; ++i) {
      ids[i] = static_cast<i32>(words_[i]);
      sorted[i] = number(words_[i]);
    }
  }

 private:
  static float number(u64 word) {
    const u32 key = static_cast<u32>(word >> 32);
    return std::bit_cast<float>(key & 0x80000000u ? key & 0x7fffffffu : ~key);
  }

  static u64 key_of(u64 word) { return word >> 32; }
  static bool less(u64 a, u64 b) { return key_of(a) < key_of(b); }

  // The last key divides: what does not exceed it goes to the front by swaps, from there what
  // equals it to the end, by swaps from the back.
  void quicksort(u64* begin, u64* end) {
    while (end - begin > 1) {
      if (std::is_sorted(begin, end, less)) return;  // the swaps would change nothing
      if (end - begin == 2) {
        std::swap(begin[0], begin[1]);
        return;
      }
      budget_ -= end - begin;
      if (budget_ < 0) {
        std::stable_sort(begin, end, less);
        return;
      }
      const u64 pivot = key_of(end[-1]) << 32;
      const auto [above, n_less] =
          bring_front(begin, end, pivot + (u64{1} << 32), pivot, queue_.data());
      u64* const equal = begin + n_less;
      bring_back(above, equal, pivot, queue_.data());
      if (equal - begin < end - above) {
        quicksort(begin, equal);
        begin = above;
      } else {
        quicksort(above, end);
        end = equal;
      }
    }
  }

  std::vector<i32> ids_;
  Row* const rows_;
  std::vector<u64> words_, queue_;  // key and row
  i64 budget_ = 0;
  std::vector<Row> copy_;
  i64 copied_begin_ = -1, copied_end_ = -1;
};

}  // namespace treewright
