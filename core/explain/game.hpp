// Shapley values of a product of functions of single features, by quadrature.
//
// What a leaf says of a row, when only some features are known, is a product: feature i brings
// `one` where it is known and `zero` where not. Let every feature be known with chance t: the
// product becomes a polynomial in t, and the Shapley value of a feature is the integral over t of
// its slope in that feature (Owen's multilinear extension). With d features the polynomial has
// degree d - 1, for which ceil(d / 2) points of Gauss and Legendre are exact. All factors are
// positive, so nothing cancels.
//
// References: Owen (1972), Multilinear extensions of games; Yu and others (2022), Linear TreeSHAP.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "base/types.hpp"

namespace treewright::explain {

// Points and weights on [0, 1].
struct Rule {
  std::vector<double> at, weight;
  i32 size() const { return static_cast<i32>(at.size()); }
};

inline Rule gauss_legendre(i32 n) {
  Rule rule{std::vector<double>(n), std::vector<double>(n)};
  for (i32 i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int round = 0; round < 100; ++round) {  // Newton's method
      double p = 1, before = 0;
      for (i32 k = 1; k <= n; ++k) {
        const double next = ((2.0 * k - 1) * x * p - (k - 1.0) * before) / k;
        before = p;
        p = next;
      }
      slope = n * (x * p - before) / (x * x - 1);
      const double step = p / slope;
      x -= step;
      if (std::abs(step) < 1e-16) break;
    }
    rule.at[i] = (1 - x) / 2;
    rule.weight[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return rule;
}

// Points that are exact for games of up to `features` features.
inline i32 points_for(i32 features) { return std::max<i32>(1, (features + 1) / 2); }

// The rules of all sizes up to one, each made once.
class Rules {
 public:
  explicit Rules(i32 features) {
    for (i32 n = 1; n <= points_for(features); ++n) rules_.push_back(gauss_legendre(n));
  }
  const Rule& of(i32 features) const { return rules_[points_for(features) - 1]; }

 private:
  std::vector<Rule> rules_;
};

// A feature's part of a product.
struct Factor {
  i32 feature;
  double one, zero;
};

// Calls single(i, value) for every factor, and pair(i, j, value) with i < j where `pairs` is set:
// half of the Shapley interaction index, as it is shared by both.
template <class Single, class Pair>
void play(const std::vector<Factor>& factors, const Rules& rules, bool pairs, Single&& single,
          Pair&& pair) {
  const i32 d = static_cast<i32>(factors.size());
  if (!d) return;
  const Rule& rule = rules.of(d);
  std::vector<double> rest(d + 1);
  for (i32 q = 0; q < rule.size(); ++q) {
    const double t = rule.at[q], w = rule.weight[q];
    auto value = [&](i32 i) { return factors[i].zero * (1 - t) + t * factors[i].one; };
    auto slope = [&](i32 i) { return factors[i].one - factors[i].zero; };
    rest[d] = 1;
    for (i32 i = d; i-- > 0;) rest[i] = rest[i + 1] * value(i);
    double before = w;
    for (i32 i = 0; i < d; ++i) {
      single(i, before * rest[i + 1] * slope(i));
      if (pairs) {
        double between = before * slope(i) / 2;
        for (i32 j = i + 1; j < d; ++j) {
          pair(i, j, between * slope(j) * rest[j + 1]);
          between *= value(j);
        }
      }
      before *= value(i);
    }
  }
}

}  // namespace treewright::explain
