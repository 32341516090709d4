// From node records to the flat arrays of a Tree: parents first, siblings adjacent.
//
// Column by column, and what a column was made from is given back before the next: a full tree
// has more nodes than rows.
#pragma once

#include <deque>
#include <vector>

#include "base/memory.hpp"
#include "grow/grow.hpp"
#include "grow/node_list.hpp"
#include "grow/stopping.hpp"

namespace treewright {

struct FlatTree {
  std::vector<i32> first_child, n_children, gap_branch, n_gaps, python_id;
  FlatSplits splits, surrogates;
  std::vector<i64> surrogate_offset{0}, n_samples;
  std::vector<double> agreement, adjusted, weight, value, impurity, gain;
  std::vector<Stop> stopped;
  std::vector<double> p_value;  // of the best split, where splits were tested
  std::vector<double> clipped;  // two classes under constraints: rate of the second, or NaN
};

// Smaller trees leave too little behind to look for.
constexpr std::size_t kTrimmedNodes = 1 << 17;

class Assembler {
 public:
  Assembler(const Problem& p, Grown& grown) : p_(p), lists_(grown.lists) {}

  // Gives nodes their final ids.
  void number() {
    link();
    if (p_.params.leaf_price >= 0 && cut_unpaid()) link();
  }
  // Then the record of each id, where there is but one list.
  std::vector<i32> records() const {
    std::vector<i32> at;
    at.reserve(order_.size());
    for (const Place& place : order_) at.push_back(place.at);
    return at;
  }

  FlatTree run() {
    number();
    trim();  // what growth left behind
    write_values();
    trim();
    write_records();
    trim();
    write_inner();
    trim();
    write_splits();
    return std::move(out_);
  }

 private:
  // A node by list and position.
  struct Place {
    i32 list;
    i32 at;
  };

  Place resolve(Place place) const {
    const i32 other = lists_[place.list].stands_for(place.at);
    return other >= 0 ? Place{other, 0} : place;
  }

  const InnerRecord* inner_of(Place place) const {
    const NodeList& list = lists_[place.list];
    const i32 number = list[place.at].inner;
    return number < 0 ? nullptr : &list.inner[number];
  }

  // Final ids, depth first by families: the children of a node get consecutive ids when the node
  // is visited.
  void link() {
    std::size_t n = 0;
    for (const NodeList& list : lists_) n += list.records.size();
    order_.clear();
    out_.first_child.clear();
    out_.n_children.clear();
    order_.reserve(n);
    out_.first_child.reserve(n);
    out_.n_children.reserve(n);
    order_.push_back(resolve({0, 0}));
    out_.first_child.push_back(-1);
    out_.n_children.push_back(0);
    std::vector<i32> stack{0};
    while (!stack.empty()) {
      const i32 id = stack.back();
      stack.pop_back();
      const Place place = order_[id];
      const InnerRecord* r = inner_of(place);
      if (!r) continue;
      const i32 first = static_cast<i32>(order_.size());
      out_.first_child[id] = first;
      out_.n_children[id] = r->n_branches;
      for (i32 b = 0; b < r->n_branches; ++b) {
        order_.push_back(resolve({place.list, r->first_child + b}));
      }
      out_.first_child.resize(order_.size(), -1);
      out_.n_children.resize(order_.size(), 0);
      for (i32 b = r->n_branches; b-- > 0;) stack.push_back(first + b);
    }
  }

  // Splits that do not pay for their leaves (ledger.hpp) and were grown all the same, because
  // different threads grew their branches. Whether there were any.
  bool cut_unpaid() {
    const double price = p_.params.leaf_price;
    std::vector<double> cost(order_.size());
    bool any = false;
    for (std::size_t id = order_.size(); id-- > 0;) {
      NodeList& list = lists_[order_[id].list];
      const double leaf = risk_of(p_, list, order_[id].at) + price;
      double below = 0;
      for (i32 b = 0; b < out_.n_children[id]; ++b) below += cost[out_.first_child[id] + b];
      const bool fails = out_.n_children[id] && below >= leaf + kPriceMargin;
      cost[id] = out_.n_children[id] ? std::min(leaf, below) : leaf;
      if (fails) list.undo_split(order_[id].at, Stop::price);
      any = any || fails;
    }
    return any;
  }

