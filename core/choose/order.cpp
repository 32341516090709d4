#include "choose/order.hpp"

#include <cmath>

namespace treewright {
namespace {

// Profile of a group: class proportions or means, and its weight.
double group_profile(const CriterionView& v, const Problem& p, const i64* stats, double* profile) {
  if (p.is_classification()) {
    double sum = 0;
    for (i32 k = 0; k < v.n_classes; ++k) sum += profile[k] = class_weight(v, stats, k);
    for (i32 k = 0; k < v.n_classes; ++k) profile[k] = sum > 0 ? profile[k] / sum : 0;
    return sum;
  }
  const double w = static_cast<double>(stats[0]);
  for (i32 o = 0; o < v.n_outputs; ++o) {
    profile[o] = w > 0 ? static_cast<double>(stats[1 + o]) / w : 0;
  }
  return w;
}

// First principal direction of weighted rows by power iteration from a fixed start.
std::vector<double> principal_direction(const std::vector<double>& rows,
                                        const std::vector<double>& weight, i32 width) {
  const i32 n = static_cast<i32>(weight.size());
  std::vector<double> mean(width, 0), covariance(width * width, 0);
  double total = 0;
  for (i32 i = 0; i < n; ++i) {
    total += weight[i];
    for (i32 k = 0; k < width; ++k) mean[k] += weight[i] * rows[i * width + k];
  }
  for (double& m : mean) m /= total;
  for (i32 i = 0; i < n; ++i) {
    for (i32 a = 0; a < width; ++a) {
      const double da = weight[i] * (rows[i * width + a] - mean[a]);
      for (i32 b = 0; b < width; ++b)
        covariance[a * width + b] += da * (rows[i * width + b] - mean[b]);
    }
  }
  // Of two classes both vary alike; rounding must not decide which of them points forward.
  constexpr double kMore = 1 + 1e-9;
  i32 largest = 0;
  for (i32 k = 1; k < width; ++k) {
    if (covariance[k * width + k] > kMore * covariance[largest * width + largest]) largest = k;
  }
  std::vector<double> direction(covariance.begin() + largest * width,
                                covariance.begin() + (largest + 1) * width);
  std::vector<double> next(width);
  for (int step = 0; step < 100; ++step) {
    double norm = 0;
    for (i32 a = 0; a < width; ++a) {
      next[a] = 0;
      for (i32 b = 0; b < width; ++b) next[a] += covariance[a * width + b] * direction[b];
      norm += next[a] * next[a];
    }
    norm = std::sqrt(norm);
    if (!(norm > 0)) break;
    double change = 0;
    for (i32 a = 0; a < width; ++a) {
      next[a] /= norm;
      change += std::abs(next[a] - direction[a]);
    }
    direction.swap(next);
    if (change < 1e-14) break;
  }
  return direction;
}

}  // namespace

void order_by_profile(const CriterionView& v, const Problem& p, Groups& g) {
  const i32 width = p.is_classification() ? v.n_classes : v.n_outputs;
  const i32 n = g.size();
  std::vector<double>&profile = g.profile, &key = g.key;
  profile.resize(static_cast<std::size_t>(n) * width);
  key.resize(n);
  const auto profile_of = [&](i32 i) {
    return group_profile(v, p, g.stats.data() + static_cast<i64>(i) * p.n_stats,
                         profile.data() + static_cast<i64>(i) * width);
  };
  const bool simple = p.is_classification() ? width == 2 : width == 1;
  if (simple) {
    for (i32 i = 0; i < n; ++i) {
      profile_of(i);
      key[i] = profile[static_cast<i64>(i) * width + width - 1];
    }
  } else {
    std::vector<double> weight(n);
    for (i32 i = 0; i < n; ++i) weight[i] = profile_of(i);
    const std::vector<double> direction = principal_direction(profile, weight, width);
    for (i32 i = 0; i < n; ++i) {
      key[i] = 0;
      for (i32 k = 0; k < width; ++k)
        key[i] += profile[static_cast<i64>(i) * width + k] * direction[k];
    }
  }
  // equal rates of two classes: the later category first, as when ordered by the first class's rate
  const bool later_first = simple && p.is_classification();
  sort_few(g.order, [&](i32 a, i32 b) {
    return key[a] < key[b] || (later_first && key[a] == key[b] && g.code[a] > g.code[b]);
  });
}

}  // namespace treewright
