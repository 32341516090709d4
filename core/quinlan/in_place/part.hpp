// A part of a tree that is grown by one thread, on rows that no other part has.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "grow/assemble.hpp"
#include "grow/significance.hpp"
#include "quinlan/in_place/scores.hpp"
#include "quinlan/pick.hpp"

namespace treewright {

// What all parts of a growth share.
struct InPlaceShared {
  Problem& p;
  const QuinlanRules& rules;
  QuinlanPick<float> pick;
  InPlaceColumns columns;
  SingleTerms terms;
  std::vector<InPlaceRows::Row> rows;

  InPlaceShared(Problem& problem, const QuinlanRules& r)
      : p(problem), rules(r), pick(r), columns(problem), terms(problem.n_rows), rows(p.n_rows) {
    for (i64 i = 0; i < p.n_rows; ++i) rows[i] = {1.0f, p.targets.label[i]};
  }
};

struct InPlacePart {
  std::vector<i32> ids;    // its rows, until it is grown
  std::vector<char> used;  // per feature: a branch per category of it lies above

  FlatTree tree;  // without splits
  std::vector<Split> splits;
  std::vector<i32> split_of;                // per node: its split, −1 for a leaf
  std::vector<const InPlacePart*> goes_on;  // per node: the part that is grown from it, or none

  i32 add_nodes(i32 count, i32 classes) {
    const std::size_t first = split_of.size(), n = first + count;
    tree.first_child.resize(n, -1);
    tree.n_children.resize(n, 0);
    tree.n_gaps.resize(n, 0);
    tree.n_samples.resize(n, 0);
    tree.weight.resize(n, 0);
    tree.gain.resize(n, 0);
    tree.stopped.resize(n, Stop::empty);
    tree.p_value.resize(n, std::numeric_limits<double>::quiet_NaN());
    tree.value.resize(n * classes, 0);
    split_of.resize(n, -1);
    goes_on.resize(n, nullptr);
    return static_cast<i32>(first);
  }
};

class InPlacePartGrower {
 public:
  static constexpr i64 kExactSums = i64{1} << 24;  // of whole numbers in single precision

  using Lend = std::function<InPlacePart*(std::vector<i32> ids, const std::vector<char>& used)>;
  using Poll = std::function<void(i64 finished)>;

  // lend: gives rows to a part of their own. poll: hears of rows that have come to a leaf.
  InPlacePartGrower(InPlaceShared& shared, InPlacePart& part, Lend lend, Poll poll)
      : shared_(shared),
        p_(shared.p),
        part_(part),
        tree_(part.tree),
        lend_(std::move(lend)),
        poll_(std::move(poll)),
        rows_(shared.rows.data(), std::move(part.ids)),
        scores_(shared.p, shared.rules, shared.columns, shared.terms, rows_) {}

  void run() {
    part_.add_nodes(1, p_.targets.n_classes);
    enter(0, 0, rows_.size());
    while (!stack_.empty()) {
      if (next_branch()) continue;
      if (shared_.columns.is_coded(stack_.back().split.feature)) {
        part_.used[stack_.back().split.feature] = false;
      }
      stack_.pop_back();
    }
  }

 private:
  static constexpr i64 kOwnPart = 256;      // rows that are worth a part of their own
  static constexpr i64 kLongSearch = 4096;  // rows whose search is worth a poll for each feature

  // A node that is divided, branch by branch.
  struct Frame {
    InPlaceNode node;
    i32 first_child = 0;
    Split split;
    i64 known = 0;           // where the rows without a gap begin
    float cases = 0;         // their weight
    i32 next = 0;            // branch to grow next
    i64 child_end = -1;      // of the branch that is being grown, −1: none
    float share = 1;         // that its gaps have of their weight
    std::vector<i64> count;  // rows of each branch
  };

  i32 branch_of(const Split& split, i32 row) const {
    const Column& column = p_.columns[split.feature];
    if (split.kind == SplitKind::codes) return column.code(row);
    const double value = column.value(row);
    return split.closed ? value > split.breaks[0] : value >= split.breaks[0];
  }

