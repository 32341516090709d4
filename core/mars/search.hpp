// The knots of one feature under one parent, and how much each would gain.
//
// With the feature's rows from the largest value down, the product of a hinge with any column
// changes from one knot to the next by (step × sum over the rows above): Friedman's fast update.
// What a hinge has in common with the basis does not change when the basis grows, so a search keeps
// for each knot the squared length of the hinge outside the basis and its product with the feature
// itself there, and takes in only the columns that are new since it was last asked.
#pragma once

#include <vector>

#include "mars/columns.hpp"
#include "mars/forward.hpp"

namespace treewright::mars {

constexpr int kBlock = 8;  // terms side by side, a cache line

// A knot must leave this share of its hinge outside the basis: a hundredth in the first steps.
constexpr double kTolerance = 0.01, kLateTolerance = 1e-5;
constexpr i32 kLateSlot = 14;
// A step may gain at most so many times what the step before gained: more is taken for rounding.
constexpr double kMostGrowth = 10;
// A feature is in the span of the basis if no more than this share of it is outside. (earth asks
// for a squared length of 0.01 instead, so that its models depend on the unit of a column.)
constexpr double kSpanned = 1e-7;
// A feature whose range is less than this share of its size enters as a hinge at its least value,
// never as itself: coefficients of its values would be so large that what is left of their sums
// has lost half of its digits.
constexpr double kNarrow = 1e-8;

// A column of the data: centred and scaled values, and the rows from the largest value down.
struct Feature {
  const double* raw = nullptr;
  std::vector<double> x;  // in that order
  std::vector<i32> order;
  bool is_constant = false, is_narrow = false;
};

// Rows between knots, before the first and after the last.
struct Spans {
  double first = 1, step = 1, end = 1;
};
Spans spans(const Options& options, i32 n_features, double n, double support, bool is_interaction);

// The rows of a parent's support by one feature, and the knots among them.
struct Run {
  std::vector<i32> rows, places;  // row numbers, and places in the feature's order
  std::vector<double> b, x;  // of those rows: the parent times the root of the weight; the feature
  std::vector<i32> after;    // a knot comes after so many of the rows
  std::vector<double> knot;  // scaled
  std::vector<i32> knot_row;
  // `parent` is in the feature's order.
  void gather(const Feature& feature, const double* parent, const double* root_weight,
              const double* copies, double n, const Spans& spans, bool is_linear);
};

// What a knot must meet: the share of its hinge outside the basis, and the most that it may gain.
struct Limits {
  double tolerance = kTolerance, most = 0;
};

// What a search keeps from step to step.
struct Known {
  std::vector<double> outside, cross;  // of each knot: |h|², h·x, both outside the basis
  std::vector<float> spread;           // |h|² about its mean
  double feature_outside = 0, feature_spread = 0;
  i32 n_columns = 0;  // of the basis, taken in so far
  bool is_ready = false;
  i64 bytes() const { return static_cast<i64>(outside.size()) * 20; }
};

struct Found {
  double linear_gain = 0, knot_gain = 0;  // knot_gain is that of the whole pair; 0: no knot
  i32 knot_row = -1;
  bool is_new = false;  // the feature itself is not in the span of the basis
};

// The columns that a search takes in: the basis, the residuals, and the last of both side by side.
struct Sources {
  const Columns& basis;
  const Columns& residual;
  std::vector<double> fresh;  // n × 4: the newest columns of the basis, then the residuals
  i32 n_fresh = 0;            // columns of the basis in it; 0: they do not fit
};

struct Workspace {
  Run run;
  // The newest columns, and the parents that are tried together, in the order of one feature: rows
  // by value lie anywhere, and to fetch each for every parent takes most of the time once the
  // columns do not fit the near caches.
  std::vector<double> sorted, parents;
  Known scratch;
  std::vector<double> products, residual_products;
};

// Brings the newest columns into the order of a feature, and the terms of a block (by row, eight
// side by side) each into a column of its own.
void sort_columns(Workspace& work, const Sources& sources, const Feature& feature,
                  const double* terms);

Found search(Known& known, Workspace& work, const Sources& sources, const Limits& limits);

}  // namespace treewright::mars
