// From node records to the flat arrays of a Tree: parents first, siblings adjacent.
#pragma once

#include <vector>

#include "grow.hpp"
#include "node_list.hpp"

namespace treewright {

struct FlatTree {
  std::vector<i32> first_child, n_children, gap_branch, n_gaps, python_id;
  FlatSplits splits, surrogates;
  std::vector<i64> surrogate_offset{0}, n_samples;
  std::vector<double> agreement, adjusted, weight, value, impurity, gain;
  std::vector<double> clipped;  // two classes under constraints: rate of the second, or NaN
};

// A node by list and position.
struct Place {
  i32 list;
  i32 at;
};

// Follows a record that stands for another list's root.
inline Place resolve(const Grown& grown, Place place) {
  const i32 next = grown.lists[place.list][place.at].child_list;
  return next >= 0 ? Place{next, 0} : place;
}

inline void push_node(const Problem& p, const NodeList& list, i64 i, FlatTree& out) {
  const NodeRecord& r = list[i];
  const i64* stats = list.stats_of(i);
  out.splits.push(list.splits, r.split);
  out.gap_branch.push_back(r.gap_branch);
  out.n_gaps.push_back(r.n_gaps);
  out.gain.push_back(r.gain);
  for (i64 s = r.first_surrogate; s < r.first_surrogate + r.n_surrogates; ++s) {
    out.surrogates.push(list.surrogates, s);
    out.agreement.push_back(list.agreement[s]);
    out.adjusted.push_back(list.adjusted[s]);
  }
  out.surrogate_offset.push_back(static_cast<i64>(out.agreement.size()));
  out.n_samples.push_back(r.n_samples);
  out.python_id.push_back(r.python_id);
  out.weight.push_back(static_cast<double>(p.weight_of(stats)) * p.weight_unit);
  out.impurity.push_back(r.impurity);
  if (p.is_classification()) {
    for (i32 k = 0; k < list.n_stats; ++k) {
      out.value.push_back(static_cast<double>(stats[k]) * p.weight_unit);
    }
    if (list.n_values) out.clipped.push_back(list.values_of(i)[0]);
  } else {
    out.value.insert(out.value.end(), list.values_of(i), list.values_of(i) + list.n_values);
  }
}

// Depth first by families: the children of a node get consecutive ids when the node is visited.
inline FlatTree assemble(const Problem& p, const Grown& grown) {
  std::size_t n = 0;
  for (const NodeList& list : grown.lists) n += list.records.size();
  FlatTree out;
  std::vector<Place> order;  // by final id
  order.reserve(n);
  order.push_back(resolve(grown, {0, 0}));
  out.first_child.reserve(n);
  out.n_children.reserve(n);
  out.first_child.push_back(-1);
  out.n_children.push_back(0);
  std::vector<i32> stack{0};
  while (!stack.empty()) {
    const i32 id = stack.back();
    stack.pop_back();
    const Place place = order[id];
    const NodeRecord& r = grown.lists[place.list][place.at];
    if (r.first_child < 0) continue;
    const i32 first = static_cast<i32>(order.size());
    out.first_child[id] = first;
    out.n_children[id] = r.n_branches;
    for (i32 b = 0; b < r.n_branches; ++b) {
      order.push_back(resolve(grown, {place.list, r.first_child + b}));
    }
    out.first_child.resize(order.size(), -1);
    out.n_children.resize(order.size(), 0);
    for (i32 b = r.n_branches; b-- > 0;) stack.push_back(first + b);
  }
  out.splits.reserve(n);
  for (auto* column : {&out.gap_branch, &out.n_gaps, &out.python_id}) column->reserve(n);
  for (auto* column : {&out.weight, &out.impurity, &out.gain}) column->reserve(n);
  out.surrogate_offset.reserve(n + 1);
  out.n_samples.reserve(n);
  out.value.reserve(n * (p.is_classification() ? p.n_stats : p.targets.n_outputs));
  for (const Place& place : order) push_node(p, grown.lists[place.list], place.at, out);
  return out;
}

}  // namespace treewright
