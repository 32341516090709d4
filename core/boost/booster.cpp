#include "boost/booster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "base/team.hpp"
#include "base/threads.hpp"
#include "boost/grower.hpp"
#include "boost/percentile.hpp"
#include "boost/slopes.hpp"

namespace treewright::boost {
namespace {

constexpr i64 kBlock = 8192;  // rows of a pass that one thread handles at a time

i64 n_blocks(i64 n_rows) { return (n_rows + kBlock - 1) / kBlock; }

template <class Body>
void each_block(i64 n_rows, int n_threads, Body&& body) {
  parallel_for(n_blocks(n_rows), n_threads, [&](i64 block, int) {
    body(block, block * kBlock, std::min(n_rows, (block + 1) * kBlock));
  });
}

// Leaf of a row of bytes.
inline i32 stored_leaf(const BinTree& tree, const u8* row) {
  i32 at = 0;
  while (tree.nodes[at].left >= 0) {
    const BinSplit& split = tree.splits[tree.nodes[at].split];
    at = tree.nodes[at].left + !split.left_bytes.has(row[split.column]);
  }
  return at;
}

void add_tree(const BinTree& tree, const Bins& bins, double* score, int n_threads) {
  each_block(bins.n_rows(), n_threads, [&](i64, i64 first, i64 last) {
    for (i64 i = first; i < last; ++i) score[i] += tree.nodes[stored_leaf(tree, bins.row(i))].value;
  });
}

}  // namespace

template <class Sum>
struct Booster::Hand {
  Hand(const Bins& bins, const GrowParams& params, int n_threads)
      : grower(bins, params, n_threads) {}
  Grower<Sum> grower;
  std::vector<Sum> sums;
  std::vector<PackedRow> packed;  // instead, where units are coarse
};

Booster::Booster(Judged training_rows, GrowParams grow, LossParams loss, SamplingParams sampling,
                 int n_threads)
    : training(std::move(training_rows)),
      grow_(std::move(grow)),
      loss_(loss),
      sampling_(sampling),
      n_threads_(n_threads),
      n_counted_(training.n_rows()),
      delta_(loss.n_columns, 0.0),
      scales_(loss.n_columns) {
  if (!training.count.empty()) {
    n_counted_ = std::accumulate(training.count.begin(), training.count.end(), i64{0});
  }
  if (!training.factor.empty()) {
    const double most = *std::max_element(training.factor.begin(), training.factor.end());
    factor_unit_ = factor_unit(most, n_counted_);
  }
  loss_unit_ = unit_at_start();
}

Booster::~Booster() = default;

bool Booster::is_narrow() const {
  bool equal = false;
  with_loss(loss_.kind, [&](auto loss) { equal = decltype(loss)::kEqualHessian; });
  return equal && training.factor.empty() && !sampling_.has_factors();
}

void Booster::round(const RoundParams& params, Callable<void()> poll) {
  const Team team;
  if (loss_.kind == LossKind::multinomial) class_probabilities();
  for (i32 k = 0; loss_.kind == LossKind::huber && k < loss_.n_columns; ++k)
    delta_[k] = huber_delta(k);
  is_narrow() ? grow_all<NarrowSum>(params, poll) : grow_all<WideSum>(params, poll);
}

template <class Sum>
void Booster::grow_all(const RoundParams& params, Callable<void()> poll) {
  const i32 n = loss_.n_columns;
  const std::size_t before = trees.size();
  trees.resize(before + n);
  try {
    // Trees of several columns share threads among them; a single one has them all.
    const int hands_wanted = std::min<int>(n, n_threads_);
    const int each = hands_wanted > 1 ? 1 : n_threads_;
    hands_.resize(std::max(hands_wanted, 1));
    parallel_for(n, hands_wanted, [&](i64 column, int thread) {
      std::shared_ptr<void>& hand = hands_[thread];
      if (!hand) hand = std::make_shared<Hand<Sum>>(*training.bins, grow_, each);
      auto nothing = [] {};
      grow_column<Sum>(params, static_cast<i32>(column), *static_cast<Hand<Sum>*>(hand.get()), each,
                       thread ? Callable<void()>(nothing) : poll);
    });
  } catch (...) {
    trees.resize(before);
    throw;
  }
}

template <class Sum>
void Booster::grow_column(const RoundParams& params, i32 column, Hand<Sum>& hand, int n_threads,
                          Callable<void()> poll) {
  const i64 number = params.number * loss_.n_columns + column;
  Units units = fill(params, column, hand, n_threads);
  RowSample sample;
  if (sampling_.is_on()) {
    std::vector<double> size;
    if (sampling_.has_factors()) {
      size.resize(training.n_rows());
      for (i64 i = 0; i < training.n_rows(); ++i) {
        const Moments m = units.read(hand.sums[i]);
        size[i] = sampling_.kind == SamplingKind::goss ? std::abs(m.gradient)
                                                       : std::hypot(m.gradient, m.hessian);
      }
    }
    sample = draw_rows(sampling_, number, training.n_rows(), size);
    if (!sample.factor.empty()) {
      const double most = *std::max_element(sample.factor.begin(), sample.factor.end());
      Scale scale = scales_[column];
      scale.gradient += Scale::power_above(most);
      scale.hessian += Scale::power_above(most);
      const Units wider(n_counted_, scale, 1, SumKind::wide, 0);
      for (std::size_t i = 0; i < sample.rows.size(); ++i) {
        const u32 row = sample.rows[i];
        const Moments m = units.read(hand.sums[row]);
        const double each = sample.factor[i] / static_cast<double>(m.n_rows);
        wider.pack(m.gradient * each, m.hessian * each, m.n_rows, row, hand.sums[row]);
      }
      units = wider;
    }
  }
  RowSums<Sum> sums{hand.sums.data(), nullptr, units.row_bits()};
  if (units.is_coarse()) sums.packed = hand.packed.data();
  BinTree tree = hand.grower.grow(sums, units, sampling_.is_on() ? &sample.rows : nullptr,
                                  child_path(grow_.seed, static_cast<i32>(number)), poll);
  renew(hand.grower, column, tree, n_threads);
  for (i64 i = 0; i < hand.grower.n_leaves(); ++i) {
    const auto [node, rows] = hand.grower.leaf(i);
    tree.nodes[node].weight = weight_of(rows);
    tree.nodes[node].value *= params.learning_rate;
  }
  follow(hand.grower, tree, column, sampling_.is_on(), n_threads);
  trees[trees.size() - loss_.n_columns + column] = std::move(tree);
}

template <class Sum>
Units Booster::fill(const RoundParams& params, i32 column, Hand<Sum>& hand, int n_threads) {
  const i64 n = training.n_rows(), start = column * n;
  const double* score = training.score.data() + start;
  const double a = loss_.kind == LossKind::huber ? delta_[column] : loss_.number;
  const u64 key =
      child_path(grow_.seed, static_cast<i32>(params.number * loss_.n_columns + column));
  // From the slope of a row to those of several.
  auto each = [&](auto&& slope_of) {
    return fill_with(column, hand, key, n_threads, [&](i64 first, i64 m, double* g, double* h) {
      for (i64 i = 0; i < m; ++i) {
        const Slope slope = slope_of(first + i);
        g[i] = slope.gradient, h[i] = slope.hessian;
      }
    });
  };
  if (loss_.kind == LossKind::given) {
    return each([&](i64 i) {
      return Slope{params.gradient[start + i], std::max(params.hessian[start + i], 0.0)};
    });
  }
  if (loss_.kind == LossKind::multinomial) {
    const float* p = probability_.data() + start;
    return each([&](i64 i) { return class_slope(p[i], training.y[i] == column); });
  }
  const double* y = training.y.data() + start;
  if (loss_.kind == LossKind::logistic) {
    return fill_with(column, hand, key, n_threads, [&](i64 first, i64 m, double* g, double* h) {
      logistic_slopes(score + first, y + first, m, g, h);
    });
  }
  std::optional<Units> units;
  with_loss(loss_.kind, [&](auto loss) {
    units = each([&](i64 i) { return decltype(loss)::slope(score[i], y[i], a); });
  });
  return *units;
}

// One pass where slopes have the scale of the last round; otherwise another.
template <class Sum, class Slopes>
Units Booster::fill_with(i32 column, Hand<Sum>& hand, u64 key, int n_threads, Slopes&& slopes_of) {
  constexpr i64 kStrip = 256;  // rows whose slopes are made at once
  constexpr bool is_narrow = std::is_same_v<Sum, NarrowSum>;
  const i64 n = training.n_rows();
  const bool may_be_coarse = !is_narrow && training.count.empty() && training.factor.empty() &&
                             !sampling_.has_factors() && n >= kCoarseRows;
  Scale& scale = scales_[column];
  std::vector<SlopeRange> ranges(n_blocks(n));
  for (;;) {
    const Units units(n_counted_, scale, 1.0, kind_of<Sum>, key);
    if (scale.is_coarse) {
      hand.packed.resize(n);
    } else {
      hand.sums.resize(n);
    }
    each_block(n, n_threads, [&](i64 block, i64 first, i64 last) {
      double g[kStrip], h[kStrip];
      SlopeRange range;
      for (i64 start = first; start < last; start += kStrip) {
        const i64 m = std::min(kStrip, last - start);
        slopes_of(start, m, g, h);
        for (i64 i = 0; !training.factor.empty() && i < m; ++i) {
          g[i] *= training.factor[start + i], h[i] *= training.factor[start + i];
        }
        range.add(bound_slopes(scale, m, g, h));
        if (scale.is_coarse) {
          pack_rows(units, g, h, start, m, hand.packed.data() + start);
        } else {
          for (i64 i = 0; i < m; ++i) {
            const i64 row = start + i;
            units.pack(g[i], h[i], training.count_of(row), static_cast<u32>(row), hand.sums[row]);
          }
        }
      }
      ranges[block] = range;
    });
    SlopeRange range;
    for (const SlopeRange& part : ranges) range.add(part);
    const Scale found = range.scale(scale, n, may_be_coarse);
    if (found == scale) return units;
    scale = found;
  }
}

void Booster::class_probabilities() {
  const i64 n = training.n_rows();
  probability_.resize(n * loss_.n_columns);
  each_block(n, n_threads_, [&](i64, i64 first, i64 last) {
    boost::class_probabilities(training.score.data(), n, loss_.n_columns, first, last,
                               probability_.data());
  });
}

// Summed as integers: the order of rows does not matter.
double Booster::weight_of(std::span<const u32> rows) const {
  if (training.count.empty() && training.factor.empty()) return static_cast<double>(rows.size());
  i64 total = 0;
  for (const u32 row : rows) {
    total += training.count_of(row) * std::llrint(training.factor_of(row) / factor_unit_);
  }
  return static_cast<double>(total) * factor_unit_;
}

double Booster::huber_delta(i32 column) const {
  const i64 n = training.n_rows();
  std::vector<Weighed> off(n);
  for (i64 i = 0; i < n; ++i) {
    off[i] = {std::abs(training.y[column * n + i] - training.score[column * n + i]),
              training.weight_of(i)};
  }
  return weighted_percentile(off, loss_.number);
}

// Leaves of losses whose slope says little about how far to go get the best value for their rows.
template <class Sum>
void Booster::renew(const Grower<Sum>& grower, i32 column, BinTree& tree, int n_threads) const {
  const LossKind kind = loss_.kind;
  if (kind != LossKind::absolute && kind != LossKind::quantile && kind != LossKind::huber) return;
  const i64 start = column * training.n_rows();
  parallel_for(grower.n_leaves(), n_threads, [&](i64 at, int) {
    const auto [node, rows] = grower.leaf(at);
    std::vector<Weighed> off;
    off.reserve(rows.size());
    for (const u32 row : rows) {
      off.push_back(
          {training.y[start + row] - training.score[start + row], training.weight_of(row)});
    }
    double value = weighted_percentile(off, kind == LossKind::quantile ? loss_.number : 0.5);
    if (kind == LossKind::huber) value += mean_within(off, value, delta_[column]);
    tree.nodes[node].value = value;
  });
}

template <class Sum>
void Booster::follow(const Grower<Sum>& grower, const BinTree& tree, i32 column, bool is_sampled,
                     int n_threads) {
  double* score = training.score.data() + column * training.n_rows();
  if (is_sampled) {
    add_tree(tree, *training.bins, score, n_threads);
  } else {
    parallel_for(grower.n_leaves(), n_threads, [&](i64 at, int) {
      const auto [node, rows] = grower.leaf(at);
      const double value = tree.nodes[node].value;
      for (const u32 row : rows) score[row] += value;
    });
  }
  for (Judged& other : others) {
    add_tree(tree, *other.bins, other.score.data() + column * other.n_rows(), n_threads);
  }
}

namespace {

// Losses of many rows at once.
struct LogisticLosses {
  const double *score, *y;
  double operator()(i64 row) const { return Logistic::loss(score[row], y[row], 0); }
  void fill(i64 first, i64 n, double* loss) const {
    logistic_losses(score + first, y + first, n, loss);
  }
};

struct ClassLosses {
  const double *score, *y;
  i64 n_rows, n_columns;
  double operator()(i64 row) const {
    return class_loss(score + row, n_rows, static_cast<i32>(n_columns), y[row]);
  }
  void fill(i64 first, i64 n, double* loss) const {
    class_losses(score, y, n_rows, n_columns, first, first + n, loss);
  }
};

}  // namespace

template <class OfRow>
LossSum Booster::sum_losses(const Judged& rows, double factor_unit, OfRow&& of_row) const {
  const i64 n = rows.n_rows();
  std::vector<LossSum> parts(n_blocks(n));
  const i32* count = rows.count.empty() ? nullptr : rows.count.data();
  const double* factor = rows.factor.empty() ? nullptr : rows.factor.data();
  each_block(n, n_threads_, [&](i64 block, i64 first, i64 last) {
    double each[256];
    for (i64 start = first; start < last && parts[block].is_finite; start += 256) {
      const i64 n_each = std::min<i64>(256, last - start);
      if constexpr (requires { of_row.fill(start, n_each, each); }) {
        of_row.fill(start, n_each, each);
      } else {
        for (i64 i = 0; i < n_each; ++i) each[i] = of_row(start + i);
      }
      parts[block].add_rows(loss_unit_, factor_unit, each, n_each, count ? count + start : nullptr,
                            factor ? factor + start : nullptr);
    }
  });
  LossSum total;
  for (const LossSum& part : parts) total.add(part);
  return total;
}

// Calls f(loss of a row) for each column of scores, or once for all of them.
template <class F>
void Booster::each_loss(const Judged& rows, F&& f) const {
  const i64 n = rows.n_rows();
  const i32 n_columns = loss_.n_columns;
  if (loss_.kind == LossKind::multinomial) {
    f(ClassLosses{rows.score.data(), rows.y.data(), n, n_columns});
    return;
  }
  for (i32 k = 0; k < n_columns; ++k) {
    const double a = loss_.kind == LossKind::huber ? delta_[k] : loss_.number;
    with_loss(loss_.kind, [&](auto loss) {
      const double *score = rows.score.data() + k * n, *y = rows.y.data() + k * n;
      if constexpr (std::is_same_v<decltype(loss), Logistic>) {
        f(LogisticLosses{score, y});
      } else {
        f([=](i64 i) { return decltype(loss)::loss(score[i], y[i], a); });
      }
    });
  }
}

LossUnit Booster::unit_at_start() {
  for (i32 k = 0; loss_.kind == LossKind::huber && k < loss_.n_columns; ++k)
    delta_[k] = huber_delta(k);
  double most = 0;
  each_loss(training, [&](auto&& of_row) {
    for (i64 i = 0; i < training.n_rows(); ++i) {
      most = std::max(most, std::abs(of_row(i)) * training.factor_of(i));
    }
  });
  std::fill(delta_.begin(), delta_.end(), 0.0);  // a round finds its own
  return LossUnit::above(most);
}

double Booster::loss(const Judged& rows) const {
  double unit = factor_unit_;
  if (training.factor.empty() && !rows.factor.empty()) {  // weights of an eval_set alone
    unit = factor_unit(*std::max_element(rows.factor.begin(), rows.factor.end()), rows.n_rows());
  }
  LossSum total;
  each_loss(rows, [&](auto&& of_row) { total.add(sum_losses(rows, unit, of_row)); });
  return total.mean(loss_unit_, unit);
}

}  // namespace treewright::boost
