// Continuous features cut into intervals at the node, as many as pay for their description
// (Fayyad and Irani); all other features as in the exhaustive search by entropy.
//
// A range of values is cut where the class entropy of the two sides is least, and the cut stands if
// its gain exceeds (log2(N − 1) + Δ) / N bits; then each side is cut in the same way. With k, k1,
// k2 the classes present in the range and on its sides, Δ = log2(3^k − 2) − [k E − k1 E1 − k2 E2].
//
// Reference: Fayyad and Irani (1993), Multi-interval discretization of continuous-valued
// attributes for classification learning, IJCAI-93.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "choose/exhaustive.hpp"
#include "criteria/entropy.hpp"

namespace treewright {

// Finds the cuts of a sequence of elements. add(i, stats) adds element i to class sums; apart(i)
// says whether a cut may lie between elements i and i + 1.
template <class Add, class Apart>
class MdlCuts {
 public:
  MdlCuts(const CriterionView& criterion, double weight_unit, Add add, Apart apart)
      : criterion_(criterion), unit_(weight_unit), add_(add), apart_(apart) {}

  // Cuts of [0, n): how many elements lie below each, ascending.
  std::vector<i64> find(i64 n) {
    std::vector<i64> cuts;
    std::vector<std::pair<i64, i64>> open{{0, n}};
    while (!open.empty()) {
      const auto [begin, end] = open.back();
      open.pop_back();
      const i64 cut = best(begin, end);
      if (cut < 0) continue;
      cuts.push_back(cut);
      open.push_back({begin, cut});
      open.push_back({cut, end});
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
  }

 private:
  // Entropy in bits times weight, both in units of the scaled weights.
  double bits(const std::vector<i64>& stats) const {
    return -Entropy::side(stats.data(), criterion_);
  }

  double classes(const std::vector<i64>& stats) const {
    return static_cast<double>(std::count_if(stats.begin(), stats.end(), [](i64 x) { return x; }));
  }

  double weight(const std::vector<i64>& stats) const {
    double sum = 0;
    for (i32 k = 0; k < criterion_.n_classes; ++k) sum += class_weight(criterion_, stats.data(), k);
    return sum;
  }

  i64 best(i64 begin, i64 end) {
    const std::size_t n_classes = criterion_.n_classes;
    std::vector<i64> all(n_classes, 0), left(n_classes, 0), right(n_classes), least_left;
    for (i64 i = begin; i < end; ++i) add_(i, all.data());
    if (classes(all) < 2) return -1;
    const double total = weight(all);
    double least = kInf;
    i64 cut = -1;
    for (i64 i = begin; i + 1 < end; ++i) {
      add_(i, left.data());
      if (!apart_(i)) continue;
      for (std::size_t k = 0; k < n_classes; ++k) right[k] = all[k] - left[k];
      const double inside = bits(left) + bits(right);
      if (inside < least - kTie * least - 1e-15 * total || cut < 0) {
        least = inside;
        cut = i + 1;
        least_left = left;
      }
    }
    if (cut < 0) return -1;
    for (std::size_t k = 0; k < n_classes; ++k) right[k] = all[k] - least_left[k];
    return pays(all, least_left, right) ? cut : -1;
  }

  bool pays(const std::vector<i64>& all, const std::vector<i64>& left,
            const std::vector<i64>& right) const {
    const double total = weight(all), n = total * unit_;
    if (!(n > 1)) return false;
    auto entropy = [&](const std::vector<i64>& stats) { return bits(stats) / weight(stats); };
    const double k = classes(all);
    const double gain = (bits(all) - bits(left) - bits(right)) / total;
    const double ways = k < 600 ? std::log2(std::pow(3.0, k) - 2) : k * std::log2(3.0);
    const double delta =
        ways - (k * entropy(all) - classes(left) * entropy(left) - classes(right) * entropy(right));
    return gain > (std::log2(n - 1) + delta) / n;
  }

  const CriterionView& criterion_;
  double unit_;
  Add add_;
  Apart apart_;
};

class Intervals : public Exhaustive<Entropy> {
 public:
  Candidate best(const NodeView& node, i32 feature, Scratch& scratch) override {
    return choose(node, feature, scratch);
  }
  std::vector<i64> cuts(const NodeView& node, i32 feature, Scratch& scratch) override {
    return find_cuts(node, feature, scratch);
  }

 private:
  Candidate choose(const NodeView& node, i32 feature, Scratch& scratch) {
    const Problem& p = node.problem;
    if (p.columns[feature].type == ColumnType::code) {
      return Exhaustive<Entropy>::best(node, feature, scratch);
    }
    Candidate best;
    best.feature = feature;
    const std::vector<i64> cuts = find_cuts(node, feature, scratch);
    if (cuts.empty()) return best;
    best.kind = CandidateKind::intervals;
    best.n_branches = static_cast<i32>(cuts.size()) + 1;
    best.gain = gain(node, feature, cuts, scratch);
    best.scale = gain_scale(node.criterion, p, node.stats);
    return best;
  }

  // The cuts of a feature at a node: entries, or groups of a coded feature, below each.
  std::vector<i64> find_cuts(const NodeView& node, i32 feature, Scratch& scratch) {
    const Problem& p = node.problem;
    const FeatureInfo& info = p.features[feature];
    auto find = [&](i64 n, auto add, auto apart) {
      return MdlCuts(node.criterion, p.weight_unit, add, apart).find(n);
    };
    if (info.store == Store::sorted) {
      const Entry* e = node.block.entries[info.slot] + node.begin;
      return find(
          count_known(e, node.size()),
          [&, e](i64 i, i64* stats) { add_any(p, node.block.target, e[i].id, stats); },
          [e](i64 i) { return e[i].rank != e[i + 1].rank; });
    }
    build_groups(node, feature, scratch);
    return find(
        scratch.groups.size(),
        [&](i64 i, i64* stats) {
          const i64* group = scratch.groups.stats.data() + i * p.n_stats;
          for (i32 k = 0; k < p.n_stats; ++k) stats[k] += group[k];
        },
        [](i64) { return true; });
  }

  // What the intervals gain; a branch for gaps counts as one of them.
  double gain(const NodeView& node, i32 feature, const std::vector<i64>& cuts, Scratch& scratch) {
    const Problem& p = node.problem;
    const FeatureInfo& info = p.features[feature];
    std::vector<i64> known(p.n_stats, 0), part(p.n_stats);
    double score = 0;
    const Entry* e = nullptr;
    i64 n = scratch.groups.size();
    if (info.store == Store::sorted) {
      e = node.block.entries[info.slot] + node.begin;
      n = count_known(e, node.size());
    }
    i64 i = 0;
    for (std::size_t interval = 0; interval <= cuts.size(); ++interval) {
      std::fill(part.begin(), part.end(), 0);
      for (const i64 end = interval < cuts.size() ? cuts[interval] : n; i < end; ++i) {
        if (e) {
          add_any(p, node.block.target, e[i].id, part.data());
        } else {
          for (i32 k = 0; k < p.n_stats; ++k) part[k] += scratch.groups.stats[i * p.n_stats + k];
        }
      }
      for (i32 k = 0; k < p.n_stats; ++k) known[k] += part[k];
      score += Entropy::side(part.data(), node.criterion);
    }
    if (p.params.gaps == GapPolicy::own_branch) {
      for (i32 k = 0; k < p.n_stats; ++k) part[k] = node.stats[k] - known[k];
      score += Entropy::side(part.data(), node.criterion);
      known.assign(node.stats, node.stats + p.n_stats);
    }
    return score - Entropy::side(known.data(), node.criterion);
  }
};

}  // namespace treewright
