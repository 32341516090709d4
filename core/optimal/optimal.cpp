#include "optimal/optimal.hpp"

#include <cstring>

#include "base/team.hpp"
#include "optimal/counts.hpp"
#include "optimal/search.hpp"
#include "optimal/sums.hpp"

namespace treewright::optimal {
namespace {

// Rows that no test tells apart, as ranges of a sorted list.
struct Groups {
  std::vector<i32> rows;
  std::vector<i64> begin;  // and the end of the last one

  Groups(const Problem& problem, const RowTable& table) : rows(problem.n_rows) {
    const std::size_t n_bytes = table.n_words() * sizeof(u64);
    std::iota(rows.begin(), rows.end(), 0);
    const auto compare = [&](i32 a, i32 b) {
      return n_bytes ? std::memcmp(table.bits(a), table.bits(b), n_bytes) : 0;
    };
    std::sort(rows.begin(), rows.end(), [&](i32 a, i32 b) {
      const int order = compare(a, b);
      return order < 0 || (order == 0 && a < b);
    });
    for (i64 r = 0; r < problem.n_rows; ++r)
      if (r == 0 || compare(rows[r - 1], rows[r]) != 0) begin.push_back(r);
    begin.push_back(problem.n_rows);
  }

  i64 size() const { return static_cast<i64>(begin.size()) - 1; }
};

// One row for each group, in the order of their first rows.
Problem merged(const Problem& problem, const Groups& groups) {
  std::vector<i64> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](i64 a, i64 b) {
    return groups.rows[groups.begin[a]] < groups.rows[groups.begin[b]];
  });
  Problem out = problem;
  out.n_rows = groups.size();
  out.bins.clear();
  out.values.assign(out.n_rows * problem.n_channels, 0);
  out.worst.assign(out.n_rows, 0);
  for (i64 to = 0; to < out.n_rows; ++to) {
    const i64 group = order[to];
    const u16* bins =
        &problem.bins[static_cast<i64>(groups.rows[groups.begin[group]]) * problem.n_columns];
    out.bins.insert(out.bins.end(), bins, bins + problem.n_columns);
    for (i64 r = groups.begin[group]; r < groups.begin[group + 1]; ++r) {
      const i64 row = groups.rows[r];
      out.worst[to] += problem.worst[row];
      for (i32 k = 0; k < problem.n_channels; ++k)
        out.values[to * problem.n_channels + k] += problem.values[row * problem.n_channels + k];
    }
  }
  return out;
}

// Cost that no tree can avoid: rows of one group end in one leaf. It stands at their first row.
std::vector<i64> floors(const Problem& problem, const Groups& groups, const Sums& sums) {
  std::vector<i64> floor(problem.n_rows, 0);
  const i64 rounding = problem.leaf == Leaf::squares ? 1 : 0;
  for (i64 group = 0; group < groups.size(); ++group) {
    const i64 begin = groups.begin[group], end = groups.begin[group + 1];
    const Rows rows(&groups.rows[begin], static_cast<std::size_t>(end - begin));
    floor[rows[0]] = std::max<i64>(0, sums.leaf(rows) - rounding);
  }
  return floor;
}

// Whether counting bits will be quicker than adding up, in steps of about a nanosecond at a node
// where two levels are left.
bool should_count(const Problem& problem, i64 n_groups, i32 max_depth) {
  if (!problem.unit) return false;
  const double n_tests = static_cast<double>(problem.tests.size());
  const double n_columns = problem.n_columns, width = problem.n_channels;
  const double share = 1.0 / static_cast<double>(i64{1} << std::clamp(max_depth - 2, 0, 20));
  const double rows = share * static_cast<double>(problem.n_rows);
  const double merged_rows = share * static_cast<double>(n_groups);
  const double count = n_tests * n_tests * (rows / 64 + 2 * width + 4);
  const double add =
      n_columns * n_columns * merged_rows * (1 + width) + n_tests * n_tests * (4 * width + 8);
  return count <= add;
}

template <class Counting>
Found search(const Problem& problem, RowTable& table, const Groups& groups,
             const Settings& settings, Callable<void(double)> poll) {
  table.set_floor(floors(problem, groups, Sums(problem, table)));
  const Counting counting(problem, table);
  return Search<Counting>(problem, counting, table, settings, poll).run();
}

}  // namespace

Found find_best(Problem problem, const Settings& settings, Callable<void(double)> poll) {
  Team team;
  RowTable table(problem);
  const Groups groups(problem, table);
  if (should_count(problem, groups.size(), settings.max_depth))
    return search<Counts>(problem, table, groups, settings, poll);
  const Problem fewer = merged(problem, groups);
  RowTable fewer_table(fewer);
  return search<Sums>(fewer, fewer_table, Groups(fewer, fewer_table), settings, poll);
}

}  // namespace treewright::optimal
