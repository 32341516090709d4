#include "binned/edges.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/ordered.hpp"

namespace treewright {
namespace {

// Radix sort, least significant digit first, stable; a digit that all values share costs nothing.
void sort_values(std::vector<WeighedValue>& values) {
  constexpr int kDigit = 11, kDigits = 6;
  constexpr u64 kBuckets = u64{1} << kDigit;
  const std::size_t n = values.size();
  std::vector<std::array<u32, kBuckets>> count(kDigits);
  for (const WeighedValue& v : values) {
    const u64 key = ordered(v.value);
    for (int d = 0; d < kDigits; ++d) ++count[d][key >> (d * kDigit) & (kBuckets - 1)];
  }
  std::vector<WeighedValue> other(n);
  for (int d = 0; d < kDigits && n; ++d) {
    auto digit = [&](const WeighedValue& v) {
      return ordered(v.value) >> (d * kDigit) & (kBuckets - 1);
    };
    if (count[d][digit(values[0])] == n) continue;
    std::exclusive_scan(count[d].begin(), count[d].end(), count[d].begin(), u32{0});
    for (const WeighedValue& v : values) other[count[d][digit(v)]++] = v;
    values.swap(other);
  }
}

// A number that the lower value does not exceed and the upper one does.
double between(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle < high ? middle : low;
}

}  // namespace

std::vector<i32> tail_fine_ends(const std::vector<i32>& sorted, i32 max_bins, bool& are_values) {
  std::vector<i32> ends;
  for (const i32 key : sorted) {
    if (ends.empty() || ends.back() != key) ends.push_back(key);
    if (std::ssize(ends) > max_bins) break;
  }
  are_values = std::ssize(ends) <= max_bins;
  if (are_values) return ends;
  // The first b of m bins hold b² / (b² + (m − b)²) of the keys.
  ends.clear();
  const u64 n = sorted.size(), m = static_cast<u64>(max_bins);
  for (u64 b = 1; b <= m; ++b) {
    const u64 below = b * b, above = (m - b) * (m - b);
    const i32 end = sorted[std::max<u64>(n * below / (below + above), 1) - 1];
    if (ends.empty() || ends.back() < end) ends.push_back(end);
  }
  return ends;
}

Summary summarize(std::vector<WeighedValue>& values) {
  std::erase_if(values, [](const WeighedValue& v) { return v.value != v.value; });
  sort_values(values);
  Summary out;
  for (const WeighedValue& v : values) {
    if (out.value.empty() || out.value.back() != v.value) {
      out.value.push_back(v.value);
      out.weight.push_back(0);
    }
    out.weight.back() += v.weight;
  }
  return out;
}

std::vector<double> bin_edges(const Summary& s, i32 max_bins) {
  const std::size_t n = s.value.size();
  std::vector<double> edges;
  auto end_at = [&](std::size_t i) { edges.push_back(between(s.value[i], s.value[i + 1])); };
  if (n <= static_cast<std::size_t>(max_bins)) {
    for (std::size_t i = 0; i + 1 < n; ++i) end_at(i);
    return edges;
  }
  // Values that fill a bin alone get one; the others share what is left.
  double rest = std::accumulate(s.weight.begin(), s.weight.end(), 0.0);
  const double fair = rest / max_bins;
  i64 bins_left = max_bins;
  for (const double w : s.weight) {
    if (w >= fair) rest -= w, --bins_left;
  }
  double size = bins_left > 0 ? rest / static_cast<double>(bins_left) : kInf;
  double held = 0;
  for (std::size_t i = 0; i + 1 < n && std::ssize(edges) + 1 < max_bins; ++i) {
    const bool is_large = s.weight[i] >= fair;
    if (!is_large) rest -= s.weight[i];
    held += s.weight[i];
    if (is_large || held >= size || (s.weight[i + 1] >= fair && held >= std::max(1.0, size / 2))) {
      end_at(i);
      held = 0;
      if (!is_large) {
        --bins_left;
        size = bins_left > 0 ? rest / static_cast<double>(bins_left) : kInf;
      }
    }
  }
  return edges;
}

}  // namespace treewright
