// Finished nodes, as compact as they can be: a full tree may have as many as rows.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace treewright {

// Many splits as a structure of arrays, in the layout of the Python Splits.
struct FlatSplits {
  std::vector<u8> kind, closed, reversed;
  std::vector<i32> feature;
  std::vector<i64> break_offset{0}, code_offset{0}, term_offset{0};
  std::vector<double> breaks, term_weight;
  std::vector<i32> codes, branches, term_feature, term_code;

  void push(const Split& s) {
    kind.push_back(static_cast<u8>(s.kind));
    closed.push_back(s.closed);
    reversed.push_back(s.reversed);
    feature.push_back(s.kind == SplitKind::linear ? -1 : s.feature);
    // One by one: most are none or a few, and to insert a range takes longer.
    auto add = [](auto& to, const auto& from) {
      for (const auto& x : from) to.push_back(x);
    };
    add(breaks, s.breaks);
    add(codes, s.codes);
    add(branches, s.branches);
    add(term_feature, s.term_feature);
    add(term_weight, s.term_weight);
    add(term_code, s.term_code);
    break_offset.push_back(static_cast<i64>(breaks.size()));
    code_offset.push_back(static_cast<i64>(codes.size()));
    term_offset.push_back(static_cast<i64>(term_feature.size()));
  }

  // Split `i` of another set; −1 for a leaf.
  void push(const FlatSplits& from, i64 i) {
    if (i < 0) {
      push(Split{});
      return;
    }
    auto range = [i](auto& to, const auto& pool, const std::vector<i64>& offset) {
      to.insert(to.end(), pool.begin() + offset[i], pool.begin() + offset[i + 1]);
    };
    kind.push_back(from.kind[i]);
    closed.push_back(from.closed[i]);
    reversed.push_back(from.reversed[i]);
    feature.push_back(from.feature[i]);
    range(breaks, from.breaks, from.break_offset);
    range(codes, from.codes, from.code_offset);
    range(branches, from.branches, from.code_offset);
    range(term_feature, from.term_feature, from.term_offset);
    range(term_weight, from.term_weight, from.term_offset);
    range(term_code, from.term_code, from.term_offset);
    break_offset.push_back(static_cast<i64>(breaks.size()));
    code_offset.push_back(static_cast<i64>(codes.size()));
    term_offset.push_back(static_cast<i64>(term_feature.size()));
  }

  Split operator[](i64 i) const {
    Split s;
    auto range = [i](auto& to, const auto& pool, const std::vector<i64>& offset) {
      to.assign(pool.begin() + offset[i], pool.begin() + offset[i + 1]);
    };
    s.kind = static_cast<SplitKind>(kind[i]);
    s.feature = feature[i];
    s.closed = closed[i];
    s.reversed = reversed[i];
    range(s.breaks, breaks, break_offset);
    range(s.codes, codes, code_offset);
    range(s.branches, branches, code_offset);
    range(s.term_feature, term_feature, term_offset);
    range(s.term_weight, term_weight, term_offset);
    range(s.term_code, term_code, term_offset);
    return s;
  }

  void reserve(std::size_t n) {
    for (auto* bytes : {&kind, &closed, &reversed}) bytes->reserve(n);
    feature.reserve(n);
    for (auto* offsets : {&break_offset, &code_offset, &term_offset}) offsets->reserve(n + 1);
    breaks.reserve(n / 2);
  }

  // Makes it empty, and keeps the memory.
  void clear() {
    for (auto* bytes : {&kind, &closed, &reversed}) bytes->clear();
    for (auto* offsets : {&break_offset, &code_offset, &term_offset}) offsets->resize(1);
    for (auto* numbers : {&feature, &codes, &branches, &term_feature, &term_code}) numbers->clear();
    for (auto* reals : {&breaks, &term_weight}) reals->clear();
  }
};

// Why a node was not split; the names are in treewright.tree.growing.stopped.
enum class Stop : u8 {
  is_split,
  empty,         // no instance came here
  pure,          // one class, or equal numbers
  depth,         // max_depth
  leaf_rows,     // too few for two leaves
  split_rows,    // fewer than min_split
  leaf_weight,   // too light for two leaves
  price,         // a further leaf does not pay
  values,        // the features that may be tested have one value each
  no_test,       // no admissible test
  gain,          // the best test gains too little
  significance,  // the best test could be chance
  max_leaves,    // others were split first
  chooser        // a chooser in Python proposed nothing
};

// A finished node. Children are linked by record number until the tree is assembled.
struct NodeRecord {
  double impurity = 0;  // regression only; class impurities follow from the stats
  i32 n_samples = 0;
  i32 inner = -1;  // ≥ 0: number among the split nodes; ≤ −2: see `stands_for`
};

// What only a split node has. Its number is that of its Split in the list.
struct InnerRecord {
  double gain = 0;
  i32 first_child = -1;  // in the same list
  i32 n_branches = 0;
  i32 gap_branch = kGapStop;
  i32 n_gaps = 0;  // instances that the split could not decide
  i32 first_surrogate = 0, n_surrogates = 0;
};

