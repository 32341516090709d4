#include "forest/out_of_bag.hpp"

#include <algorithm>
#include <limits>

#include "base/ordered.hpp"
#include "binned/column_values.hpp"
#include "predict/forest_model.hpp"
#include "predict/row_keys.hpp"

namespace treewright {
namespace {

// Leaves of rows down one tree whose tests are all single cuts, many rows at once.
template <class Node>
void walk_block(const Problem& p, const ForestModel& model, const std::vector<u32>& rows,
                std::vector<u32>& leaf) {
  constexpr i64 kTogether = 32768, kTile = 64;  // rows; a tile's lines are read once
  const i64 n = std::ssize(rows), width = row_width<typename Node::Key>(p.n_features());
  std::vector<typename Node::Key> keys((std::min(n, kTogether) + BlockWalk::kSpareRows) * width);
  BlockWalk walk;
  for (i64 start = 0; start < n; start += kTogether) {
    const i64 count = std::min(kTogether, n - start);
    for (i64 tile = 0; tile < count; tile += kTile) {
      const i64 end = std::min(tile + kTile, count);
      for (const i32 f : model.used) {
        with_cell_type(p.columns[f], [&](auto type) {
          for (i64 i = tile; i < end; ++i) {
            const char* cell = p.columns[f].at(rows[start + i]);
            const auto value = *reinterpret_cast<const decltype(type)*>(cell);
            keys[i * width + f] = ordered(static_cast<typename Node::Value>(value));
          }
        });
      }
    }
    walk.run(model.tree(0, Node{}), {keys.data(), width, count}, nullptr);
    for (i64 i = 0; i < count; ++i) leaf[start + i] = model.number_of(walk.leaf[i]);
  }
}

// The same for any tree and with gaps.
void walk_pieces(const Problem& p, const ForestModel& model, const std::vector<u32>& rows,
                 std::vector<u32>& leaf) {
  const predict::Router& router = model.router(0);
  std::vector<double> scratch(static_cast<std::size_t>(p.n_features()) * predict::max_piece);
  const i64 n = std::ssize(rows);
  for (i64 start = 0; start < n; start += predict::max_piece) {
    const i64 count = std::min<i64>(predict::max_piece, n - start);
    for (const i32 f : model.used) {
      const Column& column = p.columns[f];
      for (i64 i = 0; i < count; ++i) {
        const u32 row = rows[start + i];
        double x = column.type == ColumnType::code ? column.code(row) : column.value(row);
        if (column.type == ColumnType::code && x < 0) x = std::numeric_limits<double>::quiet_NaN();
        scratch[static_cast<std::size_t>(f) * predict::max_piece + i] = x;
      }
    }
    std::int32_t node[predict::max_piece];
    predict::walk<false>(router, predict::Block<double, predict::max_piece>{scratch.data(), 1},
                         static_cast<std::int32_t>(count), node);
    for (i64 i = 0; i < count; ++i) {
      leaf[start + i] = static_cast<u32>(model.leaf_number(0, node[i]));
    }
  }
}

// Leaves of rows, by the predictor.
void walk_rows(const Problem& p, const CompactTree& tree, const std::vector<u32>& rows,
               std::vector<u32>& leaf) {
  std::vector<i32> n_categories(p.n_features(), -1);
  for (i32 f = 0; f < p.n_features(); ++f) {
    if (p.columns[f].type == ColumnType::code) n_categories[f] = p.columns[f].n_categories;
  }
  const std::vector<i64> bounds{0, std::ssize(tree.n_children)};
  ForestModel model({n_categories, bounds, tree.n_children, tree.feature, tree.gap_branch,
                     tree.kind, tree.closed, tree.n_breaks, tree.n_codes, tree.breaks, tree.codes,
                     tree.branches});
  bool has_gaps = false, are_floats = true;
  for (const i32 f : model.used) {
    has_gaps |= p.features[f].has_gaps;
    are_floats &= p.columns[f].type == ColumnType::f32;
  }
  if (has_gaps || !model.is_plain()) {
    model.need_routers();
    walk_pieces(p, model, rows, leaf);
  } else if (are_floats && model.need_floats()) {
    walk_block<FloatNode>(p, model, rows, leaf);
  } else {
    model.need_doubles();
    walk_block<DoubleNode>(p, model, rows, leaf);
  }
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
