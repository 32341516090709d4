// TreeSHAP against a background: a feature that is not known has the value of another row.
//
// A hybrid has some features of the row that is explained and the others of a background row. For
// one pair a leaf asks for some features of the row (p of them) and some of the background (n): it
// is reached by the hybrids with exactly these. The Shapley value of each of the former is then
// (p - 1)! n! / (p + n)! times what the leaf says, and that of the latter -p! (n - 1)! / (p + n)!.
//
// Where every test reads one feature, what a leaf asks for are two sets of bits over the features
// of its path: those that the row satisfies and those that the background row does. Of a leaf with
// few features the values are tabled by the former, so that the number of background rows does not
// matter; otherwise the walk is shared by all background rows that still can come along.
//
// Reference: Lundberg and others (2020), From local explanations to global understanding.
#pragma once

#include <vector>

#include "base/callable.hpp"
#include "explain/shap_tree.hpp"

namespace treewright::explain {

// (p - 1)! n! / (p + n)! and p! (n - 1)! / (p + n)!, and the same of pairs.
class Shares {
 public:
  explicit Shares(i32 most) : size_(most + 2), table_((most + 2) * (most + 2)) {
    // the integral of t^a (1 - t)^b
    for (i32 a = 0; a < size_; ++a) {
      table_[a * size_] = 1.0 / (a + 1);
      for (i32 b = 1; b < size_; ++b) table_[a * size_ + b] = integral(a, b - 1) * b / (a + b + 1);
    }
  }
  double of_row(i32 p, i32 n) const { return integral(p - 1, n); }
  double of_background(i32 p, i32 n) const { return -integral(p, n - 1); }
  double both_row(i32 p, i32 n) const { return integral(p - 2, n); }
  double mixed(i32 p, i32 n) const { return -integral(p - 1, n - 1); }
  double both_background(i32 p, i32 n) const { return integral(p, n - 2); }

 private:
  double integral(i32 a, i32 b) const { return table_[a * size_ + b]; }
  i32 size_;
  std::vector<double> table_;
};

// Rows as doubles, NaN at gaps: value of feature f of row i at f * step + i.
struct Rows {
  const double* data;
  i64 step, count;
};

struct HybridRow {
  const double* data;
  i64 step;
  double operator[](u32 f) const { return data[f * step]; }
};

// Sums by row: (row * n_features + feature) * n_outputs + output; pairs as in PathSums.
struct HybridSums {
  double *values, *pairs;
  i64 n_features, n_outputs;
};

// What a tree knows of the background before rows come.
class Background {
 public:
  // n_rows: rows that will come, which decides whether tables pay.
  Background(const ShapTree& tree, const Rows& background, const Shares& shares, i64 n_rows,
             int n_threads, Callable<void()> poll);

  // Adds the values of one row. Thread-safe.
  void add(HybridRow row, i64 number, const HybridSums& sums) const;

 private:
  struct Leaf {
    std::vector<i32> features;  // by place
    std::vector<u64> masks;     // by background row: the features that it satisfies
    std::vector<double> table;  // by the row's mask and place
  };

  bool walk_background();
  void make_table(Leaf& leaf) const;
  bool is_simple(HybridRow row, std::vector<i32>& branch) const;
  void add_tabled(const std::vector<i32>& branch, double* to, const HybridSums& sums) const;
  void add_walked(const std::vector<i32>& branch, double* to, const HybridSums& sums) const;
  void add_leaf(const Leaf& leaf, const Edge& edge, u64 mask, const u64* alive, double* to,
                const HybridSums& sums) const;

  const ShapTree& tree_;
  const Rows background_;
  const Shares& shares_;
  bool is_simple_ = false, is_tabled_ = false;
  std::vector<i32> leaf_of_;  // by edge
  std::vector<Leaf> leaves_;
  i64 n_words_ = 0;
  std::vector<u64> satisfied_;  // by edge: background rows that satisfy its feature up to here
};

}  // namespace treewright::explain
