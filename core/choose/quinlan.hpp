// Quinlan's choice of a test (C4.5, release 8, and Weka's J48).
//
// Every feature offers one test: the cut of a continuous feature with the most information gain,
// or a branch per category (or per group of categories). The winner is found among all of them: the
// best gain ratio of the tests whose gain is not below the average. Gain and split information
// are in bits per case, gaps lower the gain by their share and are a branch of the split information.
//
// C5.0 parts from C4.5 in four ways. A cut is charged with the logarithm of the cuts tried, or of the
// range of values over the gap it lies in, whichever is less; a cut of an ordinal feature is not
// charged. With many cases per class, a test needs only to pay for naming its feature, not to gain
// the average. Of nearly equal ratios the test with fewer branches wins, then the one with more gain.
// Nominal features with very many values are not tested, unless there are no others or they are
// grouped.
//
// References: Quinlan (1993), C4.5: Programs for Machine Learning, chapters 2 and 3; Quinlan (1996),
// Improved use of continuous attributes in C4.5, JAIR 4. C5.0: from its recorded runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "factory.hpp"
#include "groups.hpp"
#include "quinlan_info.hpp"
#include "quinlan_subset.hpp"
#include "sorted.hpp"

namespace treewright {

// Part of a node that takes part in a test: its rows whose value is known.
struct Known {
  const i64* stats = nullptr;
  i64 items = 0, all = 0;  // scaled weight of the known rows, of all rows
  i64 gaps() const { return all - items; }
};

template <class Side>
class Quinlan : public Chooser {
 public:
  using Real = typename Side::Real;

  explicit Quinlan(const QuinlanRules& rules) : rules_(rules) {}

  void prepare(const Problem& p) override {
    terms_.prepare(p);
    unit_ = p.weight_unit;
    few_values_.assign(p.n_features(), true);
    crowded_.assign(p.n_features(), false);
    values_.assign(p.n_features(), 2);
    const double cases = rules_.cases > 0 ? rules_.cases : weight(p.weight_of(p.total.data()));
    cases_per_class_ = cases / std::max(p.targets.n_classes, 1);
    bool any_few = false;
    for (i32 f = 0; f < p.n_features(); ++f) {
      const Column& column = p.columns[f];
      if (column.type == ColumnType::code) {
        // C5.0 counts "not applicable" as a value.
        few_values_[f] = column.n_categories + (rules_.c50 ? 1 : 0) < 0.3 * cases;
        if (column.multiway) values_[f] = column.n_categories;
      } else if (!rules_.c50) {
        crowded_[f] = has_close_values(p.features[f].code_value);
      }
      any_few |= few_values_[f];
    }
    if (!any_few) few_values_.assign(p.n_features(), true);
  }

  Candidate best(const NodeView<u16>& node, i32 feature, Scratch& scratch) override {
    return search(node, feature, scratch);
  }
  Candidate best(const NodeView<u32>& node, i32 feature, Scratch& scratch) override {
    return search(node, feature, scratch);
  }

  bool picks() const override { return true; }

