// Many rows against many background rows, where every test reads one feature.
//
// At a test the pairs of rows that go the same way stay together: whoever the feature belongs to,
// their hybrids go there. Of the other pairs the feature must be decided: it is the row's on the
// row's branch, the background's on the background's branch. So sets of rows walk against sets of
// background rows, and what a leaf says counts for all pairs of such a group at once. A row meets
// leaves and sets of background rows in an order that the rows beside it do not change.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "base/simd.hpp"
#include "explain/shap_tree.hpp"
#include "explain/shares.hpp"

namespace treewright::explain {

// A set of up to 128 rows.
struct RowSet {
  static constexpr i64 kMost = 128;
  u64 low = 0, high = 0;

  static RowSet first(i64 n) {
    auto ones = [](i64 k) { return k >= 64 ? ~u64{0} : (u64{1} << k) - 1; };
    return {ones(n), n > 64 ? ones(n - 64) : 0};
  }

  void add(i64 i) { (i < 64 ? low : high) |= u64{1} << i % 64; }
  explicit operator bool() const { return low | high; }
  bool operator==(const RowSet&) const = default;
  friend RowSet operator&(RowSet a, RowSet b) { return {a.low & b.low, a.high & b.high}; }
  RowSet without(RowSet other) const { return {low & ~other.low, high & ~other.high}; }
  i32 size() const {
    if (!high && !(low & (low - 1))) return low != 0;  // of most sets, without counting bits
    return std::popcount(low) + std::popcount(high);
  }
  bool is_one() const { return high ? !low && !(high & (high - 1)) : low && !(low & (low - 1)); }
  i32 place() const { return low ? std::countr_zero(low) : 64 + std::countr_zero(high); }
  template <class What>
  void each(What&& what) const {
    for (u64 bits = low; bits; bits &= bits - 1) what(std::countr_zero(bits));
    for (u64 bits = high; bits; bits &= bits - 1) what(64 + std::countr_zero(bits));
  }
};

// Which of up to 64 numbers go right at a cut.
TREEWRIGHT_VECTORS inline u64 above(const double* x, i64 count, double cut, bool gaps_are) {
  u64 bits = 0;
  for (i64 i = 0; i < count; ++i) bits |= u64{(x[i] > cut) | (gaps_are & (x[i] != x[i]))} << i;
  return bits;
}

// By node: who of rows [first, first + count) takes the branch to it at its parent; of rows that
// divide or end there nothing is noted.
inline void note_takes(const ShapTree& tree, const Rows& rows, i64 first, i64 count,
                       RowSet* takes) {
  const i32 n_nodes = tree.router.n_nodes();
  const RowSet all = RowSet::first(count);
  for (i32 node = 0; node < n_nodes; ++node) {
    if (tree.is_leaf(node)) continue;
    const predict::HotNode& hot = tree.router.nodes[node];
    if (hot.how() > 1) {  // no single cut, or a branch for gaps
      for (i64 i = 0; i < count; ++i) {
        const i32 next = predict::step(tree.router, node, rows[first + i]);
        if (next > node) takes[next].add(i);
      }
      continue;
    }
    const double* x = rows.data + hot.feature() * rows.step + first;
    const auto cut = std::bit_cast<double>(hot.payload);
    const bool gap = hot.how();
    RowSet& right = takes[hot.child + 1];
    right.low = above(x, std::min<i64>(count, 64), cut, gap);
    if (count > 64) right.high = above(x + 64, count - 64, cut, gap);
    takes[hot.child] = all.without(right);
  }
}

class GroupWalk {
 public:
  // `rows` and `others`: by node, who takes the branch to it. `to`: values of the first row.
  GroupWalk(const ShapTree& tree, const Shares& shares, const RowSet* rows, const RowSet* others,
            double weight, double* to, const HybridSums& sums)
      : tree_(tree),
        shares_(shares),
        rows_(rows),
        others_(others),
        weight_(weight),
        to_(to + tree.column),
        sums_(sums),
        owner_(tree.router.n_categories.size(), kOpen),
        decided_(tree.n_distinct + 1) {}

  void run(RowSet rows, RowSet others) { visit(0, rows, others, 0, 0); }

 private:
  enum Owner : u8 { kOpen, kRow, kOther };

