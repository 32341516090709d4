// A finished tree as a forest keeps it: what cannot be computed from the rest, once.
//
// Nodes are in the order of Tree (parents first, siblings adjacent, families depth first), so the
// number of children alone gives the structure. Inner nodes have a test, leaves have values; what
// an inner node held is the sum of its children.
#pragma once

#include <numeric>
#include <vector>

#include "grow/assemble.hpp"

namespace treewright {

struct CompactTree {
  std::vector<i32> n_children;  // per node
  // Per inner node.
  std::vector<i32> feature, gap_branch, n_gaps;
  std::vector<double> gain;
  std::vector<u8> kind, closed;
  std::vector<i32> n_breaks, n_codes;
  std::vector<double> breaks;
  std::vector<i32> codes, branches;
  std::vector<i32> n_terms, term_feature, term_code;  // of linear tests
  std::vector<double> term_weight;
  // Per leaf; classes with weight as (class, weight) pairs.
  std::vector<i32> leaf_samples, leaf_classes, pair_class;
  std::vector<double> pair_weight;
  std::vector<double> leaf_value, leaf_weight, leaf_impurity;  // numbers
  std::vector<double> clipped;     // per node, two classes under constraints
  std::vector<double> importance;  // per feature: sum of gains

  CompactTree() = default;

  // A tree that one thread has grown, into one list.
  CompactTree(const Problem& p, Grown& grown) {
    const NodeList& list = grown.lists[0];
    std::vector<i32> order;
    if (grown.in_order) {
      order.resize(list.size());
      std::iota(order.begin(), order.end(), 0);
    } else {
      Assembler nodes(p, grown);
      nodes.number();
      order = nodes.records();
    }
    // Split nodes by their numbers, leaves by their records; written without a jump per node.
    std::vector<i32> inner(order.size() + 1), leaves(order.size() + 1);
    std::size_t n_inner = 0, n_leaves = 0;
    n_children.assign(order.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const i32 number = inner[n_inner] = list[order[i]].inner;
      leaves[n_leaves] = order[i];
      n_inner += number >= 0;
      n_leaves += number < 0;
      if (!list.inner.empty()) {
        n_children[i] = list.inner[std::max(number, 0)].n_branches * (number >= 0);
      }
    }
    inner.resize(n_inner);
    leaves.resize(n_leaves);
    for (std::size_t i = 0; p.is_classification() && list.n_values && i < order.size(); ++i) {
      const double* values = list.values_of(order[i]);
      clipped.insert(clipped.end(), values, values + list.n_values);
    }
    add_tests(list, inner, p.n_features());
    p.is_classification() ? add_classes(p, list, leaves) : add_numbers(p, list, leaves);
  }

 private:
  // Column by column, which takes half of the time of node by node.
  void add_tests(const NodeList& list, const std::vector<i32>& inner, i32 n_features) {
    auto fill = [&](auto& to, auto&& value) {
      to.resize(inner.size());
      for (std::size_t i = 0; i < inner.size(); ++i) to[i] = value(inner[i]);
    };
    const FlatSplits& s = list.splits;
    const std::vector<InnerRecord>& r = list.inner;
    // a linear test goes by its first feature
    fill(feature, [&](i32 k) {
      return s.feature[k] >= 0 ? s.feature[k] : s.term_feature[s.term_offset[k]];
    });
    fill(gap_branch, [&](i32 k) { return r[k].gap_branch; });
    fill(n_gaps, [&](i32 k) { return r[k].n_gaps; });
    fill(gain, [&](i32 k) { return r[k].gain; });
    fill(kind, [&](i32 k) { return s.kind[k]; });
    fill(closed, [&](i32 k) { return s.closed[k]; });
    auto fill_parts = [&](std::vector<i32>& sizes, const std::vector<i64>& offset, auto&& add) {
      fill(sizes, [&](i32 k) { return static_cast<i32>(offset[k + 1] - offset[k]); });
      for (const i32 k : inner) {
        for (i64 i = offset[k]; i < offset[k + 1]; ++i) add(i);
      }
    };
    breaks.reserve(s.breaks.size());
    fill_parts(n_breaks, s.break_offset, [&](i64 i) { breaks.push_back(s.breaks[i]); });
    codes.reserve(s.codes.size());
    branches.reserve(s.codes.size());
    fill_parts(n_codes, s.code_offset, [&](i64 i) {
      codes.push_back(s.codes[i]);
      branches.push_back(s.branches[i]);
    });
    fill_parts(n_terms, s.term_offset, [&](i64 i) {
      term_feature.push_back(s.term_feature[i]);
      term_weight.push_back(s.term_weight[i]);
      term_code.push_back(s.term_code[i]);
    });
    importance.assign(n_features, 0);
    const i32* term = term_feature.data();
    for (std::size_t i = 0; i < inner.size(); term += n_terms[i++]) share_gain(i, term);
  }

  // The features of a linear test, which are in order, share its gain.
  void share_gain(std::size_t i, const i32* term) {
    const i32 n = n_terms[i];
    if (!n) {
      importance[feature[i]] += gain[i];
      return;
    }
    auto is_new = [term](i32 k) { return k == 0 || term[k] != term[k - 1]; };
    i32 n_features = 0;
    for (i32 k = 0; k < n; ++k) n_features += is_new(k);
    for (i32 k = 0; k < n; ++k) {
      if (is_new(k)) importance[term[k]] += gain[i] / n_features;
    }
  }

  void add_classes(const Problem& p, const NodeList& list, const std::vector<i32>& leaves) {
    leaf_samples.reserve(leaves.size());
    leaf_classes.reserve(leaves.size());
    pair_class.reserve(leaves.size());
    pair_weight.reserve(leaves.size());
    std::vector<i32> found(list.n_stats + 1);
    for (const i32 at : leaves) {
      leaf_samples.push_back(list[at].n_samples);
      const i64* stats = list.stats_of(at);
      i32 count = 0;
      for (i32 k = 0; k < list.n_stats; ++k) {
        found[count] = k;
        count += stats[k] != 0;
      }
      for (i32 i = 0; i < count; ++i) {
        pair_class.push_back(found[i]);
        pair_weight.push_back(static_cast<double>(stats[found[i]]) * p.weight_unit);
      }
      leaf_classes.push_back(count);
    }
  }

  void add_numbers(const Problem& p, const NodeList& list, const std::vector<i32>& leaves) {
    for (const i32 at : leaves) {
      leaf_samples.push_back(list[at].n_samples);
      leaf_value.insert(leaf_value.end(), list.values_of(at), list.values_of(at) + list.n_values);
      const i64 weight = p.weight_of(list.stats_of(at));
      leaf_weight.push_back(static_cast<double>(weight) * p.weight_unit);
      leaf_impurity.push_back(list[at].impurity);
    }
  }
};

}  // namespace treewright
