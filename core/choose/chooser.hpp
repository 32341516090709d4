// The seam of the growth loop: choose(node) → Split or none.
//
// A compiled chooser scores one feature at a time (so that threads can share a large node) and
// the loop picks the winner; a Python chooser answers for the whole node.
#pragma once

#include <vector>

#include "base/callable.hpp"
#include "base/philox.hpp"
#include "choose/feature_draw.hpp"
#include "criteria/criterion.hpp"
#include "data/problem.hpp"

namespace treewright {

// A node as a chooser sees it.
struct NodeView {
  const Problem& problem;
  Block& block;
  i64 begin, end;
  const i64* stats;  // of the node's instances
  CriterionView criterion;
  double lower = -kInf, upper = kInf;  // bounds of monotonic constraints
  u64 path = 0;
  i32 depth = 0;
  const i64* tables = nullptr;  // of its coded features, where they were made (groups.hpp)
  double to_beat = 0;           // gain of an earlier feature: a smaller one need not be told
  u8* branch = nullptr;         // branch of each instance of the block while the node is split

  i64 size() const { return end - begin; }
};

enum class CandidateKind : u8 {
  none,
  sorted_cut,
  group_cut,
  subset_mask,
  multiway,
  merged,
  only_gaps,
  intervals,
  key_cut
};

// The best split of one feature. Enough to compare and to build the Split again.
struct Candidate {
  CandidateKind kind = CandidateKind::none;
  i32 feature = -1;
  double gain = -kInf;
  double scale = 0;  // magnitude of the sums behind the gain: its rounding error
  i64 cut = 0;       // entries or groups on the left; key_cut: the largest key there
  u64 mask = 0;      // subset_mask: groups on the left
  bool gaps_left = false;
  bool learned_gaps = false;           // gaps took part in the score
  double threshold = 0;                // random cuts only
  i32 bin_below = -1, bin_above = -1;  // key_cut: bins of the values next to it, where counted
  double bits = 0, split_info = 0;     // Quinlan's gain and split information, in bits per case
  i32 n_branches = 2;
  bool constant = false;  // nothing varies, as far as the search saw

  // Whether this beats a candidate of an earlier feature or position.
  bool beats(const Candidate& other) const {
    if (kind == CandidateKind::none) return false;
    if (other.kind == CandidateKind::none) return true;
    return gain > other.gain + kTie * std::abs(other.gain) + 1e-15 * other.scale;
  }
};

// The groups of a coded feature at a node, ascending by code.
struct Groups {
  std::vector<u32> code;
  std::vector<i64> count;
  std::vector<i64> stats;  // n_stats each
  i64 gap_count = 0;
  std::vector<i64> gap_stats;
  std::vector<i32> order;            // positions in the order in which cuts are tried
  std::vector<double> profile, key;  // buffers of ordering

  i32 size() const { return static_cast<i32>(code.size()); }
};

// What a split did to the instances it decides, per branch; the others are gaps.
struct Marked {
  std::vector<i64> count, weight;  // weight in scaled units
  i64 gaps = 0;
  bool moved = false;  // the instances lie by branch already, and
  i32 summed = -1;     // the stats of this branch are there
  std::vector<i64> stats;

  void reset(i32 n_branches) {
    count.assign(n_branches, 0);
    weight.assign(n_branches, 0);
    gaps = 0;
    moved = false;
  }
};

// The best cut of a feature that is kept by row.
struct Cut {
  bool found = false, constant = false;
  i32 key = 0;
  double gain = -kInf, scale = 0;
  double threshold = 0;  // of a random cut
  i32 bin_below = -1, bin_above = -1;
};

// What a forest of numbers sums over the rows of a bin.
struct NumberSum {
  i64 sum = 0;  // of weighted targets
  u32 weight = 0, rows = 0;

