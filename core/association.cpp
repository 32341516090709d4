#include "association.hpp"

#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "association_sample.hpp"
#include "philox.hpp"
#include "threads.hpp"

namespace treewright {
namespace {

// One feature against one response: everything of the test but M itself.
struct Design {
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
    const auto w = [&](i64 i) { return set.weights ? set.weight(known.position(i)) : 1.0; };
    const double sum = sum_of(n, [&](i64 i) {
      to[i] = (from[i] - middle) * unit;
      return w(i) * to[i];
    });
    const double mean = sum / weight;
    const double squares = sum_of(n, [&](i64 i) {
      to[i] -= mean;
      return w(i) * to[i] * to[i];
    });
    rest = sum_of(n, [&](i64 i) { return w(i) * to[i]; });
    c.assign(1, (weight * squares - rest * rest) / (weight - 1));
  }

  i32 n_groups() const { return static_cast<i32>(c.size()); }

  // The statistic of M, squared if it is the maximum.
  double score(Form form, const Moments& y, const std::vector<double>& m) const {
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

  i32 rank(const Moments& y) const {
    return y.rank * (group_weight.empty() ? 1 : n_groups() - 1);
  }
};

// M: sums over the known instances, each with the response of instance `partner(i)`, less the mean.
template <class Partner>
void linear_statistic(const Design& design, const KnownValues& known, const NodeResponse& y,
                      const Moments& moments, const RowSet& set, Partner&& partner,
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
    m[1] = sum_of(n, [&](i64 i) { return label[partner(i)] * x[i]; });
    m[0] = design.rest - m[1];
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

// Memory of one thread.
struct Buffers {
  KnownValues known;
  Design design;
  std::vector<double> m;
};

Association associate_one(const Column& column, const NodeResponse& y, const Moments& whole,
                          const RowSet& set, bool with_covariance, Buffers& buffers) {
  Association result;
  KnownValues& known = buffers.known;
  read_known(column, set, known);
  if (!known.size()) return result;
  std::unique_ptr<Moments> own;
  if (known.has_gaps) own = std::make_unique<Moments>(y, set, &known.at);
  const Moments& moments = own ? *own : whole;
  if (moments.rank < 1 || !(moments.weight > 1)) return result;
  Design& design = buffers.design;
  design.fit(known, set, moments.weight);
  if (!design.varies) return result;
  std::vector<double>& m = buffers.m;
  linear_statistic(design, known, y, moments, set, [&](i64 i) { return known.position(i); }, m);
  result.quadratic = design.score(Form::quadratic, moments, m);
  result.maximum = std::sqrt(design.score(Form::maximum, moments, m));
  result.rank = design.rank(moments);
  if (with_covariance) {
    result.level_weight = design.group_weight;
    result.covariance = moments.full_covariance();
  }
  return result;
}

// A side of a split while it is put together.
struct Side {
  double weight = 0;
  std::vector<double> sum;  // Σ w h
};

// Scores two-sample statistics and keeps the best.
class SplitScore {
 public:
  SplitScore(const Moments& y, Form form, double least) : y_(y), form_(form), least_(least),
                                                          m_(y.mean.size()) {}

  // Whether the side `left` makes the best split so far.
  bool offer(const Side& left) {
    const double right = y_.weight - left.weight;
    // Sums of weights that are no whole numbers carry rounding errors.
    const double limit = least_ * (1 - 1e-12);
    if (left.weight < limit || right < limit) return false;
    for (std::size_t k = 0; k < m_.size(); ++k) m_[k] = left.sum[k] - left.weight * y_.mean[k];
    const double score = y_.score(form_, m_.data()) * (y_.weight - 1) / (left.weight * right);
    if (!(score > best * (1 + kTie))) return false;
    best = score;
    return true;
  }

  double statistic() const { return form_ == Form::quadratic ? best : std::sqrt(best); }

  double best = 0;

 private:
  const Moments& y_;
  Form form_;
  double least_;
  std::vector<double> m_;
};

struct Ordered {
  u64 key;  // orders as the value does
  u32 at;
};

// Ascending and stable, byte by byte; bytes that are all the same cost nothing.
std::vector<Ordered> sort_by_value(const KnownValues& known) {
  const std::size_t n = static_cast<std::size_t>(known.count);
  const std::vector<double>& x = known.x;
  std::vector<Ordered> items(n), other(n);
  std::vector<u32> counts(8 * 256, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const u64 bits = std::bit_cast<u64>(x[i] == 0 ? 0.0 : x[i]);  // −0 is 0
    const u64 key = bits >> 63 ? ~bits : bits | (u64{1} << 63);
    items[i] = {key, static_cast<u32>(i)};
    for (int b = 0; b < 8; ++b) ++counts[b * 256 + ((key >> (8 * b)) & 255)];
  }
  for (int b = 0; b < 8; ++b) {
    u32* count = counts.data() + b * 256;
    if (!items.empty() && count[(items[0].key >> (8 * b)) & 255] == items.size()) continue;
    u32 start = 0;
    for (int digit = 0; digit < 256; ++digit) start += std::exchange(count[digit], start);
    for (const Ordered& item : items) other[count[(item.key >> (8 * b)) & 255]++] = item;
    items.swap(other);
  }
  return items;
}

void cut_ordered(const KnownValues& known, const NodeResponse& y, const RowSet& set,
                 SplitScore& score, BinarySplit& split) {
  const std::vector<Ordered> order = sort_by_value(known);
  Side left;
  left.sum.assign(y.width, 0);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const i64 at = known.position(order[i].at);
    const double w = set.weight(at);
    left.weight += w;
    y.add(at, w, left.sum.data());
    if (order[i].key != order[i + 1].key && score.offer(left)) {
      split.value = known.x[order[i].at];
      split.found = true;
    }
  }
}

// Partitions of the categories seen; the first one stays on the left.
class Partitions {
 public:
  Partitions(const KnownValues& known, const NodeResponse& y, const Moments& moments,
             const RowSet& set, SplitScore& score, BinarySplit& split)
      : moments_(moments), score_(score), split_(split), q_(y.width),
        groups_(known.codes.size()) {
    for (Side& g : groups_) g.sum.assign(q_, 0);
    for (i64 i = 0; i < known.size(); ++i) {
      Side& g = groups_[known.group[i]];
      const double w = set.weight(known.position(i));
      g.weight += w;
      y.add(known.position(i), w, g.sum.data());
    }
    is_left_.assign(groups_.size(), false);
  }

