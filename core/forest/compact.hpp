// A finished tree as a forest keeps it: what cannot be computed from the rest, once.
//
// Nodes are in the order of Tree (parents first, siblings adjacent, families depth first), so the
// number of children alone gives the structure. Inner nodes have a test, leaves have values; what
// an inner node held is the sum of its children.
#pragma once

#include <vector>

#include "../assemble.hpp"

namespace treewright {

struct CompactForest {
  std::vector<i64> node_offset{0}, inner_offset{0};  // per tree
  std::vector<i32> n_children;                        // per node
  // Per inner node.
  std::vector<i32> feature, gap_branch, n_gaps;
  std::vector<double> gain;
  std::vector<u8> kind, closed;
  std::vector<i32> n_breaks, n_codes;
  std::vector<double> breaks;
  std::vector<i32> codes, branches;
  // Per leaf; classes with weight as (class, weight) pairs.
  std::vector<i32> leaf_samples, leaf_classes, pair_class;
  std::vector<double> pair_weight;
  std::vector<double> leaf_value, leaf_weight, leaf_impurity;  // numbers
  std::vector<double> clipped;      // per node, two classes under constraints
  std::vector<double> importance;   // per tree and feature: sum of gains

  i64 n_trees() const { return static_cast<i64>(node_offset.size()) - 1; }

  // Appends a tree.
  void add(const Problem& p, Grown& grown) {
    Assembler nodes(p, grown);
    nodes.number();
    importance.resize(importance.size() + p.n_features(), 0);
    double* gains = importance.data() + importance.size() - p.n_features();
    nodes.each_node([&](const NodeList& list, i64 at, i32 count) {
      n_children.push_back(count);
      count ? add_inner(list.splits, list.inner[list[at].inner], list[at].inner, gains)
            : add_leaf(p, list, at);
      if (p.is_classification()) {
        clipped.insert(clipped.end(), list.values_of(at), list.values_of(at) + list.n_values);
      }
    });
    node_offset.push_back(node_offset.back() + nodes.n_nodes());
    inner_offset.push_back(static_cast<i64>(feature.size()));
  }

  void append(CompactForest&& other) {
    const i64 nodes = node_offset.back(), inner = inner_offset.back();
    for (std::size_t i = 1; i < other.node_offset.size(); ++i) {
      node_offset.push_back(nodes + other.node_offset[i]);
      inner_offset.push_back(inner + other.inner_offset[i]);
    }
    auto join = [](auto& to, auto& from) {
      to.insert(to.end(), from.begin(), from.end());
      std::remove_reference_t<decltype(from)>().swap(from);
    };
    join(n_children, other.n_children);
    join(feature, other.feature);
    join(gap_branch, other.gap_branch);
    join(n_gaps, other.n_gaps);
    join(gain, other.gain);
    join(kind, other.kind);
    join(closed, other.closed);
    join(n_breaks, other.n_breaks);
    join(n_codes, other.n_codes);
    join(breaks, other.breaks);
    join(codes, other.codes);
    join(branches, other.branches);
    join(leaf_samples, other.leaf_samples);
    join(leaf_classes, other.leaf_classes);
    join(pair_class, other.pair_class);
    join(pair_weight, other.pair_weight);
    join(leaf_value, other.leaf_value);
    join(leaf_weight, other.leaf_weight);
    join(leaf_impurity, other.leaf_impurity);
    join(clipped, other.clipped);
    join(importance, other.importance);
  }

 private:
  void add_inner(const FlatSplits& s, const InnerRecord& r, i64 i, double* gains) {
    feature.push_back(s.feature[i]);
    gap_branch.push_back(r.gap_branch);
    n_gaps.push_back(r.n_gaps);
    gain.push_back(r.gain);
    kind.push_back(s.kind[i]);
    closed.push_back(s.closed[i]);
    n_breaks.push_back(static_cast<i32>(s.break_offset[i + 1] - s.break_offset[i]));
    n_codes.push_back(static_cast<i32>(s.code_offset[i + 1] - s.code_offset[i]));
    auto add_part = [&](auto& to, const auto& from, const std::vector<i64>& offset) {
      for (i64 k = offset[i]; k < offset[i + 1]; ++k) to.push_back(from[k]);
    };
    add_part(breaks, s.breaks, s.break_offset);
    add_part(codes, s.codes, s.code_offset);
    add_part(branches, s.branches, s.code_offset);
    gains[s.feature[i]] += r.gain;
  }

  void add_leaf(const Problem& p, const NodeList& list, i64 at) {
    leaf_samples.push_back(list[at].n_samples);
    const i64* stats = list.stats_of(at);
    if (!p.is_classification()) {
      leaf_value.insert(leaf_value.end(), list.values_of(at), list.values_of(at) + list.n_values);
      leaf_weight.push_back(static_cast<double>(p.weight_of(stats)) * p.weight_unit);
      leaf_impurity.push_back(list[at].impurity);
      return;
    }
    i32 count = 0;
    for (i32 k = 0; k < list.n_stats; ++k) {
      if (!stats[k]) continue;
      pair_class.push_back(k);
      pair_weight.push_back(static_cast<double>(stats[k]) * p.weight_unit);
      ++count;
    }
    leaf_classes.push_back(count);
  }
};

}  // namespace treewright
