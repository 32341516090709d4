// One row against one background row, for every kind of test.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/term.hpp"
#include "explain/shap_tree.hpp"
#include "explain/shares.hpp"

namespace treewright::explain {

constexpr i64 kMostVisits = i64{1} << 21;  // of one pair of rows

// Tests may read several features or divide rows: features
// are decided one by one, as tests ask for them.
class PairWalk {
 public:
  PairWalk(const ShapTree& tree, const Shares& shares, double weight, const HybridSums& sums,
           double* to, double* pairs)
      : tree_(tree),
        shares_(shares),
        weight_(weight),
        sums_(sums),
        to_(to),
        pairs_(pairs),
        owner_(tree.router.n_categories.size(), kOpen) {}

  void run(HybridRow row, HybridRow other) {
    row_ = row;
    other_ = other;
    n_visits_ = 0;
    visit(0, weight_);
  }

 private:
  enum Owner : u8 { kOpen, kRow, kOther };

  // A hybrid as far as it is decided; one of the two for the rest.
  struct Mixed {
    const PairWalk* pair;
    Owner rest;
    double operator[](u32 f) const {
      const Owner owner = pair->owner_[f] == kOpen ? rest : pair->owner_[f];
      return owner == kRow ? pair->row_[f] : pair->other_[f];
    }
  };

  bool is_open(i32 f) const {
    if (owner_[f] != kOpen) return false;
    const double a = row_[f], b = other_[f];
    return a != b && !(a != a && b != b);
  }

  // The feature that must be decided before a test can be asked, or -1.
  i32 needed(const predict::Test& test) const {
    const Router& router = tree_.router;
    if (test.kind != predict::Test::linear) {
      if (!is_open(test.feature)) return -1;
      const bool same = predict::branch_of(router, test, Mixed{this, kRow}) ==
                        predict::branch_of(router, test, Mixed{this, kOther});
      return same ? -1 : test.feature;
    }
    double least = 0, most = 0, widest = -1, size = 0;
    i32 found = -1;
    for (i64 i = test.start; i < test.start + test.count; ++i) {
      const i32 f = router.term_feature[i];
      const i32 code = router.term_code[i];
      const double w = router.term_weight[i], a = w * term_value(Mixed{this, kRow}[f], code),
                   b = w * term_value(Mixed{this, kOther}[f], code);
      if (!is_open(f)) {
        if (a != a) return -1;  // a gap, whatever the others are
      } else if (a != a || b != b) {
        return f;
      } else if (std::abs(a - b) > widest) {
        widest = std::abs(a - b);
        found = f;
      }
      least += std::min(a, b);
      most += std::max(a, b);
      size += std::max(std::abs(a), std::abs(b));
    }
    const double room = 1e-9 * (size + std::abs(test.cut));  // for other orders of the sum
    return found < 0 || most + room < test.cut || least - room > test.cut ? -1 : found;
  }

  i32 needed_at(i32 node) const {
    const predict::HotNode& hot = tree_.router.nodes[node];
    if (hot.how() != predict::HotNode::special) {
      const i32 f = static_cast<i32>(hot.feature());
      return is_open(f) && !says_the_same(node) ? f : -1;
    }
    const predict::Special& special = tree_.router.specials[hot.payload];
    if (special.test.kind != predict::Test::linear && is_open(special.test.feature) &&
        tree_.may_divide() && !says_the_same(node)) {
      return special.test.feature;
    }
    i32 f = needed(special.test);
    bool is_gap = f < 0 && predict::branch_of(tree_.router, special.test, Mixed{this, kRow}) < 0;
    for (i32 s = special.surrogate_begin; is_gap && s < special.surrogate_end; ++s) {
      const predict::Test& test = tree_.router.surrogates[s];
      f = needed(test);
      is_gap = f < 0 && predict::branch_of(tree_.router, test, Mixed{this, kRow}) < 0;
    }
    return f;
  }

  bool says_the_same(i32 node) const {
    return tree_.ask(node, Mixed{this, kRow}) == tree_.ask(node, Mixed{this, kOther});
  }

  void visit(i32 node, double weight) {
    if (++n_visits_ > kMostVisits) {
      throw std::invalid_argument(
          "Exact values of tests on so many features take too long; grow the tree with fewer "
          "features in a test, or leave the background out.");
    }
    if (tree_.is_leaf(node)) return credit(node, weight);
    const i32 f = needed_at(node);
    if (f >= 0) {
      owner_[f] = kRow;
      of_row_.push_back(f);
      visit(node, weight);
      of_row_.pop_back();
      owner_[f] = kOther;
      of_other_.push_back(f);
      visit(node, weight);
      of_other_.pop_back();
      owner_[f] = kOpen;
      return;
    }
    const Said said = tree_.ask(node, Mixed{this, kRow});
    if (said.branch == gap_stop) return credit(node, weight);
    const i32 child = static_cast<i32>(tree_.router.nodes[node].child);
    if (said.branch >= 0) return visit(child + said.branch, weight);
    if (said.branch == kBothWays) {
      if (said.lower > 0) visit(child, weight * said.lower);
      if (said.lower < 1) visit(child + 1, weight * (1 - said.lower));
      return;
    }
    const predict::Special& special = tree_.router.specials[tree_.router.nodes[node].payload];
    for (i32 b = 0; b < special.n_children; ++b) {
      const double share = tree_.router.share[child + b];
      if (share > 0) visit(child + b, weight * share);
    }
  }

  void credit(i32 node, double weight) {
    const i32 p = static_cast<i32>(of_row_.size()), n = static_cast<i32>(of_other_.size());
    const double* value = tree_.values + i64{node} * tree_.width;
    auto add = [&](double* to, double part) {
      for (i32 k = 0; k < tree_.width; ++k) to[tree_.column + k] += part * weight * value[k];
    };
    for (const i32 f : of_row_) add(to_ + f * sums_.n_outputs, shares_.of_row(p, n));
    for (const i32 f : of_other_) add(to_ + f * sums_.n_outputs, shares_.of_background(p, n));
    if (!pairs_) return;
    auto add_pair = [&](i32 f, i32 g, double part) {
      add(pairs_ + (std::min(f, g) * sums_.n_features + std::max(f, g)) * sums_.n_outputs,
          part / 2);
    };
    for (i32 i = 0; i < p; ++i) {
      for (i32 j = 0; j < i; ++j) add_pair(of_row_[i], of_row_[j], shares_.both_row(p, n));
      for (i32 j = 0; j < n; ++j) add_pair(of_row_[i], of_other_[j], shares_.mixed(p, n));
    }
    for (i32 i = 0; i < n; ++i) {
      for (i32 j = 0; j < i; ++j)
        add_pair(of_other_[i], of_other_[j], shares_.both_background(p, n));
    }
  }

  const ShapTree& tree_;
  const Shares& shares_;
  const double weight_;
  const HybridSums& sums_;
  double *to_, *pairs_;
  HybridRow row_{}, other_{};
  std::vector<Owner> owner_;
  std::vector<i32> of_row_, of_other_;
  i64 n_visits_ = 0;
};

}  // namespace treewright::explain
