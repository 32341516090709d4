// The tests of CHAID on a table whose rows are groups: class weights, or Σw, Σwy and Σwy².
//
// The numpy twin (tests/twins/measures.py) says the same with fewer words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace treewright {

enum class MeasureKind : int { pearson = 0, likelihood = 1, row_effects = 2, f = 3 };

struct Tested {
  double statistic = 0, df = 0, error = 0;
  mutable double p = -1;  // once it was asked for
};

// Upper tails, by scipy's compiled functions (the last argument is Cython's own).
struct Tails {
  using Chi2 = double (*)(double df, double x, int);
  using F = double (*)(double df, double error, double x, int);
  Chi2 chi2;
  F f;
};

class Measure {
 public:
  // A smaller difference from zero is rounding, relative to the size of the sums behind it.
  static constexpr double kNoise = 1e-13;
  // Nearer ones are equal, and the first wins.
  static constexpr double kTie = 1e-12;
  // Below this p-values lose digits, and soon all of them.
  static constexpr double kSmallestP = 1e-290;

  Measure(MeasureKind kind, int width, const double* scores, Tails tails)
      : kind_(kind), width_(width), tails_(tails) {
    if (kind == MeasureKind::row_effects) set_scores(scores);
  }

  int width() const { return width_; }

  double weight(const double* row) const {
    if (kind_ == MeasureKind::f) return row[0];
    double sum = 0;
    for (int k = 0; k < width_; ++k) sum += row[k];
    return sum;
  }

  Tested test(const std::vector<const double*>& rows) {
    if (kind_ == MeasureKind::f) return f_test(rows);
    margins(rows);
    if (kind_ == MeasureKind::row_effects) return row_effects(rows);
    return chi_squared(rows);
  }

  double p_value(const Tested& t) const {
    if (t.p < 0) t.p = tail(t);
    return t.p;
  }

  double tail(const Tested& t) const {
    if (!(t.df > 0)) return 1;
    if (std::isinf(t.statistic)) return 0;
    if (kind_ != MeasureKind::f) return tails_.chi2(t.df, t.statistic, 0);
    return t.error > 0 ? tails_.f(t.df, t.error, t.statistic, 0) : 1;
  }

  // Whether one pair differs less than another, by its p-value. With the same degrees of freedom
  // the statistics say so at a fraction of the cost (a fit of a large table took half as long).
  bool is_closer(const Tested& a, const Tested& b) const {
    if (a.df == b.df && a.error == b.error) return a.statistic < b.statistic * (1 - kTie);
    if (!(b.df > 0)) return false;  // its p is 1
    // a larger statistic with more degrees of freedom of the error has a smaller p
    if (a.df == 1 && b.df == 1 && a.error >= b.error && a.statistic >= b.statistic) return false;
    const double p = p_value(a), q = p_value(b);
    if (p < kSmallestP && q < kSmallestP) return a.statistic < b.statistic * (1 - kTie);
    return p > q * (1 + kTie);
  }

  // Whether the best division in two is a cut in the order of `order`: a theorem for two classes
  // and for means (Breiman et al. 1984, Fisher 1958).
  bool has_exact_order() const {
    return kind_ == MeasureKind::f || (kind_ != MeasureKind::row_effects && width_ == 2);
  }

  // A number per row: mean, mean score, share of the second class, or first principal component
  // of the class shares.
  std::vector<double> order(const std::vector<const double*>& rows) const {
    std::vector<double> value;
    if (kind_ != MeasureKind::f && kind_ != MeasureKind::row_effects && width_ > 2) {
      return principal_component(rows);
    }
    for (const double* row : rows) {
      double sum = 0;
      if (kind_ == MeasureKind::f) {
        sum = row[1];
      } else if (kind_ == MeasureKind::row_effects) {
        for (int k = 0; k < width_; ++k) sum += row[k] * x_[k];
      } else {
        sum = row[1];
      }
      value.push_back(sum / weight(row));
    }
    return value;
  }

 private:
  void margins(const std::vector<const double*>& rows) {
    column_.assign(width_, 0.0);
    row_.clear();
    total_ = 0;
    n_rows_ = n_columns_ = 0;
    for (const double* row : rows) {
      double sum = 0;
      for (int k = 0; k < width_; ++k) {
        sum += row[k];
        column_[k] += row[k];
      }
      row_.push_back(sum);
      total_ += sum;
      n_rows_ += sum > 0;
    }
    for (int k = 0; k < width_; ++k) n_columns_ += column_[k] > 0;
  }

