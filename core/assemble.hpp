// From node records to the flat arrays of a Tree: parents first, siblings adjacent.
#pragma once

#include <vector>

#include "grow.hpp"

namespace treewright {

struct FlatSplits {
  std::vector<u8> kind, closed, reversed;
  std::vector<i32> feature;
  std::vector<i64> break_offset{0}, code_offset{0}, term_offset{0};
  std::vector<double> breaks, term_weight;
  std::vector<i32> codes, branches, term_feature;

  void push(const Split& s) {
    kind.push_back(static_cast<u8>(s.kind));
    closed.push_back(s.closed);
    reversed.push_back(s.reversed);
    feature.push_back(s.kind == SplitKind::linear ? -1 : s.feature);
    breaks.insert(breaks.end(), s.breaks.begin(), s.breaks.end());
    codes.insert(codes.end(), s.codes.begin(), s.codes.end());
    branches.insert(branches.end(), s.branches.begin(), s.branches.end());
    term_feature.insert(term_feature.end(), s.term_feature.begin(), s.term_feature.end());
    term_weight.insert(term_weight.end(), s.term_weight.begin(), s.term_weight.end());
    break_offset.push_back(static_cast<i64>(breaks.size()));
    code_offset.push_back(static_cast<i64>(codes.size()));
    term_offset.push_back(static_cast<i64>(term_feature.size()));
  }
};

struct FlatTree {
  std::vector<i32> first_child, n_children, gap_branch;
  FlatSplits splits, surrogates;
  std::vector<i64> surrogate_offset{0}, n_samples, python_id;
  std::vector<double> agreement, adjusted, weight, value, impurity, gain;
};

// A node by list and position; follows the records that stand for another list's root.
struct Place {
  i32 list;
  i64 at;
};

inline const NodeRecord& record_at(const Grown& grown, Place& place) {
  const NodeRecord* record = &grown.lists[place.list][place.at];
  while (record->child_list >= 0) {
    place = {record->child_list, 0};
    record = &grown.lists[place.list][place.at];
  }
  return *record;
}

inline void push_node(const Problem& p, const NodeRecord& r, FlatTree& out) {
  const bool leaf = r.first_child < 0;
  out.splits.push(leaf ? Split{} : r.split);
  out.gap_branch.push_back(leaf ? kGapStop : r.split.gap_branch);
  out.gain.push_back(leaf ? 0 : r.split.gain);
  for (const Surrogate& s : r.surrogates) {
    out.surrogates.push(s.split);
    out.agreement.push_back(s.agreement);
    out.adjusted.push_back(s.adjusted);
  }
  out.surrogate_offset.push_back(static_cast<i64>(out.agreement.size()));
  out.n_samples.push_back(r.n_samples);
  out.python_id.push_back(r.python_id);
  out.weight.push_back(static_cast<double>(p.weight_of(r.stats.data())) * p.weight_unit);
  out.impurity.push_back(r.impurity);
  if (p.is_classification()) {
    for (i64 s : r.stats) out.value.push_back(static_cast<double>(s) * p.weight_unit);
  } else if (r.value.empty()) {  // an empty branch has no mean of its own; its parent fills it in
    out.value.insert(out.value.end(), p.targets.n_outputs, 0.0);
  } else {
    out.value.insert(out.value.end(), r.value.begin(), r.value.end());
  }
}

// Depth first by families: the children of a node get consecutive ids when the node is visited.
inline FlatTree assemble(const Problem& p, const Grown& grown) {
  std::size_t n = 0;
  for (const NodeList& list : grown.lists) n += list.size();
  FlatTree out;
  // Ids first: order[id] is the place of the node with that id.
  std::vector<Place> order{{0, 0}};
  order.reserve(n);
  std::vector<i64> stack{0};
  out.first_child.assign(1, -1);
  out.n_children.assign(1, 0);
  while (!stack.empty()) {
    const i64 id = stack.back();
    stack.pop_back();
    Place place = order[id];
    const NodeRecord& r = record_at(grown, place);
    order[id] = place;
    if (r.first_child < 0) continue;
    const i64 first = static_cast<i64>(order.size());
    const i32 count = r.split.n_branches;
    out.first_child[id] = static_cast<i32>(first);
    out.n_children[id] = count;
    for (i32 b = 0; b < count; ++b) order.push_back({place.list, r.first_child + b});
    out.first_child.resize(order.size(), -1);
    out.n_children.resize(order.size(), 0);
    for (i32 b = count; b-- > 0;) stack.push_back(first + b);
  }
  for (Place place : order) push_node(p, record_at(grown, place), out);
  return out;
}

}  // namespace treewright
