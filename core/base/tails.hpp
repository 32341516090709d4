// Upper tails of distributions: how likely a statistic is to be as large by chance.
//
// Series and continued fractions, each where it converges fast (Press and others, Numerical
// Recipes, chapter 6). The tests compare them with scipy.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace treewright {
namespace tails {

constexpr double kTiny = 1e-300;
constexpr double kClose = 1e-16;
constexpr int kMostSteps = 1 << 20;  // of the order of the root of the degrees of freedom

// One step of Lentz's method for a continued fraction; true: it has converged.
struct Fraction {
  double c, d, value;
  bool step(double a, double b) {
    d = 1 / std::copysign(std::max(std::abs(b + a * d), kTiny), b + a * d);
    c = b + a / c;
    if (std::abs(c) < kTiny) c = kTiny;
    value *= c * d;
    return std::abs(c * d - 1) < kClose * 4;
  }
};

// The share of the gamma distribution with shape `a` that lies above `x`.
inline double above_gamma(double a, double x) {
  if (!(x > 0)) return 1;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int k = 1; k < kMostSteps && term > sum * kClose; ++k) sum += term *= x / (a + k);
    return std::clamp(1 - front * sum, 0.0, 1.0);
  }
  const double b = x + 1 - a;
  Fraction f{1 / kTiny, 1 / b, 1 / b};
  for (int k = 1; k < kMostSteps && !f.step(-k * (k - a), b + 2 * k); ++k) {
  }
  return std::clamp(front * f.value, 0.0, 1.0);
}

// The share of the beta distribution that lies below `x`; `y` is 1 − x, with all its digits.
inline double below_beta(double a, double b, double x, double y) {
  if (!(x > 0)) return 0;
  if (!(y > 0)) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - below_beta(b, a, y, x);
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log(y)) /
                       a;
  double d = 1 - (a + b) * x / (a + 1);
  if (std::abs(d) < kTiny) d = kTiny;
  Fraction f{1, 1 / d, 1 / d};
  for (int k = 1; k < kMostSteps; ++k) {
    const double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    const double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
    f.step(even, 1);
    if (f.step(odd, 1)) break;
  }
  return std::clamp(front * f.value, 0.0, 1.0);
}

}  // namespace tails

inline double chi_squared_tail(double df, double statistic) {
  return tails::above_gamma(df / 2, statistic / 2);
}

// Of the ratio of two variances given as sums of squares.
inline double f_tail(double df_between, double df_within, double between, double within) {
  const double total = between + within;
  if (!(total > 0)) return 1;
  return tails::below_beta(df_within / 2, df_between / 2, within / total, between / total);
}

// Fisher's exact test, two-sided: tables with the same margins that are no likelier count.
inline double fisher_tail(double a, double b, double c, double d) {
  const double first = a + b, column = a + c, n = first + c + d;
  const double low = std::max(0.0, first + column - n), high = std::min(first, column);
  auto log_weight = [&](double x) {
    return -std::lgamma(x + 1) - std::lgamma(first - x + 1) - std::lgamma(column - x + 1) -
           std::lgamma(n - first - column + x + 1);
  };
  const double here = log_weight(a) + 1e-7;  // equal but for rounding counts as equal
  double most = -std::numeric_limits<double>::infinity();
  for (double x = low; x <= high; ++x) most = std::max(most, log_weight(x));
  double all = 0, unlikely = 0;
  for (double x = low; x <= high; ++x) {
    const double w = log_weight(x), share = std::exp(w - most);
    all += share;
    if (w <= here) unlikely += share;
  }
  return std::min(1.0, unlikely / all);
}

}  // namespace treewright
