// Quinlan's choice of a test (C4.5, release 8, and Weka's J48).
//
// Every feature offers one test: the cut of a continuous feature with the most information gain,
// or a branch per category (or per group of categories). quinlan_pick.hpp finds the winner among
// them. Gain and split information are in bits per case, gaps lower the gain by their share and are
// a branch of the split information.
//
// C5.0 charges a cut with the logarithm of the cuts tried, or of the range of values over the gap
// it lies in, whichever is less; a cut of an ordinal feature with that of the cuts tried.
//
// Release 8 keeps weights in single precision: what is known at a node is the weight of its classes
// less that of the gaps, and what lies above a cut is that less what lies below. Where rows have
// fractions of their weight, the rounding decides whether a side has the least weight.
//
// References: Quinlan (1993), C4.5: Programs for Machine Learning, chapters 2 and 3; Quinlan
// (1996), Improved use of continuous attributes in C4.5, JAIR 4. C5.0: from its recorded runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/single.hpp"
#include "choose/factory.hpp"
#include "choose/groups.hpp"
#include "choose/sorted.hpp"
#include "quinlan/info.hpp"
#include "quinlan/pick.hpp"
#include "quinlan/subset.hpp"

namespace treewright {

// Part of a node that takes part in a test: its rows whose value is known.
struct Known {
  const i64* stats = nullptr;
  i64 items = 0, all = 0;       // scaled weight of the known rows, of all rows
  i64 rows = 0;                 // how many they are, whatever their weight
  double cases = 0, total = 0;  // the same in rows, as the program has them
  i64 gaps() const { return all - items; }
};

template <class Side>
class Quinlan : public Chooser {
 public:
  using Real = typename Side::Real;

  explicit Quinlan(const QuinlanRules& rules) : rules_(rules), pick_(rules) {}

  void prepare(const Problem& p) override {
    terms_.prepare(p);
    unit_ = p.weight_unit;
    pick_.prepare(p);
    crowded_.assign(p.n_features(), false);
    singles_ = std::is_same_v<Real, float> || p.params.single_thresholds;
    if (rules_.apart == 0 && !singles_) return;
    for (i32 f = 0; f < p.n_features(); ++f) {
      if (p.columns[f].type != ColumnType::code) {
        crowded_[f] = has_close_values(p.features[f].code_value);
      }
    }
  }

  Candidate best(const NodeView& node, i32 feature, Scratch& scratch) override {
    return search(node, feature, scratch);
  }

  bool picks() const override { return true; }

  i64 pick(const std::vector<Candidate>& candidates) const override { return pick_(candidates); }

  void order_groups(const CriterionView&, const Problem&, Groups&) override {}

  void merge_groups(const Problem& p, const i64* node_stats, const Groups& groups,
                    std::vector<i32>& branch) override {
    branch = group(p, node_stats, groups).branch;
  }

 private:
  static constexpr i64 kAhead = 16;  // entries to look ahead

  bool has_close_values(const std::vector<double>& sorted) const {
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (!is_apart(sorted[i - 1], sorted[i])) return true;
    }
    return false;
  }

  bool is_apart(double a, double b) const {
    return singles_ ? static_cast<float>(a) < static_cast<float>(b) - rules_.apart
                    : a < b - rules_.apart;
  }

  double weight(i64 scaled) const { return static_cast<double>(scaled) * unit_; }

  bool is_enough(i64 scaled, double least) const { return are_enough(weight(scaled), least); }
  bool are_enough(double rows, double least) const {
    return static_cast<Real>(rows) >= static_cast<Real>(least - rules_.tolerance);
  }

  // Rows above a cut, where `left` and `right` are the scaled weights of its sides.
  double above(const Known& known, i64 left, i64 right) const {
    if constexpr (std::is_same_v<Real, float>) {
      return static_cast<float>(known.cases) - static_cast<float>(weight(left));
    }
    return weight(right);
  }

  Real known_share(const Known& known) const {
    return static_cast<Real>(1) - static_cast<Real>(weight(known.gaps()) / known.total);
  }

  Candidate search(const NodeView& node, i32 feature, Scratch& scratch) {
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
    const Known known = known_of(node, g.gap_stats.data(), node.size() - g.gap_count, scratch);
    if (p.columns[feature].ordered && !p.columns[feature].multiway) {
      cut_groups(node, feature, known, scratch, best);
    } else if (rules_.subset && p.columns[feature].n_categories > 2) {
      merge_categories(p, node.stats, known, scratch, best);
    } else {
      branch_groups(p, known, scratch, best);
    }
    return best;
  }

  Known known_of(const NodeView& node, const i64* gap_stats, i64 rows, Scratch& scratch) const {
    const Problem& p = node.problem;
    scratch.known.assign(node.stats, node.stats + p.n_stats);
    for (i32 k = 0; k < p.n_stats; ++k) scratch.known[k] -= gap_stats[k];
    Known known{scratch.known.data(), p.weight_of(scratch.known.data()), p.weight_of(node.stats)};
    known.rows = rows;
    known.cases = weight(known.items);
    known.total = weight(known.all);
    if constexpr (std::is_same_v<Real, float>) {
      const KnownSingle single = known_single(node.stats, p.n_stats, known.gaps());
      known.total = single.total * unit_;
      known.cases = single.known * unit_;
    }
    return known;
  }

