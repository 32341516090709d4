// The children of a node: their records, bounds and features.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "grow/growth.hpp"

namespace treewright {

class Children {
 public:
  explicit Children(const Growth& growth) : p_(growth.p), o_(growth.options) {}

  // A child without instances yet. Most become leaves and never need a block.
  static Pending child_of(const Pending& node, i64 record, i32 branch) {
    Pending kid;
    kid.record = record;
    kid.depth = node.depth + 1;
    kid.path = child_path(node.path, branch);
    kid.lower = node.lower;
    kid.upper = node.upper;
    return kid;
  }

  static i64 add_children(NodeList& list, i64 parent, i32 count) {
    const i64 first = list.add(count);
    list.inner_of(parent).first_child = static_cast<i32>(first);
    // An empty branch keeps its parent's numbers.
    for (i64 i = first; i < first + count; ++i) {
      std::copy_n(list.values_of(parent), list.n_values, list.values_of(i));
    }
    return first;
  }

  void describe(const Block& block, const Pending& node, NodeList& list) const {
    NodeRecord& record = list[node.record];
    if (p_.is_classification() || !node.size()) return;
    record.impurity = describe_numbers(p_, o_.numbers, block, node.begin, node.end,
                                       list.stats_of(node.record), list.values_of(node.record));
  }

  // Stats of the children; the largest one's are what the others leave of the parent's.
  void add_stats(const Block& block, const Pending& node, std::span<const Pending> kids,
                 bool some_stay, const Marked& marked, NodeList& list) const {
    std::size_t rest = kids.size();
    if (marked.moved) {
      rest = !marked.summed;
    } else if (!some_stay) {
      rest =
          std::max_element(kids.begin(), kids.end(),
                           [](const Pending& a, const Pending& b) { return a.size() < b.size(); }) -
          kids.begin();
    }
    if (rest < kids.size()) {
      std::copy_n(list.stats_of(node.record), p_.n_stats, list.stats_of(kids[rest].record));
    }
    for (std::size_t b = 0; b < kids.size(); ++b) {
      if (b == rest) continue;
      i64* stats = list.stats_of(kids[b].record);
      if (marked.moved) {
        std::copy(marked.stats.begin(), marked.stats.end(), stats);
      } else {
        with_target_kind(p_, [&](auto classes, auto unit) {
          for (i64 i = kids[b].begin; i < kids[b].end; ++i) {
            add_instance<classes.value, unit.value>(p_, block.target, block.ids[i], stats);
          }
        });
      }
      if (some_stay) continue;
      i64* left = list.stats_of(kids[rest].record);
      for (i32 k = 0; k < p_.n_stats; ++k) left[k] -= stats[k];
    }
  }

  // Bounds of the children of a split on a constrained feature, or below one.
  void bound(const Pending& node, const Split& split, const NodeList& list, i64 first,
             std::span<Pending> kids) const {
    if (p_.params.monotonic.empty() || split.kind != SplitKind::breaks) return;
    const i32 direction = p_.params.monotonic[split.feature];
    if (!direction || kids.size() != 2) return;
    auto middle = [&](i64 i) {
      if (o_.numbers == NumberCriterion::absolute && !p_.is_classification()) {
        return list.values_of(i)[0];
      }
      if (p_.is_classification()) return rate(list, i);
      return static_cast<double>(list.stats_of(i)[1]) / static_cast<double>(list.stats_of(i)[0]);
    };
    const double mid = (middle(first) + middle(first + 1)) / 2;
    Pending& low = kids[direction > 0 ? 0 : 1];
    Pending& high = kids[direction > 0 ? 1 : 0];
    low.upper = std::min(low.upper, mid);
    high.lower = std::max(high.lower, mid);
  }

  // Below a constrained split, values are clipped to its bounds: splits on other features stay
  // free, and the tree is monotonic all the same (as scikit-learn does).
  void clip(const Pending& node, NodeList& list) const {
    if (p_.params.monotonic.empty() || (node.lower == -kInf && node.upper == kInf)) return;
    double* value = list.values_of(node.record);
    if (!p_.is_classification()) {
      const double unit =
          o_.numbers == NumberCriterion::absolute ? 1.0 : p_.y_unit / p_.weight_unit;
      value[0] = std::clamp(value[0], node.lower * unit, node.upper * unit);
    } else if (node.size()) {
      value[0] = std::clamp(rate(list, node.record), node.lower, node.upper);
    }
  }

  // Features that may be tested below a split.
  Active active_below(const Pending& node, i32 tested) const {
    if (!p_.params.once) return node.active;
    auto left = std::make_shared<std::vector<i32>>(*node.active);
    std::erase(*left, tested);
    return left;
  }

 private:
  // Rate of the second class under the criterion's factors.
  double rate(const NodeList& list, i64 at) const {
    CriterionView v;
    v.factor = p_.targets.split_factor.empty() ? nullptr : p_.targets.split_factor.data();
    const double x1 = class_weight(v, list.stats_of(at), 1);
    return x1 / (class_weight(v, list.stats_of(at), 0) + x1);
  }

  const Problem& p_;
  const GrowOptions& o_;
};

}  // namespace treewright
