// Choosing the split of a node: which features are scored, and which candidate wins.
#pragma once

#include <algorithm>
#include <vector>

#include "grow/ask_python.hpp"
#include "grow/mark.hpp"
#include "grow/node_tables.hpp"
#include "grow/stopping.hpp"

namespace treewright {

class SplitSearch {
 public:
  SplitSearch(Growth& growth, NodeTables& tables)
      : g_(growth), p_(growth.p), o_(growth.options), tables_(tables) {}

  // False: nothing is worth a split.
  bool choose(Pending& node, NodeList& list, bool shared, Scratch& scratch, Chosen& chosen) {
    if (o_.ask) {
      std::vector<Chosen> answer = ask_python(g_, {&node, 1}, list);
      chosen = std::move(answer[0]);
      return chosen.external;
    }
    if (node.tables.empty() && tables_.pay(node.size())) {
      node.tables = tables_.make(*node.block, node, *node.active, shared, scratch);
    }
    NodeView view = g_.view_of(node, list.stats_of(node.record), scratch);
    scratch.n_counted = 0;
    // Of equal splits the feature that was drawn first wins. In column order the first columns
    // would have every tie of a small node, and their importances would grow with it.
    const bool draws = p_.params.max_features > 0 && p_.params.max_features < p_.n_features();
    if (draws) {
      scratch.draw.start(p_.n_features(), p_.params.seed, node.path);
      scratch.constant.set_others(p_.n_features(), *node.active);
      draw_features(p_.params.max_features, scratch);
    }
    const std::vector<i32>& order = draws ? scratch.drawn : *node.active;
    const i32 n = static_cast<i32>(order.size());
    Candidate best;
    std::vector<Candidate> found;  // where all are scored before one wins
    const bool in_parallel = shared && !o_.chooser->needs_gil() && node.size() * n >= kSharedWork;
    if (p_.rows) {
      best = best_of_rows(node, view, order.data(), n, scratch);
    } else if (in_parallel || o_.chooser->picks()) {
      found.resize(n);
      g_.for_each(n, node.size(), in_parallel, scratch,
                  [&](i64 i, Scratch& s) { found[i] = o_.chooser->best(view, order[i], s); });
      best = winner_of(found);
    } else {
      // No split gains more than all impurity there is; one that does ends the search.
      const double enough = most_gain(view, list[node.record]) * (1 - 1e-13);
      for (i32 i = 0; i < n && best.gain < enough; ++i) {
        const Candidate candidate = o_.chooser->best(view, order[i], scratch);
        if (candidate.beats(best)) best = candidate;
        view.to_beat = std::max(0.0, best.gain);
      }
    }
    // A draw without any admissible split goes on until there is one, unless that makes a leaf.
    while (draws && p_.params.redraw && best.kind == CandidateKind::none &&
           !scratch.draw.is_over()) {
      if (!draw_features(1, scratch)) continue;
      if (p_.rows) {
        best = best_of_rows(node, view, order.data(), 1, scratch);
      } else {
        found.push_back(o_.chooser->best(view, order[0], scratch));
        best = winner_of(found);
      }
    }
    if (!is_worth_it(p_.params, g_.gain_unit, best)) return false;
    chosen.candidate = best;
    return true;
  }

 private:
  // The next features of a draw, those that may vary; false: none does.
  static bool draw_features(i32 count, Scratch& scratch) {
    scratch.drawn.resize(count);
    scratch.drawn.resize(scratch.draw.next(count, scratch.constant.words(), scratch.drawn.data()));
    return !scratch.drawn.empty();
  }

  // The best of some features where ordered ones are kept by row. Those that do not vary are not
  // looked at again below the node.
  Candidate best_of_rows(Pending& node, const NodeView& view, const i32* features, i32 n,
                         Scratch& scratch) {
    std::vector<i32>& plain = scratch.plain;
    plain.clear();
    for (i32 i = 0; i < n; ++i) {
      const FeatureInfo& info = p_.features[features[i]];
      if (info.store == Store::rows && !info.has_gaps) plain.push_back(features[i]);
    }
    i32 done = 0;
    const i32 m = static_cast<i32>(plain.size());
    scratch.of_plain.resize(m);
    if (m && o_.chooser->best_of_rows(view, plain.data(), m, scratch, scratch.of_plain.data())) {
      done = m;
    }
    if (done < n) {
      scratch.found.resize(n);
      for (i32 i = 0, next = 0; i < n; ++i) {
        scratch.found[i] = next < done && plain[next] == features[i]
                               ? scratch.of_plain[next++]
                               : o_.chooser->best(view, features[i], scratch);
      }
    }
    const std::vector<Candidate>& found = done < n ? scratch.found : scratch.of_plain;
    drop_constants(node, found, scratch);
    return winner_of(found);
  }

  static void drop_constants(Pending& node, const std::vector<Candidate>& found, Scratch& scratch) {
    std::vector<i32>& constant = scratch.plain;
    constant.clear();
    for (const Candidate& c : found) {
      if (c.constant) constant.push_back(c.feature);
    }
    if (constant.empty()) return;
    // Both lists in the order of columns, so that one pass over them is enough.
    std::sort(constant.begin(), constant.end());
    auto left = std::make_shared<std::vector<i32>>(node.active->size());
    const auto end = std::set_difference(node.active->begin(), node.active->end(), constant.begin(),
                                         constant.end(), left->begin());
    left->erase(end, left->end());
    node.active = std::move(left);
  }

  Candidate winner_of(const std::vector<Candidate>& found) const {
    Candidate best;
    if (o_.chooser->picks()) {
      const i64 winner = o_.chooser->pick(found);
      return winner < 0 ? best : found[winner];
    }
    const Candidate* winner = &best;
    for (const Candidate& candidate : found) {
      if (candidate.beats(*winner)) winner = &candidate;
    }
    return *winner;
  }

  // The gain of a split into pure children. Only small nodes have a chance to find one.
  double most_gain(const NodeView& view, const NodeRecord& record) const {
    if (view.size() > 64) return kInf;
    if (p_.is_classification()) return o_.chooser->most_gain(view.stats, view.criterion);
    if (o_.own_scale) return kInf;
    if (o_.numbers == NumberCriterion::squared && p_.unit && p_.targets.n_outputs == 1) {
      // From the integers that gains are made of: the impurity of the numbers themselves differs
      // from theirs by more than a tie.
      double squares = 0;
      for (i64 i = view.begin; i < view.end; ++i) {
        const i64 whole = view.block.target.wy[view.block.ids[i]] - view.criterion.centre[0];
        const double centred = static_cast<double>(whole) - view.criterion.rest[0];
        squares += centred * centred;
      }
      return squares;
    }
    const double share = static_cast<double>(view.stats[0]) / static_cast<double>(p_.total[0]);
    return record.impurity * share / g_.gain_unit;
  }

  Growth& g_;
  const Problem& p_;
  const GrowOptions& o_;
  NodeTables& tables_;
};

}  // namespace treewright
