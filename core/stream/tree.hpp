// A tree that learns from a stream, row by row (Domingos and Hulten 2000).
//
// A leaf remembers sums of its rows. Every grace period the best test is compared with the second
// best; it is made when Hoeffding's bound says that more rows would hardly change the order. The
// extremely fast variant (Manapragada, Webb and Salehi 2018) compares with no test at all, and goes
// on comparing at inner nodes, so that a test may be exchanged. Under drift (Bifet and Gavaldà
// 2009) the error of every node is watched, and where it rises a second subtree is grown beside it.
//
// Twin: tests/twins/stream.py.
#pragma once

#include <span>
#include <vector>

#include "stream/observers.hpp"

namespace treewright::stream {

enum class Leaf : i32 { plain = 0, model = 1, adaptive = 2 };

struct Options {
  i32 n_classes = 0;         // 0: numbers
  std::vector<i32> n_codes;  // per attribute; 0: numeric
  double grace = 200, delta = 1e-7, tau = 0.05, min_branch = 0.01;
  i32 max_depth = kNoLimit;
  Leaf leaf = Leaf::adaptive;
  bool fast = false;   // extremely fast: tests are looked at again
  double again = 200;  // after so much weight
  bool drift = false;
  double drift_delta = 0.002;
  double max_bytes = kInf;  // of what leaves remember
  bool gini = false;

  i32 n_sums() const { return n_classes ? n_classes : 3; }
  i32 n_features() const { return static_cast<i32>(n_codes.size()); }
};

struct Node {
  i32 depth = 0;
  // The test; kids is empty at a leaf.
  i32 feature = -1;
  double threshold = 0, merit = 0;
  std::vector<i32> kids;
  std::vector<i32> branch;  // nominal: by code; −1: not seen
  // What it saw.
  std::vector<double> totals;  // class weights, or weight, sum and sum of squares of targets
  double passed = 0;           // weight of all rows
  double seen = 0, tried = 0;  // weight since it is a leaf, and at the last comparison
  bool active = true;
  std::vector<Bins> bins;
  std::vector<Gauss> gauss;                // feature × class
  std::vector<std::vector<double>> codes;  // per nominal feature: code × sums
  double right_plain = 0, right_model = 0;
  Linear linear;
  Adwin adwin;
  i32 beside = -1;  // the subtree that may take its place

  bool is_leaf() const { return kids.empty(); }

  template <class A>
  void visit(A& a) {
    a(depth), a(feature), a(threshold), a(merit), a(kids), a(branch), a(totals), a(passed), a(seen);
    a(tried), a(active), a(right_plain), a(right_model), a(beside);
    a.each(bins), a.each(gauss), a.each(codes);
    linear.visit(a), adwin.visit(a);
  }
};

struct Test {
  i32 feature = -1;
  double merit = 0, threshold = 0;
  std::vector<i32> branch;                // nominal
  std::vector<std::vector<double>> sums;  // of the branches
};

class StreamTree {
 public:
  explicit StreamTree(Options options);

  // More categories than before.
  void set_codes(std::vector<i32> n_codes);
  // Learns a row. before: where the answer before learning it goes, or null.
  void learn(const double* x, double y, double w, double* before);
  // Class weights or probabilities (n_classes numbers), or one number.
  void answer(const double* x, double* out) const;

  const Options& options() const { return o_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  i32 root() const { return root_; }
  i64 n_active() const;

  // Hands all that was learned to an archive that writes it, or reads and then checks it.
  template <class A>
  void visit(A& a) {
    a(root_), a(rows_), target_.visit(a), a.each(means_), a.each(nodes_);
  }
  // Whether what was read can be used; nothing may be read out of bounds after this.
  bool settle();

 private:
  bool is_sound(const Node& node) const;
  i32 new_leaf(i32 depth);
  void release(i32 at);
  void free_subtree(i32 at);
  i32 leaf_of(i32 at, const double* x) const;
  i32 child_of(const Node& node, const double* x) const;
  void learn_below(i32 at, const double* x, double y, double w, double error);
  void observe(Node& node, const double* x, double y, double w);
  void watch(i32 at, const double* x, double y, double w, double error);
  void compare_beside(i32 at);
  void attempt(i32 at);
  double merit_below(const Node& node) const;
  void look_again(i32 at);
  void split(i32 at, const Test& test);
  Test best_test(const Node& node, double* second, const Test* current) const;
  Test numeric_test(const Node& node, i32 f) const;
  Test nominal_test(const Node& node, i32 f) const;
  double impurity(const double* sums) const;
  double weight_of(const double* sums) const;
  double bound(double n) const;
  bool uses_model(const Node& leaf) const;
  void bayes(const Node& leaf, const double* x, double* out) const;
  void numbers(const double* x, std::vector<double>& z) const;
  void keep_limit();
  double leaf_bytes() const;
  double loss(const double* answer, double y) const;
  bool has_linear() const { return !o_.n_classes && o_.leaf != Leaf::plain && n_numeric_ <= 64; }

  Options o_;
  i32 n_numeric_ = 0;
  std::vector<Node> nodes_;
  std::vector<i32> free_;
  i32 root_ = 0;
  Gauss target_;              // of all targets: the scale of errors
  std::vector<Gauss> means_;  // of numeric attributes: what a gap counts as in a linear answer
  double rows_ = 0;
  mutable std::vector<double> scratch_, z_;
};

}  // namespace treewright::stream
