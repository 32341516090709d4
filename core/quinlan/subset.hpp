// Grouping of categories. Categories whose rows are all of one class join others of that class.
// Then the pair of groups whose merger gives the best gain ratio is merged, as long as the ratio
// rises and three groups are left; a grouping without two groups of the least weight is worth
// nothing.
//
// Release 8 of C4.5 has rules of its own, which were read off its recorded runs: with no more than
// two groups of the least weight the heaviest takes no part in mergers, the last of tied pairs is
// merged, and the last group takes the place of one that was merged into another.
//
// C5.0 charges a grouping with the bits that name it among those of as many groups, as it charges a
// cut: in its recorded runs outlook (three values) stays apart on 14 rows, housing does not on 400.
//
// A merger changes the information of two groups only, so what each pair would change is kept in a
// table; a merger then costs one row of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "choose/chooser.hpp"
#include "quinlan/info.hpp"

namespace treewright {

// A test on groups of categories, as sums over the node: gain and split information times cases.
struct Grouping {
  std::vector<i32> branch;  // of each category seen at the node
  i32 n_groups = 0;
  double gain = 0, split_info = 0;
};

class Grouper {
 public:
  // More categories than this at a node are left apart.
  static constexpr i32 kMost = 256;

  Grouper(const Terms& terms, const Groups& g, i32 classes, i64 gap_items, double base,
          double least_items, bool release8)
      : terms_(terms),
        classes_(classes),
        n_(g.size()),
        stats_(g.stats),
        first_(n_),
        least_items_(least_items),
        release8_(release8) {
    items_.assign(n_, 0);
    for (i32 i = 0; i < n_; ++i) {
      first_[i] = i;
      open_.push_back(i);
      for (i32 k = 0; k < classes_; ++k) items_[i] += stats_[at(i) + k];
    }
    double inside = 0, terms_of_items = terms_.of(gap_items);
    i64 all = gap_items;
    for (i32 i = 0; i < n_; ++i) {
      inside += info(stats_.data() + at(i), items_[i]);
      terms_of_items += terms_.of(items_[i]);
      all += items_[i];
    }
    gain_ = base - inside;
    split_info_ = terms_.of(all) - terms_of_items;
  }

  Grouping run(double known_share) {
    if (n_ > 2 && n_ <= kMost) {
      join_single_classes();
      merge_all(known_share);
    }
    Grouping out;
    out.gain = gain_ - charge(left());
    out.split_info = split_info_;
    std::vector<i32> number(n_, -1);
    for (i32 group : open_) number[group] = out.n_groups++;
    for (i32 i = 0; i < n_; ++i) out.branch.push_back(number[root(i)]);
    return out;
  }

 private:
  struct Change {
    double gain, split_info;
  };

  i64 at(i32 group) const { return static_cast<i64>(group) * classes_; }
  i32 root(i32 i) const {
    while (first_[i] != i) i = first_[i];
    return i;
  }

  double info(const i64* stats, i64 items) const {
    double sum = 0;
    for (i32 k = 0; k < classes_; ++k) sum += terms_.of(stats[k]);
    return terms_.of(items) - sum;
  }

  Change change(i32 i, i32 j) {
    together_.resize(classes_);
    for (i32 k = 0; k < classes_; ++k) together_[k] = stats_[at(i) + k] + stats_[at(j) + k];
    const i64 items = items_[i] + items_[j];
    const double lost = info(together_.data(), items) - info(stats_.data() + at(i), items_[i]) -
                        info(stats_.data() + at(j), items_[j]);
    return {-lost, terms_.of(items_[i]) + terms_.of(items_[j]) - terms_.of(items)};
  }

  i32 left() const { return static_cast<i32>(open_.size()); }

  // Merges the group at place q of open_ into the one at place p.
  void merge(i32 p, i32 q, const Change& c) {
    const i32 a = open_[p], b = open_[q];
    gain_ += c.gain;
    split_info_ += c.split_info;
    first_[b] = a;
    items_[a] += items_[b];
    for (i32 k = 0; k < classes_; ++k) stats_[at(a) + k] += stats_[at(b) + k];
    if (release8_) {
      open_[q] = open_.back();
      open_.pop_back();
    } else {
      open_.erase(open_.begin() + q);
    }
  }

