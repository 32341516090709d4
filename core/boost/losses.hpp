// Losses: gradient and hessian of a row's loss in its score, and the loss itself.
//
// Scores are on the scale of the link: the value itself, its logarithm, or log-odds. Each loss is a
// struct with static functions, chosen once per pass. `a` is the loss's own number: the quantile,
// Huber's delta, Tweedie's power.
//
// Twin: treewright.ensembles.boosting.losses.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/types.hpp"
#include "boost/quick_math.hpp"

namespace treewright::boost {

struct Slope {
  double gradient, hessian;
};

struct Squared {
  static constexpr bool kEqualHessian = true;
  static Slope slope(double s, double y, double) { return {s - y, 1.0}; }
  static double loss(double s, double y, double) { return (s - y) * (s - y); }
};

struct Absolute {
  static constexpr bool kEqualHessian = true;
  static Slope slope(double s, double y, double) { return {s > y ? 1.0 : s < y ? -1.0 : 0.0, 1.0}; }
  static double loss(double s, double y, double) { return std::abs(s - y); }
};

struct Huber {
  static constexpr bool kEqualHessian = true;
  static Slope slope(double s, double y, double a) { return {std::clamp(s - y, -a, a), 1.0}; }
  static double loss(double s, double y, double a) {
    const double off = std::abs(s - y);
    return off <= a ? 0.5 * off * off : a * (off - 0.5 * a);
  }
};

struct Quantile {
  static constexpr bool kEqualHessian = true;
  static Slope slope(double s, double y, double a) {
    return {s > y ? 1 - a : s < y ? -a : 0.0, 1.0};
  }
  static double loss(double s, double y, double a) {
    return y > s ? a * (y - s) : (1 - a) * (s - y);
  }
};

struct Poisson {
  static constexpr bool kEqualHessian = false;
  static Slope slope(double s, double y, double) {
    const double mean = std::exp(s);
    return {mean - y, mean};
  }
  static double loss(double s, double y, double) {
    return 2 * ((y > 0 ? y * (std::log(y) - s) : 0.0) - y + std::exp(s));
  }
};

struct Gamma {
  static constexpr bool kEqualHessian = false;
  static Slope slope(double s, double y, double) {
    const double ratio = y * std::exp(-s);
    return {1 - ratio, ratio};
  }
  static double loss(double s, double y, double) {
    return 2 * (s - std::log(y) + y * std::exp(-s) - 1);
  }
};

struct Tweedie {
  static constexpr bool kEqualHessian = false;
  static Slope slope(double s, double y, double a) {
    const double up = std::exp((2 - a) * s), down = y * std::exp((1 - a) * s);
    return {up - down, (2 - a) * up - (1 - a) * down};
  }
  static double loss(double s, double y, double a) {
    return 2 * ((y > 0 ? std::pow(y, 2 - a) / ((1 - a) * (2 - a)) : 0.0) -
                y * std::exp((1 - a) * s) / (1 - a) + std::exp((2 - a) * s) / (2 - a));
  }
};

struct Logistic {
  static constexpr bool kEqualHessian = false;
  static Slope slope(double s, double y, double) {
    const double p = 1 / (1 + quick_exp(-s));
    return {p - y, p * (1 - p)};
  }
  static double loss(double s, double y, double) {
    const double size = std::abs(s);  // s and its size are twice the larger of s and 0
    return quick_log1p(quick_exp(-size)) + 0.5 * (s + size) - y * s;
  }
};

struct Exponential {
  static constexpr bool kEqualHessian = false;
  static Slope slope(double s, double y, double) {
    const double sign = 2 * y - 1, e = std::exp(-sign * s);
    return {-sign * e, e};
  }
  static double loss(double s, double y, double) { return std::exp(-(2 * y - 1) * s); }
};

enum class LossKind : u8 {
  squared,
  absolute,
  huber,
  quantile,
  poisson,
  gamma,
  tweedie,
  logistic,
  multinomial,
  exponential,
  given
};

// Calls run(loss) with the struct of a loss of one column.
template <class Run>
void with_loss(LossKind kind, Run&& run) {
  switch (kind) {
    case LossKind::squared:
      return run(Squared{});
    case LossKind::absolute:
      return run(Absolute{});
    case LossKind::huber:
      return run(Huber{});
    case LossKind::quantile:
      return run(Quantile{});
    case LossKind::poisson:
      return run(Poisson{});
    case LossKind::gamma:
      return run(Gamma{});
    case LossKind::tweedie:
      return run(Tweedie{});
    case LossKind::logistic:
      return run(Logistic{});
    case LossKind::exponential:
      return run(Exponential{});
    default:
      return;
  }
}

// Hessians of a multinomial probability and of others: gradients are p − [class is k].
inline Slope class_slope(double p, bool is_own) { return {p - is_own, p * (1 - p)}; }

// Loss of a row by its scores, `step` apart from each other.
inline double class_loss(const double* score, i64 step, i32 n_columns, double y) {
  double most = -kInf, total = 0;
  for (i32 k = 0; k < n_columns; ++k) most = std::max(most, score[k * step]);
  for (i32 k = 0; k < n_columns; ++k) total += quick_exp(score[k * step] - most);
  return std::log(total) + most - score[static_cast<i64>(y) * step];
}

}  // namespace treewright::boost
