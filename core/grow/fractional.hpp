// Fractional descent: a gap goes down every branch with a share of its weight.
#pragma once

#include <cmath>
#include <vector>

#include "base/single.hpp"
#include "choose/chooser.hpp"
#include "data/partition.hpp"
#include "grow/pending.hpp"

namespace treewright {

// Instances of one child under fractional descent, and the share of their weight that it takes.
struct Part {
  std::vector<u32> ids;
  std::vector<double> share;
};

// Gaps go down every branch with the branch's share of the known weight; `stats` are the node's.
inline std::vector<Part> share_out(const Problem& p, const Pending& node, const Block& block,
                                   i32 n_branches, const i64* stats, const Scratch& scratch) {
  const bool many = scratch.has_many;
  auto branch = [&](u32 id) {
    return many ? scratch.many[id] : scratch.branch[id] == kUndecided ? -1 : scratch.branch[id];
  };
  std::vector<i64> weight(n_branches, 0);  // whole, so that the order of rows changes nothing
  i64 known = 0;
  for (i64 i = node.begin; i < node.end; ++i) {
    const u32 id = block.ids[i];
    const i32 b = branch(id);
    if (b < 0) continue;
    weight[b] += instance_weight(block.target, id);
    known += instance_weight(block.target, id);
  }
  std::vector<double> share(weight.begin(), weight.end());
  double total = static_cast<double>(known);
  if (p.params.single_shares) {
    const i64 gaps = p.weight_of(stats) - known;
    total = known_single(stats, p.n_stats, gaps).known;
    for (double& s : share) s = static_cast<float>(s) / static_cast<float>(total);
    total = 1;
  }
  std::vector<Part> parts(n_branches);
  auto send = [&](i32 b, u32 id, double s) {
    parts[b].ids.push_back(id);
    parts[b].share.push_back(s);
  };
  for (i64 i = node.begin; i < node.end; ++i) {
    const u32 id = block.ids[i];
    const i32 own = branch(id);
    if (own >= 0) send(own, id, 1.0);
    for (i32 b = 0; own < 0 && b < n_branches; ++b) {
      if (share[b] > 0) send(b, id, share[b] / total);
    }
  }
  return parts;
}

}  // namespace treewright
