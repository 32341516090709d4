// CHAID's merging of categories (Kass 1980, steps 2 and 3; Biggs et al. 1991), one feature at a
// time on the small tables of a node.
//
// A group is known by its first category. For every group the most similar partner behind it is
// remembered, so that memory grows with the categories and not with their pairs. Similarity is
// the p-value of the pair, by the tail functions of scipy, whose addresses the caller passes.
//
// A group whose partner was merged keeps its similarity as a bound of what it can still have, and
// looks for a new partner only when no other pair is clearly closer than that bound. So a merger
// costs about one pass over the groups, and all of them about the square of the categories.
//
// Glossary
//   category   a row of a feature's table that has weight; the gap, if it has any, comes last
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/threads.hpp"
#include "chaid/measure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

constexpr int kMaxDivided = 10;  // categories of a group of which every division is tried
constexpr int kMaxResplits = 100;
constexpr std::int64_t kMaxShared = 1000;  // categories of a feature that threads may share
constexpr std::size_t kMany = 1000;  // categories above which equal ones are one from the start

struct Rules {
  double alpha_merge, alpha_resplit;  // resplit below zero: never
  double least;                       // weight that every group needs
  bool keep_path;                     // test the groups at every step
};

class Groups {
 public:
  // `first` of each category is the group it begins in; `poll` answers Ctrl-C, null on threads that
  // cannot.
  Groups(const std::vector<const double*>& categories, const std::vector<int>& first, bool ordered,
         bool has_gap, Measure& m, SignalPoll* poll)
      : categories_(categories),
        ordered_(ordered),
        gap_(ordered && has_gap ? static_cast<int>(categories.size()) - 1 : -1),
        measure_(m),
        poll_(poll),
        width_(m.width()) {
    const int c = static_cast<int>(categories.size());
    sums_.resize(static_cast<std::size_t>(c) * width_);
    members_.resize(c);
    partner_.assign(c, -1);
    similarity_.resize(c);
    is_bound_.assign(c, 0);
    for (int k = 0; k < c; ++k) {
      for (int w = 0; w < width_; ++w) sums(first[k])[w] += categories[k][w];
      members_[first[k]].push_back(k);
      if (first[k] == k) alive_.push_back(k);
    }
    find_partners();
  }

  int count() const { return static_cast<int>(alive_.size()); }
  const std::vector<int>& alive() const { return alive_; }
  const std::vector<int>& members(int key) const { return members_[key]; }

  Tested test() {
    rows_.clear();
    for (const int key : alive_) rows_.push_back(sums(key));
    return measure_.test(rows_);
  }

  // The most similar pair, the first of equal ones; gives its p-value.
  double best_pair(int& i, int& j) {
    do {
      i = closest();
    } while (settle(i));
    j = partner_[i];
    return measure_.p_value(similarity_[i]);
  }

  // The group of least weight, if that is below `least`.
  int smallest(double least) {
    int found = -1;
    double weight = least;
    for (const int key : alive_) {
      const double own = measure_.weight(sums(key));
      if (own < weight) {
        weight = own;
        found = key;
      }
    }
    return found;
  }

  int most_similar(int key) {
    int found = -1;
    Tested best;
    for (const int other : alive_) {
      if (other == key || !may_merge(std::min(key, other), std::max(key, other))) continue;
      const Tested pair = test_pair(std::min(key, other), std::max(key, other));
      if (found < 0 || measure_.is_closer(pair, best)) {
        best = pair;
        found = other;
      }
    }
    return found;
  }

  void join(int i, int j) {
    if (i > j) std::swap(i, j);
    for (int k = 0; k < width_; ++k) sums(i)[k] += sums(j)[k];
    members_[i].insert(members_[i].end(), members_[j].begin(), members_[j].end());
    std::inplace_merge(members_[i].begin(),
                       members_[i].end() - static_cast<std::ptrdiff_t>(members_[j].size()),
                       members_[i].end());
    alive_.erase(std::lower_bound(alive_.begin(), alive_.end(), j));
    if (j == gap_) gap_ = -1;
    find_partner(i);
    for (const int key : alive_) {
      if (key == i) continue;
      if (partner_[key] == i || partner_[key] == j) is_bound_[key] = 1;
      if (key > i || !may_merge(key, i)) continue;
      const Tested pair = test_pair(key, i);
      if (measure_.is_closer(pair, similarity_[key]) ||
          (!is_bound_[key] && i < partner_[key] && !measure_.is_closer(similarity_[key], pair))) {
        similarity_[key] = pair;
        partner_[key] = i;
      }
    }
  }