  // In the order of binary numbers whose digits say which of the others go right, the second
  // category's digit the lowest: of equal partitions partykit takes the first in this order.
  void try_all() {
    is_left_[0] = true;
    descend(groups_.size() - 1, groups_[0]);
  }

  // Cuts of the categories in the order of their first principal component.
  void try_ordered() {
    std::vector<std::size_t> order(groups_.size());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<double> key = projections();
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
    Side left;
    left.sum.assign(q_, 0);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      add(left, groups_[order[i]]);
      is_left_[order[i]] = true;
      if (score_.offer(left)) keep(is_left_[0]);
    }
  }

 private:
  static void add(Side& to, const Side& g) {
    to.weight += g.weight;
    for (std::size_t k = 0; k < g.sum.size(); ++k) to.sum[k] += g.sum[k];
  }

  void keep(bool first_is_left) {
    split_.found = true;
    split_.branches.clear();
    for (bool is_left : is_left_) split_.branches.push_back(is_left == first_is_left ? 0 : 1);
  }

  // Category `at` and those before it, but the first, to either side.
  void descend(std::size_t at, const Side& left) {
    if (at == 0) {
      if (left.weight < moments_.weight && score_.offer(left)) keep(true);
      return;
    }
    is_left_[at] = true;
    Side more = left;
    add(more, groups_[at]);
    descend(at - 1, more);
    is_left_[at] = false;
    descend(at - 1, left);
  }

