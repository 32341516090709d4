#include "binned/bins.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/threads.hpp"

namespace treewright {

Summary summarize(std::vector<WeighedValue>& values) {
  std::erase_if(values, [](const WeighedValue& v) { return v.value != v.value; });
  std::sort(values.begin(), values.end(),
            [](const WeighedValue& a, const WeighedValue& b) { return a.value < b.value; });
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

Summary merge(const Summary& a, const Summary& b) {
  Summary out;
  std::size_t i = 0, j = 0;
  while (i < a.value.size() || j < b.value.size()) {
    const bool from_a = j == b.value.size() || (i < a.value.size() && a.value[i] <= b.value[j]);
    const bool from_b = i == a.value.size() || (j < b.value.size() && b.value[j] <= a.value[i]);
    out.value.push_back(from_a ? a.value[i] : b.value[j]);
    out.weight.push_back((from_a ? a.weight[i] : 0) + (from_b ? b.weight[j] : 0));
    i += from_a;
    j += from_b;
  }
  return out;
}

namespace {

// A number that the lower value does not exceed and the upper one does.
double between(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle < high ? middle : low;
}

}  // namespace

std::vector<double> bin_edges(const Summary& s, i32 max_bins) {
  const std::size_t n = s.value.size();
  std::vector<double> edges;
  if (n <= static_cast<std::size_t>(max_bins)) {
    for (std::size_t i = 1; i < n; ++i) edges.push_back(between(s.value[i - 1], s.value[i]));
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
  for (std::size_t i = 0; i + 1 < n && static_cast<i32>(edges.size()) + 1 < max_bins; ++i) {
    const bool is_large = s.weight[i] >= fair;
    if (!is_large) rest -= s.weight[i];
    held += s.weight[i];
    if (is_large || held >= size || (s.weight[i + 1] >= fair && held >= std::max(1.0, size / 2))) {
      edges.push_back(between(s.value[i], s.value[i + 1]));
      held = 0;
      if (!is_large) {
        --bins_left;
        size = bins_left > 0 ? rest / static_cast<double>(bins_left) : kInf;
      }
    }
  }
  return edges;
}

Bins::Bins(std::vector<BinMap> maps, const std::vector<Column>& columns, i64 n_rows, int n_threads)
    : maps_(std::move(maps)), n_rows_(n_rows), width_((n_features() + 3) / 4 * 4) {
  // Rows that do not straddle lines of the cache, where that costs little.
  if (width_ > 24 && width_ < 32) width_ = 32;
  if (width_ > 56 && width_ < 64) width_ = 64;
  for (const BinMap& map : maps_) offset_.push_back(offset_.back() + map.n_bins() + 1);
  memory_.resize(n_rows * width_ + 128);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  by_row_ = memory_.data() + ((address + 63) / 64 * 64 - address);
  by_column_.resize(n_rows * n_features());
  constexpr i64 kBlock = 4096;
  parallel_for((n_rows + kBlock - 1) / kBlock, n_threads, [&](i64 block, int) {
    fill(columns, block * kBlock, std::min(n_rows, (block + 1) * kBlock));
  });
}

namespace {

// Places of values among edges by halving steps of a fixed number, without jumps.
class EdgeSearch {
 public:
  explicit EdgeSearch(const std::vector<double>& edges) : edges_(256, kInf) {
    std::copy(edges.begin(), edges.end(), edges_.begin());
    while ((1u << steps_) <= edges.size()) ++steps_;
  }

  // How many edges are below the value.
  u32 place(double v) const {
    u32 at = 0;
    for (u32 step = (1u << steps_) >> 1; step; step >>= 1) {
      at += edges_[at + step - 1] < v ? step : 0;
    }
    return at;
  }

 private:
  std::vector<double> edges_;
  int steps_ = 0;
};

template <class Read, class Write>
void bin_values(const EdgeSearch& search, i64 count, u8 gap, Read&& read, Write&& write) {
  for (i64 i = 0; i < count; ++i) {
    const double v = read(i);
    const u32 at = search.place(v);
    write(i, v == v ? static_cast<u8>(at) : gap);
  }
}

}  // namespace

void Bins::fill(const std::vector<Column>& columns, i64 first, i64 last) {
  for (i32 f = 0; f < n_features(); ++f) {
    const BinMap& map = maps_[f];
    const Column& column = columns[f];
    const u8 gap = static_cast<u8>(map.n_bins());
    u8* to = by_column_.data() + f * n_rows_ + first;
    u8* rows = by_row_ + first * width_ + f;
    auto write = [&](i64 i, u8 bin) { to[i] = bin, rows[i * width_] = bin; };
    if (map.is_nominal) {
      std::vector<u8> bin_of(map.n_categories + 1, gap);
      for (std::size_t b = 0; b < map.code_of_bin.size(); ++b) {
        bin_of[map.code_of_bin[b]] = static_cast<u8>(b);
      }
      for (i64 i = 0; i < last - first; ++i) {
        const i32 code = column.code(first + i);
        write(i, code < 0 ? gap : bin_of[code]);
      }
      continue;
    }
    const EdgeSearch search(map.edges);
    if (column.type == ColumnType::code) {
      bin_values(
          search, last - first, gap,
          [&](i64 i) {
            const i32 code = column.code(first + i);
            return code < 0 ? std::nan("") : static_cast<double>(code);
          },
          write);
    } else {
      bin_values(search, last - first, gap, [&](i64 i) { return column.value(first + i); }, write);
    }
  }
}

}  // namespace treewright
