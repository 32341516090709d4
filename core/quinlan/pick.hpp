// Which of the tests that features offer wins, by Quinlan's rules.
//
// C4.5 takes the best gain ratio of the tests whose gain is not below the average.
//
// C5.0 parts from it in three ways. With many cases per class, a test needs only to pay for naming
// its feature, not to gain the average. A later test wins with a higher ratio, and with a ratio
// that is nearly as high if it has fewer branches, or as many and more gain. Nominal features with
// very many values are not tested, unless there are no others or they are grouped.
//
// References: Quinlan (1993), C4.5: Programs for Machine Learning, chapter 2. C5.0: from its
// recorded runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "choose/chooser.hpp"

namespace treewright {

template <class Real>
class QuinlanPick {
 public:
  explicit QuinlanPick(const QuinlanRules& rules) : rules_(rules) {}

  void prepare(const Problem& p) {
    unit_ = p.weight_unit;
    few_values_.assign(p.n_features(), true);
    values_.assign(p.n_features(), 2);
    const double all = static_cast<double>(p.weight_of(p.total.data())) * unit_;
    const double rows = static_cast<double>(p.n_rows);
    const double cases = rules_.cases > 0 ? rules_.cases : rules_.count_rows ? rows : all;
    cases_per_class_ = cases / std::max(p.targets.n_classes, 1);
    bool any_few = false;
    for (i32 f = 0; f < p.n_features(); ++f) {
      const Column& column = p.columns[f];
      if (column.type == ColumnType::code) {
        // C5.0 counts "not applicable" as a value.
        few_values_[f] = column.n_categories + (rules_.c50 ? 1 : 0) < 0.3 * cases;
        if (column.multiway) values_[f] = column.n_categories;
      }
      any_few |= few_values_[f];
    }
    if (!any_few) few_values_.assign(p.n_features(), true);
  }

  // Index of the winner, −1 for none. Candidates of kind `none` do not count.
  i64 operator()(const std::vector<Candidate>& candidates) const {
    if (rules_.c50) return pick_c50(candidates);
    const Real least = least_gain(candidates);
    Real most = rules_.zero_gain ? static_cast<Real>(-kEpsilon) : 0;
    i64 winner = -1;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].kind == CandidateKind::none) continue;
      const Real worth = worth_of(candidates[i], least);
      if (worth > most + static_cast<Real>(rules_.tolerance)) {
        most = worth;
        winner = static_cast<i64>(i);
      }
    }
    return winner;
  }

 private:
  static constexpr double kEpsilon = 1e-3;  // slack on the average gain
  static constexpr double kLeast = 1e-4;    // C5.0: gain from which a test counts

  // Average gain of the tests, less a little. Features that nearly tell the rows apart are left
  // out of the average: their gain is high for no good reason.
  Real least_gain(const std::vector<Candidate>& candidates) const {
    Real sum = 0;
    i64 count = 0;
    for (const Candidate& c : candidates) {
      if (c.kind == CandidateKind::none || !few_values_[c.feature]) continue;
      sum += static_cast<Real>(c.bits);
      ++count;
    }
    return count ? static_cast<Real>(sum / static_cast<Real>(count) - kEpsilon)
                 : static_cast<Real>(kInf);
  }

  Real worth_of(const Candidate& c, Real least) const {
    const Real none = static_cast<Real>(-kEpsilon);
    const Real gain = static_cast<Real>(c.bits), info = static_cast<Real>(c.split_info);
    if (!rules_.ratio) return info > 0 ? gain : none;
    const double flat = rules_.zero_gain ? kEpsilon : rules_.tolerance;
    return gain >= least && info > flat ? gain / info : none;
  }

  // C5.0: gain that a test must have. Between the average for few cases and the price of naming
  // one of the features for many.
  double least_gain_c50(const std::vector<const Candidate*>& offered) const {
    const double n = static_cast<double>(offered.size());
    double average = 0;
    for (const Candidate* c : offered) average += c->bits / n;
    const double price = 0.9 * std::log2(n) / (offered.front()->scale * unit_);
    const double many = std::clamp((cases_per_class_ - 500) / 500, 0.0, 1.0);
    return many * price + (1 - many) * average;
  }

  i64 pick_c50(const std::vector<Candidate>& candidates) const {
    std::vector<const Candidate*> offered;
    for (const Candidate& c : candidates) {
      if (c.kind == CandidateKind::none || !(c.bits > kLeast)) continue;
      if (few_values_[c.feature] || rules_.subset) offered.push_back(&c);
    }
    if (offered.empty()) return -1;
    const double least = 0.999 * least_gain_c50(offered);
    const Candidate* best = nullptr;
    double most = 0;
    for (const Candidate* c : offered) {
      if (c->bits < least || !(c->split_info > 0)) continue;
      const double ratio = c->bits / c->split_info;
      if (!best || ratio > (1 + rules_.tolerance) * most ||
          (ratio > 0.999 * most && is_simpler(*c, *best))) {
        best = c;
        most = ratio;
      }
    }
    return best ? best - candidates.data() : -1;
  }

  bool is_simpler(const Candidate& a, const Candidate& b) const {
    const i32 na = branches_of(a), nb = branches_of(b);
    return na != nb ? na < nb : a.bits > b.bits;
  }

  i32 branches_of(const Candidate& c) const {
    return c.kind == CandidateKind::multiway ? values_[c.feature] : c.n_branches;
  }

  QuinlanRules rules_;
  double unit_ = 1;
  double cases_per_class_ = 0;
  std::vector<char> few_values_;  // per feature: it counts in the average gain
  std::vector<i32> values_;       // per feature: branches of a multiway test on it
};

}  // namespace treewright
