// The bits of binary features whose columns are adjacent.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "binned/row_matrix.hpp"

namespace treewright {

class AdjacentBits {
 public:
  AdjacentBits(const std::vector<Column>& table, const AdjacentColumns& adjacent,
               std::span<const RowFeature> features)
      : columns_(adjacent),
        high_(adjacent, std::numeric_limits<double>::quiet_NaN()),
        step_((static_cast<i64>(features.size()) + 63) / 64) {
    for (i64 bit = 0; adjacent.is_there() && bit < static_cast<i64>(features.size()); ++bit) {
      const RowFeature& f = features[bit];
      const i64 from = adjacent.place_of(table[f.column]);
      high_.set(from, f.value(f.bin_end[1]));
      const bool goes_on =
          !runs_.empty() && from % 64 && bit % 64 && runs_.back().from + runs_.back().n == from;
      if (!goes_on) runs_.push_back({from, bit, 0});
      ++runs_.back().n;
    }
  }

  bool is_there() const { return columns_.is_there(); }

  void fill(i64 start, i64 count, u64* bits) const {
    if (!step_) return;
    std::vector<u64> words(count * columns_.n_words());
    columns_.see_equal(start, start + count, high_, words.data());
    u64* to = bits + start * step_;
    std::fill_n(to, count * step_, 0);
    for (const Run& run : runs_) {
      const u64 mask = ~u64{0} >> (64 - run.n);
      const u64* from = words.data() + run.from / 64;
      for (i64 i = 0; i < count; ++i) {
        to[i * step_ + run.bit / 64] |= (from[i * columns_.n_words()] >> run.from % 64 & mask)
                                        << run.bit % 64;
      }
    }
  }

 private:
  // Columns that follow each other in the table and among the bits, within a word of both.
  struct Run {
    i64 from, bit, n;
  };
  const AdjacentColumns& columns_;
  AdjacentColumns::Cells high_;
  i64 step_;
  std::vector<Run> runs_;
};

}  // namespace treewright
