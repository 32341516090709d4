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

// The power of two that a number does not exceed.
int power_above(double v) {
  int power = 0;
  const double part = std::frexp(v, &power);
  return v > 0 ? std::max(power - (part == 0.5), -200) : -200;
}

// Leaf of a row in a tree of bins.
inline i32 leaf_of(const BinTree& tree, const u8* row) {
  i32 at = 0;
  while (tree.nodes[at].left >= 0) {
    const BinSplit& split = tree.splits[tree.nodes[at].split];
    at = tree.nodes[at].left + !split.left.has(row[split.feature]);
  }
  return at;
}

void add_tree(const BinTree& tree, const Bins& bins, double* score, int n_threads) {
  each_block(bins.n_rows(), n_threads, [&](i64, i64 first, i64 last) {
    for (i64 i = first; i < last; ++i) score[i] += tree.nodes[leaf_of(tree, bins.row(i))].value;
  });
}

}  // namespace

template <class Sum>
struct Booster::Hand {
  Hand(const Bins& bins, const GrowParams& params, int n_threads)
      : grower(bins, params, n_threads) {}
  Grower<Sum> grower;
  std::vector<Sum> sums;
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
      powers_(loss.n_columns) {
  if (!training.count.empty()) {
    n_counted_ = std::accumulate(training.count.begin(), training.count.end(), i64{0});
  }
  if (!training.factor.empty()) {
    const double most = *std::max_element(training.factor.begin(), training.factor.end());
    factor_unit_ = std::ldexp(1.0, power_above(most) - std::min(50, 62 - Units::bits(n_counted_)));
  }
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
  fill(params, column, hand.sums, n_threads);
  Units units = units_of<Sum>(column);
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
    sample =
        draw_rows(sampling_, params.number * loss_.n_columns + column, training.n_rows(), size);
    if (!sample.factor.empty()) {
      const double most = *std::max_element(sample.factor.begin(), sample.factor.end());
      const Units wider(n_counted_, powers_[column].gradient + power_above(most),
                        powers_[column].hessian + power_above(most), 1, false);
      for (std::size_t i = 0; i < sample.rows.size(); ++i) {
        const Moments m = units.read(hand.sums[sample.rows[i]]);
        const double each = sample.factor[i] / static_cast<double>(m.n_rows);
        wider.pack(m.gradient * each, m.hessian * each, m.n_rows, hand.sums[sample.rows[i]]);
      }
      units = wider;
    }
  }
  const i64 number = params.number * loss_.n_columns + column;
  BinTree tree =
      hand.grower.grow(hand.sums.data(), units, sampling_.is_on() ? &sample.rows : nullptr,
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
Units Booster::units_of(i32 column) const {
  return Units(n_counted_, powers_[column].gradient, powers_[column].hessian, 1.0,
               std::is_same_v<Sum, NarrowSum>);
}

template <class Sum>
void Booster::fill(const RoundParams& params, i32 column, std::vector<Sum>& sums, int n_threads) {
  const i64 n = training.n_rows(), start = column * n;
  const double* score = training.score.data() + start;
  const double a = loss_.kind == LossKind::huber ? delta_[column] : loss_.number;
  if (loss_.kind == LossKind::given) {
    fill_with(column, sums, n_threads, [&](i64 i) {
      const double w = training.factor_of(i);
      return Slope{params.gradient[start + i] * w, params.hessian[start + i] * w};
    });
  } else if (loss_.kind == LossKind::multinomial) {
    const float* p = probability_.data() + start;
    fill_with(column, sums, n_threads, [&](i64 i) {
      const Slope slope = class_slope(p[i], training.y[i] == column);
      const double w = training.factor_of(i);
      return Slope{slope.gradient * w, slope.hessian * w};
    });
  } else {
    const double* y = training.y.data() + start;
    with_loss(loss_.kind, [&](auto loss) {
      using Loss = decltype(loss);
      if (training.factor.empty()) {
        fill_with(column, sums, n_threads, [&](i64 i) { return Loss::slope(score[i], y[i], a); });
      } else {
        fill_with(column, sums, n_threads, [&](i64 i) {
          const Slope slope = Loss::slope(score[i], y[i], a);
          return Slope{slope.gradient * training.factor[i], slope.hessian * training.factor[i]};
        });
      }
    });
  }
}

// One pass where the powers of the last round do; where a slope exceeds them, a second one.
template <class Sum, class SlopeOf>
void Booster::fill_with(i32 column, std::vector<Sum>& sums, int n_threads, SlopeOf&& slope_of) {
  const i64 n = training.n_rows();
  sums.resize(n);
  std::vector<double> most_gradient(n_blocks(n)), most_hessian(n_blocks(n));
  for (;;) {
    const Units units = units_of<Sum>(column);
    const double gradient_limit = std::ldexp(1.0, powers_[column].gradient);
    const double hessian_limit = std::ldexp(1.0, powers_[column].hessian);
    each_block(n, n_threads, [&](i64 block, i64 first, i64 last) {
      double g = 0, h = 0;
      for (i64 i = first; i < last; ++i) {
        const Slope slope = slope_of(i);
        g = std::max(g, std::abs(slope.gradient));
        h = std::max(h, slope.hessian);
        units.pack(std::clamp(slope.gradient, -gradient_limit, gradient_limit),
                   std::clamp(slope.hessian, 0.0, hessian_limit), training.count_of(i), sums[i]);
      }
      most_gradient[block] = g;
      most_hessian[block] = h;
    });
    const int gradient = power_above(*std::max_element(most_gradient.begin(), most_gradient.end()));
    const int hessian = power_above(*std::max_element(most_hessian.begin(), most_hessian.end()));
    Powers& known = powers_[column];
    const bool fits = gradient <= known.gradient && hessian <= known.hessian;
    // Powers that fall are followed only from afar: a second pass costs more than a few bits.
    if (fits && gradient > known.gradient - 8 && hessian > known.hessian - 8) return;
    if (fits && gradient == -200) return;
    known = {gradient, hessian};
  }
}

void Booster::class_probabilities() {
  const i64 n = training.n_rows(), n_columns = loss_.n_columns;
  probability_.resize(n * n_columns);
  const double* score = training.score.data();
  each_block(n, n_threads_, [&](i64, i64 first, i64 last) {
    const i64 count = last - first;
    std::vector<double> most(count, -kInf), total(count, 0.0);
    for (i64 k = 0; k < n_columns; ++k) {
      for (i64 i = 0; i < count; ++i) most[i] = std::max(most[i], score[k * n + first + i]);
    }
    for (i64 k = 0; k < n_columns; ++k) {
      for (i64 i = 0; i < count; ++i) {
        const double e = quick_exp(score[k * n + first + i] - most[i]);
        total[i] += e;
        probability_[k * n + first + i] = static_cast<float>(e);
      }
    }
    for (i64 k = 0; k < n_columns; ++k) {
      for (i64 i = 0; i < count; ++i) {
        probability_[k * n + first + i] =
            static_cast<float>(probability_[k * n + first + i] / total[i]);
      }
    }
  });
}

// Summed as integers: the order of rows does not matter.
double Booster::weight_of(std::span<const u32> rows) const {
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

double Booster::loss(const Judged& rows) const {
  const i64 n = rows.n_rows();
  std::vector<double> parts(n_blocks(n)), weights(n_blocks(n));
  const i32 n_columns = loss_.n_columns;
  auto sum_up = [&](auto&& of_row) {
    each_block(n, n_threads_, [&](i64 block, i64 first, i64 last) {
      double sum = 0, weight = 0, each[256];
      const bool is_plain = rows.factor.empty() && rows.count.empty();
      for (i64 start = first; start < last; start += 256) {
        const i64 n_each = std::min<i64>(256, last - start);
        for (i64 i = 0; i < n_each; ++i) each[i] = of_row(start + i);  // many at once
        for (i64 i = 0; i < n_each; ++i) {
          const double w = is_plain ? 1.0 : rows.weight_of(start + i);
          sum += w * each[i];
          weight += w;
        }
      }
      parts[block] += sum;
      weights[block] += weight;
    });
  };
  if (loss_.kind == LossKind::multinomial) {
    sum_up([&](i64 i) {
      double most = -kInf, total = 0;
      for (i32 k = 0; k < n_columns; ++k) most = std::max(most, rows.score[k * n + i]);
      for (i32 k = 0; k < n_columns; ++k) total += quick_exp(rows.score[k * n + i] - most);
      return std::log(total) + most - rows.score[static_cast<i64>(rows.y[i]) * n + i];
    });
  } else {
    for (i32 k = 0; k < n_columns; ++k) {
      const double a = loss_.kind == LossKind::huber ? delta_[k] : loss_.number;
      with_loss(loss_.kind, [&](auto loss) {
        const double *score = rows.score.data() + k * n, *y = rows.y.data() + k * n;
        sum_up([=](i64 i) { return decltype(loss)::loss(score[i], y[i], a); });
      });
    }
  }
  return std::accumulate(parts.begin(), parts.end(), 0.0) /
         std::accumulate(weights.begin(), weights.end(), 0.0);
}

}  // namespace treewright::boost
