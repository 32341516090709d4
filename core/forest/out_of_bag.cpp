#include "forest/out_of_bag.hpp"

#include <algorithm>
#include <limits>

#include "binned/column_values.hpp"
#include "predict/forest_walk.hpp"

namespace treewright {
namespace {

// The features that a model reads of some rows, as one block; gaps are NaN.
template <class T>
void gather_block(const Problem& p, const std::vector<i32>& used, std::span<const u32> rows,
                  T* block) {
  constexpr i64 kTile = 64;  // rows whose lines are read once
  const i64 n = std::ssize(rows), width = p.n_features();
  for (i64 tile = 0; tile < n; tile += kTile) {
    const i64 end = std::min(tile + kTile, n);
    for (const i32 f : used) {
      const Column& column = p.columns[f];
      with_cell_type(column, [&](auto type) {
        for (i64 i = tile; i < end; ++i) {
          const auto cell = *reinterpret_cast<const decltype(type)*>(column.at(rows[i]));
          const bool is_gap = column.type == ColumnType::code && cell < 0;
          block[i * width + f] =
              is_gap ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(cell);
        }
      });
    }
  }
}

// Leaves of rows, by the predictor.
template <class T>
void walk_blocks(const Problem& p, RowBlocks& trees, bool has_gaps, std::span<const u32> rows,
                 u32* leaf) {
  const ForestModel& model = trees.model();
  const i64 n = std::ssize(rows), width = p.n_features();
  std::vector<T> block(std::min(n, kLargestBlock) * width);
  Workspace space;
  for (i64 first = 0; first < n; first += kLargestBlock) {
    const i64 count = std::min(kLargestBlock, n - first);
    gather_block(p, model.used, rows.subspan(first, count), block.data());
    constexpr Number number = std::is_same_v<T, float> ? Number::float32 : Number::float64;
    trees.run_here({count, number, block.data(), width}, has_gaps, space,
                   [&](i64, i64 start, i64 here, Workspace& s) {
                     for (i64 i = 0; i < here; ++i) {
                       leaf[first + start + i] = model.number_of(s.walk.leaf[i]);
                     }
                   });
  }
}

void walk_rows(const Problem& p, const CompactTree& tree, const std::vector<u32>& rows,
               std::vector<u32>& leaf) {
  std::vector<i32> n_categories(p.n_features(), -1);
  for (i32 f = 0; f < p.n_features(); ++f) {
    if (p.columns[f].type == ColumnType::code) n_categories[f] = p.columns[f].n_categories;
  }
  const std::vector<i64> bounds{0, std::ssize(tree.n_children)};
  RowBlocks trees({n_categories,
                   bounds,
                   tree.n_children,
                   tree.feature,
                   tree.gap_branch,
                   tree.kind,
                   tree.closed,
                   tree.n_breaks,
                   tree.n_codes,
                   tree.breaks,
                   tree.codes,
                   tree.branches,
                   {tree.n_terms, tree.term_feature, tree.term_weight, tree.term_code}});
  bool has_gaps = false, are_floats = true;
  for (const i32 f : trees.model().used) {
    has_gaps |= p.features[f].has_gaps;
    are_floats &= p.columns[f].type == ColumnType::f32;
  }
  (are_floats ? walk_blocks<float> : walk_blocks<double>)(p, trees, has_gaps, rows, leaf.data());
}

// Label with the least expected cost, the first among equals.
i32 label_of(const Problem& p, const double* weight) {
  const i32 n = p.targets.n_classes;
  i32 best = 0;
  double least = kInf;
  for (i32 j = 0; j < n; ++j) {
    double cost = 0;
    for (i32 i = 0; i < n; ++i) {
      cost += weight[i] * (p.targets.loss.empty() ? i != j : p.targets.loss[i * n + j]);
    }
    if (cost < least) {
      least = cost;
      best = j;
    }
  }
  return best;
}

// Two classes under constraints: weights at the rate that they allow.
void clip(const Problem& p, double rate, double* weight) {
  if (rate != rate) return;
  const auto& factor = p.targets.split_factor;
  const double first = factor.empty() ? 1 : factor[0], second = factor.empty() ? 1 : factor[1];
  const double share = rate * first / (rate * first + (1 - rate) * second);
  const double sum = weight[0] + weight[1];
  weight[0] = sum * (1 - share);
  weight[1] = sum * share;
}

// What rows get from each leaf of a tree.
std::vector<double> values_of_leaves(const Problem& p, const CompactTree& tree, OutOfBagKind kind,
                                     i32 width) {
  if (kind == OutOfBagKind::value) return tree.leaf_value;
  const i64 n = static_cast<i64>(tree.leaf_classes.size());
  std::vector<double> rates;
  for (std::size_t i = 0; i < tree.clipped.size(); ++i) {
    if (!tree.n_children[i]) rates.push_back(tree.clipped[i]);
  }
  std::vector<double> out(n * width, 0);
  i64 pair = 0;
  for (i64 i = 0; i < n; ++i) {
    double* weight = out.data() + i * width;
    for (i32 k = 0; k < tree.leaf_classes[i]; ++k, ++pair) {
      weight[tree.pair_class[pair]] = tree.pair_weight[pair];
    }
    if (!rates.empty()) clip(p, rates[i], weight);
    double sum = 0;
    for (i32 k = 0; k < width; ++k) {
      if (!p.targets.risk_factor.empty()) weight[k] *= p.targets.risk_factor[k];
      sum += weight[k];
    }
    if (kind == OutOfBagKind::vote) {
      const i32 label = label_of(p, weight);
      std::fill_n(weight, width, 0.0);
      weight[label] = 1;
    } else {
      for (i32 k = 0; k < width; ++k) weight[k] /= sum;
    }
  }
  return out;
}

}  // namespace

void OutOfBag::begin(const Problem& p) {
  if (kind == OutOfBagKind::none) return;
  width_ = p.is_classification() ? p.targets.n_classes : p.targets.n_outputs;
  total.resize(p.n_rows * width_, 0);
  n_trees.resize(p.n_rows, 0);
  wrong_.assign(p.n_rows, 0);
  for (i64 row = 0; row < p.n_rows; ++row) {
    if (!n_trees[row]) continue;
    ++n_known_;
    if (p.is_classification()) n_wrong_ += wrong_[row] = is_wrong(p, row);
  }
}

OutOfBagRows OutOfBag::ask(const Problem& p, const CompactTree& tree,
                           const std::vector<i32>& counts) const {
  OutOfBagRows out;
  if (kind == OutOfBagKind::none) return out;
  for (i64 i = 0; i < p.n_rows; ++i) {
    if (!counts[i]) out.rows.push_back(static_cast<u32>(i));
  }
  out.leaf.resize(out.rows.size());
  walk_rows(p, tree, out.rows, out.leaf);
  out.leaf_values = values_of_leaves(p, tree, kind, width_);
  return out;
}

void OutOfBag::add(const Problem& p, const OutOfBagRows& answer) {
  if (kind == OutOfBagKind::none) return;
  const bool classes = p.is_classification();
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const i64 row = answer.rows[i];
    const double* value = answer.leaf_values.data() + static_cast<i64>(answer.leaf[i]) * width_;
    for (i32 k = 0; k < width_; ++k) total[row * width_ + k] += value[k];
    n_known_ += !n_trees[row]++;
    if (!classes) continue;
    n_wrong_ -= wrong_[row];
    n_wrong_ += wrong_[row] = is_wrong(p, row);
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  errors.push_back(!n_known_ ? none
                   : classes ? static_cast<double>(n_wrong_) / static_cast<double>(n_known_)
                             : number_error(p));
}

bool OutOfBag::is_wrong(const Problem& p, i64 row) const {
  const double* votes = total.data() + row * width_;
  return std::max_element(votes, votes + width_) - votes != p.targets.label[row];
}

double OutOfBag::number_error(const Problem& p) const {
  double sum = 0;
  for (i64 row = 0; row < p.n_rows; ++row) {
    for (i32 k = 0; n_trees[row] && k < width_; ++k) {
      const double off = total[row * width_ + k] / n_trees[row] - p.targets.y[row * width_ + k];
      sum += off * off;
    }
  }
  return sum / (static_cast<double>(n_known_) * width_);
}

}  // namespace treewright
