// The rows of a node that are known in one feature, and the moments of their response.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "association.hpp"

namespace treewright {

// Σ f(i) over i < n in four sums side by side: one after the other, each addition waits.
template <class F>
double sum_of(i64 n, F&& f) {
  double lanes[4] = {0, 0, 0, 0};
  i64 i = 0;
  for (; i + 4 <= n; i += 4) {
    for (i64 k = 0; k < 4; ++k) lanes[k] += f(i + k);
  }
  for (; i < n; ++i) lanes[0] += f(i);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Eigenvalues closer to zero than this, relative to the largest, are zero.
constexpr double kRankTolerance = 1.4901161193847656e-08;  // √ε

// Eigenvalues and eigenvectors (columns) of a small symmetric matrix by Jacobi's rotations.
inline void symmetric_eigen(std::vector<double> a, i32 n, std::vector<double>& values,
                            std::vector<double>& vectors) {
  vectors.assign(static_cast<std::size_t>(n) * n, 0);
  for (i32 i = 0; i < n; ++i) vectors[i * n + i] = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, on = 0;
    for (i32 i = 0; i < n; ++i) {
      on += a[i * n + i] * a[i * n + i];
      for (i32 j = 0; j < i; ++j) off += a[i * n + j] * a[i * n + j];
    }
    if (off <= 1e-32 * on) break;
    for (i32 p = 0; p < n; ++p) {
      for (i32 q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (i32 k = 0; k < n; ++k) {
          const double kp = a[k * n + p], kq = a[k * n + q];
          a[k * n + p] = c * kp - s * kq;
          a[k * n + q] = s * kp + c * kq;
        }
        for (i32 k = 0; k < n; ++k) {
          const double pk = a[p * n + k], qk = a[q * n + k];
          a[p * n + k] = c * pk - s * qk;
          a[q * n + k] = s * pk + c * qk;
          const double vp = vectors[k * n + p], vq = vectors[k * n + q];
          vectors[k * n + p] = c * vp - s * vq;
          vectors[k * n + q] = s * vp + c * vq;
        }
      }
    }
  }
  values.resize(n);
  for (i32 i = 0; i < n; ++i) values[i] = a[i * n + i];
}

// The response at the rows of a node: classes, or numbers centred on the node's mean.
class NodeResponse {
 public:
  NodeResponse(const Response& response, const RowSet& set) : width(response.width) {
    if (response.label) {
      label.resize(set.n);
      for (i64 i = 0; i < set.n; ++i) label[i] = response.label[set.rows[i]];
      return;
    }
    h.resize(set.n * width);
    std::vector<double> mean(width, 0);
    double total = 0;
    for (i64 i = 0; i < set.n; ++i) {
      const double w = set.weight(i);
      total += w;
      for (i32 k = 0; k < width; ++k) {
        h[i * width + k] = response.h[set.rows[i] * width + k];
        mean[k] += w * h[i * width + k];
      }
    }
    for (double& m : mean) m /= total;
    for (i64 i = 0; i < set.n; ++i) {
      for (i32 k = 0; k < width; ++k) h[i * width + k] -= mean[k];
    }
  }

  bool is_classes() const { return !label.empty(); }

  // Adds v · h of instance i to `sum`.
  void add(i64 i, double v, double* sum) const {
    if (is_classes()) {
      sum[label[i]] += v;
    } else if (width == 1) {
      sum[0] += v * h[i];
    } else {
      for (i32 k = 0; k < width; ++k) sum[k] += v * h[i * width + k];
    }
  }

  i32 width;
  std::vector<i32> label;
  std::vector<double> h;
};

// Mean and covariance of the response over some instances of a node.
struct Moments {
  double weight = 0;
  std::vector<double> mean;      // E
  std::vector<double> variance;  // diagonal of V
  std::vector<double> whiten;    // numbers: V⁺ = whiten whiten', width × rank
  std::vector<double> covariance;
  i32 rank = 0;
  bool is_classes = false;

