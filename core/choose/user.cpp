// The user's own criterion in Python: all cuts of a feature scored in one call.
#include <algorithm>

#include "choose/cuts.hpp"
#include "choose/factory.hpp"
#include "choose/groups.hpp"
#include "choose/order.hpp"
#include "choose/random.hpp"
#include "choose/sorted.hpp"

namespace treewright {
namespace {

class UserCriterion : public Chooser {
 public:
  explicit UserCriterion(BatchScore score) : score_(std::move(score)) {}
  Candidate best(const NodeView& node, i32 feature, Scratch& scratch) override {
    return search(node, feature, scratch);
  }
  void order_groups(const CriterionView& view, const Problem& p, Groups& groups) override {
    order_by_profile(view, p, groups);
  }
  bool needs_gil() const override { return true; }

 private:
  // Stats before each cut, with the number of instances on the left.
  struct Cuts {
    std::vector<i64> stats;
    std::vector<i64> n_left, position;
    CandidateKind kind = CandidateKind::sorted_cut;
    std::vector<i64> gap_stats;
    i64 n_gaps = 0, n_known = 0;
  };

  Candidate search(const NodeView& node, i32 feature, Scratch& scratch) {
    const Problem& p = node.problem;
    Candidate best;
    best.feature = feature;
    const Cuts cuts = p.features[feature].store == Store::sorted
                          ? sorted_cuts(node, feature, best.threshold)
                          : group_cuts(node, feature, scratch, best.threshold);
    const Admission admission(node, feature);
    if (cuts.n_gaps && p.params.gaps == GapPolicy::learned) {
      evaluate(node, cuts, admission, true, false, best);
      evaluate(node, cuts, admission, true, true, best);
    } else {
      evaluate(node, cuts, admission, false, false, best);
    }
    return best;
  }

  Cuts sorted_cuts(const NodeView& node, i32 feature, double& threshold) {
    const Problem& p = node.problem;
    const Entry* e = node.block.entries[p.features[feature].slot] + node.begin;
    Cuts cuts;
    const i64 known = cuts.n_known = count_known(e, node.size());
    std::vector<i64> left(p.n_stats, 0);
    const bool random = p.params.random_cut;
    const i64 only = random ? random_entry_cut(node, feature, e, known, threshold) : 0;
    for (i64 i = 0; i < known; ++i) {
      const bool boundary = i && e[i].rank != e[i - 1].rank;
      if (boundary && (!random || i == only)) push(cuts, left, i, i);
      add_any(p, node.block.target, e[i].id, left.data());
    }
    cuts.gap_stats.assign(p.n_stats, 0);
    for (i64 i = known; i < node.size(); ++i) {
      add_any(p, node.block.target, e[i].id, cuts.gap_stats.data());
    }
    cuts.n_gaps = node.size() - known;
    return cuts;
  }

  Cuts group_cuts(const NodeView& node, i32 feature, Scratch& scratch, double& threshold) {
    const Problem& p = node.problem;
    build_groups(node, feature, scratch);
    Groups& g = scratch.groups;
    const bool random = p.params.random_cut;
    const i64 only = random ? random_group_cut(node, feature, g, threshold) : 0;
    if (!random && !p.columns[feature].ordered) order_groups(node.criterion, p, g);
    Cuts cuts;
    cuts.kind = CandidateKind::group_cut;
    cuts.n_gaps = g.gap_count;
    cuts.n_known = node.size() - g.gap_count;
    cuts.gap_stats = g.gap_stats;
    std::vector<i64> left(p.n_stats, 0);
    i64 n_left = 0;
    for (i32 i = 0; i < g.size(); ++i) {
      if (i && (!random || i == only)) push(cuts, left, n_left, i);
      const i32 k = g.order[i];
      n_left += g.count[k];
      for (i32 j = 0; j < p.n_stats; ++j) left[j] += g.stats[static_cast<i64>(k) * p.n_stats + j];
    }
    return cuts;
  }

  static void push(Cuts& cuts, const std::vector<i64>& left, i64 n_left, i64 position) {
    cuts.stats.insert(cuts.stats.end(), left.begin(), left.end());
    cuts.n_left.push_back(n_left);
    cuts.position.push_back(position);
  }

  // A stats vector as numbers: class weights, or weight, Σwy and Σwy² per output.
  static void as_numbers(const Problem& p, const i64* stats, double* out) {
    for (i32 j = 0; j < p.n_stats; ++j) out[j] = static_cast<double>(stats[j]) * p.stat_unit(j);
  }

  void evaluate(const NodeView& node, const Cuts& cuts, const Admission& admission, bool learned,
                bool gaps_left, Candidate& best) {
    const Problem& p = node.problem;
    const i32 s = p.n_stats;
    const i64 total_n = cuts.n_known + (learned ? cuts.n_gaps : 0);
    std::vector<i64> total(node.stats, node.stats + s), left(s), right(s);
    if (!learned)
      for (i32 j = 0; j < s; ++j) total[j] -= cuts.gap_stats[j];
    std::vector<double> lefts, rights;
    std::vector<std::size_t> kept;
    for (std::size_t c = 0; c < cuts.n_left.size(); ++c) {
      const i64 n_left = cuts.n_left[c] + (gaps_left ? cuts.n_gaps : 0);
      if (n_left < admission.min_leaf || total_n - n_left < admission.min_leaf) continue;
      for (i32 j = 0; j < s; ++j) {
        left[j] = cuts.stats[c * s + j] + (gaps_left ? cuts.gap_stats[j] : 0);
        right[j] = total[j] - left[j];
      }
      if (!admission.is_free() && !admission.allows(node, left.data(), right.data())) continue;
      kept.push_back(c);
      lefts.resize(kept.size() * s);
      rights.resize(kept.size() * s);
      as_numbers(p, left.data(), lefts.data() + (kept.size() - 1) * s);
      as_numbers(p, right.data(), rights.data() + (kept.size() - 1) * s);
    }
    if (kept.empty()) return;
    std::vector<double> scores(kept.size());
    score_(lefts.data(), rights.data(), static_cast<i64>(kept.size()), s, scores.data());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      Candidate c;
      c.kind = cuts.kind;
      c.feature = best.feature;
      c.threshold = best.threshold;
      c.gain = scores[i];
      c.cut = cuts.position[kept[i]];
      c.gaps_left = gaps_left;
      c.learned_gaps = learned;
      if (c.gain > -kInf && c.beats(best)) best = c;
    }
  }

  BatchScore score_;
};

}  // namespace

std::unique_ptr<Chooser> make_user(BatchScore score) {
  return std::make_unique<UserCriterion>(std::move(score));
}

}  // namespace treewright
