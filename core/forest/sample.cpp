#include "forest/sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace treewright {
namespace {

// Uniform in (0, 1] with 53 bits.
double positive_uniform(Philox& random) {
  return static_cast<double>((random.next() >> 11) + 1) * 0x1.0p-53;
}

// Draws `count` of n items; take(i) is called for each.
template <class Take>
void draw(Philox random, const Sampling& s, const std::vector<double>& weight, i64 n, i64 count,
          Take&& take) {
  if (s.replace && weight.empty()) {
    random.each_below32(static_cast<u32>(n), count, take);
    return;
  }
  if (s.replace) {
    bool are_whole = true;
    for (const double w : weight) are_whole &= w == std::floor(w);
    const double most = *std::max_element(weight.begin(), weight.end());
    const double scale = chance_scale(most, are_whole, n);
    std::vector<i64> ends(n);
    i64 total = 0;
    for (i64 i = 0; i < n; ++i) ends[i] = total += std::llrint(weight[i] * scale);
    each_by_chance(random, total, count, [&](double at) {
      const auto row = std::partition_point(ends.begin(), ends.end(),
                                            [&](i64 end) { return static_cast<double>(end) < at; });
      take(std::min<i64>(row - ends.begin(), n - 1));
    });
    return;
  }
  // Without replacement: the smallest of exponential times (Efraimidis and Spirakis 2006).
  std::vector<std::pair<double, i64>> times(n);
  for (i64 i = 0; i < n; ++i) {
    const double u = -std::log(positive_uniform(random));
    times[i] = {weight.empty() ? u : weight[i] > 0 ? u / weight[i] : kInf, i};
  }
  if (count < n) std::nth_element(times.begin(), times.begin() + count, times.end());
  for (i64 i = 0; i < count; ++i) take(times[i].second);
}

}  // namespace

double chance_scale(double most, bool are_whole, i64 n) {
  const double bound = most * static_cast<double>(n);
  if (are_whole && bound < 0x1p62) return 1;
  int exponent = 0;
  std::frexp(bound, &exponent);
  return std::ldexp(1.0, 61 - exponent);
}

void draw_sample(const Sampling& s, u64 seed, i64 n, i32* counts) {
  if (s.all) {
    std::fill_n(counts, n, 1);
    return;
  }
  std::fill_n(counts, n, 0);
  for (std::size_t stratum = 0; stratum < s.n_draws.size(); ++stratum) {
    const Philox random(seed, sample_stream(static_cast<i32>(stratum)));
    std::vector<i64> rows;
    for (i64 i = 0; s.strata && i < n; ++i) {
      if (s.strata[i] == static_cast<i32>(stratum)) rows.push_back(i);
    }
    const i64 size = s.strata ? static_cast<i64>(rows.size()) : n;
    if (!size) continue;
    std::vector<double> weight;
    for (i64 i = 0; s.weight && i < size; ++i) weight.push_back(s.weight[s.strata ? rows[i] : i]);
    draw(random, s, weight, size, s.n_draws[stratum],
         [&](i64 i) { ++counts[s.strata ? rows[i] : i]; });
  }
}

}  // namespace treewright