  // Divides a group of three or more where its parts differ most, if their p is at most alpha.
  bool divide(int key, double alpha) {
    const std::vector<int> members = members_[key];
    const int n = static_cast<int>(members.size());
    if (n < 3) return false;
    std::vector<char> best_side;
    Tested best;
    for_each_division(members, [&](const std::vector<char>& side) {
      const Tested found = test_sides(members, side);
      // the degrees of freedom are the group's, so the statistic alone decides
      if (best_side.empty() || found.statistic > best.statistic * (1 + Measure::kTie)) {
        best = found;
        best_side = side;
      }
    });
    if (measure_.p_value(best) > alpha) return false;
    set_members(key, members, best_side);
    return true;
  }

 private:
  double* sums(int key) { return sums_.data() + static_cast<std::size_t>(key) * width_; }

  bool may_merge(int i, int j) const {
    if (!ordered_ || j == gap_) return true;
    const auto at = std::lower_bound(alive_.begin(), alive_.end(), i);
    return at + 1 != alive_.end() && *(at + 1) == j;
  }

  Tested test_pair(int i, int j) {
    rows_.assign({sums(i), sums(j)});
    return measure_.test(rows_);
  }

  // The first group of those that seem closest to their partners.
  int closest() const {
    int found = -1;
    for (const int key : alive_) {
      if (partner_[key] < 0) continue;
      if (found < 0 || measure_.is_closer(similarity_[key], similarity_[found])) found = key;
    }
    return found;
  }

  // Looks for the partner of a winner that has only a bound, then of all that may be as close.
  bool settle(int winner) {
    if (is_bound_[winner]) {
      find_partner(winner);
      return true;
    }
    bool any = false;
    for (const int key : alive_) {
      if (!is_bound_[key] || measure_.is_closer(similarity_[winner], similarity_[key])) continue;
      find_partner(key);
      any = true;
    }
    return any;
  }

  void find_partner(int key) {
    if (poll_) (*poll_)();
    partner_[key] = -1;
    is_bound_[key] = 0;
    auto consider = [&](int other) {
      const Tested pair = test_pair(key, other);
      if (partner_[key] < 0 || measure_.is_closer(pair, similarity_[key])) {
        similarity_[key] = pair;
        partner_[key] = other;
      }
    };
    auto at = std::upper_bound(alive_.begin(), alive_.end(), key);
    if (!ordered_) {
      for (; at != alive_.end(); ++at) consider(*at);
      return;
    }
    if (at != alive_.end()) consider(*at);
    if (gap_ > key && at != alive_.end() && *at != gap_) consider(gap_);
  }

  void find_partners() {
    for (const int key : alive_) find_partner(key);
  }

  Tested test_sides(const std::vector<int>& members, const std::vector<char>& side) {
    sides_.assign(2 * width_, 0.0);
    for (std::size_t k = 0; k < members.size(); ++k) {
      double* to = sides_.data() + (side[k] ? width_ : 0);
      for (int w = 0; w < width_; ++w) to[w] += categories_[members[k]][w];
    }
    rows_.assign({sides_.data(), sides_.data() + width_});
    return measure_.test(rows_);
  }

  // Calls f with the side of every member for each division that is allowed and worth a test.
  template <class F>
  void for_each_division(const std::vector<int>& members, F&& f) {
    const int n = static_cast<int>(members.size());
    std::vector<char> side(n);
    if (ordered_) {
      const int last = static_cast<int>(categories_.size()) - 1;
      const bool has_gap = had_gap_ && members.back() == last;
      const int known = n - has_gap;
      for (int with_gap = has_gap ? 1 : 0; with_gap >= 0; --with_gap) {
        for (int cut = 1; cut < known; ++cut) {
          for (int k = 0; k < known; ++k) side[k] = k >= cut;
          if (has_gap) side[n - 1] = static_cast<char>(with_gap);
          f(side);
        }
      }
      if (has_gap) {
        for (int k = 0; k < n; ++k) side[k] = k == n - 1;
        f(side);
      }
    } else if (!measure_.has_exact_order() && n <= kMaxDivided) {
      for (int bits = 1; bits < 1 << (n - 1); ++bits) {
        for (int k = 0; k < n; ++k) side[k] = (bits >> k) & 1;
        f(side);
      }
    } else {
      std::vector<const double*> rows;
      for (const int k : members) rows.push_back(categories_[k]);
      const std::vector<double> value = measure_.order(rows);
      std::vector<int> rank(n);
      for (int k = 0; k < n; ++k) rank[k] = k;
      std::stable_sort(rank.begin(), rank.end(), [&](int a, int b) { return value[a] < value[b]; });
      for (int cut = 1; cut < n; ++cut) {
        for (int k = 0; k < n; ++k) side[rank[k]] = k >= cut;
        f(side);
      }
    }
  }

