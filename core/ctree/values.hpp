// A feature at the rows of a node that are known in it.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "ctree/association.hpp"
#include "ctree/passes.hpp"

namespace treewright {

// A feature at the instances of a node where it is known.
struct KnownValues {
  // Of x and group the first `count` entries hold; the rest is memory of earlier features.
  i64 count = 0;
  std::vector<double> x;   // continuous and ordinal: values
  std::vector<i32> group;  // nominal: place of each instance's category among those seen
  std::vector<i32> codes;  // nominal: categories seen, ascending
  std::vector<i64> at;     // positions in the node, where there are gaps
  bool has_gaps = false;
  double low = 0, high = 0;  // ends of x

  void clear() {
    count = 0;
    at.clear();
    codes.clear();
    has_gaps = false;
    low = high = 0;
  }
  i64 size() const { return count; }
  i64 position(i64 i) const { return has_gaps ? at[i] : i; }
  const std::vector<i64>* positions() const { return has_gaps ? &at : nullptr; }
  bool is_nominal() const { return !codes.empty(); }
};

inline bool is_nominal(const Column& column) {
  return column.type == ColumnType::code && !column.ordered;
}

inline void number_groups(KnownValues& known, i32 n_categories) {
  const i64 n = known.size();
  if (n_categories <= 4 * n + 64) {
    std::vector<i32> place(n_categories, -1);
    for (i64 i = 0; i < n; ++i) place[known.group[i]] = 0;
    for (i32 c = 0; c < n_categories; ++c) {
      if (place[c] < 0) continue;
      place[c] = static_cast<i32>(known.codes.size());
      known.codes.push_back(c);
    }
    for (i64 i = 0; i < n; ++i) known.group[i] = place[known.group[i]];
    return;
  }
  known.codes.assign(known.group.begin(), known.group.begin() + n);
  std::sort(known.codes.begin(), known.codes.end());
  known.codes.erase(std::unique(known.codes.begin(), known.codes.end()), known.codes.end());
  for (i64 i = 0; i < n; ++i) {
    i32& c = known.group[i];
    c = static_cast<i32>(std::lower_bound(known.codes.begin(), known.codes.end(), c) -
                         known.codes.begin());
  }
}

// Copies the values that are no gaps, T from the column, to `out`.
template <class T, class Out>
void gather(const Column& column, const RowSet& set, KnownValues& known, std::vector<Out>& out) {
  const char* data = static_cast<const char*>(column.data);
  const auto at = [&](i64 i) {
    return *reinterpret_cast<const T*>(data + set.rows[i] * column.stride);
  };
  const auto is_known = [](T x) { return std::is_integral_v<T> ? x >= T{0} : x == x; };
  if (static_cast<i64>(out.size()) < set.n) out.resize(set.n);
  i64 n = 0;
  for (i64 i = 0; i < set.n; ++i) {
    const T x = at(i);
    out[i] = static_cast<Out>(x);
    n += is_known(x);
  }
  known.count = n;
  known.has_gaps = n < set.n;
  if (!known.has_gaps) return;
  for (i64 i = 0; i < set.n; ++i) {
    if (!is_known(at(i))) continue;
    out[known.at.size()] = out[i];
    known.at.push_back(i);
  }
}

// Reads into `known`, whose memory is used again: fresh memory costs more than the reading.
inline void read_known(const Column& column, const RowSet& set, KnownValues& known) {
  known.clear();
  if (is_nominal(column)) {
    gather<i32>(column, set, known, known.group);
    number_groups(known, column.n_categories);
    return;
  }
  if (column.type == ColumnType::code) {
    gather<i32>(column, set, known, known.x);
  } else if (column.type == ColumnType::f32) {
    gather<float>(column, set, known, known.x);
  } else {
    gather<double>(column, set, known, known.x);
  }
  if (known.count) find_ends(known.x.data(), known.count, known.low, known.high);
}

}  // namespace treewright