struct NodeList {
  i32 n_stats, n_values;
  std::vector<NodeRecord> records;
  std::vector<InnerRecord> inner;
  std::vector<i64> stats;      // n_stats per record
  std::vector<double> values;  // n_values per record: location per output, NaN without any
  FlatSplits splits, surrogates;
  std::vector<double> agreement, adjusted;
  std::vector<i32> python_id;   // per record, what a Python chooser said of it; empty without one
  bool keeps_reasons = false;   // off in forests, whose trees keep no history
  std::vector<Stop> stopped;    // per record, where reasons are kept
  std::vector<double> p_value;  // per record, of its best split where that was tested; may be short

  NodeList(i32 stats_width, i32 values_width) : n_stats(stats_width), n_values(values_width) {}

  i64 size() const { return static_cast<i64>(records.size()); }
  NodeRecord& operator[](i64 i) { return records[i]; }
  const NodeRecord& operator[](i64 i) const { return records[i]; }
  // Pointers that the next add() may invalidate.
  i64* stats_of(i64 i) { return stats.data() + i * n_stats; }
  const i64* stats_of(i64 i) const { return stats.data() + i * n_stats; }
  double* values_of(i64 i) { return values.data() + i * n_values; }
  const double* values_of(i64 i) const { return values.data() + i * n_values; }
  InnerRecord& inner_of(i64 i) { return inner[records[i].inner]; }

  // A record may stand for the root of another list, where its subtree was grown.
  void let_stand_for(i64 i, i32 list) { records[i].inner = -2 - list; }
  i32 stands_for(i64 i) const { return -2 - records[i].inner; }  // negative: for itself

  void set_python_id(i64 i, i64 id) {
    if (static_cast<i64>(python_id.size()) <= i) python_id.resize(i + 1, -1);
    python_id[i] = static_cast<i32>(id);
  }

  void stop(i64 i, Stop reason) {
    if (keeps_reasons) stopped[i] = reason;
  }

  void set_p_value(i64 i, double p) {
    if (!keeps_reasons) return;
    if (static_cast<i64>(p_value.size()) <= i) {
      p_value.resize(i + 1, std::numeric_limits<double>::quiet_NaN());
    }
    p_value[i] = p;
  }

  double p_value_of(i64 i) const {
    const bool is_there = i < static_cast<i64>(p_value.size());
    return is_there ? p_value[i] : std::numeric_limits<double>::quiet_NaN();
  }

  // Takes a split back; what was noted of it stays behind, unreachable.
  void undo_split(i64 i, Stop reason) {
    records[i].inner = -1;
    stop(i, reason);
  }

  // Appends empty records; returns the first.
  i64 add(i64 count) {
    const i64 first = size();
    make_room(first + count);
    records.resize(first + count);
    if (keeps_reasons) stopped.resize(first + count, Stop::is_split);
    stats.resize(records.size() * n_stats, 0);
    values.resize(records.size() * n_values, std::numeric_limits<double>::quiet_NaN());
    return first;
  }

  // Becomes an empty list in the memory of another one.
  void take_memory(NodeList& other) {
    records.swap(other.records);
    inner.swap(other.inner);
    stats.swap(other.stats);
    values.swap(other.values);
    std::swap(splits, other.splits);
    records.clear();
    inner.clear();
    stats.clear();
    values.clear();
    splits.clear();
  }

  // Gives back what was reserved and not used.
  void shrink() {
    records.shrink_to_fit();
    inner.shrink_to_fit();
    stats.shrink_to_fit();
    values.shrink_to_fit();
    stopped.shrink_to_fit();
  }

  void set_split(i64 i, const Split& split, i64 n_gaps) {
    stop(i, Stop::is_split);
    records[i].inner = static_cast<i32>(inner.size());
    InnerRecord& r = inner.emplace_back();
    r.gain = split.gain;
    r.n_branches = split.n_branches;
    r.gap_branch = split.gap_branch;
    r.n_gaps = static_cast<i32>(n_gaps);
    splits.push(split);
  }

  void set_surrogates(i64 i, const std::vector<Surrogate>& found) {
    inner_of(i).first_surrogate = static_cast<i32>(agreement.size());
    inner_of(i).n_surrogates = static_cast<i32>(found.size());
    for (const Surrogate& s : found) {
      surrogates.push(s.split);
      agreement.push_back(s.agreement);
      adjusted.push_back(s.adjusted);
    }
  }

 private:
  // Grows by a quarter, not by doubling: a full tree's records are a good part of a fit's memory.
  void make_room(i64 n) {
    if (n <= static_cast<i64>(records.capacity())) return;
    const std::size_t room = n + n / 4 + 16;
    records.reserve(room);
    if (keeps_reasons) stopped.reserve(room);
    stats.reserve(room * n_stats);
    values.reserve(room * n_values);
  }
};

}  // namespace treewright
