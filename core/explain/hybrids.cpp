#include "explain/hybrids.hpp"

#include <algorithm>
#include <bit>

#include "base/threads.hpp"
#include "explain/pair_walk.hpp"

namespace treewright::explain {
namespace {

constexpr i32 kMostTabled = 10;           // features of a leaf that has a table
constexpr i64 kLeastTabled = 50;          // background rows; groups of fewer are faster
constexpr i64 kMostTable = i64{1} << 20;  // numbers in the tables of a tree

// The features of a path's places that a row satisfies, from those above an edge.
u64 mask_below(const Edge& edge, u64 above, bool is_satisfied) {
  const u64 bit = u64{1} << edge.place;
  if (!edge.before) return is_satisfied ? above | bit : above;
  return is_satisfied ? above : above & ~bit;
}

// Calls what(edge number, edge, mask) at all ends of a tree: the features that a row satisfies.
template <class What>
void at_ends(const ShapTree& tree, HybridRow row, What&& what) {
  thread_local std::vector<u64> mask;
  thread_local std::vector<i32> taken;  // by depth: the child that the row goes to
  mask.assign(tree.depth + 1, 0);
  taken.resize(tree.depth + 1);
  const i64 n_edges = static_cast<i64>(tree.edges.size());
  for (i64 i = 0; i < n_edges; ++i) {
    const Edge& edge = tree.edges[i];
    if (edge.depth) {
      mask[edge.depth] = mask_below(edge, mask[edge.depth - 1], taken[edge.depth - 1] == edge.node);
    }
    if (edge.is_end) {
      what(i, edge, mask[edge.depth]);
    } else {
      taken[edge.depth] = predict::step(tree.router, edge.node, row);
    }
  }
}

}  // namespace

Background::Background(const ShapTree& tree, const Rows& background, const Shares& shares,
                       i64 n_rows, int n_threads, Callable<void()> poll)
    : tree_(tree), background_(background), shares_(shares) {
  if (tree.has_linear) return;
  for (i64 b = 0; b < background_.count; ++b) {
    if (!is_simple(background_[b])) return;
  }
  is_simple_ = true;
  is_tabled_ = tables_pay(n_rows);
  if (!is_tabled_) {
    const i64 n_nodes = tree_.router.n_nodes();
    takes_.assign(n_sets() * n_nodes, {});
    auto note = [&](i64 set, int) {
      const i64 first = set * RowSet::kMost,
                count = std::min(RowSet::kMost, background_.count - first);
      note_takes(tree_, background_, first, count, takes_.data() + set * n_nodes);
    };
    parallel_for(n_sets(), n_threads, note, poll);
    return;
  }
  mask_background();
  parallel_for(
      static_cast<i64>(leaves_.size()), n_threads, [&](i64 i, int) { make_table(leaves_[i]); },
      poll);
}

// Whether a row takes one branch of every test, and that by the tested feature alone.
bool Background::is_simple(HybridRow row) const {
  if (tree_.is_always_simple()) return true;
  return std::all_of(tree_.edges.begin(), tree_.edges.end(), [&](const Edge& edge) {
    return edge.is_end || (tree_.ask(edge.node, row).branch >= 0 &&
                           !(tree_.has_surrogates && tree_.reads_several(edge.node, row)));
  });
}

bool Background::tables_pay(i64 n_rows) const {
  if (tree_.n_distinct > kMostTabled || i64{1} << tree_.n_distinct > n_rows) return false;
  if (background_.count < kLeastTabled) return false;
  std::vector<i32> n_places(tree_.depth + 1, 0);
  i64 size = 0;
  for (const Edge& edge : tree_.edges) {
    if (edge.depth) n_places[edge.depth] = n_places[edge.depth - 1] + !edge.before;
    const i64 d = n_places[edge.depth];
    if (edge.is_end) size += (i64{1} << d) * d;
  }
  return size < kMostTable;
}

// The leaves with their features, and which of them every background row satisfies.
void Background::mask_background() {
  std::vector<i32> features(tree_.depth + 1), n_places(tree_.depth + 1, 0);
  for (const Edge& edge : tree_.edges) {
    leaf_of_.push_back(edge.is_end ? static_cast<i32>(leaves_.size()) : -1);
    if (edge.depth) {
      features[edge.place] = edge.feature;
      n_places[edge.depth] = n_places[edge.depth - 1] + !edge.before;
    }
    if (!edge.is_end) continue;
    leaves_.push_back({{features.begin(), features.begin() + n_places[edge.depth]}, {}, {}});
  }
  for (i64 b = 0; b < background_.count; ++b) {
    at_ends(tree_, background_[b],
            [&](i64 i, const Edge&, u64 mask) { leaves_[leaf_of_[i]].masks.push_back(mask); });
  }
}

// By mask a of a row: background rows of mask m can take its place where a misses a feature, so all
// features outside of m must be the row's.
void Background::make_table(Leaf& leaf) const {
  const i32 d = static_cast<i32>(leaf.features.size());
  const u64 all = (u64{1} << d) - 1;
  leaf.table.assign(static_cast<std::size_t>((all + 1) * d), 0.0);
  std::vector<i64> count(all + 1, 0);
  for (const u64 mask : leaf.masks) ++count[mask];
  for (u64 m = 0; m <= all; ++m) {
    if (!count[m]) continue;
    const double weight = static_cast<double>(count[m]) / static_cast<double>(background_.count);
    const i32 p = d - std::popcount(m);
    for (u64 s = m;; s = (s - 1) & m) {  // what of m the row satisfies as well
      const u64 a = (all & ~m) | s, theirs = m & ~s;
      const i32 n = std::popcount(theirs);
      const double up = p ? weight * shares_.of_row(p, n) : 0;
      const double down = n ? weight * shares_.of_background(p, n) : 0;
      double* to = leaf.table.data() + a * d;
      for (i32 i = 0; i < d; ++i) {
        const u64 bit = u64{1} << i;
        to[i] += m & bit ? (theirs & bit ? down : 0.0) : up;
      }
      if (!s) break;
    }
  }
}

void Background::add(const Rows& rows, i64 first, const HybridSums& sums,
                     Callable<bool()> is_over) const {
  RowSet together;
  for (i64 i = 0; i < rows.count && !is_over(); ++i) {
    double* to = sums.values + (first + i) * sums.n_features * sums.n_outputs;
    if (!is_simple_ || sums.pairs || !is_simple(rows[i])) {
      add_in_pairs(rows[i], first + i, sums);
    } else if (is_tabled_) {
      add_tabled(rows[i], to, sums);
    } else {
      together.add(i);
    }
  }
  double* to = sums.values + first * sums.n_features * sums.n_outputs;
  if (together) add_in_groups(rows, together, to, sums, is_over);
}

void Background::add_tabled(HybridRow row, double* to, const HybridSums& sums) const {
  at_ends(tree_, row, [&](i64 i, const Edge& edge, u64 mask) {
    const Leaf& leaf = leaves_[leaf_of_[i]];
    const i32 d = static_cast<i32>(leaf.features.size());
    const double* part = leaf.table.data() + mask * d;
    const double* value = tree_.values + i64{edge.node} * tree_.width;
    for (i32 f = 0; f < d; ++f) {
      double* at = to + leaf.features[f] * sums.n_outputs + tree_.column;
      for (i32 k = 0; k < tree_.width; ++k) at[k] += part[f] * value[k];
    }
  });
}

void Background::add_in_groups(const Rows& rows, RowSet together, double* to,
                               const HybridSums& sums, Callable<bool()> is_over) const {
  thread_local std::vector<RowSet> takes;
  const i64 n_nodes = tree_.router.n_nodes();
  takes.assign(n_nodes, {});
  note_takes(tree_, rows, 0, rows.count, takes.data());
  const double weight = 1.0 / static_cast<double>(background_.count);
  for (i64 set = 0; set < n_sets() && !is_over(); ++set) {
    const i64 count = std::min(RowSet::kMost, background_.count - set * RowSet::kMost);
    GroupWalk walk(tree_, shares_, takes.data(), takes_.data() + set * n_nodes, weight, to, sums);
    walk.run(together, RowSet::first(count));
  }
}

void Background::add_in_pairs(HybridRow row, i64 number, const HybridSums& sums) const {
  const i64 size = sums.n_features * sums.n_outputs;
  double* pairs = sums.pairs ? sums.pairs + number * sums.n_features * size : nullptr;
  PairWalk walk(tree_, shares_, 1.0 / static_cast<double>(background_.count), sums,
                sums.values + number * size, pairs);
  for (i64 b = 0; b < background_.count; ++b) walk.run(row, background_[b]);
}

}  // namespace treewright::explain
