// What a node of a stream tree remembers of its rows: sums that take the same memory however many
// rows come.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/types.hpp"

namespace treewright::stream {

constexpr i32 kBins = 64;

// Mean and variance of weighted numbers (Welford; West 1979).
struct Gauss {
  double n = 0, mean = 0, m2 = 0;

  void add(double x, double w) {
    n += w;
    const double d = x - mean;
    mean += w * d / n;
    m2 += w * d * (x - mean);
  }
  double variance() const { return n > 1 ? std::max(m2 / n, 0.0) : 0; }

  template <class A>
  void visit(A& a) {
    a(n), a(mean), a(m2);
  }
};

// Sums of a numeric attribute in bins of equal width. A value outside doubles the width, two bins
// becoming one, so that at least half of the bins span what was seen; the rows are never kept.
struct Bins {
  double lo = 0, width = 0;  // width 0: all values so far were `lo`
  double least = kInf, most = -kInf;
  std::vector<double> sums;  // kBins × n_sums

  bool has_any() const { return least <= most; }
  double edge(i32 i) const { return lo + width * i; }

  void start(double from, double to) {
    if (!(to > from) || !(to - from < kInf)) return;
    lo = from;
    width = (to - from) / kBins * (1 + 1e-9);
  }

  // Adds the sums of one row to the bin of x.
  double* at(double x, i32 n_sums) {
    if (sums.empty()) sums.assign(static_cast<std::size_t>(kBins) * n_sums, 0.0);
    if (!has_any() && width == 0) lo = x;
    least = std::min(least, x);
    most = std::max(most, x);
    if (width == 0) {
      if (x == lo) return sums.data();
      spread(x, n_sums);
    }
    while (x < lo || x >= lo + kBins * width) widen(x < lo, n_sums);
    return sums.data() + static_cast<std::size_t>(bin(x)) * n_sums;
  }

  template <class A>
  void visit(A& a) {
    a(lo), a(width), a(least), a(most), a(sums);
  }

 private:
  i32 bin(double x) const {
    const double at = (x - lo) / width;
    return at >= kBins - 1 ? kBins - 1 : at > 0 ? static_cast<i32>(at) : 0;
  }

  // The second value gives a first idea of the width.
  void spread(double x, i32 n_sums) {
    const double first = lo;
    width = std::max(std::abs(x - first) / 16, std::abs(first) * 1e-12 + 1e-300);
    lo = std::min(first, x) - 24 * width;
    const i32 to = bin(first);
    if (to == 0) return;
    std::swap_ranges(sums.begin(), sums.begin() + n_sums, sums.begin() + i64{to} * n_sums);
  }

  void widen(bool downwards, i32 n_sums) {
    std::vector<double> wider(sums.size(), 0.0);
    const i32 shift = downwards ? kBins : 0;
    for (i32 i = 0; i < kBins; ++i) {
      double* to = wider.data() + static_cast<std::size_t>((i + shift) / 2) * n_sums;
      for (i32 k = 0; k < n_sums; ++k) to[k] += sums[static_cast<std::size_t>(i) * n_sums + k];
    }
    if (downwards) lo -= kBins * width;
    width *= 2;
    sums.swap(wider);
  }
};

// Adaptive windowing (Bifet and Gavaldà 2007): the mean of a window that drops its older part when
// the parts differ by more than chance. Kept as buckets of 1, 2, 4 … rows, at most kRow of a size.
class Adwin {
 public:
  explicit Adwin(double delta = 0.002) : delta_(delta) {}

  // Whether the window was cut and the mean rose by it.
  bool add(double x) {
    insert(x);
    ticks_ += 1;
    if (std::fmod(ticks_, 32) != 0 || n_ < 10) return false;
    const double before = mean();
    return cut() && mean() > before;
  }
  double mean() const { return n_ > 0 ? sum_ / n_ : 0; }
  double size() const { return n_; }

  template <class A>
  void visit(A& a) {
    a(delta_), a(n_), a(sum_), a(squares_), a(ticks_), a(size_), a(total_), a(spread_);
    if (size_.size() != total_.size() || size_.size() != spread_.size()) a.refuse();
  }

 private:
  static constexpr i32 kRow = 5;

