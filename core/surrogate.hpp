// Surrogates (Breiman et al. 1984, section 5.3): splits on other features that send instances as
// the primary split does, ranked by how much of that they get right.
//
// Counted are instances whose primary value and surrogate value are both known; cuts lie between
// any two values of the node. A surrogate must be right more often than the majority direction; a
// numeric one must send at least two instances each way. With rpart's rules (zero_gain off) a
// nominal one must send at least two instances wrongly: rpart refuses those that agree better,
// which is of no use to anybody else, but decides where rows with gaps go.
#pragma once

#include <algorithm>
#include <vector>

#include "choose/chooser.hpp"
#include "choose/sorted.hpp"
#include "partition.hpp"
#include "split_builder.hpp"

namespace treewright {

// Weight of an instance, in scaled units.
inline double instance_weight(const TargetArrays& t, i64 id) {
  return t.weight ? static_cast<double>(t.weight[id]) : 1.0;
}

// Best cut of a sequence of (left weight, right weight, count) steps.
class SurrogateScan {
 public:
  SurrogateScan(double left_total, double right_total, i64 count_total)
      : total_{left_total, right_total}, n_(count_total) {}

  void add(double left, double right, i64 count) {
    below_[0] += left;
    below_[1] += right;
    count_ += count;
  }
  // Scores a cut after what was added; true if it is the best so far.
  bool offer() {
    if (count_ < 2 || n_ - count_ < 2) return false;
    const double straight = below_[0] + (total_[1] - below_[1]);
    const double reversed = below_[1] + (total_[0] - below_[0]);
    const double correct = std::max(straight, reversed);
    if (found && correct <= best) return false;
    found = true;
    best = correct;
    is_reversed = reversed > straight;
    return true;
  }

  bool found = false, is_reversed = false;
  double best = 0;

 private:
  double total_[2], below_[2] = {0, 0};
  i64 n_, count_ = 0;
};

// What the primary split did to the instances it could decide.
struct PrimaryDirection {
  double weight[2] = {0, 0};
  double majority() const { return std::max(weight[0], weight[1]); }
  double total() const { return weight[0] + weight[1]; }
};

// One feature against the primary split: the split, and the weight it sends correctly.
template <class Id>
class SurrogateSearch {
 public:
  SurrogateSearch(const NodeView<Id>& node, i32 feature) : node_(node), feature_(feature) {}

  bool run() {
    const FeatureInfo& info = node_.problem.features[feature_];
    if (info.store == Store::sorted) return sorted();
    bool found = false;
    with_code_type(info.code_bytes, [&](auto code) { found = coded<decltype(code)>(); });
    return found;
  }

  Split split;
  double correct = 0;
  PrimaryDirection known;  // of the instances known to both

 private:
  bool sorted() {
    const Entry<Id>* entries = node_.block.entries[node_.problem.features[feature_].slot];
    const u8* side = node_.block.side;
    double total[2] = {0, 0};
    i64 count = 0, known_end = node_.begin;
    for (; known_end < node_.end && entries[known_end].rank != kGap<Id>; ++known_end) {
      const Id id = entries[known_end].id;
      if (side[id] > 1) continue;
      total[side[id]] += instance_weight(node_.block.target, id);
      ++count;
    }
    SurrogateScan scan(total[0], total[1], count);
    const Entry<Id>* previous = nullptr;
    for (i64 i = node_.begin; i < known_end; ++i) {
      const Entry<Id>& entry = entries[i];
      if (previous && previous->rank != entry.rank && scan.offer()) {
        split.breaks.assign(1, sorted_break(node_, feature_, *previous, entry));
      }
      previous = &entry;
      if (side[entry.id] > 1) continue;
      const double w = instance_weight(node_.block.target, entry.id);
      scan.add(side[entry.id] == 0 ? w : 0, side[entry.id] == 0 ? 0 : w, 1);
    }
    return finish_breaks(scan, {{total[0], total[1]}});
  }

  bool finish_breaks(const SurrogateScan& scan, const PrimaryDirection& total) {
    if (!scan.found) return false;
    split.kind = SplitKind::breaks;
    split.feature = feature_;
    split.closed = node_.problem.params.closed;
    split.reversed = scan.is_reversed;
    split.n_branches = 2;
    correct = scan.best;
    known = total;
    return true;
  }

