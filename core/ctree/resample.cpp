// P-values by permutation: how often a shuffled response reaches a statistic.
#include <cmath>
#include <memory>
#include <numeric>

#include "base/philox.hpp"
#include "base/threads.hpp"
#include "ctree/association.hpp"
#include "ctree/design.hpp"

namespace treewright {
namespace {

// The rows of a node repeated by their weights and sorted by response: one order for any order of
// the rows.
struct Sorted {
  std::vector<i64> rows;
  RowSet set;

  Sorted(const RowSet& from, const TestedResponse& y, const Column* known_in) {
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
    const double x = column.value(row);
    return x != x;
  }
};

// Features whose statistics are compared under the same permutations of the same responses.
struct Panel {
  Sorted sorted;
  NodeResponse y;
  ResponseMoments moments;
  struct Entry {
    i32 place;  // among the features asked for
    KnownValues known;
    FeatureDesign design;
    double observed;
  };
  std::vector<Entry> entries;

  Panel(const RowSet& set, const TestedResponse& response, const Column* known_in)
      : sorted(set, response, known_in), y(response, sorted.set), moments(y, sorted.set, nullptr) {}

  void add(i32 place, const Column& column, Form form) {
    if (moments.rank < 1 || !(moments.weight > 1)) return;
    KnownValues known;
    read_known(column, sorted.set, known);
    FeatureDesign design;
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

std::vector<i64> count_extreme(const std::vector<Column>& columns, const TestedResponse& response,
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
              linear_statistic(
                  e.design, e.known, panel->y, panel->moments, panel->sorted.set,
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
