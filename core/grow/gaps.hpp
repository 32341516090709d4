// Where the rows go that a split cannot decide.
#pragma once

#include <vector>

#include "data/route.hpp"
#include "grow/mark.hpp"
#include "grow/surrogate.hpp"

namespace treewright {

// Where the gaps of a node go, once the known instances are marked.
struct GapDecision {
  i64 count = 0;
  bool fractional = false;
  bool some_stay = false;
  bool surrogates_later = false;  // nothing waits for them: see SplitApplication
  std::vector<Surrogate> surrogates;
};

// Decides for the gaps of a node that `split` has marked. each: see find_surrogates
inline GapDecision decide_gaps(const NodeView& view, const Chosen& chosen, Split& split,
                               const std::vector<i32>& active, bool may_wait, Scratch& scratch,
                               OnEach each) {
  const Problem& p = view.problem;
  GapDecision decision;
  Block& block = view.block;
  const bool many = scratch.has_many;
  auto undecided = [&](u32 id) {
    return many ? scratch.many[id] < 0 : view.branch[id] == kUndecided;
  };
  auto assign = [&](u32 id, i32 b) {
    if (many) {
      scratch.many[id] = b;
    } else {
      view.branch[id] = static_cast<u8>(b);
    }
  };
  const std::vector<i64>& weight = scratch.marked.weight;
  const i64 gaps = decision.count = scratch.marked.gaps;
  i32 heaviest = 0;
  for (i32 b = 1; b < split.n_branches; ++b) {
    if (weight[b] > weight[heaviest]) heaviest = b;
  }
  const GapPolicy policy = p.params.gaps;
  if (chosen.external && split.gap_branch >= 0) {
    heaviest = split.gap_branch;  // the chooser knows better
  }
  split.gap_branch = heaviest;
  if (policy == GapPolicy::surrogate) {
    if (chosen.external) {
      decision.surrogates = chosen.surrogates;
    } else if (split.n_branches == 2 && p.params.max_surrogates > 0) {
      decision.surrogates_later = !gaps && (view.tables || may_wait);
      if (!decision.surrogates_later) {
        decision.surrogates =
            find_surrogates(view, split.feature, active, scratch.marked, {}, each);
      }
    }
    const bool tie = !chosen.external && split.n_branches == 2 && weight[0] == weight[1];
    if (p.params.surrogate_stop || tie) split.gap_branch = kGapStop;
  } else if (policy == GapPolicy::fractional) {
    split.gap_branch = kGapFraction;
    decision.fractional = gaps > 0;
    return decision;
  } else if (policy == GapPolicy::own_branch && gaps && !chosen.external) {
    split.gap_branch = split.n_branches++;
    split.own_gap_branch = true;
  } else if (policy == GapPolicy::learned && chosen.candidate.learned_gaps) {
    split.gap_branch = chosen.candidate.kind == CandidateKind::multiway
                           ? static_cast<i32>(chosen.candidate.cut)
                           : !chosen.candidate.gaps_left;
  }
  if (!gaps || scratch.marked.moved) return decision;
  for (i64 i = view.begin; i < view.end; ++i) {
    const u32 id = block.ids[i];
    if (!undecided(id)) continue;
    i32 b = kNoBranch;
    for (const Surrogate& s : decision.surrogates) {
      b = branch_of(s.split, p.columns, block.row(id));
      if (b != kNoBranch) break;
    }
    if (b == kNoBranch) b = split.gap_branch;
    if (b == kGapStop) {
      decision.some_stay = true;
      b = many ? split.n_branches : kStays;
    }
    assign(id, b);
  }
  return decision;
}

}  // namespace treewright