  // p features are the rows', n are the background's. What goes on undivided goes on in the loop,
  // so that the depth of the recursion does not depend on that of the tree.
  void visit(i32 node, RowSet rows, RowSet others, i32 p, i32 n) {
    for (;;) {
      const predict::HotNode& hot = tree_.router.nodes[node];
      const i32 child = static_cast<i32>(hot.child);
      if (child == node) return credit(node, rows, others, p, n);
      if (rows.is_one() && others.is_one()) {
        return visit_pair(node, {rows_, rows.place()}, {others_, others.place()}, p, n);
      }
      const i32 f = tree_.feature_of(node), past = child + tree_.n_branches(node);
      if (owner_[f] == kOpen) {
        node = decide(f, child, past, rows, others, p, n);
        if (node < 0) return;
        continue;
      }
      const bool is_theirs = owner_[f] == kOther;
      const RowSet* takes = is_theirs ? others_ : rows_;
      const RowSet all = is_theirs ? others : rows;
      i32 next = child;
      for (; next < past; ++next) {
        const RowSet part = all & takes[next];
        if (part == all) break;
        if (part) is_theirs ? visit(next, rows, part, p, n) : visit(next, part, others, p, n);
      }
      if (next == past) return;
      node = next;
    }
  }

  // Follows all pairs at a test of a feature that is not decided yet; where all go the same way
  // it returns that instead.
  i32 decide(i32 f, i32 child, i32 past, RowSet rows, RowSet others, i32 p, i32 n) {
    for (i32 next = child; next < past; ++next) {
      const RowSet mine = rows & rows_[next], theirs = others & others_[next];
      if (mine == rows && theirs == others) return next;
      if (mine && theirs) visit(next, mine, theirs, p, n);
      decided_[p + n] = f;
      if (const RowSet left = others.without(theirs); mine && left) {
        owner_[f] = kRow;
        visit(next, mine, left, p + 1, n);
      }
      if (const RowSet left = rows.without(mine); theirs && left) {
        owner_[f] = kOther;
        visit(next, left, theirs, p, n + 1);
      }
      owner_[f] = kOpen;
    }
    return -1;
  }

  // One row of a set: at which branches it is.
  struct Single {
    Single(const RowSet* takes, i32 place)
        : word(place < 64 ? &takes->low : &takes->high), place(place), shift(place % 64) {}
    i32 branch(i32 child, i32 past) const {
      if (past == child + 2) return word[2 * child + 2] >> shift & 1;
      i32 next = child;
      while (!(word[2 * next] >> shift & 1)) ++next;
      return next - child;
    }
    const u64* word;
    i32 place, shift;
  };

  // The same for one pair, which most groups become.
  void visit_pair(i32 node, Single row, Single other, i32 p, i32 n) {
    for (;;) {
      const predict::HotNode& hot = tree_.router.nodes[node];
      const i32 child = static_cast<i32>(hot.child);
      if (child == node) return credit_row(node, row.place, 1, p, n);
      const bool is_special = hot.how() == predict::HotNode::special;
      const i32 f = is_special ? tree_.feature_of(node) : static_cast<i32>(hot.feature());
      const i32 past = child + tree_.n_branches(node);
      const i32 mine = row.branch(child, past), theirs = other.branch(child, past);
      const Owner owner = owner_[f];
      if (owner == kOpen && mine != theirs) {
        decided_[p + n] = f;
        owner_[f] = kRow;
        visit_pair(child + mine, row, other, p + 1, n);
        owner_[f] = kOther;
        visit_pair(child + theirs, row, other, p, n + 1);
        owner_[f] = kOpen;
        return;
      }
      node = child + (owner == kRow ? mine : theirs);
    }
  }

  void credit(i32 node, RowSet rows, RowSet others, i32 p, i32 n) {
    const i32 count = others.size();
    rows.each([&](i32 row) { credit_row(node, row, count, p, n); });
  }

  void credit_row(i32 node, i32 row, i32 count, i32 p, i32 n) {
    const double weight = weight_ * count;
    const double part[] = {p ? weight * shares_.of_row(p, n) : 0,
                           n ? weight * shares_.of_background(p, n) : 0};
    const double* value = tree_.values + i64{node} * tree_.width;
    double* to = to_ + row * sums_.n_features * sums_.n_outputs;
    for (i32 i = 0; i < p + n; ++i) {
      const i32 f = decided_[i];
      const double own = part[owner_[f] - kRow];
      for (i32 k = 0; k < tree_.width; ++k) to[f * sums_.n_outputs + k] += own * value[k];
    }
  }

  const ShapTree& tree_;
  const Shares& shares_;
  const RowSet *rows_, *others_;
  const double weight_;
  double* to_;
  const HybridSums& sums_;
  std::vector<Owner> owner_;  // by feature
  std::vector<i32> decided_;  // features, in the order in which they were decided
};

}  // namespace treewright::explain
