// The rows of a node on two sides, and how well these are told apart.
//
// Sums are integers, so that neither the order of rows nor the way to a division changes its score.
// More is better; the score of a division less that of the whole is its gain, in the units of
// Candidate::gain.
#pragma once

#include <algorithm>
#include <vector>

#include "choose/chooser.hpp"
#include "criteria/gini.hpp"
#include "criteria/squared.hpp"

namespace treewright::oblique {

// By any criterion.
template <class C>
class Division {
 public:
  explicit Division(const NodeView& node) : node_(node), p_(node.problem) { start(); }

  // Everything on the right.
  void start() {
    left_.assign(p_.n_stats, 0);
    right_.assign(node_.stats, node_.stats + p_.n_stats);
    n_left_ = 0;
  }
  void move(u32 id, bool to_left) {
    std::vector<i64>&from = to_left ? right_ : left_, &to = to_left ? left_ : right_;
    const TargetArrays& t = node_.block.target;
    auto carry = [&](i32 k, i64 amount) {
      from[k] -= amount;
      to[k] += amount;
    };
    carry(C::classes ? t.label[id] : 0, instance_weight(t, id));
    const i32 outputs = C::classes ? 0 : p_.targets.n_outputs;
    for (i32 o = 0; o < outputs; ++o) carry(1 + o, t.wy[static_cast<i64>(id) * outputs + o]);
    n_left_ += to_left ? 1 : -1;
  }
  i64 n_left() const { return n_left_; }
  double left_weight() const { return static_cast<double>(p_.weight_of(left_.data())); }
  double right_weight() const { return static_cast<double>(p_.weight_of(right_.data())); }
  double score() const {
    return C::side(left_.data(), node_.criterion) + C::side(right_.data(), node_.criterion);
  }

 private:
  const NodeView& node_;
  const Problem& p_;
  std::vector<i64> left_, right_;
  i64 n_left_ = 0;
};

// Gini's index without factors: Σ x²/X of both sides, squares moved along. Whole numbers up to
// 2^53 are exact in a double, so up to this weight nothing is rounded.
constexpr i64 kMostCounted = i64{1} << 26;

class GiniDivision {
 public:
  explicit GiniDivision(const NodeView& node) : node_(node) { start(); }

  void start() {
    const i32 n = node_.problem.targets.n_classes;
    count_[0].assign(n, 0.0);
    count_[1].assign(node_.stats, node_.stats + n);
    squares_[0] = squares_[1] = weight_[0] = weight_[1] = 0;
    for (const double x : count_[1]) {
      squares_[1] += x * x;
      weight_[1] += x;
    }
    n_left_ = 0;
  }
  void move(u32 id, bool to_left) {
    const TargetArrays& t = node_.block.target;
    const double w = static_cast<double>(instance_weight(t, id));
    const u16 k = t.label[id];
    double &from = count_[to_left][k], &to = count_[!to_left][k];
    squares_[to_left] -= w * (2 * from - w);
    squares_[!to_left] += w * (2 * to + w);
    weight_[to_left] -= w;
    weight_[!to_left] += w;
    from -= w;
    to += w;
    n_left_ += to_left ? 1 : -1;
  }
  i64 n_left() const { return n_left_; }
  double left_weight() const { return weight_[0]; }
  double right_weight() const { return weight_[1]; }
  double score() const {
    return squares_[0] / std::max(weight_[0], 1.0) + squares_[1] / std::max(weight_[1], 1.0);
  }

 private:
  const NodeView& node_;
  std::vector<double> count_[2];  // per class: left, right
  double squares_[2], weight_[2];
  i64 n_left_ = 0;
};

}  // namespace treewright::oblique
