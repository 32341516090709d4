#include "choose/absolute.hpp"

#include "choose/factory.hpp"
#include "choose/order.hpp"
#include "data/numbers.hpp"

namespace treewright {

void AbsoluteError::order_groups(const CriterionView& view, const Problem& p, Groups& groups) {
  order_by_profile(view, p, groups);
}

void AbsoluteError::score(const NodeView& node, const Sequence& s, const Admission& admission,
                          bool gaps_left, bool learned, Candidate& best) {
  const Problem& p = node.problem;
  const TargetArrays& t = node.block.target;
  const i32 outputs = p.targets.n_outputs;
  const i64 known = static_cast<i64>(s.ids.size()), gaps = static_cast<i64>(s.gaps.size());
  const bool own = p.params.gaps == GapPolicy::own_branch && gaps > 0;
  const i64 n_cuts = static_cast<i64>(s.cuts.size());
  const bool known_alone = learned && !gaps_left;  // a last cut: everything known on the left
  std::vector<double> left(n_cuts + 1, 0), right(n_cuts + 1, 0), left_median(n_cuts + 1),
      right_median(n_cuts + 1);
  double base = 0;
  for (i32 o = 0; o < outputs; ++o) {
    std::vector<u32> all(s.ids);
    all.insert(all.end(), s.gaps.begin(), s.gaps.end());
    auto y = [&](u32 id) { return t.y[static_cast<i64>(id) * outputs + o]; };
    std::vector<double> sorted;
    for (u32 id : all) sorted.push_back(y(id));
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    MedianTree tree(static_cast<i64>(sorted.size()));
    std::vector<double> shifted(sorted);
    for (double& v : shifted) v -= p.targets.shift[o];
    auto add = [&](u32 id) {
      const i64 rank = std::lower_bound(sorted.begin(), sorted.end(), y(id)) - sorted.begin();
      tree.add(rank, t.weight ? t.weight[id] : 1, t.wy[static_cast<i64>(id) * outputs + o]);
    };
    auto cost = [&](double* median) {
      if (median && admission.direction) *median = tree.median(sorted);
      return tree.cost(shifted, p.weight_unit, p.y_unit);
    };
    if (learned && gaps_left)
      for (u32 id : s.gaps) add(id);
    i64 next = 0;
    for (i64 i = 0; i < known; ++i) {
      if (next < n_cuts && s.cuts[next] == i) {
        left[next] += cost(&left_median[next]);
        ++next;
      }
      add(s.ids[i]);
    }
    left[n_cuts] += cost(&left_median[n_cuts]);
    if (!learned) {
      base += cost(nullptr);
      if (own) {  // the gaps' own branch is charged on its own
        tree.clear();
        for (u32 id : s.gaps) add(id);
        base -= cost(nullptr);
        tree.clear();
        for (u32 id : all) add(id);
        base += cost(nullptr);
        tree.clear();
        for (u32 id : s.ids) add(id);
        base -= cost(nullptr);
      }
    } else {
      if (!gaps_left)
        for (u32 id : s.gaps) add(id);
      base += cost(nullptr);
    }
    tree.clear();
    if (learned && !gaps_left)
      for (u32 id : s.gaps) add(id);
    if (known_alone) right[n_cuts] += cost(&right_median[n_cuts]);
    next = n_cuts - 1;
    for (i64 i = known - 1; i >= 0; --i) {
      add(s.ids[i]);
      if (next >= 0 && s.cuts[next] == i) {
        right[next] += cost(&right_median[next]);
        --next;
      }
    }
  }
  const i64 total = known + (learned ? gaps : 0);
  for (i64 c = 0; c < n_cuts + known_alone; ++c) {
    const i64 at = c < n_cuts ? s.cuts[c] : known;
    const i64 n_left = at + (learned && gaps_left ? gaps : 0);
    if (n_left < admission.min_leaf || total - n_left < admission.min_leaf) continue;
    Candidate candidate;
    candidate.kind = c < n_cuts ? s.kind : CandidateKind::only_gaps;
    candidate.gain = base - (left[c] + right[c]);
    if (!candidate.beats(best)) continue;
    if (!admission.is_free()) {
      i64 weight[2] = {0, 0};
      auto weigh = [&](u32 id, bool right) { weight[right] += t.weight ? t.weight[id] : 1; };
      for (i64 i = 0; i < known; ++i) weigh(s.ids[i], i >= at);
      if (learned)
        for (u32 id : s.gaps) weigh(id, !gaps_left);
      if (static_cast<double>(std::min(weight[0], weight[1])) < admission.min_weight) continue;
      const double l = left_median[c], r = right_median[c];
      if (admission.direction && !(l >= node.lower && l <= node.upper && r >= node.lower &&
                                   r <= node.upper && (l - r) * admission.direction <= 0)) {
        continue;
      }
    }
    candidate.feature = best.feature;
    candidate.scale = std::abs(base);
    candidate.threshold = best.threshold;
    candidate.cut = c < n_cuts ? s.positions[c] : at;
    candidate.gaps_left = gaps_left;
    candidate.learned_gaps = learned;
    best = candidate;
  }
}

void AbsoluteError::multiway(const NodeView& node, const Sequence& s, Candidate& best) {
  const Problem& p = node.problem;
  const TargetArrays& t = node.block.target;
  const i32 outputs = p.targets.n_outputs;
  std::vector<std::vector<u32>> groups(s.cuts.size() + 1);
  for (std::size_t g = 0, i = 0; g < groups.size(); ++g) {
    const std::size_t end = g < s.cuts.size() ? s.cuts[g] : s.ids.size();
    for (; i < end; ++i) groups[g].push_back(s.ids[i]);
  }
  if (groups.size() < 2) return;
  std::vector<std::pair<double, double>> items;
  // Σ w |y − median| of some instances.
  auto cost = [&](const std::vector<u32>& ids, const std::vector<u32>* more) {
    double sum = 0;
    for (i32 o = 0; o < outputs; ++o) {
      items.clear();
      auto add = [&](u32 id) {
        items.emplace_back(t.y[static_cast<i64>(id) * outputs + o],
                           t.weight ? static_cast<double>(t.weight[id]) * p.weight_unit : 1.0);
      };
      for (u32 id : ids) add(id);
      if (more)
        for (u32 id : *more) add(id);
      if (items.empty()) continue;
      const double median = weighted_median(items);
      for (const auto& [y, w] : items) sum += w * std::abs(y - median);
    }
    return sum;
  };
  double charged = 0;
  for (const auto& group : groups) {
    i64 weight = 0;
    for (u32 id : group) weight += t.weight ? t.weight[id] : 1;
    if (static_cast<i64>(group.size()) < p.params.min_leaf ||
        static_cast<double>(weight) * p.weight_unit < p.params.min_weight_leaf) {
      return;
    }
    charged += cost(group, nullptr);
  }
  const bool learned = p.params.gaps == GapPolicy::learned && !s.gaps.empty();
  const bool own = p.params.gaps == GapPolicy::own_branch && !s.gaps.empty();
  double base = cost(s.ids, learned || own ? &s.gaps : nullptr);
  if (own) charged += cost(s.gaps, nullptr);
  if (learned) {  // gaps join the group where they cost least
    double extra = kInf;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const double joined = cost(groups[g], &s.gaps) - cost(groups[g], nullptr);
      if (joined < extra) {
        extra = joined;
        best.cut = static_cast<i64>(g);
      }
    }
    charged += extra;
    best.learned_gaps = true;
  }
  best.kind = CandidateKind::multiway;
  best.gain = base - charged;
  best.scale = std::abs(base);
}

std::unique_ptr<Chooser> make_absolute() { return std::make_unique<AbsoluteError>(); }

}  // namespace treewright
