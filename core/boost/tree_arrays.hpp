// Trees of bins as the arrays of a forest (treewright.tree.forest_arrays): thresholds instead of
// bins, nodes in family order.
#pragma once

#include <vector>

#include "binned/bins.hpp"
#include "boost/params.hpp"

namespace treewright::boost {

struct TreeArrays {
  std::vector<i64> node_offset{0};
  std::vector<i32> n_children, feature, gap_branch, n_gaps;
  std::vector<double> gain;
  std::vector<u8> kind;
  std::vector<i32> n_breaks, n_codes;
  std::vector<double> breaks;
  std::vector<i32> codes, branches;
  std::vector<i32> leaf_samples;
  std::vector<double> leaf_value, leaf_weight;
  std::vector<double> importance;  // trees × features: sums of gains

  void add(const BinTree& tree, const Bins& bins) {
    // Children get the next numbers when their parent is visited, depth first.
    std::vector<i32> order{0}, stack{0};  // nodes by number; numbers to visit
    while (!stack.empty()) {
      const i32 number = stack.back();
      stack.pop_back();
      const i32 left = tree.nodes[order[number]].left;
      if (left < 0) continue;
      const i32 first = static_cast<i32>(order.size());
      order.insert(order.end(), {left, left + 1});
      stack.insert(stack.end(), {first + 1, first});
    }
    importance.resize(importance.size() + bins.n_features(), 0.0);
    for (const i32 at : order) {
      const BinNode& node = tree.nodes[at];
      n_children.push_back(node.left < 0 ? 0 : 2);
      if (node.left < 0) {
        leaf_samples.push_back(static_cast<i32>(node.n_rows));
        leaf_value.push_back(node.value);
        leaf_weight.push_back(node.weight);
      } else {
        add_split(tree.splits[node.split], bins);
      }
    }
    node_offset.push_back(node_offset.back() + static_cast<i64>(order.size()));
  }

 private:
  void add_split(const BinSplit& split, const Bins& bins) {
    const BinMap& map = bins.map(split.feature);
    feature.push_back(split.feature);
    gap_branch.push_back(split.gap_left ? 0 : 1);
    n_gaps.push_back(static_cast<i32>(split.n_gaps));
    gain.push_back(split.gain);
    importance[importance.size() - bins.n_features() + split.feature] += split.gain;
    kind.push_back(static_cast<u8>(map.is_nominal ? SplitKind::codes : SplitKind::breaks));
    n_breaks.push_back(map.is_nominal ? 0 : 1);
    if (!map.is_nominal) {
      breaks.push_back(map.end(split.cut));
      n_codes.push_back(0);
      return;
    }
    std::vector<std::pair<i32, i32>> listed;
    for (i32 b = 0; b < map.n_bins(); ++b) {
      if (split.seen.has(b)) listed.push_back({map.code_of_bin[b], split.left.has(b) ? 0 : 1});
    }
    std::sort(listed.begin(), listed.end());
    n_codes.push_back(static_cast<i32>(listed.size()));
    for (const auto& [code, branch] : listed) codes.push_back(code), branches.push_back(branch);
  }
};

}  // namespace treewright::boost
