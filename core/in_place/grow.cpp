#include "grow.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "../choose/quinlan_pick.hpp"
#include "scores.hpp"

namespace treewright {
namespace {

constexpr i64 kExactSums = i64{1} << 24;  // whole numbers below are exact in single precision

class InPlaceGrower {
 public:
  InPlaceGrower(Problem& p, const GrowOptions& options, const QuinlanRules& rules)
      : p_(p), options_(options), rules_(rules), pick_(rules), rows_(p.targets.label, p.n_rows),
        scores_(p, rules, rows_) {
    p_.features.resize(p_.n_features());
    p_.total.assign(p_.targets.n_classes, 0);
    for (i64 i = 0; i < p_.n_rows; ++i) ++p_.total[p_.targets.label[i]];
    pick_.prepare(p_);
    used_.assign(p_.n_features(), false);
  }

  FlatTree run() {
    add_nodes(1);
    std::vector<Frame> stack;
    enter(0, 0, p_.n_rows, stack);
    while (!stack.empty()) {
      if (!next_branch(stack)) {
        if (scores_.is_coded(stack.back().split.feature)) {
          used_[stack.back().split.feature] = false;
        }
        finished_ += stack.back().node.size();
        stack.pop_back();
      }
      poll();
    }
    for (const i32 number : split_of_) out_.splits.push(number < 0 ? Split{} : splits_[number]);
    out_.surrogate_offset.assign(split_of_.size() + 1, 0);
    return std::move(out_);
  }

 private:
  // A node that is divided, branch by branch.
  struct Frame {
    InPlaceNode node;
    i32 first_child = 0;
    Split split;
    i64 known = 0;       // where the rows without a gap begin
    float cases = 0;     // their weight
    i32 next = 0;        // branch to grow next
    i64 child_end = -1;  // of the branch that is being grown, −1: none
    float share = 1;     // that its gaps have of their weight
    std::vector<i64> count;  // rows of each branch
  };

  void add_nodes(i32 count) {
    const std::size_t n = split_of_.size() + count;
    out_.first_child.resize(n, -1);
    out_.n_children.resize(n, 0);
    out_.gap_branch.resize(n, kGapStop);
    out_.n_gaps.resize(n, 0);
    out_.n_samples.resize(n, 0);
    out_.weight.resize(n, 0);
    out_.impurity.resize(n, 0);
    out_.gain.resize(n, 0);
    out_.value.resize(n * p_.targets.n_classes, 0);
    split_of_.resize(n, -1);
  }

  // Writes down a node and its test, if it gets one.
  void enter(i32 id, i64 begin, i64 end, std::vector<Frame>& stack) {
    const i32 classes = p_.targets.n_classes;
    std::vector<float> counts(classes, 0);
    InPlaceNode node{begin, end, 0, end - begin < kExactSums, counts.data()};
    const InPlaceRows::Row* row = rows_.in_order(begin, end);
    for (i64 i = 0; i < node.size(); ++i) {
      counts[row[i].label] += row[i].weight;
      node.cases += row[i].weight;
      node.is_whole &= row[i].weight == 1;
    }
    std::copy(counts.begin(), counts.end(), out_.value.begin() + static_cast<i64>(id) * classes);
    out_.weight[id] = std::accumulate(counts.begin(), counts.end(), 0.0);
    out_.n_samples[id] = node.size();
    const float most = *std::max_element(counts.begin(), counts.end());
    if (most == node.cases || node.cases < static_cast<float>(2 * rules_.min_items)) return;
    found_.clear();
    for (i32 f = 0; f < p_.n_features(); ++f) {
      if (used_[f]) continue;
      found_.push_back(scores_.best(node, f));
      poll();
    }
    const i64 winner = pick_(found_);
    if (winner >= 0) divide(id, node, found_[winner], stack);
  }

