#include "forest/importance.hpp"

#include <atomic>
#include <numeric>

#include "base/philox.hpp"
#include "base/threads.hpp"

namespace treewright {
namespace {

using predict::max_piece;
using predict::Router;

constexpr u64 kShuffleStream = 0x53485546464C45;

template <class T>
struct PickedRows {
  RowBlock<T> block;
  const u32* rows;
  predict::Row<T, 1> operator[](i64 i) const { return {block.row(rows[i])}; }
};

// A row with the value of another one in one feature.
template <class T>
struct ChangedRow {
  const T* data;
  u32 feature;
  double value;
  double operator[](u32 f) const { return f == feature ? value : static_cast<double>(data[f]); }
};

template <class T>
struct ChangedRows {
  const T* const* data;
  const double* value;
  u32 feature;
  ChangedRow<T> operator[](i64 i) const { return {data[i], feature, value[i]}; }
};

// Calls take(feature) for all that the test at a node may read, surrogates included.
template <class Take>
void each_feature(const Router& router, i32 node, Take&& take) {
  const predict::HotNode& hot = router.nodes[node];
  if (hot.how() != predict::HotNode::special) {
    take(static_cast<i32>(hot.feature()));
    return;
  }
  auto read = [&](const predict::Test& test) {
    if (test.kind != predict::Test::linear) return take(test.feature);
    for (i64 i = test.start; i < test.start + test.count; ++i) take(router.term_feature[i]);
  };
  const predict::Special& special = router.specials[hot.payload];
  read(special.test);
  for (i32 s = special.surrogate_begin; s < special.surrogate_end; ++s) read(router.surrogates[s]);
}

template <class T>
class Asker {
 public:
  Asker(const ImportanceProblem& problem, const RowBlock<T>& block)
      : p_(problem), block_(block), visits_(problem.n_features), seen_(problem.n_features) {}

  // Fills one row of the result. go_on() is called every some thousand rows; false ends the work.
  template <class GoOn>
  void ask(i64 number, double* lost, GoOn&& go_on) {
    const u64 key = tree_seed(p_.seed, number);
    draw_rows(key);
    const i64 n = static_cast<i64>(rows_.size());
    std::fill_n(lost, p_.n_features, n ? 0.0 : std::numeric_limits<double>::quiet_NaN());
    if (!n || !go_on()) return;
    tree_ = p_.tree(number);
    find_labels();
    if (!first_walk(go_on)) return;
    const i64 terms = n * (p_.label ? 1 : p_.width);
    for (i32 f = 0; f < p_.n_features; ++f) {
      if (visits_[f].empty()) continue;
      shuffle(key, f, order_, n);
      double sum = 0;
      for (std::size_t start = 0; start < visits_[f].size(); start += max_piece) {
        if (start % (64 * max_piece) == 0 && !go_on()) return;
        sum += walk_again(f, start);
      }
      lost[f] = sum / static_cast<double>(terms);
    }
  }

 private:
  // Where a row (a place in rows_) first meets a feature.
  struct Visit {
    u32 row;
    i32 node;
  };

  void draw_rows(u64 key) {
    counts_.resize(p_.n_rows);
    draw_sample(p_.sampling, key, p_.n_rows, counts_.data());
    rows_.clear();
    for (i64 i = 0; i < p_.n_rows; ++i) {
      if (!counts_[i]) rows_.push_back(static_cast<u32>(i));
    }
  }

  const double* values(i32 node) const {
    return tree_.values + static_cast<i64>(tree_.end.empty() ? node : tree_.end[node]) * p_.width;
  }

  void find_labels() {
    if (!p_.label) return;
    label_.assign(tree_.router->nodes.size(), 0);
    for (std::size_t i = 0; i < label_.size(); ++i) {
      if (!tree_.end.empty() && tree_.end[i] < 0) continue;
      const double* value = values(static_cast<i32>(i));
      label_[i] = static_cast<i32>(std::max_element(value, value + p_.width) - value);
    }
  }

  template <class Block>
  void walk_on(const Block& block, i32 count, i32* end) const {
    tree_.router->is_plain ? predict::walk_on<true>(*tree_.router, block, count, end)
                           : predict::walk_on<false>(*tree_.router, block, count, end);
  }

  double loss_of(const double* said, u32 row) const {
    if (p_.label) return std::max_element(said, said + p_.width) - said != p_.label[row];
    double sum = 0;
    for (i32 k = 0; k < p_.width; ++k) {
      const double off = said[k] - p_.y[static_cast<i64>(row) * p_.width + k];
      sum += off * off;
    }
    return sum;
  }

  // The loss of a row that ends at `end`, or divides there.
  template <class Row>
  double loss(i32 end, const Row& values_of_row, u32 row) {
    if (end >= 0) return p_.label ? label_[end] != p_.label[row] : loss_of(values(end), row);
    division_.descend(*tree_.router, ~end, values_of_row);
    mean_.assign(p_.width, 0.0);
    for (const auto& part : division_.ends) {
      const double* value = values(part.node);
      for (i32 k = 0; k < p_.width; ++k) mean_[k] += part.share * value[k];
    }
    return loss_of(mean_.data(), row);
  }

