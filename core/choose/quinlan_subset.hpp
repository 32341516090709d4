// Grouping of categories. Categories whose rows are all of one class join others of that class.
// Then the pair of groups whose merger gives the best gain ratio is merged, as long as the ratio
// rises and three groups are left; a grouping without two groups of the least weight is worth
// nothing. Release 8 of C4.5 has a rule of its own for the last merger, which was read off its
// recorded runs.
//
// A merger changes the information of two groups only, so what each pair would change is kept in a
// table; a merger then costs one row of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "chooser.hpp"
#include "quinlan_info.hpp"

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
          double least_items, bool last_by_weight)
      : terms_(terms), classes_(classes), n_(g.size()), stats_(g.stats), first_(n_),
        least_items_(least_items), last_by_weight_(last_by_weight) {
    items_.assign(n_, 0);
    for (i32 i = 0; i < n_; ++i) {
      first_[i] = i;
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
    left_ = n_;
  }

  Grouping run(double known_share) {
    if (n_ > 2 && n_ <= kMost) {
      join_single_classes();
      merge_all(known_share);
    }
    Grouping out;
    out.gain = gain_;
    out.split_info = split_info_;
    std::vector<i32> number(n_, -1);
    for (i32 i = 0; i < n_; ++i) {
      if (first_[i] == i) number[i] = out.n_groups++;
    }
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

  bool is_open(i32 i) const { return first_[i] == i; }

  void merge(i32 a, i32 b, const Change& c) {
    gain_ += c.gain;
    split_info_ += c.split_info;
    first_[b] = a;
    items_[a] += items_[b];
    for (i32 k = 0; k < classes_; ++k) stats_[at(a) + k] += stats_[at(b) + k];
    --left_;
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
    std::vector<i32> home(classes_, -1);
    for (i32 i = 0; i < n_; ++i) {
      const i32 k = only_class(i);
      if (k < 0) continue;
      if (home[k] < 0) {
        home[k] = i;
      } else {
        merge(home[k], i, change(home[k], i));
      }
    }
  }

  // Groups of at least the least weight, were a and b (or none: −1) one.
  bool are_enough(i32 a, i32 b) const {
    i32 enough = 0;
    for (i32 i = 0; i < n_; ++i) {
      if (!is_open(i) || i == b) continue;
      const i64 items = items_[i] + (i == a ? items_[b] : 0);
      enough += terms_.weight(items) >= least_items_;
    }
    return enough >= 2;
  }

  // With three groups left, one of them below the least weight: the two lightest, the only ones that
  // release 8 may still merge; otherwise −1.
  std::pair<i32, i32> last_pair() const {
    if (!last_by_weight_ || left_ != 3) return {-1, -1};
    std::vector<i32> open;
    for (i32 i = 0; i < n_; ++i) {
      if (is_open(i)) open.push_back(i);
    }
    std::stable_sort(open.begin(), open.end(), [&](i32 a, i32 b) { return items_[a] < items_[b]; });
    if (terms_.weight(items_[open[0]]) >= least_items_) return {-1, -1};
    return {std::min(open[0], open[1]), std::max(open[0], open[1])};
  }

  void merge_all(double known_share) {
    std::vector<Change> table(static_cast<std::size_t>(n_) * n_);
    auto entry = [&](i32 i, i32 j) -> Change& { return table[static_cast<std::size_t>(i) * n_ + j]; };
    auto fill_row = [&](i32 a) {
      for (i32 i = 0; i < n_; ++i) {
        if (i == a || !is_open(i)) continue;
        entry(std::min(i, a), std::max(i, a)) = change(std::min(i, a), std::max(i, a));
      }
    };
    auto worth = [&](const Change& c, i32 a, i32 b) {
      if (!are_enough(a, b)) return -kInf;
      return known_share * (gain_ + c.gain) / (split_info_ + c.split_info);
    };
    for (i32 i = 0; i < n_; ++i) {
      if (is_open(i)) fill_row(i);
    }
    while (left_ > 2) {
      const auto [lightest, next] = last_pair();
      double most = worth({0, 0}, -1, -1);
      if (most > -kInf) most += kRise * std::abs(most);
      i32 a = -1, b = -1;
      for (i32 i = 0; i < n_; ++i) {
        for (i32 j = i + 1; is_open(i) && j < n_; ++j) {
          if (!is_open(j) || (lightest >= 0 && (i != lightest || j != next))) continue;
          const double value = worth(entry(i, j), i, j);
          if (value > most + (a < 0 ? 0 : kTie * std::abs(most))) {
            most = value;
            a = i;
            b = j;
          }
        }
      }
      if (a < 0) return;
      merge(a, b, Change(entry(a, b)));
      fill_row(a);
    }
  }

  static constexpr double kRise = 1e-7;  // a ratio that rises by less does not rise

  const Terms& terms_;
  i32 classes_, n_;
  std::vector<i64> stats_, items_, together_;
  std::vector<i32> first_;  // first_[i]: the group that i was merged into
  double gain_ = 0, split_info_ = 0, least_items_;
  bool last_by_weight_;  // see last_pair
  i32 left_ = 0;
};

}  // namespace treewright