  // A node's sorted entries, one at a time.
  void cut_entries(const NodeView& node, i32 feature, Scratch& scratch, Candidate& best) {
    const Problem& p = node.problem;
    const Entry* e = node.block.entries[p.features[feature].slot] + node.begin;
    const i64 n = count_known(e, node.size());
    if (n < 2 || e[0].rank == e[n - 1].rank) return;
    std::vector<i64>& gap_stats = scratch.groups.gap_stats;
    gap_stats.assign(p.n_stats, 0);
    for (i64 i = n; i < node.size(); ++i) {
      add_any(p, node.block.target, e[i].id, gap_stats.data());
    }
    const Known known = known_of(node, gap_stats.data(), n, scratch);
    const TargetArrays& t = node.block.target;
    const Column& column = p.columns[feature];
    const bool crowded = crowded_[feature];
    auto scan = [&](auto unit) {
      cut(
          known, scratch, best, CandidateKind::sorted_cut, n,
          [&](i64 i, Side& left, Side& right) {
            // The rows lie in the order of the values, not of memory; looking ahead hides that.
            const i64 ahead = std::min(i + kAhead, n - 1);
            if (crowded) __builtin_prefetch(column.at(node.block.row(e[ahead].id)));
            if (!decltype(unit)::value) __builtin_prefetch(t.weight + e[ahead].id);
            const i64 w = decltype(unit)::value ? 1 : t.weight[e[i].id];
            left.add(t.label[e[i].id], w);
            right.add(t.label[e[i].id], -w);
          },
          [&](i64 i) {
            return e[i].rank != e[i + 1].rank &&
                   (!crowded || is_apart(column.value(node.block.row(e[i].id)),
                                         column.value(node.block.row(e[i + 1].id))));
          },
          [&](i64 i) { return column.value(node.block.row(e[i].id)); });
    };
    p.unit ? scan(std::true_type{}) : scan(std::false_type{});
  }

  // The distinct values of a coded feature, one at a time.
  void cut_groups(const NodeView& node, i32 feature, const Known& known, Scratch& scratch,
                  Candidate& best) {
    const Groups& g = scratch.groups;
    const i32 s = node.problem.n_stats;
    const std::vector<double>& value = node.problem.features[feature].code_value;
    const bool crowded = crowded_[feature];
    // C5.0 takes an ordinal feature as a grouping of categories: any side, no gap to lie in
    const bool ordinal = rules_.c50 && node.problem.columns[feature].type == ColumnType::code;
    cut(
        known, scratch, best, CandidateKind::group_cut, g.size(),
        [&](i64 i, Side& left, Side& right) {
          const i64* stats = g.stats.data() + i * s;
          for (i32 k = 0; k < s; ++k) {
            if (!stats[k]) continue;
            left.add(k, stats[k]);
            right.add(k, -stats[k]);
          }
        },
        [&](i64 i) { return !crowded || is_apart(value[g.code[i]], value[g.code[i + 1]]); },
        [&](i64 i) { return ordinal ? static_cast<double>(g.code[i]) : value[g.code[i]]; },
        ordinal);
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
    const double cases = known.cases;
    const double least = ordinal ? rules_.min_items
                                 : std::clamp(0.1 * cases / classes, rules_.min_items,
                                              std::max(rules_.min_items, 25.0));
    if (!are_enough(cases, 2 * least)) return;
    if (rules_.count_rows && !are_enough(static_cast<double>(known.rows), 2 * least)) return;
    Side left(terms_, classes, scratch.left, terms_in(scratch, 0));
    Side right(terms_, classes, scratch.right, terms_in(scratch, 1));
    right.fill(known.stats);
    const Real base = right.info() / static_cast<Real>(cases);
    const Real share = known_share(known);
    Real most = 0;
    i64 tries = 0, at = 0, left_items = 0;
    for (i64 i = 0; i + 1 < n; ++i) {
      move(i, left, right);
      if (!is_enough(left.items(), least) || !apart(i)) continue;
      if (!are_enough(above(known, left.items(), right.items()), least)) break;
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
    const double all = known.total;
    double charge = std::log2(static_cast<double>(tries));
    if (rules_.c50) {
      const double range = value(n - 1) - value(0), gap = value(at) - value(at - 1);
      if (!ordinal) charge = std::min(charge, std::log2(range / gap));
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
    const double cases = known.cases, all = known.total;
    const Real base = side.info() / static_cast<Real>(cases);
    Real inside = 0;
    for (i32 i = 0; i < g.size(); ++i) {
      side.fill(g.stats.data() + static_cast<i64>(i) * s);
      inside += side.info();
    }
    inside /= static_cast<Real>(cases);
    const Real share = known_share(known);
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
    return Grouper(terms_, g, p.n_stats, all - items, base, rules_.min_items, !rules_.c50)
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
  QuinlanPick<Real> pick_;
  double unit_ = 1;
  std::vector<char> crowded_;  // per feature: some values lie too close to be cut apart
  bool singles_ = false;       // values are told apart in single precision
};

}  // namespace treewright
