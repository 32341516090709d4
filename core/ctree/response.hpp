// The response at a node, and its moments.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ctree/association.hpp"
#include "ctree/eigen.hpp"

namespace treewright {

// The response at the rows of a node: classes, or numbers centred on the node's mean.
class NodeResponse {
 public:
  NodeResponse(const TestedResponse& response, const RowSet& set) : width(response.width) {
    if (response.label) {
      label.resize(set.n);
      for (i64 i = 0; i < set.n; ++i) label[i] = response.label[set.rows[i]];
      if (width == 2) h.assign(label.begin(), label.end());
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

  // One number per instance that says it all, or null: that of the second of two classes is 1.
  const double* single() const { return width == (is_classes() ? 2 : 1) ? h.data() : nullptr; }

  i32 width;
  std::vector<i32> label;
  std::vector<double> h;  // numbers, or the second of two classes
};

// Mean and covariance of the response over some instances of a node.
struct ResponseMoments {
  double weight = 0;
  std::vector<double> mean;      // E
  std::vector<double> variance;  // diagonal of V
  std::vector<double> whiten;    // numbers: V⁺ = whiten whiten', width × rank
  std::vector<double> covariance;
  i32 rank = 0;
  bool is_classes = false;

  // Over the instances `at` (null: all n of them).
  ResponseMoments(const NodeResponse& y, const RowSet& set, const std::vector<i64>* at)
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

}  // namespace treewright