  // Over the instances `at` (null: all n of them).
  Moments(const NodeResponse& y, const RowSet& set, const std::vector<i64>* at)
      : mean(y.width, 0), variance(y.width, 0), is_classes(y.is_classes()) {
    const i64 n = at ? static_cast<i64>(at->size()) : set.n;
    const auto position = [at](i64 i) { return at ? (*at)[i] : i; };
    for (i64 i = 0; i < n; ++i) {
      const double w = set.weight(position(i));
      weight += w;
      y.add(position(i), w, mean.data());
    }
    for (double& m : mean) m /= weight;
    if (is_classes) {
      for (i32 k = 0; k < y.width; ++k) {
        variance[k] = mean[k] * (1 - mean[k]);
        rank += mean[k] > 0;
      }
      --rank;
      return;
    }
    covariance.assign(static_cast<std::size_t>(y.width) * y.width, 0);
    for (i64 i = 0; i < n; ++i) {
      const double w = set.weight(position(i));
      const double* h = y.h.data() + position(i) * y.width;
      for (i32 k = 0; k < y.width; ++k) {
        for (i32 l = 0; l <= k; ++l) {
          covariance[k * y.width + l] += w * (h[k] - mean[k]) * (h[l] - mean[l]);
        }
      }
    }
    finish_numbers(y.width);
  }

  // m' V⁺ m
  double form(const double* m) const {
    const i32 width = static_cast<i32>(mean.size());
    double sum = 0;
    if (is_classes) {
      for (i32 k = 0; k < width; ++k) {
        if (mean[k] > 0) sum += m[k] * m[k] / mean[k];
      }
      return sum;
    }
    for (i32 r = 0; r < rank; ++r) {
      double z = 0;
      for (i32 k = 0; k < width; ++k) z += whiten[k * rank + r] * m[k];
      sum += z * z;
    }
    return sum;
  }

  // max_k m_k² / V_kk
  double largest(const double* m) const {
    double best = 0;
    for (std::size_t k = 0; k < mean.size(); ++k) {
      if (variance[k] > 0) best = std::max(best, m[k] * m[k] / variance[k]);
    }
    return best;
  }

  double score(Form form_of, const double* m) const {
    return form_of == Form::quadratic ? form(m) : largest(m);
  }

  // V as a full matrix.
  std::vector<double> full_covariance() const {
    if (!is_classes) return covariance;
    const std::size_t width = mean.size();
    std::vector<double> v(width * width);
    for (std::size_t k = 0; k < width; ++k) {
      for (std::size_t l = 0; l < width; ++l) {
        v[k * width + l] = k == l ? variance[k] : -mean[k] * mean[l];
      }
    }
    return v;
  }

 private:
  void finish_numbers(i32 width) {
    for (i32 k = 0; k < width; ++k) {
      for (i32 l = 0; l <= k; ++l) {
        covariance[l * width + k] = covariance[k * width + l] /= weight;
      }
      variance[k] = covariance[k * width + k];
    }
    std::vector<double> values, vectors;
    symmetric_eigen(covariance, width, values, vectors);
    const double largest = *std::max_element(values.begin(), values.end());
    std::vector<i32> kept;
    for (i32 r = 0; r < width; ++r) {
      if (values[r] > kRankTolerance * largest && values[r] > 0) kept.push_back(r);
    }
    rank = static_cast<i32>(kept.size());
    whiten.resize(static_cast<std::size_t>(width) * rank);
    for (i32 r = 0; r < rank; ++r) {
      for (i32 k = 0; k < width; ++k) {
        whiten[k * rank + r] = vectors[k * width + kept[r]] / std::sqrt(values[kept[r]]);
      }
    }
  }
};

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
  if (static_cast<i64>(out.size()) < set.n) out.resize(set.n);
  i64 n = 0;
  for (i64 i = 0; i < set.n; ++i) {
    const T x = *reinterpret_cast<const T*>(data + set.rows[i] * column.stride);
    out[n] = static_cast<Out>(x);
    if constexpr (std::is_integral_v<T>) {
      n += x >= 0;
    } else {
      n += x == x;
    }
  }
  known.count = n;
  known.has_gaps = n < set.n;
  if (!known.has_gaps) return;
  for (i64 i = 0; i < set.n; ++i) {
    const T x = *reinterpret_cast<const T*>(data + set.rows[i] * column.stride);
    if (std::is_integral_v<T> ? x >= T{0} : x == x) known.at.push_back(i);
  }
}

inline void find_ends(KnownValues& known) {
  const i64 n = known.count;
  if (!n) return;
  const double* x = known.x.data();
  double low[4], high[4];
  for (int k = 0; k < 4; ++k) low[k] = high[k] = x[0];
  i64 i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; ++k) {
      low[k] = x[i + k] < low[k] ? x[i + k] : low[k];
      high[k] = x[i + k] > high[k] ? x[i + k] : high[k];
    }
  }
  for (; i < n; ++i) {
    low[0] = std::min(low[0], x[i]);
    high[0] = std::max(high[0], x[i]);
  }
  known.low = *std::min_element(low, low + 4);
  known.high = *std::max_element(high, high + 4);
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
  find_ends(known);
}

}  // namespace treewright
