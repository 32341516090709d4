// Growth under a price per leaf: what weakest-link pruning at that price would cut is not grown.
//
// A subtree costs its risk plus the price of every leaf. A split pays if its branches together
// cost less than its node as a leaf. Branches that are still to be grown cost at least what a
// perfect subtree would; as soon as the sum reaches the cost of the node, or what the nodes above
// can still afford, the rest would be grown in vain and the node stays a leaf. Breiman's subtree
// for a price is the smallest of those that cost least, so the outcome is that of pruning. What
// lies within rounding is grown, and left to the pruner.
//
// Nodes come depth first, so the accounts of open splits are a stack.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "data/problem.hpp"
#include "grow/node_list.hpp"
#include "grow/stopping.hpp"

namespace treewright {

class Ledger {
 public:
  Ledger(const Problem& p, NodeList& list) : p_(p), list_(list), price_(p.params.leaf_price) {}

  bool is_open() const { return price_ >= 0; }
  i64 n_open() const { return static_cast<i64>(accounts_.size()); }

  // The turn of the latest waiting node. Whether a split of it can pay at all.
  bool take(i64 record) {
    if (!accounts_.empty()) --accounts_.back().waiting;
    return 2 * price_ < limit_of(record) + kPriceMargin;
  }

  // A node was split; the branches in `waiting` are still to be grown, the others are leaves.
  // `stay` is called once it is known that the split stays. Returns how many waiting nodes, the
  // latest ones, need not be grown any more.
  template <class Waiting>
  i64 open(i64 record, const Waiting& waiting, std::function<void()> stay) {
    Account a;
    a.record = record;
    a.leaf = leaf_cost(record);
    a.limit = limit_of(record);
    a.floor = floor_of(record);
    a.stay = std::move(stay);
    const InnerRecord& inner = list_.inner_of(record);
    for (i32 b = 0; b < inner.n_branches; ++b) a.cost += leaf_cost(inner.first_child + b);
    for (const auto& node : waiting) {
      a.cost -= leaf_cost(node.record);
      a.floors += floor_of(node.record);
      ++a.open;
      ++a.waiting;
    }
    accounts_.push_back(std::move(a));
    return close_finished();
  }

  // The oldest waiting node is grown elsewhere: what it will cost is not known here, and counts
  // as the least that it can.
  void lend() {
    auto owner = accounts_.begin();
    while (!owner->waiting) ++owner;
    --owner->waiting;
    --owner->open;
  }

  // The node whose turn it was stays a leaf. Returns as `open` does.
  i64 stays_leaf(i64 record) {
    if (accounts_.empty()) return 0;
    settle(leaf_cost(record), floor_of(record));
    return close_finished();
  }

 private:
  struct Account {
    i64 record = 0;
    i32 open = 0;       // branches whose cost is not known yet,
    i32 waiting = 0;    // those of them that were not begun,
    double floors = 0;  // and the least that they can cost
    double cost = 0;    // of the other branches
    double leaf = 0;    // cost of the node as a leaf
    double limit = 0;   // the split is in vain from here on
    double floor = 0;   // the least that the node was thought to cost
    std::function<void()> stay;
  };

  double risk(i64 record) const { return risk_of(p_, list_, record); }
  double leaf_cost(i64 record) const { return risk(record) + price_; }
  // Without any risk a leaf is left, or two where one leaf would not do.
  double floor_of(i64 record) const { return price_ + std::min(risk(record), price_); }

  double limit_of(i64 record) const {
    const double leaf = leaf_cost(record);
    if (accounts_.empty()) return leaf;
    const Account& above = accounts_.back();
    return std::min(leaf, above.limit - above.cost - above.floors + floor_of(record));
  }

  void settle(double cost, double floor) {
    Account& a = accounts_.back();
    a.cost += cost;
    a.floors -= floor;
    --a.open;
  }

  // Settles every innermost split whose fate is known.
  i64 close_finished() {
    i64 dropped = 0;
    while (!accounts_.empty()) {
      Account a = std::move(accounts_.back());
      const bool fails = a.cost + a.floors >= a.limit + kPriceMargin;
      if (!fails && a.open) {
        accounts_.back() = std::move(a);
        break;
      }
      accounts_.pop_back();
      if (fails) {
        list_.undo_split(a.record, Stop::price);
        dropped += a.waiting;
      } else if (a.stay) {
        a.stay();
      }
      if (!accounts_.empty()) settle(std::min(a.leaf, a.cost + a.floors), a.floor);
    }
    return dropped;
  }

  const Problem& p_;
  NodeList& list_;
  double price_;
  std::vector<Account> accounts_;
};

}  // namespace treewright
