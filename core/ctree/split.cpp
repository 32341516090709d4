// The split of a feature whose two sides differ most.
#include <cmath>
#include <numeric>
#include <utility>

#include "base/ordered.hpp"
#include "base/threads.hpp"
#include "ctree/association.hpp"
#include "ctree/response.hpp"
#include "ctree/values.hpp"

namespace treewright {
namespace {

// Rows that make it worth another thread.
constexpr i64 kSharedRows = 4096;

// A side of a split while it is put together.
struct Side {
  double weight = 0;
  std::vector<double> sum;  // Σ w h
};

// Scores two-sample statistics and keeps the best.
class SplitScore {
 public:
  SplitScore(const ResponseMoments& y, Form form, double least)
      : y_(y), form_(form), least_(least), m_(y.mean.size()) {
    if (y.is_classes ? m_.size() != 2 : m_.size() != 1) return;
    // One number tells the whole statistic.
    m_.assign(m_.size(), 0);
    m_.back() = 1;
    if (y.is_classes) m_.front() = -1;
    factor_ = y.score(form, m_.data());
    tiny_ = 1e-18 * y.weight * y.weight;
  }

  // Whether the side `left` makes the best split so far.
  bool offer(const Side& left) {
    const double right = y_.weight - left.weight;
    if (is_hopeless(left, right)) return false;
    // Sums of weights that are no whole numbers carry rounding errors.
    const double limit = least_ * (1 - 1e-12);
    if (left.weight < limit || right < limit) return false;
    for (std::size_t k = 0; k < m_.size(); ++k) m_[k] = left.sum[k] - left.weight * y_.mean[k];
    const double score = y_.score(form_, m_.data()) * (y_.weight - 1) / (left.weight * right);
    if (!(score > best * (1 + kTie))) return false;
    best = score;
    bound_ = best * (1 - 1e-6) / (y_.weight - 1);
    return true;
  }

  double statistic() const { return form_ == Form::quadratic ? best : std::sqrt(best); }

  double best = 0;

 private:
  // Most sides are far from the best; that is seen without a division. Differences that are mostly
  // rounding are left to the full score.
  bool is_hopeless(const Side& left, double right) const {
    if (factor_ <= 0) return false;
    const double m = left.sum.back() - left.weight * y_.mean.back();
    return m * m > tiny_ && m * m * factor_ < bound_ * left.weight * right;
  }

  const ResponseMoments& y_;
  Form form_;
  double least_;
  std::vector<double> m_;
  double factor_ = 0, bound_ = 0, tiny_ = 0;
};

// A value in bits that order as it does, and what belongs to it.
template <class Bits>
struct Ordered {
  Bits key;
  u32 tag;
};

// Ascending and stable, byte by byte; bytes that are all the same cost nothing.
template <class Item>
void sort_by_value(std::vector<Item>& items, std::vector<Item>& other) {
  constexpr int bytes = sizeof(Item::key);
  const std::size_t n = items.size();
  if (n <= 64) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.key < b.key; });
    return;
  }
  other.resize(n);
  u32 counts[bytes * 256] = {};
  for (const Item& item : items) {
    for (int b = 0; b < bytes; ++b) ++counts[b * 256 + ((item.key >> (8 * b)) & 255)];
  }
  for (int b = 0; b < bytes; ++b) {
    u32* count = counts + b * 256;
    if (count[(items[0].key >> (8 * b)) & 255] == n) continue;
    u32 start = 0;
    for (int digit = 0; digit < 256; ++digit) start += std::exchange(count[digit], start);
    for (const Item& item : items) other[count[(item.key >> (8 * b)) & 255]++] = item;
    items.swap(other);
  }
}

// Memory of one thread.
struct SplitBuffers {
  KnownValues known;
  std::vector<Ordered<u32>> short_items, short_other;
  std::vector<Ordered<u64>> items, other;
};

