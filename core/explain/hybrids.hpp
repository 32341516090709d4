// TreeSHAP against a background: a feature that is not known has the value of another row.
//
// A hybrid has some features of the row that is explained and the others of a background row. For
// one pair a leaf asks for some features of the row (p of them) and some of the background (n): it
// is reached by the hybrids with exactly these. The Shapley value of each of the former is then
// (p - 1)! n! / (p + n)! times what the leaf says, and that of the latter -p! (n - 1)! / (p + n)!.
//
// Where every test reads one feature, what a leaf asks for are two sets of bits over the features
// of its path: those that the row satisfies and those that the background row does. Where leaves
// have few features the values are tabled by the former, so that the number of background rows does
// not matter; otherwise sets of rows walk together (`group_walk.hpp`). Other tests are followed
// pair by pair (`pair_walk.hpp`).
//
// Reference: Lundberg and others (2020), From local explanations to global understanding.
#pragma once

#include <vector>

#include "base/callable.hpp"
#include "explain/group_walk.hpp"
#include "explain/shap_tree.hpp"
#include "explain/shares.hpp"

namespace treewright::explain {

// What a tree knows of the background before rows come.
class Background {
 public:
  // n_rows: rows that will come, which decides whether tables pay.
  Background(const ShapTree& tree, const Rows& background, const Shares& shares, i64 n_rows,
             int n_threads, Callable<void()> poll);

  // Adds the values of at most RowSet::kMost rows, of which `first` is the first; ends early if
  // `is_over` says so, which is asked now and then. Thread-safe.
  void add(const Rows& rows, i64 first, const HybridSums& sums, Callable<bool()> is_over) const;

 private:
  struct Leaf {
    std::vector<i32> features;  // by place
    std::vector<u64> masks;     // by background row: the features that it satisfies
    std::vector<double> table;  // by the row's mask and place
  };

  i64 n_sets() const { return (background_.count + RowSet::kMost - 1) / RowSet::kMost; }
  bool is_simple(HybridRow row) const;
  bool tables_pay(i64 n_rows) const;
  void mask_background();
  void make_table(Leaf& leaf) const;
  void add_tabled(HybridRow row, double* to, const HybridSums& sums) const;
  void add_in_groups(const Rows& rows, RowSet simple, double* to, const HybridSums& sums,
                     Callable<bool()> is_over) const;
  void add_in_pairs(HybridRow row, i64 number, const HybridSums& sums) const;

  const ShapTree& tree_;
  const Rows background_;
  const Shares& shares_;
  bool is_simple_ = false, is_tabled_ = false;
  std::vector<i32> leaf_of_;  // by edge
  std::vector<Leaf> leaves_;
  std::vector<RowSet> takes_;  // by set of background rows and node, see note_takes
};

}  // namespace treewright::explain
