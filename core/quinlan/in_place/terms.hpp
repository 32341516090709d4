// Entropy in single precision.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/types.hpp"

namespace treewright {

// x·log2(x), from a table where x is a whole number of rows.
class SingleTerms {
 public:
  explicit SingleTerms(i64 n) : table_(n + 1) {
    for (i64 x = 1; x <= n; ++x) table_[x] = term(static_cast<double>(x));
  }
  double operator()(float x) const {
    const i64 whole = static_cast<i64>(x);
    const bool is_known =
        static_cast<float>(whole) == x && whole >= 0 && whole < static_cast<i64>(table_.size());
    return is_known ? table_[whole] : term(x);
  }

  // items·log2(items) − Σ x·log2(x), the terms added in single precision
  float info(const float* x, std::size_t n) const {
    float sum = 0, total = 0;
    for (std::size_t k = 0; k < n; ++k) {
      sum = static_cast<float>(sum + (*this)(x[k]));
      total += x[k];
    }
    return static_cast<float>((*this)(total)-sum);
  }

 private:
  static double term(double x) { return x > 0 ? x * std::log2(x) : 0; }

  std::vector<double> table_;
};

// Class weights of one side of a cut. A logarithm costs more than the rest: terms are kept until
// their class weight has changed. Two classes, kTwo, stay in registers.
template <bool kTwo>
class SingleSide {
 public:
  SingleSide(const SingleTerms& terms, i32 classes) : terms_(terms) {
    if constexpr (!kTwo) {
      x_.resize(classes);
      of_.resize(classes);
      term_.resize(classes);
    }
  }

  // A weight less than 0 takes away.
  void add(i32 label, float weight) {
    if constexpr (kTwo) {
      x_[0] += label ? 0 : weight;
      x_[1] += label ? weight : 0;
    } else {
      x_[label] += weight;
    }
  }
  void fill(const float* x) { std::copy_n(x, x_.size(), x_.begin()); }

  float info() {
    float sum = 0, total = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      if (of_[k] != x_[k]) {
        of_[k] = x_[k];
        term_[k] = terms_(x_[k]);
      }
      sum = static_cast<float>(sum + term_[k]);
      total += x_[k];
    }
    return static_cast<float>(terms_(total) - sum);
  }

 private:
  template <class T>
  using PerClass = std::conditional_t<kTwo, std::array<T, 2>, std::vector<T>>;

  const SingleTerms& terms_;
  PerClass<float> x_{}, of_{};  // class weights, and those that the terms are of
  PerClass<double> term_{};
};

}  // namespace treewright