  void divide(i32 id, const InPlaceNode& node, const Candidate& c, std::vector<Frame>& stack) {
    Frame frame;
    frame.node = node;
    frame.node.classes = nullptr;  // they end with the search
    Split& split = frame.split;
    split.feature = c.feature;
    split.gap_branch = kGapFraction;
    split.closed = p_.params.closed;
    if (c.kind == CandidateKind::multiway) {
      split.kind = SplitKind::codes;
      split.n_branches = p_.columns[c.feature].n_categories;
      split.codes.resize(split.n_branches);
      std::iota(split.codes.begin(), split.codes.end(), 0);
      split.branches = split.codes;
      used_[c.feature] = true;
    } else {
      split.kind = SplitKind::breaks;
      split.n_branches = 2;
      split.breaks = {c.threshold};
    }
    frame.known = rows_.bring(node.begin, node.end,
                              [&](i32 row) { return scores_.is_gap(c.feature, row); });
    frame.cases = node.cases - rows_.sum(node.begin, frame.known);
    frame.count.assign(split.n_branches, 0);
    for (i64 i = frame.known; i < node.end; ++i) ++frame.count[branch_of(split, rows_.id(i))];
    frame.first_child = static_cast<i32>(split_of_.size());
    add_nodes(split.n_branches);
    out_.first_child[id] = frame.first_child;
    out_.n_children[id] = split.n_branches;
    out_.gap_branch[id] = kGapFraction;
    out_.n_gaps[id] = static_cast<i32>(frame.known - node.begin);
    out_.gain[id] = c.gain / static_cast<double>(p_.n_rows);
    split_of_[id] = static_cast<i32>(splits_.size());
    splits_.push_back(split);
    stack.push_back(std::move(frame));
  }

  i32 branch_of(const Split& split, i32 row) const {
    const Column& column = p_.columns[split.feature];
    if (split.kind == SplitKind::codes) return column.code(row);
    const double value = column.value(row);
    return split.closed ? value > split.breaks[0] : value >= split.breaks[0];
  }

  // Ends the branch that was grown last and enters the next; false if there is none.
  bool next_branch(std::vector<Frame>& stack) {
    Frame& frame = stack.back();
    const i32 feature = frame.split.feature;
    if (frame.child_end >= 0) {
      rows_.bring(frame.node.begin, frame.child_end,
                  [&](i32 row) { return scores_.is_gap(feature, row); });
      rows_.change_weights(frame.node.begin, frame.known,
                           [&](float w) { return w / frame.share; });
      frame.child_end = -1;
    }
    while (frame.next < frame.split.n_branches && !frame.count[frame.next]) ++frame.next;
    if (frame.next == frame.split.n_branches) return false;
    const i32 branch = frame.next++;
    const i64 end = rows_.bring(frame.known, frame.node.end, [&](i32 row) {
      return branch_of(frame.split, row) == branch;
    });
    frame.share = rows_.sum(frame.known, end) / frame.cases;
    frame.child_end = end;
    rows_.change_weights(frame.node.begin, frame.known, [&](float w) { return w * frame.share; });
    enter(frame.first_child + branch, frame.node.begin, end, stack);  // may move the frame
    return true;
  }

  // Progress, at most every 50 ms.
  void poll() {
    if (!options_.poll) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_poll_ < std::chrono::milliseconds(50)) return;
    last_poll_ = now;
    options_.poll(std::min(1.0, static_cast<double>(finished_) / static_cast<double>(p_.n_rows)));
  }

  Problem& p_;
  const GrowOptions& options_;
  QuinlanRules rules_;
  QuinlanPick<float> pick_;
  InPlaceRows rows_;
  InPlaceScores scores_;
  std::vector<char> used_;  // per feature: a branch per category of it lies above
  std::vector<Candidate> found_;
  std::vector<Split> splits_;
  std::vector<i32> split_of_;  // per node: its split, −1 for a leaf
  FlatTree out_;
  i64 finished_ = 0;
  std::chrono::steady_clock::time_point last_poll_ = std::chrono::steady_clock::now();
};

}  // namespace

bool has_fractions(const Problem& p, const QuinlanRules& rules) {
  const Targets& t = p.targets;
  if (!rules.single || rules.subset || p.params.gaps != GapPolicy::fractional) return false;
  if (p.params.max_features > 0) return false;  // a forest's draws; the program has none
  if (p.n_rows >= kExactSums) return false;     // its sums would stand still there
  if (t.weight && std::any_of(t.weight, t.weight + p.n_rows, [](double w) { return w != 1; })) {
    return false;
  }
  return std::any_of(p.columns.begin(), p.columns.end(),
                     [&](const Column& column) { return any_gap(column, p.n_rows); });
}

FlatTree grow_in_place(Problem& p, const GrowOptions& options, const QuinlanRules& rules) {
  return InPlaceGrower(p, options, rules).run();
}

}  // namespace treewright
