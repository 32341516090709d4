// Scores of the tests of a node in single precision, over rows in the order they lie in.
//
// The rules are those of choose/quinlan.hpp. What is known of a feature is the weight of all rows,
// added up once more for each feature, less the gaps by class; what lies above a cut is that less
// what lies below.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "choose/chooser.hpp"
#include "grow/split_builder.hpp"
#include "quinlan/in_place/columns.hpp"
#include "quinlan/in_place/rows.hpp"
#include "quinlan/in_place/terms.hpp"

namespace treewright {

// A range of rows with its weight in single precision.
struct InPlaceNode {
  i64 begin = 0, end = 0;
  float cases = 0;
  bool is_whole = false;           // every row has its full weight: sums are exact in any order
  const float* classes = nullptr;  // class weights

  i64 size() const { return end - begin; }
};

class InPlaceScores {
 public:
  InPlaceScores(Problem& p, const QuinlanRules& rules, const InPlaceColumns& columns,
                const SingleTerms& terms, InPlaceRows& rows)
      : p_(p), rules_(rules), columns_(columns), terms_(terms), rows_(rows) {}

  // The best test of a feature. A continuous one leaves its gaps in front and the others sorted.
  Candidate best(const InPlaceNode& node, i32 f) {
    Candidate c;
    c.feature = f;
    columns_.is_coded(f) ? branch(node, f, c) : cut(node, f, c);
    return c;
  }

 private:
  static constexpr double kApart = 1e-5;  // values closer than this are not cut apart

  float known_share(float gaps, float total) const {
    return 1.0f - static_cast<float>(static_cast<double>(gaps) / static_cast<double>(total));
  }

  // Weight of the rows of a range, added by class.
  float sum_by_class(i64 begin, i64 end) {
    by_class_.assign(p_.targets.n_classes, 0);
    if (begin < end) {
      const InPlaceRows::Row* row = rows_.in_order(begin, end);
      for (i64 i = 0; i < end - begin; ++i) by_class_[row[i].label] += row[i].weight;
    }
    float sum = 0;
    for (const float w : by_class_) sum += w;
    return sum;
  }

  void cut(const InPlaceNode& node, i32 f, Candidate& c) {
    const float* key = columns_.keys(f);
    const float total = node.is_whole ? node.cases : rows_.sum(node.begin, node.end);
    i64 first = node.begin;
    if (columns_.has_gaps(f)) {
      first = rows_.bring(node.begin, node.end, [&](i32 row) { return std::isnan(key[row]); });
    }
    const float gaps = sum_by_class(node.begin, first), cases = total - gaps;
    const float least =
        static_cast<float>(std::clamp(0.1 * static_cast<double>(cases) / p_.targets.n_classes,
                                      rules_.min_items, std::max(rules_.min_items, 25.0)));
    if (!(cases >= 2 * least)) return;
    sorted_.resize(node.end - first);
    rows_.sort(first, node.end, key, sorted_.data());
    if (p_.cut_values.empty() && node.size() == p_.n_rows) keep_values(f, first, node.end);
    const float share = known_share(gaps, total);
    const Cut best = p_.targets.n_classes == 2 ? best_cut<true>(node, first, cases, least, share)
                                               : best_cut<false>(node, first, cases, least, share);
    if (!best.tries) return;
    const float gain =
        best.gain - static_cast<float>(std::log2(static_cast<double>(best.tries)) / total);
    if (!(gain > 0)) return;
    const i64 at = first + best.at;
    const Column& column = p_.columns[f];
    c.threshold = value_break(p_, f, column.value(rows_.id(at)), column.value(rows_.id(at + 1)));
    const float items[] = {best.below, cases - best.below, gaps};
    offer(c, CandidateKind::sorted_cut, gain, split_info(items, 3, total), total);
  }

  struct Cut {
    float gain = 0, below = 0;  // below: weight of the rows up to the cut
    i64 at = 0;                 // the last of them
    i64 tries = 0;
  };

  // The first of the cuts with the most gain of the rows from `first` on, whose values are in
  // sorted_.
  template <bool kTwo>
  Cut best_cut(const InPlaceNode& node, i64 first, float cases, float least, float share) {
    const i64 n = node.end - first;
    const InPlaceRows::Row* row = rows_.in_order(node.begin, node.end) + (first - node.begin);
    SingleSide<kTwo> left(terms_, p_.targets.n_classes), right(terms_, p_.targets.n_classes);
    if (node.is_whole && n == node.size()) {
      right.fill(node.classes);
    } else {
      for (i64 i = 0; i < n; ++i) right.add(row[i].label, row[i].weight);
    }
    const float base = right.info() / cases;
    Cut best;
    float below = 0;
    for (i64 i = 0; i + 1 < n; ++i) {
      below += row[i].weight;
      left.add(row[i].label, row[i].weight);
      right.add(row[i].label, -row[i].weight);
      if (below < least || !(sorted_[i] < sorted_[i + 1] - kApart)) continue;
      if (cases - below < least) break;
      const float inside = (left.info() + right.info()) / cases;
      const float gain = share * (base - inside);
      if (!best.tries || gain > best.gain) best = {gain, below, i, best.tries};
      ++best.tries;
    }
    return best;
  }