  // Index of the winner, −1 for none. Candidates of kind `none` do not count.
  i64 pick(const std::vector<Candidate>& candidates) const override {
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

  void order_groups(const CriterionView&, const Problem&, Groups&) override {}

  void merge_groups(const Problem& p, const i64* node_stats, const Groups& groups,
                    std::vector<i32>& branch) override {
    branch = group(p, node_stats, groups).branch;
  }

 private:
  static constexpr double kEpsilon = 1e-3;  // slack on the average gain
  static constexpr double kLeast = 1e-4;    // C5.0: gain from which a test counts
  static constexpr double kApart = 1e-5;    // values closer than this are not cut apart
  static constexpr i64 kAhead = 16;         // entries to look ahead

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
      if (!best || ratio > 1.001 * most || (ratio > 0.999 * most && is_simpler(*c, *best))) {
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

  static bool has_close_values(const std::vector<double>& sorted) {
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (!is_apart(sorted[i - 1], sorted[i])) return true;
    }
    return false;
  }

  static bool is_apart(double a, double b) {
    return static_cast<Real>(a) < static_cast<Real>(b) - kApart;
  }

  double weight(i64 scaled) const { return static_cast<double>(scaled) * unit_; }

  bool is_enough(i64 scaled, double least) const {
    return static_cast<Real>(weight(scaled)) >= static_cast<Real>(least - rules_.tolerance);
  }

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

  template <class Id>
  Candidate search(const NodeView<Id>& node, i32 feature, Scratch& scratch) {
    const Problem& p = node.problem;
    Candidate best;
    best.feature = feature;
    if (p.features[feature].store == Store::sorted) {
      cut_entries(node, feature, scratch, best);
      return best;
    }
    build_groups(node, feature, scratch);
    const Groups& g = scratch.groups;
    if (g.size() < 2) return best;
    const Known known = known_of(node, g.gap_stats.data(), scratch);
    if (p.columns[feature].ordered && !p.columns[feature].multiway) {
      cut_groups(node, feature, known, scratch, best);
    } else if (rules_.subset && p.columns[feature].n_categories > 2) {
      merge_categories(p, node.stats, known, scratch, best);
    } else {
      branch_groups(p, known, scratch, best);
    }
    return best;
  }

  template <class Id>
  Known known_of(const NodeView<Id>& node, const i64* gap_stats, Scratch& scratch) const {
    const Problem& p = node.problem;
    scratch.known.assign(node.stats, node.stats + p.n_stats);
    for (i32 k = 0; k < p.n_stats; ++k) scratch.known[k] -= gap_stats[k];
    return {scratch.known.data(), p.weight_of(scratch.known.data()), p.weight_of(node.stats)};
  }

  // A node's sorted entries, one at a time.
  template <class Id>
  void cut_entries(const NodeView<Id>& node, i32 feature, Scratch& scratch, Candidate& best) {
    const Problem& p = node.problem;
    const Entry<Id>* e = node.block.entries[p.features[feature].slot] + node.begin;
    const i64 n = count_known(e, node.size());
    if (n < 2 || e[0].rank == e[n - 1].rank) return;
    std::vector<i64>& gap_stats = scratch.groups.gap_stats;
    gap_stats.assign(p.n_stats, 0);
    for (i64 i = n; i < node.size(); ++i) {
      add_any(p, node.block.target, e[i].id, gap_stats.data());
    }
    const Known known = known_of(node, gap_stats.data(), scratch);
    const TargetArrays& t = node.block.target;
    const Column& column = p.columns[feature];
    const bool crowded = crowded_[feature];
    auto scan = [&](auto unit) {
      cut(known, scratch, best, CandidateKind::sorted_cut, n, [&](i64 i, Side& left, Side& right) {
        // The rows lie in the order of the values, not of memory; looking ahead hides that.
        const i64 ahead = std::min(i + kAhead, n - 1);
        if (crowded) __builtin_prefetch(column.at(node.block.row(e[ahead].id)));
        if (!decltype(unit)::value) __builtin_prefetch(t.weight + e[ahead].id);
        const i64 w = decltype(unit)::value ? 1 : t.weight[e[i].id];
        left.add(t.label[e[i].id], w);
        right.add(t.label[e[i].id], -w);
      }, [&](i64 i) {
        return e[i].rank != e[i + 1].rank &&
               (!crowded || is_apart(column.value(node.block.row(e[i].id)),
                                     column.value(node.block.row(e[i + 1].id))));
      }, [&](i64 i) { return column.value(node.block.row(e[i].id)); });
    };
    p.unit ? scan(std::true_type{}) : scan(std::false_type{});
  }

  // The distinct values of a coded feature, one at a time.
  template <class Id>
  void cut_groups(const NodeView<Id>& node, i32 feature, const Known& known, Scratch& scratch,
                  Candidate& best) {
    const Groups& g = scratch.groups;
    const i32 s = node.problem.n_stats;
    const std::vector<double>& value = node.problem.features[feature].code_value;
    const bool crowded = crowded_[feature];
    // C5.0 takes an ordinal feature as a grouping of categories: any side, no charge
    const bool ordinal =
        rules_.c50 && node.problem.columns[feature].type == ColumnType::code;
    cut(known, scratch, best, CandidateKind::group_cut, g.size(),
        [&](i64 i, Side& left, Side& right) {
          const i64* stats = g.stats.data() + i * s;
          for (i32 k = 0; k < s; ++k) {
            if (!stats[k]) continue;
            left.add(k, stats[k]);
            right.add(k, -stats[k]);
          }
        },
        [&](i64 i) { return !crowded || is_apart(value[g.code[i]], value[g.code[i + 1]]); },
        [&](i64 i) { return ordinal ? static_cast<double>(g.code[i]) : value[g.code[i]]; }, ordinal);
  }

  // Buffers for the terms of two sides.
  static auto& terms_in(Scratch& scratch, int side) {
    if constexpr (std::is_same_v<typename Side::Number, i64>) {
      return side ? scratch.dense : scratch.sums;
    } else {
      return side ? scratch.more_numbers : scratch.numbers;
    }
  }

  // The best of the cuts after each of n steps: `move` takes a step, `apart` says whether the
  // values on either side may be told apart, `value` is that of a step.
  template <class Move, class Apart, class Value>
  void cut(const Known& known, Scratch& scratch, Candidate& best, CandidateKind kind, i64 n,
           Move&& move, Apart&& apart, Value&& value, bool ordinal = false) {
    const i32 classes = static_cast<i32>(scratch.known.size());
    const double cases = weight(known.items);
    const double side = ordinal ? rules_.min_items
                                : std::clamp(0.1 * cases / classes, rules_.min_items,
                                             std::max(rules_.min_items, 25.0));
    if (!is_enough(known.items, 2 * side)) return;
    Side left(terms_, classes, scratch.left, terms_in(scratch, 0));
    Side right(terms_, classes, scratch.right, terms_in(scratch, 1));
    right.fill(known.stats);
    const Real base = right.info() / static_cast<Real>(cases);
    const Real share = static_cast<Real>(1) - static_cast<Real>(weight(known.gaps()) / weight(known.all));
    Real most = 0;
    i64 tries = 0, at = 0, left_items = 0;
    for (i64 i = 0; i + 1 < n; ++i) {
      move(i, left, right);
      if (!is_enough(left.items(), side) || !apart(i)) continue;
      if (!is_enough(right.items(), side)) break;
      ++tries;
      const Real inside = (left.info() + right.info()) / static_cast<Real>(cases);
      const Real gain = share * (base - inside);
      if (!at || gain > most + static_cast<Real>(rules_.tolerance)) {
        most = gain;
        at = i + 1;
        left_items = left.items();
      }
    }
    if (!tries) return;
    const double all = weight(known.all);
    double charge = std::log2(static_cast<double>(tries));
    if (rules_.c50) {
      const double range = value(n - 1) - value(0), gap = value(at) - value(at - 1);
      charge = ordinal ? 0 : std::min(charge, std::log2(range / gap));
    }
    most -= static_cast<Real>(charge / all);
    if (!(most > static_cast<Real>(rules_.tolerance))) return;
    best.cut = at;
    const i64 items[] = {left_items, known.items - left_items, known.gaps()};
    offer(best, kind, 2, most, split_info(items, items + 3, all), known);
  }

  // A branch per category, or per group of merged ones.
  void branch_groups(const Problem& p, const Known& known, Scratch& scratch, Candidate& best) {
    const Groups& g = scratch.groups;
    const i32 s = p.n_stats;
    std::vector<i64> items;
    for (i32 i = 0; i < g.size(); ++i) {
      items.push_back(p.weight_of(g.stats.data() + static_cast<i64>(i) * s));
    }
    i32 enough = 0;
    for (i64 w : items) enough += is_enough(w, rules_.min_items);
    if (enough < 2) return;
    Side side(terms_, s, scratch.left, terms_in(scratch, 0));
    side.fill(known.stats);
    const double cases = weight(known.items), all = weight(known.all);
    const Real base = side.info() / static_cast<Real>(cases);
    Real inside = 0;
    for (i32 i = 0; i < g.size(); ++i) {
      side.fill(g.stats.data() + static_cast<i64>(i) * s);
      inside += side.info();
    }
    inside /= static_cast<Real>(cases);
    const Real share = static_cast<Real>(1) - static_cast<Real>(weight(known.gaps()) / all);
    items.push_back(known.gaps());
    offer(best, CandidateKind::multiway, g.size(), share * (base - inside),
          split_info(items.data(), items.data() + items.size(), all), known);
  }

  Grouping group(const Problem& p, const i64* node_stats, const Groups& g) const {
    std::vector<i64> known(node_stats, node_stats + p.n_stats);
    for (i32 k = 0; k < p.n_stats; ++k) known[k] -= g.gap_stats[k];
    const i64 items = p.weight_of(known.data()), all = p.weight_of(node_stats);
    double base = terms_.of(items);
    for (i64 x : known) base -= terms_.of(x);
    return Grouper(terms_, g, p.n_stats, all - items, base, rules_.min_items)
        .run(static_cast<double>(items) / static_cast<double>(all));
  }

  // A branch per group of categories; those not seen at the node share one more.
  void merge_categories(const Problem& p, const i64* node_stats, const Known& known,
                        Scratch& scratch, Candidate& best) {
    const Groups& g = scratch.groups;
    const Grouping found = group(p, node_stats, g);
    std::vector<i64> items(found.n_groups, 0);
    for (i32 i = 0; i < g.size(); ++i) {
      items[found.branch[i]] += p.weight_of(g.stats.data() + static_cast<i64>(i) * p.n_stats);
    }
    i32 enough = 0;
    for (i64 w : items) enough += is_enough(w, rules_.min_items);
    if (enough < 2) return;
    const double all = weight(known.all);
    const double share = weight(known.items) / all;
    // found.gain is Σ over the known cases; the gain counts all cases: × share / cases
    const bool any_unseen = g.size() < p.columns[best.feature].n_categories;
    offer(best, CandidateKind::merged, found.n_groups + any_unseen,
          static_cast<Real>(share * found.gain / weight(known.items)),
          static_cast<Real>(found.split_info / all), known);
  }

  // Entropy of the branches, gaps among them, over all cases.
  Real split_info(const i64* from, const i64* to, double all) const {
    Real sum = 0, total = 0;
    for (const i64* w = from; w < to; ++w) {
      sum = static_cast<Real>(sum + terms_.of(*w));
      total += static_cast<Real>(weight(*w));
    }
    return static_cast<Real>(total * std::log2(static_cast<double>(total)) - sum) /
           static_cast<Real>(all);
  }

  void offer(Candidate& best, CandidateKind kind, i32 branches, Real bits, Real info,
             const Known& known) const {
    best.kind = kind;
    best.n_branches = branches;
    best.bits = bits;
    best.split_info = info;
    best.gain = std::max(0.0, static_cast<double>(bits)) * static_cast<double>(known.all);
    best.scale = static_cast<double>(known.all);
  }

  QuinlanRules rules_;
  Terms terms_;
  double unit_ = 1;
  double cases_per_class_ = 0;
  std::vector<char> few_values_;  // per feature: it counts in the average gain
  std::vector<i32> values_;       // per feature: branches of a multiway test on it
  std::vector<char> crowded_;     // per feature: some values lie closer than kApart
};

}  // namespace treewright
