// Class weights of one side of a test and their information: items·log2(items) − Σ x·log2(x).
//
// Two ways to the same number. ExactSide keeps Σ x·log2(x) as an integer on a fixed grid, so that a
// row that moves costs two table look-ups and the order of rows changes nothing. FloatSide adds the
// classes one by one in single precision, as release 8 of C4.5 does; its rounding decides ties.
#pragma once

#include <cmath>
#include <vector>

#include "../problem.hpp"

namespace treewright {

// x·log2(x) of scaled weights: a table where every weight is one.
class Terms {
 public:
  void prepare(const Problem& p) {
    unit_ = p.weight_unit;
    const double total = static_cast<double>(p.weight_of(p.total.data())) * unit_;
    // Largest power of two that keeps every sum of terms below 2^61.
    grid_ = std::ldexp(1.0, 60 - static_cast<int>(std::ceil(std::log2(term(total) + 2))));
    table_.clear();
    fixed_.clear();
    for (i64 x = 0; p.unit && x <= p.n_rows; ++x) {
      table_.push_back(term(static_cast<double>(x)));
      fixed_.push_back(std::llrint(table_.back() * grid_));
    }
  }

  double of(i64 x) const {
    return table_.empty() ? term(static_cast<double>(x) * unit_) : table_[x];
  }
  i64 fixed(i64 x) const { return fixed_.empty() ? std::llrint(of(x) * grid_) : fixed_[x]; }
  double grid() const { return grid_; }
  double weight(i64 x) const { return static_cast<double>(x) * unit_; }

 private:
  static double term(double x) { return x > 0 ? x * std::log2(x) : 0; }

  double unit_ = 1, grid_ = 1;
  std::vector<double> table_;
  std::vector<i64> fixed_;
};

class ExactSide {
 public:
  using Real = double;

  ExactSide(const Terms& terms, i32 classes, std::vector<i64>& x, std::vector<double>&)
      : terms_(terms), x_(x) {
    x_.assign(classes, 0);
  }
  void fill(const i64* stats) {
    items_ = sum_ = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      x_[k] = stats[k];
      items_ += stats[k];
      sum_ += terms_.fixed(stats[k]);
    }
  }
  void add(i32 k, i64 w) {
    sum_ -= terms_.fixed(x_[k]);
    x_[k] += w;
    items_ += w;
    sum_ += terms_.fixed(x_[k]);
  }
  i64 items() const { return items_; }
  double info() const {
    return terms_.of(items_) - static_cast<double>(sum_) / terms_.grid();
  }

 private:
  const Terms& terms_;
  std::vector<i64>& x_;
  i64 items_ = 0, sum_ = 0;
};

class FloatSide {
 public:
  using Real = float;

  FloatSide(const Terms& terms, i32 classes, std::vector<i64>& x, std::vector<double>& term)
      : terms_(terms), x_(x), term_(term) {
    x_.assign(classes, 0);
    term_.assign(classes, 0);
  }
  void fill(const i64* stats) {
    items_ = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      x_[k] = stats[k];
      items_ += stats[k];
      term_[k] = terms_.of(stats[k]);
    }
  }
  void add(i32 k, i64 w) {
    x_[k] += w;
    items_ += w;
    term_[k] = terms_.of(x_[k]);
  }
  i64 items() const { return items_; }
  float info() const {
    float sum = 0, total = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      sum = static_cast<float>(static_cast<double>(sum) + term_[k]);
      total += static_cast<float>(terms_.weight(x_[k]));
    }
    const double t = total;
    return static_cast<float>((t > 0 ? t * std::log2(t) : 0) - static_cast<double>(sum));
  }

 private:
  const Terms& terms_;
  std::vector<i64>& x_;
  std::vector<double>& term_;
  i64 items_ = 0;
};

}  // namespace treewright