  template <class GoOn>
  bool first_walk(GoOn&& go_on) {
    const i64 n = static_cast<i64>(rows_.size());
    for (auto& visits : visits_) visits.clear();
    std::fill(seen_.begin(), seen_.end(), ~u32{0});
    before_.resize(n);
    i32 end[max_piece];
    for (i64 start = 0; start < n; start += max_piece) {
      if (start % (64 * max_piece) == 0 && !go_on()) return false;
      const i32 count = static_cast<i32>(std::min<i64>(max_piece, n - start));
      const PickedRows<T> block{block_, rows_.data() + start};
      std::fill_n(end, count, 0);
      walk_on(block, count, end);
      for (i32 i = 0; i < count; ++i) {
        const u32 place = static_cast<u32>(start + i);
        before_[place] = loss(end[i], block[i], rows_[place]);
        note(place, end[i]);
      }
    }
    return true;
  }

  // Notes for each feature on a row's way the first node that reads it. A leaf reads none; where a
  // row stops or divides, whatever is read there and below is met there.
  void note(u32 place, i32 end) {
    auto meet = [&](i32 node, i32 at) {
      each_feature(*tree_.router, node, [&](i32 f) {
        if (seen_[f] == place) {
          visits_[f].back().node = at;
        } else {
          seen_[f] = place;
          visits_[f].push_back({place, at});
        }
      });
    };
    const auto& nodes = tree_.router->nodes;
    const i32 last = end >= 0 ? end : ~end;
    if (end < 0) {
      for (const i32 node : division_.visited) {  // made by loss() just before
        if (nodes[node].child != static_cast<u32>(node)) meet(node, last);
      }
    } else if (nodes[last].how() == predict::HotNode::special) {
      meet(last, last);
    }
    for (i32 at = tree_.router->parent[last]; at >= 0; at = tree_.router->parent[at]) meet(at, at);
  }

  // The losses of some rows that read a feature, with its values shuffled, less those before.
  double walk_again(i32 f, std::size_t start) {
    const auto& visits = visits_[f];
    const T* data[max_piece];
    double value[max_piece];
    i32 end[max_piece];
    u32 places[max_piece];
    i32 count = 0;
    for (std::size_t i = start; i < std::min(start + max_piece, visits.size()); ++i) {
      const u32 place = visits[i].row;
      data[count] = block_.row(rows_[place]);
      value[count] = block_.row(rows_[order_[place]])[f];
      const double own = data[count][f];
      if (value[count] == own || (own != own && value[count] != value[count])) continue;
      places[count] = place;
      end[count++] = visits[i].node;
    }
    if (!count) return 0;
    const ChangedRows<T> block{data, value, static_cast<u32>(f)};
    walk_on(block, count, end);
    double sum = 0;
    for (i32 i = 0; i < count; ++i) {
      sum += loss(end[i], block[i], rows_[places[i]]) - before_[places[i]];
    }
    return sum;
  }

  const ImportanceProblem& p_;
  const RowBlock<T> block_;
  AskedTree tree_;
  std::vector<i32> counts_, label_;
  std::vector<u32> rows_, order_;
  std::vector<double> before_, mean_;
  std::vector<std::vector<Visit>> visits_;  // by feature
  std::vector<u32> seen_;                   // last place that met a feature
  predict::Division division_;
};

}  // namespace

void shuffle(u64 tree_key, i32 feature, std::vector<u32>& order, i64 n) {
  order.resize(n);
  std::iota(order.begin(), order.end(), 0u);
  Philox random(tree_key, child_path(kShuffleStream, feature));
  for (i64 i = n; i-- > 1;) std::swap(order[i], order[random.below32(static_cast<u32>(i + 1))]);
}

template <class T>
void oob_importance(const ImportanceProblem& p, const RowBlock<T>& rows, double* lost) {
  const int team = static_cast<int>(std::clamp<i64>(p.n_trees, 1, p.n_threads));
  std::vector<std::unique_ptr<Asker<T>>> askers(team);
  std::atomic<bool> stop{false};
  auto body = [&](i64 tree, int thread) {
    auto& asker = askers[thread];
    if (!asker) asker = std::make_unique<Asker<T>>(p, rows);
    auto go_on = [&] {
      if (thread) return !stop.load(std::memory_order_relaxed);
      try {
        p.poll();
      } catch (...) {
        stop.store(true, std::memory_order_relaxed);
        throw;
      }
      return true;
    };
    asker->ask(tree, lost + tree * p.n_features, go_on);
  };
  parallel_for(p.n_trees, team, body);
}

template void oob_importance(const ImportanceProblem&, const RowBlock<float>&, double*);
template void oob_importance(const ImportanceProblem&, const RowBlock<double>&, double*);

}  // namespace treewright