  // Mean response of each category along the direction in which the means vary most.
  std::vector<double> projections() const {
    const i32 r = moments_.is_classes ? q_ : moments_.rank;
    std::vector<std::vector<double>> mean;
    std::vector<double> spread(static_cast<std::size_t>(r) * r, 0);
    for (const Side& g : groups_) {
      mean.push_back(standardised(g, r));
      for (i32 a = 0; a < r; ++a) {
        for (i32 b = 0; b < r; ++b) spread[a * r + b] += g.weight * mean.back()[a] * mean.back()[b];
      }
    }
    std::vector<double> values, vectors, key;
    symmetric_eigen(spread, r, values, vectors);
    const auto top = std::max_element(values.begin(), values.end()) - values.begin();
    for (const auto& m : mean) {
      double z = 0;
      for (i32 a = 0; a < r; ++a) z += m[a] * vectors[a * r + top];
      key.push_back(z);
    }
    return key;
  }

  std::vector<double> standardised(const Side& g, i32 r) const {
    std::vector<double> z(r, 0);
    for (i32 k = 0; k < q_; ++k) {
      const double m = g.sum[k] / g.weight - moments_.mean[k];
      if (moments_.is_classes) {
        if (moments_.mean[k] > 0) z[k] = m / std::sqrt(moments_.mean[k]);
      } else {
        for (i32 a = 0; a < r; ++a) z[a] += moments_.whiten[k * r + a] * m;
      }
    }
    return z;
  }

  const Moments& moments_;
  SplitScore& score_;
  BinarySplit& split_;
  i32 q_;
  std::vector<Side> groups_;
  std::vector<bool> is_left_;
};

// The rows of a node repeated by their weights and sorted by response: one order for any order of
// the rows.
struct Sorted {
  std::vector<i64> rows;
  RowSet set;

  Sorted(const RowSet& from, const Response& y, const Column* known_in) {
    for (i64 i = 0; i < from.n; ++i) {
      if (known_in && is_gap(*known_in, from.rows[i])) continue;
      rows.insert(rows.end(), static_cast<std::size_t>(std::llround(from.weight(i))), from.rows[i]);
    }
    std::sort(rows.begin(), rows.end(), [&](i64 a, i64 b) {
      if (y.label) return y.label[a] < y.label[b];
      return std::lexicographical_compare(y.h + a * y.width, y.h + (a + 1) * y.width,
                                          y.h + b * y.width, y.h + (b + 1) * y.width);
    });
    set = {rows.data(), nullptr, static_cast<i64>(rows.size())};
  }

  static bool is_gap(const Column& column, i64 row) {
    if (column.type == ColumnType::code) return column.code(row) < 0;
    const double x = column.value(row);
    return x != x;
  }
};

// Features whose statistics are compared under the same permutations of the same responses.
struct Panel {
  Sorted sorted;
  NodeResponse y;
  Moments moments;
  struct Entry {
    i32 place;  // among the features asked for
    KnownValues known;
    Design design;
    double observed;
  };
  std::vector<Entry> entries;

  Panel(const RowSet& set, const Response& response, const Column* known_in)
      : sorted(set, response, known_in), y(response, sorted.set),
        moments(y, sorted.set, nullptr) {}

  void add(i32 place, const Column& column, Form form) {
    if (moments.rank < 1 || !(moments.weight > 1)) return;
    KnownValues known;
    read_known(column, sorted.set, known);
    Design design;
    design.fit(known, sorted.set, moments.weight);
    if (!design.varies) return;
    std::vector<double> m;
    linear_statistic(design, known, y, moments, sorted.set, [](i64 i) { return i; }, m);
    const double observed = design.score(form, moments, m);
    // Sorted too: a permutation then pairs the same values whatever the order of the rows was.
    if (known.is_nominal()) {
      std::sort(known.group.begin(), known.group.begin() + known.count);
    } else {
      std::sort(design.x.begin(), design.x.begin() + known.count);
    }
    entries.push_back({place, std::move(known), std::move(design), observed});
  }
};

}  // namespace

