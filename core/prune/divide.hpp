// Rows with weights sent down a split, in place.
//
// The entries of a node are a range of one array; dividing them sorts the range by branch, gaps
// first, and the branches are then parts of it. Only below a gap that goes down every branch do
// children need entries of their own.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "data/route.hpp"

namespace treewright {

struct Item {
  i32 row;
  i64 weight;  // scaled
};

struct Range {
  Item* items = nullptr;
  i64 n = 0;
};

// Entries of a node divided among its branches.
struct Division {
  Item* items = nullptr;
  std::vector<i64> start;     // of the gaps, then of each branch; the end last
  std::vector<double> share;  // of the known weight, where there are gaps

  i64 n_gaps() const { return start[1]; }
  Range known(i32 b) const { return {items + start[b + 1], start[b + 2] - start[b + 1]}; }

  // Entries of one branch: a part of the range, or a copy where gaps come in with their share.
  Range branch(i32 b, std::unique_ptr<std::vector<Item>>& own) const {
    const Range part = known(b);
    if (!n_gaps() || !(share[b] > 0)) return part;
    own = std::make_unique<std::vector<Item>>();
    own->reserve(n_gaps() + part.n);
    for (i64 i = 0; i < n_gaps(); ++i) {
      own->push_back({items[i].row, std::llrint(static_cast<double>(items[i].weight) * share[b])});
    }
    own->insert(own->end(), part.items, part.items + part.n);
    return {own->data(), static_cast<i64>(own->size())};
  }
};

class Divider {
 public:
  explicit Divider(const std::vector<Column>& columns) : columns_(columns) {}

  Division divide(const Split& split, i32 n_branches, Range range) {
    const i64 n = range.n;
    branch_.resize(n);
    find_branches(split, range);
    Division out;
    out.items = range.items;
    count(n, n_branches, out.start);
    if (n_branches == 2 && !out.n_gaps()) {
      sort_two(range, out.start[2]);
    } else {
      sort(range, out.start);
    }
    std::copy(sorted_.begin(), sorted_.begin() + n, range.items);
    if (out.n_gaps()) out.share = shares(out, n_branches);
    return out;
  }

 private:
  // One more than the branch of each entry, 0 for a gap that goes every way.
  void find_branches(const Split& split, Range range) {
    const i32 gap = split.gap_branch >= 0 ? split.gap_branch + 1 : 0;
    const bool simple = split.kind == SplitKind::breaks && split.breaks.size() == 1 &&
                        split.closed && !split.reversed;
    if (simple && columns_[split.feature].type == ColumnType::f64) {
      cut<double>(split, range, gap);
    } else if (simple && columns_[split.feature].type == ColumnType::f32) {
      cut<float>(split, range, gap);
    } else if (split.kind == SplitKind::codes && range.n > static_cast<i64>(split.codes.size())) {
      look_up(split, range, gap);
    } else {
      for (i64 i = 0; i < range.n; ++i) {
        const i32 b = branch_of(split, columns_, range.items[i].row);
        branch_[i] = b == kNoBranch ? gap : b + 1;
      }
    }
  }

  template <class Value>
  void cut(const Split& split, Range range, i32 gap) {
    const Column& column = columns_[split.feature];
    const double at = split.breaks[0];
    i32* branch = branch_.data();
    for (i64 i = 0; i < range.n; ++i) {
      const double value = *reinterpret_cast<const Value*>(column.at(range.items[i].row));
      branch[i] = value != value ? gap : 1 + (value > at);
    }
  }

  // Many rows: a table over the codes instead of a search for each.
  void look_up(const Split& split, Range range, i32 gap) {
    const Column& column = columns_[split.feature];
    table_.assign(split.codes.empty() ? 0 : split.codes.back() + 1, gap);
    for (std::size_t k = 0; k < split.codes.size(); ++k) {
      table_[split.codes[k]] = split.branches[k] + 1;
    }
    const i32 known = static_cast<i32>(table_.size());
    for (i64 i = 0; i < range.n; ++i) {
      const i32 code = column.code(range.items[i].row);
      branch_[i] = code < 0 || code >= known ? gap : table_[code];
    }
  }

  void count(i64 n, i32 n_branches, std::vector<i64>& start) const {
    start.assign(n_branches + 2, 0);
    if (n_branches == 2) {
      i32 gaps = 0, right = 0;
      for (i64 i = 0; i < n; ++i) {
        gaps += branch_[i] == 0;
        right += branch_[i] == 2;
      }
      start = {0, gaps, n - right, n};
      return;
    }
    for (i64 i = 0; i < n; ++i) ++start[branch_[i] + 1];
    for (i32 b = 0; b <= n_branches; ++b) start[b + 1] += start[b];
  }

  // Stable, so that the rows of a node stay ascending and memory is read in order.
  void sort(Range range, const std::vector<i64>& start) {
    at_.assign(start.begin(), start.end() - 1);
    sorted_.resize(range.n);
    i64* at = at_.data();
    Item* sorted = sorted_.data();
    for (i64 i = 0; i < range.n; ++i) sorted[at[branch_[i]]++] = range.items[i];
  }

  // The same without a counter in memory, which each row would have to wait for.
  void sort_two(Range range, i64 right) {
    sorted_.resize(range.n);
    const i32* branch = branch_.data();
    Item* sorted = sorted_.data();
    i64 left = 0;
    for (i64 i = 0; i < range.n; ++i) {
      const bool is_right = branch[i] == 2;
      sorted[is_right ? right : left] = range.items[i];
      right += is_right;
      left += !is_right;
    }
  }

  static std::vector<double> shares(const Division& d, i32 n_branches) {
    std::vector<double> share(n_branches);
    i64 total = 0;
    for (i32 b = 0; b < n_branches; ++b) {
      const Range part = d.known(b);
      i64 weight = 0;
      for (i64 i = 0; i < part.n; ++i) weight += part.items[i].weight;
      share[b] = static_cast<double>(weight);
      total += weight;
    }
    for (double& s : share) s = total ? s / static_cast<double>(total) : 1.0 / n_branches;
    return share;
  }

  const std::vector<Column>& columns_;
  std::vector<i32> branch_, table_;
  std::vector<i64> at_;
  std::vector<Item> sorted_;
};

}  // namespace treewright
