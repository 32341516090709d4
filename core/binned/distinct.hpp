// The distinct values of a column, as long as they are few.
//
// Edges are made of a sample where rows are many; few values are all known all the same, so that a
// rare one keeps a bin of its own.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "base/types.hpp"

namespace treewright {

class Distinct {
 public:
  explicit Distinct(i32 most) : most_(most), slots_(1024, kEmpty) {}

  // Whether there are more than asked for; what comes then is not looked at.
  bool are_many() const { return static_cast<i32>(values_.size()) > most_; }

  void see(double value) {
    if (value != value) return;
    const u64 bits = std::bit_cast<u64>(value + 0.0);
    u64 at = bits * 0x9E3779B97F4A7C15ULL >> 54;
    while (slots_[at] != bits) {
      if (slots_[at] == kEmpty) {
        slots_[at] = bits;
        values_.push_back(value + 0.0);
        return;
      }
      at = (at + 1) & 1023;
    }
  }

  std::vector<double> sorted() const {
    std::vector<double> out = values_;
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  static constexpr u64 kEmpty = ~u64{0};  // a NaN, which is not kept
  i32 most_;
  std::vector<u64> slots_;
  std::vector<double> values_;
};

}  // namespace treewright