  template <class Code>
  bool coded() {
    const Problem& p = node_.problem;
    const FeatureInfo& info = p.features[feature_];
    const u8* codes = node_.block.codes[info.slot];
    const u8* side = node_.block.side;
    struct Cell {
      u32 code;
      double weight[2];
      i64 count[2];
    };
    std::vector<Cell> cells;
    double total[2] = {0, 0};
    i64 count = 0;
    for (i64 i = node_.begin; i < node_.end; ++i) {
      const Id id = node_.block.ids[i];
      const u32 c = read_code<Code>(codes, id);
      if (c == kGap<u32>) continue;
      if (side[id] > 1) {  // says nothing, but its value bounds the cut
        cells.push_back({c, {0, 0}, {0, 0}});
        continue;
      }
      const double w = instance_weight(node_.block.target, id);
      Cell cell{c, {0, 0}, {0, 0}};
      cell.weight[side[id]] = w;
      cell.count[side[id]] = 1;
      cells.push_back(cell);
      total[side[id]] += w;
      ++count;
    }
    std::stable_sort(cells.begin(), cells.end(),
                     [](const Cell& a, const Cell& b) { return a.code < b.code; });
    std::size_t n = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (n && cells[n - 1].code == cells[i].code) {
        for (int d = 0; d < 2; ++d) {
          cells[n - 1].weight[d] += cells[i].weight[d];
          cells[n - 1].count[d] += cells[i].count[d];
        }
      } else {
        cells[n++] = cells[i];
      }
    }
    cells.resize(n);
    if (n < 2) return false;
    if (p.columns[feature_].ordered) {
      SurrogateScan scan(total[0], total[1], count);
      for (std::size_t i = 0; i + 1 < n; ++i) {
        scan.add(cells[i].weight[0], cells[i].weight[1], cells[i].count[0] + cells[i].count[1]);
        if (scan.offer()) {
          split.breaks.assign(1, coded_break(p, feature_, cells[i].code, cells[i + 1].code));
        }
      }
      return finish_breaks(scan, {{total[0], total[1]}});
    }
    split.kind = SplitKind::codes;
    split.feature = feature_;
    split.n_branches = 2;
    const bool heavier = total[1] >= total[0];  // where a category falls that says nothing
    i64 n_wrong = 0;
    for (const Cell& cell : cells) {
      if (cell.count[0] + cell.count[1] == 0) continue;
      const bool tie = cell.weight[0] == cell.weight[1];
      const bool right = tie ? heavier : cell.weight[1] > cell.weight[0];
      split.codes.push_back(static_cast<i32>(cell.code));
      split.branches.push_back(right);
      correct += cell.weight[right];
      n_wrong += cell.count[!right];
    }
    if (!p.params.zero_gain && n_wrong < 2) return false;
    known = {{total[0], total[1]}};
    return true;
  }

  const NodeView<Id>& node_;
  i32 feature_;
};

// The best surrogates of a node whose primary split has marked block.side (kUndecided for gaps).
template <class Id>
std::vector<Surrogate> find_surrogates(const NodeView<Id>& node, i32 primary,
                                       const std::vector<i32>& active) {
  const Params& params = node.problem.params;
  PrimaryDirection direction;
  for (i64 i = node.begin; i < node.end; ++i) {
    const Id id = node.block.ids[i];
    const u8 side = node.block.side[id];
    if (side <= 1) direction.weight[side] += instance_weight(node.block.target, id);
  }
  std::vector<Surrogate> found;
  for (i32 f : active) {
    if (f == primary) continue;
    SurrogateSearch<Id> search(node, f);
    if (!search.run()) continue;
    Surrogate s;
    const PrimaryDirection& base = params.surrogate_share ? search.known : direction;
    const double majority = base.majority() / base.total();
    s.agreement = search.correct / base.total();
    if (!(s.agreement > majority + 1e-10)) continue;
    s.adjusted = (s.agreement - majority) / (1 - majority);
    s.split = std::move(search.split);
    found.push_back(std::move(s));
  }
  std::stable_sort(found.begin(), found.end(), [](const Surrogate& a, const Surrogate& b) {
    return a.agreement > b.agreement + 1e-12;
  });
  if (static_cast<i32>(found.size()) > params.max_surrogates) found.resize(params.max_surrogates);
  return found;
}

}  // namespace treewright
