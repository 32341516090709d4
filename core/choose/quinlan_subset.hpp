// Grouping of categories: the pair of groups whose merger gives the best gain ratio is merged, as
// long as that is no worse than before and three groups are left.
//
// A merger changes the information of two groups only, so what each pair would change is kept in a
// table; a merger then costs one row of it.
#pragma once

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

  Grouper(const Terms& terms, const Groups& g, i32 classes, i64 gap_items, double base)
      : terms_(terms), classes_(classes), n_(g.size()), stats_(g.stats), first_(n_) {
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
  }

  Grouping run(double known_share) {
    if (n_ > 2 && n_ <= kMost) merge_all(known_share);
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

  void merge_all(double known_share) {
    std::vector<Change> table(static_cast<std::size_t>(n_) * n_);
    auto fill = [&](i32 i, i32 j) { table[static_cast<std::size_t>(i) * n_ + j] = change(i, j); };
    for (i32 i = 0; i < n_; ++i) {
      for (i32 j = i + 1; j < n_; ++j) fill(i, j);
    }
    auto ratio = [&](double gain, double split) {
      return static_cast<float>(known_share * gain / split);
    };
    i32 left = n_;
    while (left > 2) {
      float most = ratio(gain_, split_info_);
      i32 a = -1, b = -1;
      for (i32 i = 0; i < n_; ++i) {
        if (first_[i] != i) continue;
        for (i32 j = i + 1; j < n_; ++j) {
          if (first_[j] != j) continue;
          const Change& c = table[static_cast<std::size_t>(i) * n_ + j];
          const float worth = ratio(gain_ + c.gain, split_info_ + c.split_info);
          if (a < 0 ? worth >= most : worth > most) {
            most = worth;
            a = i;
            b = j;
          }
        }
      }
      if (a < 0) return;
      const Change c = table[static_cast<std::size_t>(a) * n_ + b];
      gain_ += c.gain;
      split_info_ += c.split_info;
      first_[b] = a;
      items_[a] += items_[b];
      for (i32 k = 0; k < classes_; ++k) stats_[at(a) + k] += stats_[at(b) + k];
      --left;
      for (i32 i = 0; i < a; ++i) {
        if (first_[i] == i) fill(i, a);
      }
      for (i32 j = a + 1; j < n_; ++j) {
        if (first_[j] == j) fill(a, j);
      }
    }
  }

  const Terms& terms_;
  i32 classes_, n_;
  std::vector<i64> stats_, items_, together_;
  std::vector<i32> first_;  // first_[i]: the group that i was merged into
  double gain_ = 0, split_info_ = 0;
};

}  // namespace treewright