  // Buckets from the oldest to the newest: rows, sum, and sum of squared deviations.
  void insert(double x) {
    if (n_ > 0) squares_ += n_ * (x - mean()) * (x - mean()) / (n_ + 1);
    n_ += 1;
    sum_ += x;
    size_.push_back(1);
    total_.push_back(x);
    spread_.push_back(0);
    compress();
  }
  void compress() {
    std::size_t end = size_.size();
    for (double size = 1;; size *= 2) {
      std::size_t begin = end;
      while (begin > 0 && size_[begin - 1] == size) --begin;
      if (end - begin <= kRow) return;
      const double mean_a = total_[begin] / size, mean_b = total_[begin + 1] / size;
      spread_[begin] += spread_[begin + 1] + size / 2 * (mean_a - mean_b) * (mean_a - mean_b);
      total_[begin] += total_[begin + 1];
      size_[begin] *= 2;
      erase(begin + 1);
      end = begin + 1;
    }
  }
  void erase(std::size_t at) {
    size_.erase(size_.begin() + static_cast<i64>(at));
    total_.erase(total_.begin() + static_cast<i64>(at));
    spread_.erase(spread_.begin() + static_cast<i64>(at));
  }
  bool cut() {
    bool any = false;
    while (size_.size() > 2 && differs()) {
      drop_oldest();
      any = true;
    }
    return any;
  }
  bool differs() const {
    const double variance = std::max(squares_ / n_, 0.0);
    const double log_term = std::log(2 * std::log(n_) / delta_);
    double n0 = 0, sum0 = 0;
    for (std::size_t i = 0; i + 1 < size_.size(); ++i) {
      n0 += size_[i];
      sum0 += total_[i];
      const double n1 = n_ - n0;
      if (n0 < 5 || n1 < 5) continue;
      const double m = 1 / (n0 - 4) + 1 / (n1 - 4);
      const double eps = std::sqrt(2 * m * variance * log_term) + 2.0 / 3 * m * log_term;
      if (std::abs(sum0 / n0 - (sum_ - sum0) / n1) > eps) return true;
    }
    return false;
  }
  void drop_oldest() {
    const double size = size_[0], mean0 = total_[0] / size;
    n_ -= size;
    sum_ -= total_[0];
    const double rest = mean();
    squares_ -= spread_[0] + size * n_ * (mean0 - rest) * (mean0 - rest) / (size + n_);
    erase(0);
  }

  double delta_, n_ = 0, sum_ = 0, squares_ = 0, ticks_ = 0;
  std::vector<double> size_, total_, spread_;

 public:
  // A full window of alternating values may still have more buckets than rows only if damaged.
  bool is_sound() const { return n_ >= 0 && std::isfinite(sum_) && size_.size() < 4096; }
};

// Least squares on numeric attributes: exact sums, solved anew now and then.
class Linear {
 public:
  void start(std::size_t m, const std::vector<double>& before) {
    sums_.assign((m + 1) * (m + 2), 0.0);
    coef_ = before;
  }
  // z: attributes, gaps replaced; 1 is put behind them.
  void add(const std::vector<double>& z, double y, double w) {
    const std::size_t m = z.size() + 1;
    if (shift_.empty()) {
      shift_ = z;
      shift_y_ = y;
    }
    auto at = [&](std::size_t i) { return i + 1 < m ? z[i] - shift_[i] : 1.0; };
    for (std::size_t i = 0; i < m; ++i) {
      const double wi = w * at(i);
      double* row = sums_.data() + i * (m + 1);
      for (std::size_t j = 0; j <= i; ++j) row[j] += wi * at(j);
      row[m] += wi * (y - shift_y_);
    }
    if (++n_ >= next_ && n_ >= 2 * static_cast<double>(m)) {
      solve(m);
      next_ = n_ + std::max(32.0, n_ / 16);
    }
  }
  bool is_ready() const { return !coef_.empty(); }
  double predict(const std::vector<double>& z) const {
    double sum = coef_.back();
    for (std::size_t i = 0; i < z.size(); ++i) sum += coef_[i] * z[i];
    return sum;
  }
  const std::vector<double>& coefficients() const { return coef_; }

  template <class A>
  void visit(A& a) {
    a(n_), a(next_), a(shift_y_), a(sums_), a(shift_), a(coef_);
  }
  bool is_sound(std::size_t m) const {
    return (sums_.empty() || sums_.size() == (m + 1) * (m + 2)) &&
           (shift_.empty() || shift_.size() == m) && (coef_.empty() || coef_.size() == m + 1);
  }

 private:
  void solve(std::size_t m) {  // Cholesky, with a ridge that only matters where columns repeat
    std::vector<double> l(m * m, 0.0), b(m);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = sums_[i * (m + 1) + j];
        if (i == j) sum = sum * (1 + 1e-6) + 1e-12 * (sum == 0 ? 1 : sum) + (sum == 0 ? 1 : 0);
        for (std::size_t k = 0; k < j; ++k) sum -= l[i * m + k] * l[j * m + k];
        if (i == j) {
          if (!(sum > 0)) return;
          l[i * m + i] = std::sqrt(sum);
        } else {
          l[i * m + j] = sum / l[j * m + j];
        }
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      double sum = sums_[i * (m + 1) + m];
      for (std::size_t k = 0; k < i; ++k) sum -= l[i * m + k] * b[k];
      b[i] = sum / l[i * m + i];
    }
    for (std::size_t i = m; i-- > 0;) {
      for (std::size_t k = i + 1; k < m; ++k) b[i] -= l[k * m + i] * b[k];
      b[i] /= l[i * m + i];
    }
    b[m - 1] += shift_y_;
    for (std::size_t i = 0; i + 1 < m; ++i) b[m - 1] -= b[i] * shift_[i];
    for (const double v : b) {
      if (!std::isfinite(v)) return;
    }
    coef_ = b;
  }

  double n_ = 0, next_ = 0, shift_y_ = 0;
  std::vector<double> sums_, shift_, coef_;
};

}  // namespace treewright::stream