  NumberSum& operator+=(const NumberSum& o) {
    sum += o.sum;
    weight += o.weight;
    rows += o.rows;
    return *this;
  }
};

// Buffers of the search of such features.
struct RowScratch {
  std::vector<Cut> cuts;
  std::vector<i32> keys, tokens, sums;
  std::vector<double> score, totals, pair_totals, bin_sums;
  std::vector<u64> table, items, other, bit_sums;
  std::vector<u32> counts, found;
  std::vector<NumberSum> number_sums;
  std::vector<i32> keyed;  // features that are not binary
};

// Counts of the two classes per code of a feature at a node, gaps last.
struct CodeCounts {
  const Block* block = nullptr;  // the node: these instances
  i64 begin = 0, end = 0;
  i32 slot = -1;  // the feature
  std::vector<i64> count;
};

// Buffers of one thread.
struct Scratch {
  RowScratch by_row;
  std::vector<Entry> entries;  // of one feature, where they are made at the node
  FeatureDraw draw;
  FeatureBits constant;    // features known not to vary
  std::vector<i32> drawn;  // the others, in the order of a draw
  std::vector<Candidate> found, of_gapless, of_keyed;
  std::vector<i32> gapless;  // features that are searched together
  Marked marked;
  Split split;  // what a node is split by, the sizes of its branches
  std::vector<i64> sizes;
  std::vector<u8> keep;    // and which can be split again
  std::vector<u8> branch;  // see NodeView; a thread's own, for siblings lie interleaved in it
  Groups groups;
  std::vector<u32> slot;  // code → group, valid where stamp matches
  std::vector<u32> stamp;
  u32 epoch = 0;
  std::vector<i64> dense;           // table over the codes of one feature
  std::vector<CodeCounts> counted;  // what the search of a forest's node has counted,
  std::size_t n_counted = 0;        // and how many of these are its own
  std::vector<i64> left, right, known, sums;
  std::vector<double> numbers, more_numbers;
  std::vector<u32> map;  // instance → instance of a child block
  std::vector<char> bytes;
  std::vector<i32> many;  // the same where branches are too many for a byte,
  bool has_many = false;  // which this says
};

// Work on one of several things, with the buffers of the thread that does it.
using OnIndex = Callable<void(i64, Scratch&)>;

class Chooser {
 public:
  virtual ~Chooser() = default;
  // Once per fit, when the columns are ranked and coded.
  virtual void prepare(const Problem&) {}
  // Scores the best split of one feature.
  virtual Candidate best(const NodeView& node, i32 feature, Scratch& scratch) = 0;
  // Scores several features that are kept by row without gaps; false where there is no loop for it.
  virtual bool best_by_row(const NodeView&, const i32* /*features*/, i32 /*n*/, Scratch&,
                           Candidate* /*out*/) {
    return false;
  }
  // Orders groups for nominal cuts, exactly as `best` did.
  virtual void order_groups(const CriterionView& view, const Problem& p, Groups& groups) = 0;
  // Branch of each group of a candidate of kind `merged`, exactly as `best` had it.
  virtual void merge_groups(const Problem&, const i64* /*stats*/, const Groups&,
                            std::vector<i32>& /*branch*/) {}
  // Cuts of a candidate of kind `intervals`, exactly as `best` had them: entries or groups below.
  virtual std::vector<i64> cuts(const NodeView&, i32 /*feature*/, Scratch&) { return {}; }
  // Whether the winner depends on all candidates of a node, and then which one wins (−1: none).
  // Otherwise it is the first with the largest gain.
  virtual bool picks() const { return false; }
  virtual i64 pick(const std::vector<Candidate>&) const { return -1; }
  virtual bool needs_gil() const { return false; }
  // Whether gains are those of Gini's index.
  virtual bool is_gini() const { return false; }
};

// Looks for a test of a sum of features once the best test of a single one is known.
class LinearSearch {
 public:
  virtual ~LinearSearch() = default;
  // Whether there is one that gains more than `single`; then `split` is that test, its gain in the
  // units of candidates. `features` were searched at the node, all or some `drawn` ones.
  virtual bool better(const NodeView& node, const Candidate& single,
                      const std::vector<i32>& features, bool drawn, Callable<void()> poll,
                      Scratch& scratch, Split& split) = 0;
};

}  // namespace treewright
