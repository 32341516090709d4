// Summing whatever rows hold: costs of labels, or weights and numbers.
//
// Two columns at a time: a table of sums by their bins, accumulated along both, from which four
// corners give the sums of any pair of their tests. Rows that no test tells apart are one row.
#pragma once

#include "optimal/rows.hpp"

namespace treewright::optimal {

class Sums {
 public:
  struct Scratch {
    std::vector<i64> table;               // by two bins, with a zero before each
    std::vector<std::vector<i64>> lines;  // by column: sums of the bins before each
    std::vector<i64> passing;             // sums of each test
    std::vector<i64> total;
    std::vector<i64> parts;  // room for the sums of four parts
    std::vector<i32> counts;
    std::vector<u16> bins[2];  // of two columns at the rows of the node
    std::vector<i64> values;   // of these rows
  };

  Sums(const Problem& problem, const RowTable& table);

  std::vector<i32> rows() const;
  i64 leaf(Rows rows) const;
  void glance(Rows rows, Glance& glance, Scratch& scratch) const;
  void pairs(Rows rows, Pairs& pairs, Scratch& scratch) const;  // after a glance at these rows
  // Costs of leaves are rounded, each by at most half of a unit.
  i64 slack(i32 depth) const { return problem_.leaf == Leaf::squares ? i64{2} << depth : 0; }

  i64 cost(const i64* sums) const;

 private:
  template <class Cost>
  void all_pairs(Rows rows, Pairs& pairs, Scratch& scratch, Cost cost) const;
  template <class Cost>
  void column_pairs(i32 f, i32 g, Pairs& pairs, Scratch& scratch, Cost cost) const;
  template <class Cost>
  void own_pairs(i32 f, Pairs& pairs, Scratch& scratch, Cost cost) const;
  template <class Cost>
  void offer(i32 i, i32 j, Pairs& pairs, Scratch& scratch, Cost cost) const;
  void accumulate(i32 f, i32 g, std::size_t n_rows, Scratch& scratch) const;
  double impurity(const i64* sums) const;

  const Problem& problem_;
  std::vector<std::vector<i32>> tests_of_;  // by column
};

}  // namespace treewright::optimal
