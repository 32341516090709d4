// What a test of independence needs of a feature at a node.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "ctree/response.hpp"
#include "ctree/values.hpp"

namespace treewright {

// One feature against one response: everything of the test but M itself.
struct FeatureDesign {
  std::vector<double> x;             // numbers: centred, at most 2 in size
  std::vector<double> group_weight;  // nominal: n_j
  std::vector<double> c;             // diagonal of C
  double weight = 0;                 // n
  double rest = 0;                   // numbers: Σ w x, nearly 0
  bool varies = false;

  void fit(const KnownValues& known, const RowSet& set, double total) {
    weight = total;
    group_weight.clear();
    c.clear();
    known.is_nominal() ? fit_groups(known, set) : fit_numbers(known, set);
  }

  void fit_groups(const KnownValues& known, const RowSet& set) {
    group_weight.assign(known.codes.size(), 0);
    for (i64 i = 0; i < known.size(); ++i) {
      group_weight[known.group[i]] += set.weight(known.position(i));
    }
    for (double n : group_weight) c.push_back(n * (weight - n) / (weight - 1));
    varies = group_weight.size() > 1;
  }

  void fit_numbers(const KnownValues& known, const RowSet& set) {
    varies = known.low < known.high;
    if (!varies) return;
    // Relative to the middle first: the sum of huge numbers may be infinite.
    const double middle = known.low / 2 + known.high / 2;
    const double unit = 1 / std::max(known.high - middle, middle - known.low);
    const i64 n = known.size();
    if (static_cast<i64>(x.size()) < n) x.resize(n);
    double* to = x.data();
    const double* from = known.x.data();
    double squares = 0;
    if (!set.weights) {
      const double sum = scale_numbers(from, n, middle, unit, to);
      centre_numbers(to, n, sum / weight, squares, rest);
    } else {
      const auto w = [&](i64 i) { return set.weight(known.position(i)); };
      const double sum = sum_of(n, [&](i64 i) {
        to[i] = (from[i] - middle) * unit;
        return w(i) * to[i];
      });
      const double mean = sum / weight;
      squares = sum_of(n, [&](i64 i) {
        to[i] -= mean;
        return w(i) * to[i] * to[i];
      });
      rest = sum_of(n, [&](i64 i) { return w(i) * to[i]; });
    }
    c.assign(1, (weight * squares - rest * rest) / (weight - 1));
  }

  i32 n_groups() const { return static_cast<i32>(c.size()); }

  // The statistic of M, squared if it is the maximum.
  double score(Form form, const ResponseMoments& y, const std::vector<double>& m) const {
    const i32 q = static_cast<i32>(y.mean.size());
    double sum = 0, best = 0;
    for (i32 j = 0; j < n_groups(); ++j) {
      const double* row = m.data() + static_cast<std::size_t>(j) * q;
      if (form == Form::quadratic) {
        const double inverse =
            group_weight.empty() ? 1 / c[j] : (weight - 1) / weight / group_weight[j];
        sum += y.form(row) * inverse;
      } else {
        best = std::max(best, y.largest(row) / c[j]);
      }
    }
    return form == Form::quadratic ? sum : best;
  }

  i32 rank(const ResponseMoments& y) const {
    return y.rank * (group_weight.empty() ? 1 : n_groups() - 1);
  }
};

// Pairs every known instance with its own response.
struct OwnResponse {
  const KnownValues& known;
  i64 operator()(i64 i) const { return known.position(i); }
};

// M: sums over the known instances, each with the response of instance `partner(i)`, less the mean.
template <class Partner>
void linear_statistic(const FeatureDesign& design, const KnownValues& known, const NodeResponse& y,
                      const ResponseMoments& moments, const RowSet& set, Partner&& partner,
                      std::vector<double>& m) {
  const i32 q = y.width;
  m.assign(static_cast<std::size_t>(design.n_groups()) * q, 0);
  const i64 n = known.size();
  if (known.is_nominal()) {
    for (i64 i = 0; i < n; ++i) {
      const double w = set.weight(known.position(i));
      y.add(partner(i), w, m.data() + static_cast<std::size_t>(known.group[i]) * q);
    }
  } else if (y.is_classes() && q == 2 && !set.weights) {
    const double* x = design.x.data();
    const i32* label = y.label.data();
    if (std::is_same_v<std::decay_t<Partner>, OwnResponse> && !known.has_gaps) {
      m[1] = sum_labelled(label, x, n);
    } else {
      m[1] = sum_of(n, [&](i64 i) { return label[partner(i)] * x[i]; });
    }
    m[0] = design.rest - m[1];
  } else if (!y.is_classes() && q == 1) {
    m[0] = sum_of(
        n, [&](i64 i) { return set.weight(known.position(i)) * design.x[i] * y.h[partner(i)]; });
  } else {
    for (i64 i = 0; i < n; ++i) {
      y.add(partner(i), set.weight(known.position(i)) * design.x[i], m.data());
    }
  }
  for (i32 j = 0; j < design.n_groups(); ++j) {
    const double g = known.is_nominal() ? design.group_weight[j] : design.rest;
    for (i32 k = 0; k < q; ++k) m[static_cast<std::size_t>(j) * q + k] -= g * moments.mean[k];
  }
}

}  // namespace treewright