  // The values that thresholds may take; the root has all of them.
  void keep_values(i32 f, i64 begin, i64 end) {
    std::vector<double>& values = p_.features[f].code_value;
    for (i64 i = begin; i < end; ++i) values.push_back(p_.columns[f].value(rows_.id(i)));
    if (!std::is_sorted(values.begin(), values.end())) std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  // A branch per category.
  void branch(const InPlaceNode& node, i32 f, Candidate& c) {
    const i32 classes = p_.targets.n_classes, n_codes = p_.columns[f].n_categories + 1;
    const InPlaceRows::Row* row = rows_.in_order(node.begin, node.end);
    const i32* code = columns_.codes(f);
    // Few rows of many categories: their codes in order; otherwise every code.
    seen_.clear();
    if (n_codes > node.size()) {
      for (i64 i = node.begin; i < node.end; ++i) seen_.push_back(code[rows_.id(i)]);
      std::sort(seen_.begin(), seen_.end());
      seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
    } else {
      seen_.resize(n_codes);
      std::iota(seen_.begin(), seen_.end(), 0);
    }
    const i64 cells = static_cast<i64>(n_codes) * classes;
    if (static_cast<i64>(table_.size()) < 2 * cells) table_.resize(2 * cells);
    // Whole weights add up to the same in two tables, which do not wait for each other.
    float* const table = table_.data();
    float* const other = node.is_whole ? table + cells : table;
    for (const i32 s : seen_) {
      std::fill_n(table + static_cast<i64>(s) * classes, classes, 0.0f);
      std::fill_n(other + static_cast<i64>(s) * classes, classes, 0.0f);
    }
    float total = 0;
    const auto add = [&](i64 i, float* to) {
      total += row[i].weight;
      to[static_cast<i64>(code[rows_.id(node.begin + i)]) * classes + row[i].label] +=
          row[i].weight;
    };
    i64 i = 0;
    for (; i + 1 < node.size(); i += 2) {
      add(i, table);
      add(i + 1, other);
    }
    if (i < node.size()) add(i, table);
    if (other != table) {
      for (const i32 s : seen_) {
        for (i64 k = static_cast<i64>(s) * classes; k < (i64{s} + 1) * classes; ++k)
          table[k] += other[k];
      }
    }
    score_branches(f, total, c);
  }

  // From the filled table; categories without rows would add nothing.
  void score_branches(i32 f, float total, Candidate& c) {
    const i32 classes = p_.targets.n_classes, gap = p_.columns[f].n_categories;
    items_.clear();
    by_class_.assign(classes, 0);
    float gaps = 0, inside = 0;
    i32 enough = 0;
    for (const i32 code : seen_) {
      const float* stats = table_.data() + static_cast<i64>(code) * classes;
      float items = 0;
      for (i32 k = 0; k < classes; ++k) items += stats[k];
      if (code == gap) {
        gaps = items;
        continue;
      }
      items_.push_back(items);
      enough += items >= static_cast<float>(rules_.min_items);
      for (i32 k = 0; k < classes; ++k) by_class_[k] += stats[k];
      inside += terms_.info(stats, classes);
    }
    if (enough < 2) return;
    const float cases = total - gaps;
    const float base = terms_.info(by_class_.data(), classes) / cases;
    const float gain = known_share(gaps, total) * (base - inside / cases);
    items_.push_back(gaps);
    offer(c, CandidateKind::multiway, gain, split_info(items_.data(), items_.size(), total), total);
  }

  // Entropy of the branches, gaps among them, over all cases.
  float split_info(const float* items, std::size_t n, float all) const {
    return terms_.info(items, n) / all;
  }

  void offer(Candidate& c, CandidateKind kind, float bits, float info, float total) const {
    c.kind = kind;
    c.bits = bits;
    c.split_info = info;
    c.gain = std::max(0.0f, bits) * static_cast<double>(total);
  }

  Problem& p_;
  const QuinlanRules& rules_;
  const InPlaceColumns& columns_;
  const SingleTerms& terms_;
  InPlaceRows& rows_;
  std::vector<float> by_class_, items_, table_;
  std::vector<float> sorted_;  // values of the feature at hand
  std::vector<i32> seen_;      // its categories
};

}  // namespace treewright
