// Counting rows that cost the same when they are wrong: bits and their number.
//
// The rows of a node lie class by class, each class from a word of its own, so that the AND of
// the planes of two tests gives the counts of all classes. Planes are transposed from the rows'
// bits, 64 × 64 at a time.
#pragma once

#include "optimal/rows.hpp"

namespace treewright::optimal {

class Counts {
 public:
  struct Scratch {
    std::vector<u64> planes;   // by test
    std::vector<i32> first;    // word of each class, and the end
    std::vector<i32> totals;   // rows of each class
    std::vector<i32> passing;  // rows of each class that pass each test
  };

  Counts(const Problem& problem, const RowTable& table);

  std::vector<i32> rows() const;  // all of them, class by class
  i64 leaf(Rows rows) const;
  void glance(Rows rows, Glance& glance, Scratch& scratch) const;
  void pairs(Rows rows, Pairs& pairs, Scratch& scratch) const;  // after a glance at these rows
  i64 slack(i32) const { return 0; }

 private:
  void lay_out(Rows rows, Scratch& scratch) const;
  i64 errors(const i32* counts) const;

  const Problem& problem_;
  const RowTable& table_;
  i32 n_classes_;
};

}  // namespace treewright::optimal
