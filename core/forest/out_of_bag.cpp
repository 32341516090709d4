#include "forest/out_of_bag.hpp"

#include <algorithm>
#include <limits>

#include "predict/forest_model.hpp"
#include "predict/key_walk.hpp"
#include "predict/structure.hpp"

namespace treewright {
namespace {

// Whether every test of a tree is one cut of a feature that is kept by row and has no gaps.
bool walks_by_key(const Problem& p, const CompactTree& tree) {
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    const FeatureInfo& info = p.features[tree.feature[i]];
    if (info.store != Store::by_row || info.has_gaps || tree.n_breaks[i] != 1) return false;
  }
  return std::all_of(tree.n_children.begin(), tree.n_children.end(),
                     [](i32 n) { return n == 0 || n == 2; });
}

// Ends of rows, as node numbers, by the keys that the forest was grown with.
void walk_by_key(const Problem& p, const CompactTree& tree, const std::vector<u32>& rows,
                 std::vector<u32>& end) {
  const std::vector<i32> first = first_children(tree.n_children);
  std::vector<KeyNode> nodes(first.size());
  std::size_t inner = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] < 0) {
      nodes[i] = {kNoCut, 0, static_cast<u32>(i)};
      continue;
    }
    const i32 slot = p.features[tree.feature[inner]].slot;
    const i32 cut = p.matrix->features[slot].last_left(tree.breaks[inner], tree.closed[inner]);
    nodes[i] = {cut, static_cast<u32>(slot), static_cast<u32>(first[i])};
    ++inner;
  }
  const i64 n = static_cast<i64>(rows.size());
  if (!n) return;
  end.resize(n + 2 * kLanes);
  auto walk = [&](i64 start, i64 count, auto&& keys) {
    walk_rows(
        nodes.data(), count, keys, [&](u32 i) { __builtin_prefetch(keys(i)); }, end.data() + start);
  };
  if (!p.matrix->n_binary() && !p.matrix->has_short_keys()) {
    walk(0, n, [&](u32 i) { return p.matrix->keys(rows[i]); });
  } else {
    // Binary features have keys here too, all of one width, of some rows at a time.
    constexpr i64 kTogether = 1024;
    const RowCells cells = p.matrix->cells();
    const i32 width = static_cast<i32>(p.matrix->features.size());
    std::vector<i32> spread(kTogether * width);
    for (i64 start = 0; start < n; start += kTogether) {
      const i64 count = std::min(kTogether, n - start);
      for (i64 i = 0; i < count; ++i) {
        for (i32 slot = 0; slot < width; ++slot) {
          spread[i * width + slot] = p.matrix->key(cells, rows[start + i], slot);
        }
      }
      walk(start, count, [&](u32 i) -> const i32* { return spread.data() + i * width; });
    }
  }
  end.resize(n);
}

// The same by the general predictor, on values of the table.
void walk_by_value(const Problem& p, const CompactTree& tree, const std::vector<u32>& rows,
                   std::vector<u32>& end) {
  std::vector<i32> n_categories(p.n_features(), -1);
  for (i32 f = 0; f < p.n_features(); ++f) {
    if (p.columns[f].type == ColumnType::code) n_categories[f] = p.columns[f].n_categories;
  }
  const std::vector<i64> bounds{0, static_cast<i64>(tree.n_children.size())};
  ForestModel model({n_categories, bounds, tree.n_children, tree.feature, tree.gap_branch,
                     tree.kind, tree.closed, tree.n_breaks, tree.n_codes, tree.breaks, tree.codes,
                     tree.branches});
  model.need_routers();
  const predict::Router& router = model.router(0);
  std::vector<double> scratch(static_cast<std::size_t>(p.n_features()) * predict::max_piece);
  const i64 n = static_cast<i64>(rows.size());
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
    std::copy_n(node, count, end.begin() + start);
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
  walks_by_key(p, tree) ? walk_by_key(p, tree, out.rows, out.leaf)
                        : walk_by_value(p, tree, out.rows, out.leaf);
  std::vector<u32> number(tree.n_children.size());
  u32 next = 0;
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = tree.n_children[i] ? 0 : next++;
  for (u32& node : out.leaf) node = number[node];
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
