// Class weights of one side of a test and their information: items·log2(items) − Σ x·log2(x).
//
// Two ways to the same number. ExactSide keeps Σ x·log2(x) as an integer on a fixed grid, so that a
// row that moves costs two table look-ups and the order of rows changes nothing. FloatSide adds the
// classes one by one in single precision, as release 8 of C4.5 does; its rounding decides ties.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "data/problem.hpp"

namespace treewright {

// x·log2(x) of scaled weights: from a table where the weight is a whole number of rows.
class Terms {
 public:
  void prepare(const Problem& p) {
    unit_ = p.weight_unit;
    const double total = static_cast<double>(p.weight_of(p.total.data())) * unit_;
    // Largest power of two that keeps every sum of terms below 2^61.
    grid_ = std::ldexp(1.0, 60 - static_cast<int>(std::ceil(std::log2(term(total) + 2))));
    // One row is 2^shift_ scaled units, if it is a whole number of them.
    int exponent = 0;
    std::frexp(unit_, &exponent);
    shift_ = 1 - exponent;
    table_.clear();
    fixed_.clear();
    if (shift_ < 0 || shift_ > 62) return;
    const i64 most = std::min<i64>(p.n_rows, static_cast<i64>(total));
    table_.reserve(most + 1);
    fixed_.reserve(most + 1);
    for (i64 x = 0; x <= most; ++x) {
      table_.push_back(term(static_cast<double>(x)));
      fixed_.push_back(std::llrint(table_.back() * grid_));
    }
  }

  double of(i64 x) const {
    return is_whole(x) ? table_[x >> shift_] : term(static_cast<double>(x) * unit_);
  }
  i64 fixed(i64 x) const {
    return is_whole(x) ? fixed_[x >> shift_]
                       : std::llrint(term(static_cast<double>(x) * unit_) * grid_);
  }
  double grid() const { return grid_; }
  double weight(i64 x) const { return static_cast<double>(x) * unit_; }

 private:
  static double term(double x) { return x > 0 ? x * std::log2(x) : 0; }

  // Whether the table has it: no bit below that of one row, and not too many rows.
  bool is_whole(i64 x) const {
    return static_cast<u64>(std::rotr(static_cast<u64>(x), shift_)) < table_.size();
  }

  double unit_ = 1, grid_ = 1;
  int shift_ = 0;
  std::vector<double> table_;
  std::vector<i64> fixed_;
};

// What both have in common: the weight of each class and its term, which is brought up to date when
// another class moves or the information is asked for; a logarithm costs more than all the rest.
template <class Number>
class Side {
 public:
  Side(const Terms& terms, i32 classes, std::vector<i64>& x, std::vector<Number>& term)
      : terms_(terms), x_(x), term_(term) {
    x_.assign(classes, 0);
    term_.assign(classes, 0);
  }
  void add(i32 k, i64 w) {
    if (k != moved_) {
      settle();
      moved_ = k;
    }
    x_[k] += w;
    items_ += w;
  }
  i64 items() const { return items_; }

 protected:
  Number term_of(i64 x) const;
  // Brings the term of the class that moved last up to date.
  void settle() {
    if (moved_ < 0) return;
    const Number term = term_of(x_[moved_]);
    sum_ += term - term_[moved_];
    term_[moved_] = term;
    moved_ = -1;
  }
  void fill_terms(const i64* stats) {
    items_ = 0;
    sum_ = 0;
    moved_ = -1;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      x_[k] = stats[k];
      items_ += stats[k];
      term_[k] = term_of(stats[k]);
      sum_ += term_[k];
    }
  }

  const Terms& terms_;
  std::vector<i64>& x_;
  std::vector<Number>& term_;
  i64 items_ = 0;
  Number sum_ = 0;  // Σ of the terms
  i32 moved_ = -1;
};

template <>
inline i64 Side<i64>::term_of(i64 x) const {
  return terms_.fixed(x);
}
template <>
inline double Side<double>::term_of(i64 x) const {
  return terms_.of(x);
}

class ExactSide : public Side<i64> {
 public:
  using Real = double;
  using Number = i64;
  using Side<i64>::Side;

  void fill(const i64* stats) { fill_terms(stats); }
  double info() {
    settle();
    return terms_.of(items_) - static_cast<double>(sum_) / terms_.grid();
  }
};

class FloatSide : public Side<double> {
 public:
  using Real = float;
  using Number = double;
  using Side<double>::Side;

  void fill(const i64* stats) { fill_terms(stats); }
  float info() {
    settle();
    float sum = 0, total = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      sum = static_cast<float>(static_cast<double>(sum) + term_[k]);
      total += static_cast<float>(terms_.weight(x_[k]));
    }
    const double t = total;
    return static_cast<float>((t > 0 ? t * std::log2(t) : 0) - static_cast<double>(sum));
  }
};

}  // namespace treewright