  void trim() const {
    if (order_.size() > kTrimmedNodes) trim_heap();
  }

  template <class T>
  static void drop(std::vector<T>& values) {
    std::vector<T>().swap(values);
  }

  void write_values() {
    const bool classes = p_.is_classification();
    const i32 n_stats = lists_[0].n_stats, n_values = lists_[0].n_values;
    out_.weight.reserve(order_.size());
    out_.value.reserve(order_.size() * (classes ? n_stats : n_values));
    for (const Place& place : order_) {
      const NodeList& list = lists_[place.list];
      const i64* stats = list.stats_of(place.at);
      out_.weight.push_back(static_cast<double>(p_.weight_of(stats)) * p_.weight_unit);
      for (i32 k = 0; classes && k < n_stats; ++k) {
        out_.value.push_back(static_cast<double>(stats[k]) * p_.weight_unit);
      }
      auto& numbers = classes ? out_.clipped : out_.value;
      numbers.insert(numbers.end(), list.values_of(place.at), list.values_of(place.at) + n_values);
    }
    for (NodeList& list : lists_) {
      drop(list.stats);
      drop(list.values);
    }
  }

  // Under a price it depends on the threads whether a node was searched before it was given up.
  Stop reason_of(Stop noted) const {
    const bool searched = noted == Stop::values || noted == Stop::no_test || noted == Stop::gain;
    return searched && p_.params.leaf_price >= 0 ? Stop::price : noted;
  }

  void write_records() {
    out_.n_samples.reserve(order_.size());
    out_.impurity.reserve(order_.size());
    const bool tests = p_.params.max_p_value < 1;
    for (const Place& place : order_) {
      const NodeList& list = lists_[place.list];
      if (list.keeps_reasons) out_.stopped.push_back(reason_of(list.stopped[place.at]));
      if (tests) out_.p_value.push_back(list.p_value_of(place.at));
      out_.n_samples.push_back(list[place.at].n_samples);
      out_.impurity.push_back(list[place.at].impurity);
      const auto& answers = list.python_id;
      if (answers.empty()) continue;
      const bool asked = place.at < static_cast<i32>(answers.size());
      out_.python_id.push_back(asked ? answers[place.at] : -1);
    }
    // From here on a place is the number of a split node, or −1.
    for (Place& place : order_) place.at = std::max(lists_[place.list][place.at].inner, -1);
    for (NodeList& list : lists_) drop(list.records);
  }

  void write_inner() {
    out_.gain.reserve(order_.size());
    out_.gap_branch.reserve(order_.size());
    out_.n_gaps.reserve(order_.size());
    out_.surrogate_offset.reserve(order_.size() + 1);
    for (const Place& place : order_) {
      const NodeList& list = lists_[place.list];
      const InnerRecord r = place.at < 0 ? InnerRecord{} : list.inner[place.at];
      out_.gain.push_back(r.gain);
      out_.gap_branch.push_back(r.gap_branch);
      out_.n_gaps.push_back(r.n_gaps);
      for (i64 s = r.first_surrogate; s < r.first_surrogate + r.n_surrogates; ++s) {
        out_.surrogates.push(list.surrogates, s);
        out_.agreement.push_back(list.agreement[s]);
        out_.adjusted.push_back(list.adjusted[s]);
      }
      out_.surrogate_offset.push_back(static_cast<i64>(out_.agreement.size()));
    }
    for (NodeList& list : lists_) drop(list.inner);
  }

  void write_splits() {
    out_.splits.reserve(order_.size());
    for (const Place& place : order_) out_.splits.push(lists_[place.list].splits, place.at);
  }

  const Problem& p_;
  std::deque<NodeList>& lists_;
  std::vector<Place> order_;  // by final id
  FlatTree out_;
};

inline FlatTree assemble(const Problem& p, Grown& grown) { return Assembler(p, grown).run(); }

}  // namespace treewright