  auto is_in(const Split& split, i32 branch) const {
    return [this, &split, branch](i32 row) { return branch_of(split, row) == branch; };
  }

  auto is_gap_of(i32 feature) const {
    return [this, feature](i32 row) { return shared_.columns.is_gap(feature, row); };
  }

  // Writes down a node and its test, if it gets one.
  void enter(i32 id, i64 begin, i64 end) {
    const i32 classes = p_.targets.n_classes;
    std::vector<float> counts(classes, 0);
    InPlaceNode node{begin, end, 0, end - begin < kExactSums, counts.data()};
    const InPlaceRows::Row* row = rows_.in_order(begin, end);
    for (i64 i = 0; i < node.size(); ++i) {
      counts[row[i].label] += row[i].weight;
      node.cases += row[i].weight;
      node.is_whole &= row[i].weight == 1;
    }
    std::copy(counts.begin(), counts.end(), tree_.value.begin() + static_cast<i64>(id) * classes);
    tree_.weight[id] = std::accumulate(counts.begin(), counts.end(), 0.0);
    tree_.n_samples[id] = node.size();
    const float most = *std::max_element(counts.begin(), counts.end());
    Stop reason = Stop::no_test;
    i64 winner = -1;
    if (most == node.cases) {
      reason = Stop::pure;
    } else if (node.cases < static_cast<float>(2 * shared_.rules.min_items)) {
      reason = Stop::leaf_weight;
    } else {
      found_.clear();
      for (i32 f = 0; f < p_.n_features(); ++f) {
        if (part_.used[f]) continue;
        found_.push_back(scores_.best(node, f));
        if (node.size() >= kLongSearch) poll_(0);
      }
      winner = shared_.pick(found_);
      if (winner >= 0) reason = Stop::is_split;
      if (winner >= 0 && could_be_chance(id, node, split_of(found_[winner]))) {
        reason = Stop::significance;
        winner = -1;
      } else if (winner < 0 && is_constant(node)) {
        reason = Stop::values;
      }
    }
    tree_.stopped[id] = reason;
    if (winner >= 0) divide(id, node, found_[winner]);
    poll_(winner < 0 ? node.size() : 0);
  }

  Split split_of(const Candidate& c) const {
    Split split;
    split.feature = c.feature;
    split.gap_branch = kGapFraction;
    split.closed = p_.params.closed;
    if (c.kind == CandidateKind::multiway) {
      split.kind = SplitKind::codes;
      split.n_branches = p_.columns[c.feature].n_categories;
      split.codes.resize(split.n_branches);
      std::iota(split.codes.begin(), split.codes.end(), 0);
      split.branches = split.codes;
    } else {
      split.kind = SplitKind::breaks;
      split.n_branches = 2;
      split.breaks = {c.threshold};
    }
    return split;
  }

  // Whether target and branch seem independent; a gap counts in every branch by its share.
  bool could_be_chance(i32 id, const InPlaceNode& node, const Split& split) {
    if (p_.params.max_p_value >= 1) return false;
    const i32 classes = p_.targets.n_classes;
    std::vector<double> cells(static_cast<std::size_t>(split.n_branches) * classes, 0.0);
    std::vector<double> of_gaps(classes, 0.0), size(split.n_branches, 0.0);
    const InPlaceRows::Row* row = rows_.in_order(node.begin, node.end);
    double known = 0;
    for (i64 i = 0; i < node.size(); ++i) {
      const i32 at = rows_.id(node.begin + i);
      if (shared_.columns.is_gap(split.feature, at)) {
        of_gaps[row[i].label] += row[i].weight;
        continue;
      }
      const i32 branch = branch_of(split, at);
      cells[static_cast<std::size_t>(branch) * classes + row[i].label] += row[i].weight;
      size[branch] += row[i].weight;
      known += row[i].weight;
    }
    for (i32 b = 0; b < split.n_branches; ++b) {
      for (i32 k = 0; k < classes; ++k) {
        cells[static_cast<std::size_t>(b) * classes + k] += of_gaps[k] * size[b] / known;
      }
    }
    tree_.p_value[id] = class_table_p(cells, classes);
    return tree_.p_value[id] > p_.params.max_p_value;
  }

