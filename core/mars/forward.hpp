// The forward pass of MARS (Friedman, 1991): pairs of hinges are added to a basis, each the pair
// that lowers the residual sum of squares most.
//
// Glossary
//   term      a product of hinges; column 0 is the constant one
//   parent    the term that a new pair multiplies; its support is the rows where it is above zero
//   search    the knots of one feature under one parent, and what is known of them (search.hpp)
//   slot      the number of a term with the places that pairs left empty: every step takes two
//   queue     the parents in the order of what they promise (queue.hpp)
//
// Knots, tolerances and the order of parents are those of R's earth, found by running it; see
// docs/comparisons/mars.md.
#pragma once

#include <vector>

#include "base/callable.hpp"
#include "base/types.hpp"

namespace treewright::mars {

struct Options {
  i32 degree = 1;
  i32 max_terms = 21;  // slots
  double penalty = 2;
  double thresh = 0.001;
  i32 minspan = 0;  // 0: by the formula; below 0: so many knots at most, evenly spaced
  i32 endspan = 0;  // 0: by the formula
  double adjust_endspan = 2;
  i32 fast_k = 20;  // 0: all parents
  double fast_beta = 1;
  bool auto_linear = true;  // a feature whose best knot is its least value enters linearly, unless
                            // it is narrow (search.hpp)
  i64 cache_bytes = i64{1} << 29;
  i32 n_threads = 1;
};

// Features by column, responses and weights by row.
struct Data {
  i64 n_rows = 0;
  i32 n_features = 0, n_responses = 1;
  const double* x = nullptr;       // n_features × n_rows
  const double* y = nullptr;       // n_rows × n_responses
  const double* weight = nullptr;  // null: all one
  const double* copies = nullptr;  // rows that each stands for where rows are counted; null: one
  const bool* linear = nullptr;    // features that enter linearly only
};

enum class Kind : i32 { rising = 1, falling = -1, linear = 2 };

// What the pass ends with.
enum class End : i32 { max_terms = 1, no_gain, small_gain, low_grsq, perfect };

struct Term {
  i32 parent = -1;
  i32 feature = -1;
  Kind kind = Kind::rising;
  double knot = 0;
  i32 slot = 0;  // from 0
};

struct Forward {
  std::vector<Term> terms;  // without the constant one: term k of the basis is terms[k - 1]
  std::vector<double> rss;  // of the constant term, then after every step
  std::vector<i32> sizes;   // terms in the basis by then, the constant one included
  End end = End::max_terms;
};

// `offer(features, allowed)` says which features may multiply a term of `features`.
Forward forward(const Data& data, const Options& options,
                Callable<void(const std::vector<i32>&, std::vector<u8>&)> offer,
                Callable<void()> poll);

}  // namespace treewright::mars
