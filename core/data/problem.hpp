// What one fit works on: columns, targets and parameters, prepared once.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "base/callable.hpp"
#include "base/types.hpp"
#include "data/block.hpp"

namespace treewright {

class RowMatrix;

// What is known of a table before anything is predicted.
struct Design {
  std::vector<Column> columns;
  std::vector<FeatureInfo> features;
  // Values that thresholds may take, per feature, where a part of a training set is grown; empty
  // where they are those of the columns.
  std::vector<std::span<const double>> cut_values;
  i64 n_rows = 0;
  i32 n_sorted = 0, n_coded = 0;
  i32 n_tabled = 0;    // features with a table per node,
  i64 table_rows = 0;  // and the rows of all their tables
  bool any_gaps = false;
  bool searchable = true;             // false: a Python chooser searches, columns stay as they are
  const RowMatrix* matrix = nullptr;  // of a forest: its ordered features are not kept sorted
  bool tries_all_cuts = true;         // in large nodes of a forest too
};

// What is predicted: targets and weights of the rows, scaled to integers (see scale_targets). It
// may change while the design stays.
struct Response {
  Targets targets;
  bool unit = true;      // all weights are one
  i32 n_stats = 0;       // length of a stats vector
  bool squares = false;  // stats carry w·y² as well
  std::vector<u16> label;
  std::vector<i64> weight, wy, wy2;
  double weight_unit = 1;  // weight = scaled weight × weight_unit, a power of two
  double y_unit = 1;
  double y2_unit = 1;
  std::vector<i64> total;  // stats of all rows
};

struct Problem : Design, Response {
  Params params;

  // A user's compiled criterion: the score of one cut from the stats of its sides, as numbers.
  using OneCut = double (*)(const double* left, const double* right, i64 n_stats);
  OneCut one_cut = nullptr;

  // Turns entry k of a stats vector into a number.
  double stat_unit(i32 k) const {
    if (is_classification() || k == 0) return weight_unit;
    return k <= targets.n_outputs ? y_unit : y2_unit;
  }

  i32 n_features() const { return static_cast<i32>(columns.size()); }
  bool is_classification() const { return params.task == Task::classes; }

  // Scaled weight of a stats vector.
  i64 weight_of(const i64* stats) const {
    if (!is_classification()) return stats[0];
    i64 sum = 0;
    for (i32 k = 0; k < targets.n_classes; ++k) sum += stats[k];
    return sum;
  }
};

// Adds one instance to a stats vector.
template <bool Classes, bool Unit>
inline void add_instance(const Problem& p, const TargetArrays& t, i64 id, i64* stats) {
  if constexpr (Classes) {
    stats[t.label[id]] += Unit ? 1 : t.weight_of(id);
  } else {
    const i32 outputs = p.targets.n_outputs;
    stats[0] += Unit ? 1 : t.weight_of(id);
    for (i32 o = 0; o < outputs; ++o) stats[1 + o] += t.wy[id * outputs + o];
    if (p.squares) {
      for (i32 o = 0; o < outputs; ++o) stats[1 + outputs + o] += t.wy2[id * outputs + o];
    }
  }
}

// Calls f(classes, unit) with compile-time flags.
template <class F>
inline void with_target_kind(const Problem& p, F&& f) {
  if (p.is_classification()) {
    p.unit ? f(std::true_type{}, std::true_type{}) : f(std::true_type{}, std::false_type{});
  } else {
    p.unit ? f(std::false_type{}, std::true_type{}) : f(std::false_type{}, std::false_type{});
  }
}

inline void add_any(const Problem& p, const TargetArrays& t, i64 id, i64* stats) {
  with_target_kind(p, [&](auto classes, auto unit) {
    add_instance<classes.value, unit.value>(p, t, id, stats);
  });
}

// Scales weights and targets to integers; sums of rows drawn `n_draws` times in all stay in range.
void scale_targets(Problem& p, i64 n_draws = 0);

// Codes of a categorical column in the narrowest width.
Memory coded_column(const Problem& p, i32 f, FeatureInfo& info);

// Ranks or codes every column, scales weights and targets to integers (so that sums do not depend
// on order) and builds the root block. The calling thread calls poll() between columns.
std::shared_ptr<Block> root_block(Problem& p, Callable<void()> poll);

}  // namespace treewright