  // Whether every feature that may be tested has one value here.
  bool is_constant(const InPlaceNode& node) const {
    for (i32 f = 0; f < p_.n_features(); ++f) {
      if (part_.used[f]) continue;
      const Column& column = p_.columns[f];
      for (i64 i = node.begin; i < node.end; ++i) {
        const i32 a = rows_.id(i), b = rows_.id(node.begin);
        const bool gap = shared_.columns.is_gap(f, a);
        if (gap != shared_.columns.is_gap(f, b)) return false;
        if (gap) continue;
        if (column.value(a) != column.value(b)) return false;
      }
    }
    return true;
  }

  void divide(i32 id, const InPlaceNode& node, const Candidate& c) {
    Frame frame;
    frame.node = node;
    frame.node.classes = nullptr;  // they end with the search
    const Split& split = frame.split = split_of(c);
    if (c.kind == CandidateKind::multiway) part_.used[c.feature] = true;
    frame.known = node.begin;
    if (shared_.columns.has_gaps(c.feature)) {
      frame.known = rows_.bring(node.begin, node.end, is_gap_of(c.feature));
    }
    frame.cases = node.cases - rows_.sum(node.begin, frame.known);
    frame.count.assign(split.n_branches, 0);
    for (i64 i = frame.known; i < node.end; ++i) ++frame.count[branch_of(split, rows_.id(i))];
    frame.first_child = part_.add_nodes(split.n_branches, p_.targets.n_classes);
    tree_.first_child[id] = frame.first_child;
    tree_.n_children[id] = split.n_branches;
    tree_.n_gaps[id] = static_cast<i32>(frame.known - node.begin);
    tree_.gain[id] = c.gain / static_cast<double>(p_.n_rows);
    part_.split_of[id] = static_cast<i32>(part_.splits.size());
    part_.splits.push_back(split);
    if (is_free(frame)) {
      lend_branches(frame);
    } else {
      stack_.push_back(std::move(frame));
    }
  }

  // Whether the branches have no row in common here and above, so that none waits for another.
  bool is_free(const Frame& frame) const {
    return stack_.empty() && frame.known == frame.node.begin && frame.node.size() >= kOwnPart;
  }

  // Each branch gets its rows in the order they would have: it depends on where the rows of earlier
  // branches lie, not on which of them lies where.
  void lend_branches(Frame& frame) {
    for (i32 branch = 0; branch < frame.split.n_branches; ++branch) {
      if (!frame.count[branch]) continue;
      const i64 end = rows_.bring(frame.node.begin, frame.node.end, is_in(frame.split, branch));
      part_.goes_on[frame.first_child + branch] =
          lend_(rows_.ids(frame.node.begin, end), part_.used);
    }
  }

  // Ends the branch that was grown last and enters the next; false if there is none.
  bool next_branch() {
    Frame& frame = stack_.back();
    const bool has_gaps = frame.known > frame.node.begin;
    if (frame.child_end >= 0 && has_gaps) {
      rows_.bring(frame.node.begin, frame.child_end, is_gap_of(frame.split.feature));
      rows_.change_weights(frame.node.begin, frame.known, [&](float w) { return w / frame.share; });
    }
    while (frame.next < frame.split.n_branches && !frame.count[frame.next]) ++frame.next;
    if (frame.next == frame.split.n_branches) return false;
    const i32 branch = frame.next++;
    const i64 end = rows_.bring(frame.known, frame.node.end, is_in(frame.split, branch));
    frame.child_end = end;
    if (has_gaps) {
      frame.share = rows_.sum(frame.known, end) / frame.cases;
      rows_.change_weights(frame.node.begin, frame.known, [&](float w) { return w * frame.share; });
    }
    enter(frame.first_child + branch, frame.node.begin, end);  // may move the frame
    return true;
  }

  InPlaceShared& shared_;
  const Problem& p_;
  InPlacePart& part_;
  FlatTree& tree_;
  Lend lend_;
  Poll poll_;
  InPlaceRows rows_;
  InPlaceScores scores_;
  std::vector<Frame> stack_;
  std::vector<Candidate> found_;
};

}  // namespace treewright