// The best cut of numbers. Values are kept by their bits, and those of two classes without weights
// with their class, so that one pass over the sorted values does.
template <class Bits, class Number>
void cut_ordered(const NodeResponse& y, const RowSet& set, const KnownValues& known,
                 std::vector<Ordered<Bits>>& items, std::vector<Ordered<Bits>>& other,
                 SplitScore& score, BinarySplit& split) {
  const std::size_t n = static_cast<std::size_t>(known.count);
  const bool by_class = y.is_classes() && y.width == 2 && !set.weights;
  items.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const u32 one = by_class ? y.label[known.position(static_cast<i64>(i))] : 0;
    items[i] = {ordered(static_cast<Number>(known.x[i])), static_cast<u32>(i) << 1 | one};
  }
  sort_by_value(items, other);
  Side left;
  left.sum.assign(y.width, 0);
  i64 ones = 0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const u32 tag = items[i].tag;
    ones += tag & 1;
    if (!by_class) {
      const i64 at = known.position(tag >> 1);
      const double w = set.weight(at);
      left.weight += w;
      y.add(at, w, left.sum.data());
    }
    if (items[i].key == items[i + 1].key) continue;
    if (by_class) {
      left.weight = static_cast<double>(i + 1);
      left.sum[1] = static_cast<double>(ones);
      left.sum[0] = left.weight - left.sum[1];
    }
    if (score.offer(left)) {
      split.value = known.x[tag >> 1];
      split.found = true;
    }
  }
}

// Partitions of the categories seen; the first one stays on the left.
class Partitions {
 public:
  Partitions(const KnownValues& known, const NodeResponse& y, const ResponseMoments& moments,
             const RowSet& set, SplitScore& score, BinarySplit& split)
      : moments_(moments), score_(score), split_(split), q_(y.width), groups_(known.codes.size()) {
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

  const ResponseMoments& moments_;
  SplitScore& score_;
  BinarySplit& split_;
  i32 q_;
  std::vector<Side> groups_;
  std::vector<bool> is_left_;
};

BinarySplit best_binary_split(const Column& column, const TestedResponse& response,
                              const RowSet& set, Form form, double least_weight, i32 max_exhaustive,
                              SplitBuffers& buffers) {
  BinarySplit split;
  KnownValues& known = buffers.known;
  const NodeResponse y(response, set);
  read_known(column, set, known);
  if (!known.size()) return split;
  const ResponseMoments moments(y, set, known.positions());
  if (moments.rank < 1) return split;
  SplitScore score(moments, form, least_weight);
  if (known.is_nominal()) {
    split.codes = known.codes;
    Partitions partitions(known, y, moments, set, score, split);
    if (static_cast<i32>(known.codes.size()) <= max_exhaustive) {
      partitions.try_all();
    } else {
      partitions.try_ordered();
    }
  } else if (column.type == ColumnType::f32) {
    cut_ordered<u32, float>(y, set, known, buffers.short_items, buffers.short_other, score, split);
  } else {
    cut_ordered<u64, double>(y, set, known, buffers.items, buffers.other, score, split);
  }
  split.statistic = score.statistic();
  return split;
}

}  // namespace

std::vector<BinarySplit> best_binary_splits(const std::vector<Column>& columns,
                                            const TestedResponse& response,
                                            const std::vector<RowSet>& nodes,
                                            const std::vector<i32>& features, Form form,
                                            const std::vector<double>& least_weight,
                                            i32 max_exhaustive, int n_threads, const Poll& poll) {
  std::vector<BinarySplit> found(nodes.size());
  i64 values = 0;
  for (const RowSet& set : nodes) values += set.n;
  const int team = values < kSharedRows ? 1 : n_threads;
  std::vector<SplitBuffers> buffers(team);
  parallel_for(
      static_cast<i64>(nodes.size()), team,
      [&](i64 i, int thread) {
        found[i] = best_binary_split(columns[features[i]], response, nodes[i], form,
                                     least_weight[i], max_exhaustive, buffers[thread]);
      },
      poll);
  return found;
}

}  // namespace treewright
