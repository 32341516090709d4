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

  // False: nothing is worth a split, and the node's record says why.
  bool choose(Pending& node, NodeList& list, bool shared, Scratch& scratch, Chosen& chosen) {
    if (o_.ask) {
      std::vector<Chosen> answer = ask_python(g_, {&node, 1}, list);
      chosen = std::move(answer[0]);
      if (!chosen.external) list.stop(node.record, Stop::chooser);
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
    // Asked for anew each time: a search may give the node a shorter list.
    auto order = [&]() -> const std::vector<i32>& { return draws ? scratch.drawn : *node.active; };
    std::vector<Candidate> found;  // where all are scored before one wins
    auto search = [&] { return g_.store->search(node, view, order(), shared, found, scratch); };
    Candidate best = search();
    // A draw without any admissible split goes on until there is one, unless that makes a leaf.
    while (draws && p_.params.redraw && best.kind == CandidateKind::none &&
           !scratch.draw.is_over()) {
      if (draw_features(1, scratch)) best = search();
    }
    if (o_.linear &&
        o_.linear->better(view, best, order(), draws, [&] { g_.poll(0); }, scratch, chosen.split)) {
      chosen.split.gain *= g_.gain_unit;
      return chosen.external = true;
    }
    Stop reason = worth_of(p_.params, g_.gain_unit, best);
    if (reason == Stop::is_split) {
      chosen.candidate = best;
      return true;
    }
    if (list.keeps_reasons) {
      if (reason == Stop::no_test && is_constant(node)) reason = Stop::values;
      list.stop(node.record, reason);
    }
    return false;
  }

 private:
  // Whether every feature that may be tested has one value; of a tree that keeps reasons.
  bool is_constant(const Pending& node) const {
    const Block& block = *node.block;
    return std::all_of(node.active->begin(), node.active->end(), [&](i32 f) {
      const FeatureInfo& info = p_.features[f];
      if (info.store == Store::sorted) {
        const Entry* e = block.entries[info.slot];
        return e[node.begin].rank == e[node.end - 1].rank;
      }
      if (info.store != Store::coded) return false;
      bool same = true;
      with_code_type(info.code_bytes, [&](auto code) {
        const auto* codes = reinterpret_cast<const decltype(code)*>(block.codes[info.slot]);
        for (i64 i = node.begin; same && i < node.end; ++i) {
          same = codes[block.ids[i]] == codes[block.ids[node.begin]];
        }
      });
      return same;
    });
  }

  // The next features of a draw, those that may vary; false: none does.
  static bool draw_features(i32 count, Scratch& scratch) {
    scratch.drawn.resize(count);
    scratch.drawn.resize(scratch.draw.next(count, scratch.constant.words(), scratch.drawn.data()));
    return !scratch.drawn.empty();
  }

  Growth& g_;
  const Problem& p_;
  const GrowOptions& o_;
  NodeTables& tables_;
};

}  // namespace treewright