  void set_members(int key, const std::vector<int>& members, const std::vector<char>& side) {
    std::vector<int> parts[2];
    for (std::size_t k = 0; k < members.size(); ++k) parts[side[k] ? 1 : 0].push_back(members[k]);
    alive_.erase(std::find(alive_.begin(), alive_.end(), key));
    for (const std::vector<int>& part : parts) {
      const int first = part.front();
      alive_.insert(std::upper_bound(alive_.begin(), alive_.end(), first), first);
      members_[first] = part;
      std::fill_n(sums(first), width_, 0.0);
      for (const int k : part) {
        for (int w = 0; w < width_; ++w) sums(first)[w] += categories_[k][w];
      }
    }
    const int last = static_cast<int>(categories_.size()) - 1;
    if (had_gap_ && members_[last].size() == 1 && alive_.back() == last) gap_ = last;
    find_partners();
  }

  const std::vector<const double*>& categories_;
  const bool ordered_;
  int gap_;  // the floating category while it is a group of its own, −1 otherwise
  const bool had_gap_ = gap_ >= 0;
  Measure& measure_;
  SignalPoll* poll_;
  const int width_;
  std::vector<double> sums_, sides_;
  std::vector<Tested> similarity_;  // of each group and its partner
  std::vector<std::vector<int>> members_;
  std::vector<char> is_bound_;  // the partner is gone, and no other is closer than it was
  std::vector<int> partner_, alive_;
  std::vector<const double*> rows_;
};

// One feature's rows of the stacked tables, and of the answer.
struct Feature {
  const double* table;
  std::int64_t n_rows;  // categories and the gap
  bool ordered;
  std::int32_t stop_at;
  std::int32_t* label;  // group of each row, −1 without weight
  double* path;         // n_rows × 3; test of the groups when there were k + 1 of them
  double* tested;       // statistic, degrees of freedom, those of the error
  std::int32_t* n_groups;
};

void put(const Tested& t, double* to) {
  to[0] = t.statistic;
  to[1] = t.df;
  to[2] = t.error;
}

void merge_down(Groups& groups, double alpha, int stop_at, double* path) {
  int i, j;
  while (groups.count() > stop_at) {
    const double p = groups.best_pair(i, j);
    if (alpha >= 0 && p <= alpha) break;
    groups.join(i, j);
    if (path) put(groups.test(), path + 3 * (groups.count() - 1));
  }
}

void resplit(Groups& groups, const Rules& rules, int stop_at) {
  for (int round = 0; round < kMaxResplits; ++round) {
    bool divided = false;
    const std::vector<int> keys = groups.alive();
    for (const int key : keys) {
      if ((divided = groups.divide(key, rules.alpha_resplit))) break;
    }
    if (!divided) return;
    merge_down(groups, rules.alpha_merge, stop_at, nullptr);
  }
}

// The first category with the same row for each, where there are very many: pairs of them are the
// most similar of all and would merge first, one at a time.
std::vector<int> equal_categories(const std::vector<const double*>& categories, int width,
                                  const Feature& f, const Rules& rules, std::size_t stop_at) {
  std::vector<int> first(categories.size());
  std::iota(first.begin(), first.end(), 0);
  const bool are_merged = rules.alpha_merge < 1 && !rules.keep_path && !f.ordered;
  if (categories.size() <= kMany || !are_merged) return first;
  std::vector<int> order = first, equal = first;
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const double *one = categories[a], *other = categories[b];
    for (int w = 0; w < width; ++w)
      if (one[w] != other[w]) return one[w] < other[w];
    return a < b;
  });
  std::size_t distinct = 1;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const bool same =
        std::equal(categories[order[i]], categories[order[i]] + width, categories[order[i - 1]]);
    if (same) equal[order[i]] = equal[order[i - 1]];
    distinct += !same;
  }
  return distinct < stop_at ? first : equal;
}

