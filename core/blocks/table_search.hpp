// The best test of every open node, from tables of its features.
//
// Bins are codes: the growth loop's own choosers search them, as they search the tables of coded
// columns in memory. So a criterion that has a name there is one here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "blocks/tree_share.hpp"
#include "choose/chooser.hpp"

namespace treewright::blocks {

struct SearchParams {
  std::string criterion;
  i32 n_classes = 0;         // 0: numbers
  bool counts_rows = false;  // rows of tables begin with the number of rows
  double weight_unit = 1;
  i64 min_leaf = 1;
  double min_weight_leaf = 0;
  i32 max_exhaustive = 0;
  std::vector<i32> n_bins;
  std::vector<u8> ordered;
  int n_threads = 1;
};

// Of each slot the best test; feature −1: none.
struct TableTests {
  std::vector<i32> feature, below, above;  // bins next to the cut of an ordered feature
  std::vector<double> gain, scale;
  std::vector<u8> only_gaps, gaps_left;
  std::vector<i64> n_gaps, code_offset{0};
  std::vector<i32> codes, branches;  // bins of a nominal feature at the node, and where they go
};

class TableSearch {
 public:
  explicit TableSearch(SearchParams params);

  // totals: stats of each slot as tables have them, less the number of rows.
  TableTests best(const Wanted& wanted, std::span<const i64> tables, std::span<const i64> totals,
                  std::span<const i64> rows, Callable<void()> poll);

  i32 n_stats() const { return problem_.n_stats; }
  i32 table_width() const;
  i32 n_features() const { return static_cast<i32>(params_.n_bins.size()); }
  i32 n_bins(i32 feature) const { return params_.n_bins[feature]; }

 private:
  NodeView view_of(const i64* totals, i64 rows);
  void keep(const NodeView& view, const Candidate& best, Scratch& scratch, TableTests& out);

  SearchParams params_;
  std::unique_ptr<Chooser> chooser_;
  Problem problem_;
  Block none_;
};

// Features that each node draws, `count` of n from place `from` of its draw on.
std::vector<i32> drawn_features(u64 seed, std::span<const u64> path, i32 n, i32 from, i32 count);

}  // namespace treewright::blocks
