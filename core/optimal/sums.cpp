#include "optimal/sums.hpp"

#include <cmath>

namespace treewright::optimal {
namespace {

struct LabelCost {
  i32 n;
  i64 operator()(const i64* sums) const { return *std::min_element(sums, sums + n); }
};

// Squares around the mean; what a part without rows costs is 0.
struct SquareCost {
  i32 n;
  double unit;
  i64 operator()(const i64* sums) const {
    if (sums[0] <= 0) return 0;
    double explained = 0.0;
    for (i32 k = 2; k < n; ++k) {
      const double sum = static_cast<double>(sums[k]);
      explained += sum * sum;
    }
    const double left =
        static_cast<double>(sums[1]) - explained * unit / static_cast<double>(sums[0]);
    return std::max<i64>(0, std::llround(left));
  }
};

}  // namespace

Sums::Sums(const Problem& problem, const RowTable&)
    : problem_(problem), tests_of_(problem.n_columns) {
  for (std::size_t t = 0; t < problem.tests.size(); ++t)
    tests_of_[problem.tests[t].column].push_back(static_cast<i32>(t));
}

std::vector<i32> Sums::rows() const {
  std::vector<i32> rows(problem_.n_rows);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

i64 Sums::cost(const i64* sums) const {
  if (problem_.leaf == Leaf::labels) return LabelCost{problem_.n_channels}(sums);
  return SquareCost{problem_.n_channels, problem_.square_unit}(sums);
}

// Squares, or Gini's index of the class weights that the costs of 0/1 errors come from.
double Sums::impurity(const i64* sums) const {
  if (problem_.leaf == Leaf::squares) return static_cast<double>(cost(sums));
  double total = 0.0, squares = 0.0;
  for (i32 k = 0; k < problem_.n_channels; ++k) total += static_cast<double>(sums[k]);
  total /= std::max(problem_.n_channels - 1, 1);
  for (i32 k = 0; k < problem_.n_channels; ++k) {
    const double weight = total - static_cast<double>(sums[k]);
    squares += weight * weight;
  }
  return total > 0 ? total - squares / total : 0.0;
}

i64 Sums::leaf(Rows rows) const {
  std::vector<i64> sums(problem_.n_channels, 0);
  for (const i32 row : rows)
    for (i32 k = 0; k < problem_.n_channels; ++k)
      sums[k] += problem_.values[static_cast<i64>(row) * problem_.n_channels + k];
  return cost(sums.data());
}

void Sums::glance(Rows rows, Glance& glance, Scratch& s) const {
  const i32 width = problem_.n_channels;
  const std::size_t n_tests = problem_.tests.size();
  glance.resize(n_tests);
  s.total.assign(width, 0);
  for (const i32 row : rows)
    for (i32 k = 0; k < width; ++k)
      s.total[k] += problem_.values[static_cast<i64>(row) * width + k];
  s.passing.resize(n_tests * width);
  s.lines.resize(problem_.n_columns);
  std::vector<i64> other(width);
  for (i32 f = 0; f < problem_.n_columns; ++f) {
    if (tests_of_[f].empty()) continue;
    std::vector<i64>& line = s.lines[f];
    line.assign(static_cast<std::size_t>(problem_.n_bins[f] + 1) * width, 0);
    s.counts.assign(problem_.n_bins[f] + 1, 0);
    for (const i32 row : rows) {
      const i64 bin = problem_.bins[static_cast<i64>(row) * problem_.n_columns + f] + 1;
      ++s.counts[bin];
      for (i32 k = 0; k < width; ++k)
        line[bin * width + k] += problem_.values[static_cast<i64>(row) * width + k];
    }
    for (i64 bin = 1; bin <= problem_.n_bins[f]; ++bin) {
      s.counts[bin] += s.counts[bin - 1];
      for (i32 k = 0; k < width; ++k) line[bin * width + k] += line[(bin - 1) * width + k];
    }
    for (const i32 t : tests_of_[f]) {
      const Test& test = problem_.tests[t];
      i64* passing = &s.passing[static_cast<i64>(t) * width];
      for (i32 k = 0; k < width; ++k) {
        passing[k] = line[test.high * width + k] - line[test.low * width + k];
        other[k] = s.total[k] - passing[k];
      }
      glance.n_left[t] = s.counts[test.high] - s.counts[test.low];
      glance.left[t] = cost(passing);
      glance.right[t] = cost(other.data());
      glance.rank[t] = impurity(passing) + impurity(other.data());
    }
  }
}

void Sums::pairs(Rows rows, Pairs& pairs, Scratch& s) const {
  if (problem_.leaf == Leaf::labels)
    all_pairs(rows, pairs, s, LabelCost{problem_.n_channels});
  else
    all_pairs(rows, pairs, s, SquareCost{problem_.n_channels, problem_.square_unit});
}

template <class Cost>
void Sums::all_pairs(Rows rows, Pairs& pairs, Scratch& s, Cost cost) const {
  const i32 width = problem_.n_channels;
  pairs.reset(problem_.tests.size());
  s.parts.resize(4 * width);
  s.values.resize(rows.size() * width);
  for (std::size_t r = 0; r < rows.size(); ++r)
    std::copy_n(&problem_.values[static_cast<i64>(rows[r]) * width], width, &s.values[r * width]);
  const auto gather = [&](i32 f, std::vector<u16>& bins) {
    bins.resize(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      bins[r] = problem_.bins[static_cast<i64>(rows[r]) * problem_.n_columns + f];
  };
  for (i32 f = 0; f < problem_.n_columns; ++f) {
    if (tests_of_[f].empty()) continue;
    own_pairs(f, pairs, s, cost);
    gather(f, s.bins[0]);
    for (i32 g = f + 1; g < problem_.n_columns; ++g) {
      if (tests_of_[g].empty()) continue;
      gather(g, s.bins[1]);
      accumulate(f, g, rows.size(), s);
      column_pairs(f, g, pairs, s, cost);
    }
  }
}

// Sums by the bins of two columns, then of all bins before.
void Sums::accumulate(i32 f, i32 g, std::size_t n_rows, Scratch& s) const {
  const i64 width = problem_.n_channels, line = (problem_.n_bins[g] + 1) * width;
  s.table.assign((problem_.n_bins[f] + 1) * line, 0);
  for (std::size_t r = 0; r < n_rows; ++r) {
    i64* cell = &s.table[(s.bins[0][r] + 1) * line + (s.bins[1][r] + 1) * width];
    for (i64 k = 0; k < width; ++k) cell[k] += s.values[r * width + k];
  }
  for (i64 b = 1; b <= problem_.n_bins[f]; ++b) {
    i64* here = &s.table[b * line];
    for (i64 k = width; k < line; ++k) here[k] += here[k - width];
    for (i64 k = 0; k < line; ++k) here[k] += here[k - line];
  }
}

template <class Cost>
void Sums::column_pairs(i32 f, i32 g, Pairs& pairs, Scratch& s, Cost cost) const {
  const i64 width = problem_.n_channels, line = (problem_.n_bins[g] + 1) * width;
  for (const i32 i : tests_of_[f]) {
    const i64* high = &s.table[problem_.tests[i].high * line];
    const i64* low = &s.table[problem_.tests[i].low * line];
    for (const i32 j : tests_of_[g]) {
      const i64 to = problem_.tests[j].high * width, from = problem_.tests[j].low * width;
      for (i64 k = 0; k < width; ++k)
        s.parts[k] = high[to + k] - high[from + k] - low[to + k] + low[from + k];
      offer(i, j, pairs, s, cost);
    }
  }
}

template <class Cost>
void Sums::own_pairs(i32 f, Pairs& pairs, Scratch& s, Cost cost) const {
  const i64 width = problem_.n_channels;
  const std::vector<i32>& tests = tests_of_[f];
  const std::vector<i64>& line = s.lines[f];
  for (std::size_t a = 0; a < tests.size(); ++a) {
    for (std::size_t b = a + 1; b < tests.size(); ++b) {
      const Test& one = problem_.tests[tests[a]];
      const Test& other = problem_.tests[tests[b]];
      const i64 low = std::max(one.low, other.low);
      const i64 high = std::max<i64>(low, std::min(one.high, other.high));
      for (i64 k = 0; k < width; ++k) s.parts[k] = line[high * width + k] - line[low * width + k];
      offer(tests[a], tests[b], pairs, s, cost);
    }
  }
}

template <class Cost>
void Sums::offer(i32 i, i32 j, Pairs& pairs, Scratch& s, Cost cost) const {
  const i64 width = problem_.n_channels;
  const i64* a = &s.passing[i * width];
  const i64* b = &s.passing[j * width];
  i64* part = s.parts.data();
  for (i64 k = 0; k < width; ++k) {
    part[width + k] = a[k] - part[k];
    part[2 * width + k] = b[k] - part[k];
    part[3 * width + k] = s.total[k] - a[k] - b[k] + part[k];
  }
  pairs.offer(i, j, cost(part), cost(part + width), cost(part + 2 * width), cost(part + 3 * width));
}

}  // namespace treewright::optimal