void merge_feature(const Feature& f, const Rules& rules, Measure& measure, SignalPoll* poll) {
  std::vector<const double*> categories;
  std::vector<std::int64_t> row;
  for (std::int64_t k = 0; k < f.n_rows; ++k) {
    const double* at = f.table + k * measure.width();
    f.label[k] = -1;
    if (!(measure.weight(at) > 0)) continue;
    categories.push_back(at);
    row.push_back(k);
  }
  *f.n_groups = static_cast<std::int32_t>(std::min<std::size_t>(categories.size(), 1));
  put({}, f.tested);
  if (categories.size() < 2) {
    for (const std::int64_t k : row) f.label[k] = 0;
    return;
  }
  const std::vector<int> first =
      equal_categories(categories, measure.width(), f, rules, std::max(2, f.stop_at));
  Groups groups(categories, first, f.ordered, row.back() == f.n_rows - 1, measure, poll);
  double* path = rules.keep_path ? f.path : nullptr;
  if (path) put(groups.test(), path + 3 * (groups.count() - 1));
  merge_down(groups, rules.alpha_merge, std::max(2, f.stop_at), path);
  if (rules.alpha_resplit >= 0) resplit(groups, rules, std::max(2, f.stop_at));
  for (int small; groups.count() > 1 && (small = groups.smallest(rules.least)) >= 0;) {
    groups.join(small, groups.most_similar(small));
  }
  put(groups.test(), f.tested);
  *f.n_groups = groups.count();
  std::int32_t label = 0;
  for (const int key : groups.alive()) {
    for (const int k : groups.members(key)) f.label[row[k]] = label;
    ++label;
  }
}

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple merge_tables(Matrix tables, Vector<std::int64_t> offset, Vector<std::uint8_t> ordered,
                       Vector<std::int32_t> stop_at, int measure, Vector<double> scores,
                       double alpha_merge, double alpha_resplit, double least, bool keep_path,
                       std::uintptr_t chi2_tail, std::uintptr_t f_tail, int n_threads) {
  const std::int64_t n = static_cast<std::int64_t>(ordered.shape(0));
  const std::int64_t n_rows = static_cast<std::int64_t>(tables.shape(0));
  const int width = static_cast<int>(tables.shape(1));
  std::vector<std::int32_t> label(n_rows), n_groups(n);
  std::vector<double> path(keep_path ? 3 * n_rows : 0), tested(3 * n);
  const Rules rules{alpha_merge, alpha_resplit, least, keep_path};
  const Tails tails{reinterpret_cast<Tails::Chi2>(chi2_tail), reinterpret_cast<Tails::F>(f_tail)};
  std::int64_t largest = 0;
  for (std::int64_t f = 0; f < n; ++f) {
    largest = std::max(largest, offset.data()[f + 1] - offset.data()[f]);
  }
  // only the calling thread can answer Ctrl-C, and pairs of so many categories take their time
  n_threads = largest > kMaxShared ? 1 : std::max(1, n_threads);
  SignalPoll poll;
  std::vector<Measure> measures(
      n_threads, Measure(static_cast<MeasureKind>(measure), width, scores.data(), tails));
  {
    GilRelease released;
    parallel_for(
        n, n_threads,
        [&](std::int64_t f, int thread) {
          const std::int64_t at = offset.data()[f];
          merge_feature(
              {tables.data() + at * width, offset.data()[f + 1] - at, ordered.data()[f] != 0,
               stop_at.data()[f], label.data() + at, keep_path ? path.data() + 3 * at : nullptr,
               tested.data() + 3 * f, n_groups.data() + f},
              rules, measures[thread], thread == 0 ? &poll : nullptr);
        },
        [&] { poll(); });
  }
  const std::size_t n_tested = tested.size() / 3, n_steps = path.size() / 3;
  return nb::make_tuple(to_numpy(std::move(label)), to_numpy(std::move(n_groups)),
                        to_numpy(std::move(tested), {n_tested, 3}),
                        to_numpy(std::move(path), {n_steps, 3}));
}

}  // namespace

void bind_merge(nb::module_& m) {
  m.def("merge_tables", &merge_tables, "tables"_a.noconvert(), "offset"_a.noconvert(),
        "ordered"_a.noconvert(), "stop_at"_a.noconvert(), "measure"_a, "scores"_a.noconvert(),
        "alpha_merge"_a, "alpha_resplit"_a, "least"_a, "keep_path"_a, "chi2_tail"_a, "f_tail"_a,
        "n_threads"_a = 1, "Merge the categories of every feature into groups that differ.");
}

}  // namespace treewright
