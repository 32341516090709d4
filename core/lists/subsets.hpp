// The best subset test of a nominal attribute at every open node, from counts per category.
//
// Entries are counted in one pass; the subset of each node is then searched by the growth loop's
// own chooser (choose/exhaustive.hpp), so that it is the one that a tree in memory would have.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "choose/chooser.hpp"

namespace treewright::lists {

struct Subset {
  CandidateKind kind = CandidateKind::none;
  double gain = -kInf, scale = 0;
  bool gaps_left = false, learned = false;
  i64 n_gaps = 0;
  std::vector<i32> codes, branches;
};

class SubsetSearch {
 public:
  SubsetSearch(i32 n_slots, i32 first, i32 n_codes, i32 n_classes, i64 min_leaf, i32 max_exhaustive,
               bool unit);

  bool takes(i32 slot) const { return static_cast<u32>(slot - first_) < n_slots_; }

  // A gap has a negative code.
  void take(i32 slot, i32 code, i32 label, i64 weight) {
    const i64 row = (slot - first_) * (n_codes_ + i64{1}) + (code < 0 ? n_codes_ : code);
    i64* at = table_.data() + row * width_;
    if (!unit_) {
      ++at[0];
      ++at;
    }
    at[label] += weight;
  }

  // The best subset of each slot; totals and rows as in CutSearch.
  std::vector<Subset> best(std::span<const i64> totals, std::span<const i64> rows);

 private:
  Subset best_of(Chooser& chooser, i64 slot, const i64* total, i64 rows, Scratch& scratch);

  i32 first_, n_codes_, k_;
  u32 n_slots_;
  bool unit_;
  i32 width_;
  std::vector<i64> table_;
  Problem problem_;
};

}  // namespace treewright::lists