std::vector<Association> associate(const std::vector<Column>& columns, const Response& response,
                                   const RowSet& set, const std::vector<i32>& features,
                                   bool with_covariance, int n_threads, const Poll& poll) {
  std::vector<Association> found(features.size());
  if (!set.n) return found;
  const NodeResponse y(response, set);
  const Moments whole(y, set, nullptr);
  const i64 n = static_cast<i64>(features.size());
  const int team = set.n * n < 200000 ? 1 : n_threads;
  std::vector<Buffers> buffers(team);
  parallel_for(n, team,
               [&](i64 i, int thread) {
                 found[i] = associate_one(columns[features[i]], y, whole, set, with_covariance,
                                          buffers[thread]);
               },
               poll);
  return found;
}

BinarySplit best_binary_split(const std::vector<Column>& columns, const Response& response,
                              const RowSet& set, i32 feature, Form form,
                              const SplitLimits& limits) {
  BinarySplit split;
  const NodeResponse y(response, set);
  KnownValues known;
  read_known(columns[feature], set, known);
  if (!known.size()) return split;
  const Moments moments(y, set, known.positions());
  if (moments.rank < 1) return split;
  SplitScore score(moments, form, limits.least_weight);
  if (known.is_nominal()) {
    split.codes = known.codes;
    Partitions partitions(known, y, moments, set, score, split);
    if (static_cast<i32>(known.codes.size()) <= limits.max_exhaustive) {
      partitions.try_all();
    } else {
      partitions.try_ordered();
    }
  } else {
    cut_ordered(known, y, set, score, split);
  }
  split.statistic = score.statistic();
  return split;
}

std::vector<i64> count_extreme(const std::vector<Column>& columns, const Response& response,
                               const RowSet& set, const std::vector<i32>& features, Form form,
                               i64 n_resamples, u64 key, u64 stream, int n_threads,
                               const Poll& poll) {
  std::vector<std::unique_ptr<Panel>> panels;
  Panel* common = nullptr;  // of the features that are known in all rows
  i64 work = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Column& column = columns[features[i]];
    bool has_gaps = false;
    for (i64 r = 0; r < set.n && !has_gaps; ++r) has_gaps = Sorted::is_gap(column, set.rows[r]);
    if (has_gaps || !common) {
      panels.push_back(std::make_unique<Panel>(set, response, has_gaps ? &column : nullptr));
      if (!has_gaps) common = panels.back().get();
    }
    Panel& panel = has_gaps ? *panels.back() : *common;
    panel.add(static_cast<i32>(i), column, form);
    work += panel.sorted.set.n;
  }
  const i64 block = std::max<i64>(1, 10000000 / std::max<i64>(1, work));
  const i64 n_blocks = (n_resamples + block - 1) / block;
  std::vector<std::vector<i64>> counts(std::max(1, n_threads),
                                       std::vector<i64>(features.size(), 0));
  parallel_for(
      n_blocks, n_threads,
      [&](i64 b, int thread) {
        std::vector<u32> partner;
        std::vector<double> m;
        for (i64 r = b * block; r < std::min(n_resamples, (b + 1) * block); ++r) {
          Philox random(key, child_path(stream, static_cast<i32>(r)));
          for (const auto& panel : panels) {
            partner.resize(panel->sorted.set.n);
            std::iota(partner.begin(), partner.end(), 0);
            for (std::size_t i = partner.size(); i > 1; --i) {
              std::swap(partner[i - 1], partner[random.below(i)]);
            }
            for (const Panel::Entry& e : panel->entries) {
              linear_statistic(e.design, e.known, panel->y, panel->moments, panel->sorted.set,
                               [&](i64 i) { return partner[i]; }, m);
              // The same table may add up to a little less.
              const double reached = e.design.score(form, panel->moments, m) * (1 + 1e-9);
              counts[thread][e.place] += reached >= e.observed;
            }
          }
        }
      },
      poll);
  std::vector<i64> total(features.size(), 0);
  for (const auto& one : counts) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += one[i];
  }
  return total;
}

}  // namespace treewright
