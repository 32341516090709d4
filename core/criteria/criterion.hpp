// What a criterion is.
//
// A criterion is a struct with one static function, side(stats, view): how well one side of a
// split is told apart, in units where gain = side(left) + side(right) − side(parent) and more is
// better. All are homogeneous in the weights, so scaled integers can be used as they are. The
// same expression serves every side, so that a mirrored split has the same score to the bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/problem.hpp"

namespace treewright {

// A few numbers that need no memory of their own unless there are more.
template <class T>
class Few {
 public:
  void resize(std::size_t n) {
    if (n > kOwn) more_.resize(n);
  }
  T& operator[](std::size_t i) { return more_.empty() ? own_[i] : more_[i]; }
  const T& operator[](std::size_t i) const { return more_.empty() ? own_[i] : more_[i]; }

 private:
  static constexpr std::size_t kOwn = 2;
  T own_[kOwn] = {};
  std::vector<T> more_;
};

// Constants of a node that criteria read.
struct CriterionView {
  const Problem* problem = nullptr;
  i32 n_classes = 0;
  i32 n_outputs = 1;
  const double* factor = nullptr;  // class factors; null: all one
  const double* loss = nullptr;    // generalised Gini
  // Centre of the node per output, as an integer and a rest, in scaled units: subtracting it
  // first keeps the digits of small gains.
  Few<i64> centre;
  Few<double> rest;
};

// Centres number criteria on the mean of `stats`.
inline void centre_on(CriterionView& v, const i64* stats) {
  v.centre.resize(v.n_outputs);
  v.rest.resize(v.n_outputs);
  const i64 w = std::max<i64>(stats[0], 1);
  for (i32 o = 0; o < v.n_outputs; ++o) {
    v.centre[o] = stats[1 + o] / w;
    v.rest[o] = static_cast<double>(stats[1 + o] - v.centre[o] * w) / static_cast<double>(w);
  }
}

inline double class_weight(const CriterionView& v, const i64* stats, i32 k) {
  const double x = static_cast<double>(stats[k]);
  return v.factor ? x * v.factor[k] : x;
}

}  // namespace treewright