  Tested chi_squared(const std::vector<const double*>& rows) const {
    Tested t;
    t.df = static_cast<double>(std::max(0, n_rows_ - 1) * std::max(0, n_columns_ - 1));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (int k = 0; k < width_; ++k) {
        const double expected = row_[i] * column_[k] / total_;
        if (!(expected > 0)) continue;
        const double seen = rows[i][k];
        if (kind_ == MeasureKind::pearson) {
          t.statistic += (seen - expected) * (seen - expected) / expected;
        } else if (seen > 0) {
          t.statistic += 2 * seen * std::log(seen / expected);
        }
      }
    }
    if (t.statistic < kNoise * total_) t.statistic = 0;
    return t;
  }

  Tested f_test(const std::vector<const double*>& rows) const {
    double weight = 0, sum = 0, scale = 0, within = 0, between = 0;
    int n = 0;
    for (const double* row : rows) {
      if (!(row[0] > 0)) continue;
      ++n;
      weight += row[0];
      sum += row[1];
      scale += row[2];
      within += std::max(0.0, row[2] - row[1] * row[1] / row[0]);
    }
    if (n < 2) return {};
    const double mean = sum / weight;
    for (const double* row : rows) {
      if (!(row[0] > 0)) continue;
      const double difference = row[1] / row[0] - mean;
      between += row[0] * difference * difference;
    }
    Tested t;
    t.df = n - 1;
    t.error = weight - n;
    if (within <= kNoise * scale) within = 0;
    if (between <= kNoise * scale) between = 0;
    if (between > 0 && t.error > 0) t.statistic = between / t.df / (within / t.error);
    return t;
  }

  // -- row effects: see tests/twins/row_effects.py for the model ----------------------

  static constexpr int kRounds = 200, kSteps = 4;
  static constexpr double kTolerance = 1e-9, kSteepest = 40;

  void set_scores(const double* scores) {
    const auto [low, high] = std::minmax_element(scores, scores + width_);
    double mean = 0;
    for (int k = 0; k < width_; ++k) mean += scores[k] / width_;
    const double spread = *high > *low ? *high - *low : 1;
    for (int k = 0; k < width_; ++k) x_.push_back((scores[k] - mean) / spread);
  }

  Tested row_effects(const std::vector<const double*>& rows) {
    Tested t;
    t.df = n_columns_ > 1 ? std::max(0, n_rows_ - 1) : 0;
    if (!(t.df > 0)) return t;
    base_.resize(width_);
    for (int k = 0; k < width_; ++k) base_[k] = column_[k] / total_;
    slope_.assign(rows.size(), 0.0);
    share_.resize(rows.size() * width_);
    fit_shares();
    const double before = log_likelihood(rows);
    for (int round = 0; round < kRounds; ++round) {
      fit_slopes(rows);
      const double now = 2 * (log_likelihood(rows) - before);
      const bool done = std::abs(now - t.statistic) <= kTolerance * (1 + now);
      t.statistic = std::max(t.statistic, now);
      if (done) break;
      fit_base();
    }
    if (t.statistic < kNoise * total_) t.statistic = 0;
    return t;
  }

  void fit_share(std::size_t i) {
    double* share = share_.data() + i * width_;
    double sum = 0;
    for (int k = 0; k < width_; ++k) sum += share[k] = base_[k] * std::exp(slope_[i] * x_[k]);
    for (int k = 0; k < width_; ++k) share[k] /= sum;
  }

  void fit_shares() {
    for (std::size_t i = 0; i < slope_.size(); ++i) fit_share(i);
  }

  double log_likelihood(const std::vector<const double*>& rows) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (int k = 0; k < width_; ++k) {
        if (rows[i][k] > 0) sum += rows[i][k] * std::log(std::max(share_[i * width_ + k], 1e-300));
      }
    }
    return sum;
  }

  // Newton's steps towards the mean score of each row.
  void fit_slopes(const std::vector<const double*>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!(row_[i] > 0)) continue;
      double target = 0;
      for (int k = 0; k < width_; ++k) target += rows[i][k] * x_[k];
      target /= row_[i];
      for (int step = 0; step < kSteps; ++step) {
        double mean = 0, square = 0;
        for (int k = 0; k < width_; ++k) {
          mean += share_[i * width_ + k] * x_[k];
          square += share_[i * width_ + k] * x_[k] * x_[k];
        }
        const double variance = std::max(square - mean * mean, 1e-12);
        const double move = std::clamp((target - mean) / variance, -kSteepest / 8, kSteepest / 8);
        slope_[i] = std::clamp(slope_[i] + move, -kSteepest, kSteepest);
        fit_share(i);
        if (std::abs(move) < 1e-10) break;
      }
    }
  }

  void fit_base() {
    double sum = 0;
    for (int k = 0; k < width_; ++k) {
      double fitted = 0;
      for (std::size_t i = 0; i < row_.size(); ++i) fitted += row_[i] * share_[i * width_ + k];
      base_[k] = fitted > 0 ? base_[k] * column_[k] / fitted : 0;
      sum += base_[k];
    }
    for (int k = 0; k < width_; ++k) base_[k] /= sum;
    fit_shares();
  }

  // First principal component of the class shares, weighted (Coppersmith et al. 1999), by power
  // iteration; its sign does not matter.
  std::vector<double> principal_component(const std::vector<const double*>& rows) const {
    const std::size_t n = rows.size();
    std::vector<double> centred(n * width_), weights(n), mean(width_, 0.0), direction(width_);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += weights[i] = weight(rows[i]);
    for (std::size_t i = 0; i < n; ++i) {
      for (int k = 0; k < width_; ++k) mean[k] += rows[i][k] / total;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (int k = 0; k < width_; ++k) centred[i * width_ + k] = rows[i][k] / weights[i] - mean[k];
    }
    for (int k = 0; k < width_; ++k) direction[k] = k + 1.0;
    std::vector<double> value(n), next(width_);
    for (int round = 0; round < 200; ++round) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        value[i] = 0;
        for (int k = 0; k < width_; ++k) value[i] += centred[i * width_ + k] * direction[k];
        for (int k = 0; k < width_; ++k) next[k] += weights[i] * value[i] * centred[i * width_ + k];
      }
      double norm = 0;
      for (const double v : next) norm += v * v;
      if (!(norm > 0)) break;
      for (int k = 0; k < width_; ++k) direction[k] = next[k] / std::sqrt(norm);
    }
    return value;
  }

  MeasureKind kind_;
  int width_;
  Tails tails_;
  std::vector<double> row_, column_, x_, base_, slope_, share_;
  double total_ = 0;
  int n_rows_ = 0, n_columns_ = 0;
};

}  // namespace treewright