  // The only class of a group, or −1.
  i32 only_class(i32 group) const {
    i32 only = -1;
    for (i32 k = 0; k < classes_; ++k) {
      if (!stats_[at(group) + k]) continue;
      if (only >= 0) return -1;
      only = k;
    }
    return only;
  }

  void join_single_classes() {
    for (i32 p = 0; p < left(); ++p) {
      const i32 k = only_class(open_[p]);
      for (i32 q = p + 1; k >= 0 && q < left();) {
        if (only_class(open_[q]) == k) {
          merge(p, q, change(open_[p], open_[q]));  // another group may be at q now
        } else {
          ++q;
        }
      }
    }
  }

  // C5.0: bits that say which of the ways to put the categories into `groups` groups was taken
  // (Stirling's numbers of the second kind); nothing where every category stays by itself.
  double charge(i32 groups) const {
    if (release8_ || groups >= n_) return 0;
    std::vector<double> ways(groups + 1, 0);
    ways[0] = 1;
    for (i32 i = 1; i <= n_; ++i) {
      for (i32 k = std::min(i, groups); k >= 1; --k) ways[k] = k * ways[k] + ways[k - 1];
      ways[0] = 0;
    }
    return std::log2(ways[groups]);
  }

  bool is_enough(i64 items) const { return terms_.weight(items) >= least_items_; }

  i32 count_enough() const {
    i32 enough = 0;
    for (i32 group : open_) enough += is_enough(items_[group]);
    return enough;
  }

  // Place of the group that may not be merged, or −1.
  i32 barred(i32 enough) const {
    if (!release8_ || enough > 2) return -1;
    auto heavier = [&](i32 a, i32 b) { return items_[a] < items_[b]; };
    return static_cast<i32>(std::max_element(open_.begin(), open_.end(), heavier) - open_.begin());
  }

  void merge_all(double known_share) {
    std::vector<Change> table(static_cast<std::size_t>(n_) * n_);
    auto entry = [&](i32 a, i32 b) -> Change& {
      return table[static_cast<std::size_t>(std::min(a, b)) * n_ + std::max(a, b)];
    };
    auto fill_row = [&](i32 a) {
      for (i32 b : open_) {
        if (a != b) entry(a, b) = change(std::min(a, b), std::max(a, b));
      }
    };
    auto ratio = [&](const Change& c, i32 groups) {
      return known_share * (gain_ + c.gain - charge(groups)) / (split_info_ + c.split_info);
    };
    for (i32 a : open_) fill_row(a);
    while (left() > 2) {
      const i32 enough = count_enough(), stays = barred(enough);
      double most = enough < 2 ? -kInf : ratio({0, 0}, left());
      if (most > -kInf) most += kRise * std::abs(most);
      i32 at = -1, other = -1;
      for (i32 p = 0; p < left(); ++p) {
        for (i32 q = p + 1; q < left(); ++q) {
          if (p == stays || q == stays) continue;
          const i64 a = items_[open_[p]], b = items_[open_[q]];
          if (enough - is_enough(a) - is_enough(b) + is_enough(a + b) < 2) continue;
          const double value = ratio(entry(open_[p], open_[q]), left() - 1);
          const double tie = at < 0 ? 0 : kTie * std::abs(most);
          if (value > most + (release8_ ? -tie : tie)) {
            most = value;
            at = p;
            other = q;
          }
        }
      }
      if (at < 0) return;
      merge(at, other, Change(entry(open_[at], open_[other])));
      fill_row(open_[at]);
    }
  }

  static constexpr double kRise = 1e-7;  // a ratio that rises by less does not rise

  const Terms& terms_;
  i32 classes_, n_;
  std::vector<i64> stats_, items_, together_;
  std::vector<i32> first_;  // first_[i]: the group that i was merged into
  std::vector<i32> open_;   // the groups that are left, in their order
  double gain_ = 0, split_info_ = 0, least_items_;
  bool release8_;
};

}  // namespace treewright
