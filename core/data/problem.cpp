// Preparation: targets to scaled integers, columns to sorted entries or codes.
#include "data/problem.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/sort.hpp"
#include "base/threads.hpp"

namespace treewright {
namespace {

// The power of two that scales values whose absolute sum is `bound` to a total below 2^62.
double power_scale(double bound) {
  if (!(bound > 0)) return 1;
  int exponent = 0;
  std::frexp(bound, &exponent);
  return std::ldexp(1.0, std::clamp(61 - exponent, -900, 900));
}

bool all_one(const double* weight, i64 n) {
  for (i64 i = 0; i < n; ++i) {
    if (weight[i] != 1.0) return false;
  }
  return true;
}

bool all_integer(const double* weight, i64 n) {
  double sum = 0;
  for (i64 i = 0; i < n; ++i) {
    if (weight[i] != std::floor(weight[i])) return false;
    sum += weight[i];
  }
  return sum < 0x1p53;
}

std::vector<i64> scaled(const double* values, i64 count, double scale) {
  std::vector<i64> out(count);
  for (i64 i = 0; i < count; ++i) out[i] = std::llrint(values[i] * scale);
  return out;
}

// Bound of the absolute sum: of all values, or of any `n_draws` of them.
double absolute_sum(const std::vector<double>& values, i64 n_draws) {
  double sum = 0, most = 0;
  for (double v : values) {
    sum += std::abs(v);
    most = std::max(most, std::abs(v));
  }
  return n_draws ? std::max(sum, most * static_cast<double>(n_draws)) : sum;
}

void scale_numbers(Problem& p, i64 n_draws) {
  const Targets& t = p.targets;
  const i64 n = p.n_rows, count = n * t.n_outputs;
  std::vector<double> wy(count);
  for (i64 i = 0; i < count; ++i) {
    const double y = t.shift.empty() ? t.y[i] : t.y[i] - t.shift[i % t.n_outputs];
    wy[i] = y * (t.weight ? t.weight[i / t.n_outputs] : 1.0);
  }
  const double scale = power_scale(absolute_sum(wy, n_draws));
  p.wy = scaled(wy.data(), count, scale);
  p.y_unit = 1 / scale;
  if (p.squares) {
    for (i64 i = 0; i < count; ++i) wy[i] *= t.y[i];
    const double square_scale = power_scale(absolute_sum(wy, n_draws));
    p.wy2 = scaled(wy.data(), count, square_scale);
    p.y2_unit = 1 / square_scale;
  }
}

}  // namespace

void scale_targets(Problem& p, i64 n_draws) {
  const Targets& t = p.targets;
  const i64 n = p.n_rows;
  // Fractional descent splits weights, so they need room for fractions from the start.
  const bool fractions = p.params.gaps == GapPolicy::fractional && p.any_gaps;
  p.unit = !fractions && (!t.weight || all_one(t.weight, n));
  if (!p.unit) {
    std::vector<double> ones;
    const double* weight = t.weight;
    if (!weight) {
      ones.assign(n, 1.0);
      weight = ones.data();
    }
    const double sum = absolute_sum(std::vector<double>(weight, weight + n), n_draws);
    const double scale = !fractions && all_integer(weight, n) ? 1.0 : power_scale(sum);
    p.weight = scaled(weight, n, scale);
    // No weight is rounded away: a node has some, whatever rows it holds.
    for (i64 i = 0; i < n; ++i) p.weight[i] = std::max<i64>(p.weight[i], weight[i] > 0);
    p.weight_unit = 1 / scale;
  }
  if (p.is_classification()) {
    p.label.resize(n);
    for (i64 i = 0; i < n; ++i) p.label[i] = static_cast<u16>(t.label[i]);
    p.n_stats = t.n_classes;
  } else {
    scale_numbers(p, n_draws);
    p.n_stats = 1 + t.n_outputs * (p.squares ? 2 : 1);
  }
  p.total.assign(p.n_stats, 0);
  const TargetArrays all{
      p.label.data(), p.unit ? nullptr : p.weight.data(), nullptr, p.wy.data(), p.wy2.data(), t.y};
  with_target_kind(p, [&](auto classes, auto unit) {
    for (i64 i = 0; i < n; ++i) {
      add_instance<classes.value, unit.value>(p, all, i, p.total.data());
    }
  });
}

namespace {

// Few distinct values: one byte per instance beats keeping the column sorted.
constexpr u32 kMaxCodedValues = 255;

// Codes of a categorical column in the narrowest width.
template <class Code>
void copy_codes(const Column& column, i64 n, u8* out, bool& gaps) {
  Code* to = reinterpret_cast<Code*>(out);
  for (i64 i = 0; i < n; ++i) {
    const i32 c = column.code(i);
    gaps |= c < 0;
    to[i] = c < 0 ? static_cast<Code>(~Code{0}) : static_cast<Code>(c);
  }
}

u8 width_for(u32 n_codes) { return n_codes <= 255 ? 1 : n_codes <= 65535 ? 2 : 4; }

struct BuiltColumn {
  Memory memory;
  void* data = nullptr;

  void* allocate(std::size_t bytes) {
    memory = Memory(bytes);
    return data = memory.data();
  }
};

// Codes of a continuous column with few distinct values, found by hashing: the column itself need
// not be sorted. False, with nothing changed, as soon as there is one value too many.
class ValueCoder {
 public:
  bool run(const Column& column, i64 n, u8* codes) {
    slots_.fill(-1);
    for (i64 i = 0; i < n; ++i) {
      const double value = column.value(i) + 0.0;  // no minus zero
      if (value != value) {
        codes[i] = 255;
        has_gaps = true;
        continue;
      }
      const i32 code = code_of(value);
      if (code < 0) return false;
      codes[i] = static_cast<u8>(code);
    }
    put_in_order(n, codes);
    return true;
  }

  std::vector<double> values;  // ascending, by code
  bool has_gaps = false;

 private:
  static constexpr std::size_t kSlots = 1024;

  i32 code_of(double value) {
    std::size_t at = (std::bit_cast<u64>(value) * 0x9E3779B97F4A7C15u) >> 54;
    for (; slots_[at] >= 0; at = (at + 1) % kSlots) {
      if (values[slots_[at]] == value) return slots_[at];
    }
    if (values.size() == kMaxCodedValues) return -1;
    values.push_back(value);
    return slots_[at] = static_cast<i32>(values.size()) - 1;
  }

  void put_in_order(i64 n, u8* codes) {
    std::vector<i32> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](i32 a, i32 b) { return values[a] < values[b]; });
    u8 rank[256];
    rank[255] = 255;  // a gap stays one
    std::vector<double> sorted(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = static_cast<u8>(i);
      sorted[i] = values[order[i]];
    }
    values = std::move(sorted);
    for (i64 i = 0; i < n; ++i) codes[i] = rank[codes[i]];
  }

  std::array<i32, kSlots> slots_;
};

BuiltColumn build_column(const Problem& p, i32 f, FeatureInfo& info, SortBuffers& buffers) {
  const Column& column = p.columns[f];
  const i64 n = p.n_rows;
  BuiltColumn built;
  if (column.type == ColumnType::code) {
    built.memory = coded_column(p, f, info);
    built.data = built.memory.data();
    return built;
  }
  ValueCoder coder;
  if (coder.run(column, n, static_cast<u8*>(built.allocate(n)))) {
    info.store = Store::coded;
    info.n_codes = static_cast<u32>(coder.values.size());
    info.has_gaps = coder.has_gaps;
    info.constant = info.n_codes + info.has_gaps < 2;
    info.code_value = std::move(coder.values);
    return built;
  }
  const Ranking ranking = rank_column(column, n, buffers);
  const RankedRow* items = buffers.items.data();
  info.has_gaps = ranking.n_known < n;
  info.store = Store::sorted;
  for (u32 i = 0; p.params.data_thresholds && i < ranking.n_known; ++i) {
    if (!i || items[i].rank != items[i - 1].rank) {
      info.code_value.push_back(column.value(items[i].row));
    }
  }
  auto* entries = static_cast<Entry*>(built.allocate(static_cast<std::size_t>(n) * sizeof(Entry)));
  for (i64 i = 0; i < n; ++i) entries[i] = {items[i].rank, items[i].row};  // a gap is all ones
  return built;
}

}  // namespace

Memory coded_column(const Problem& p, i32 f, FeatureInfo& info) {
  const Column& column = p.columns[f];
  info.store = Store::coded;
  info.n_codes = static_cast<u32>(column.n_categories);
  info.code_bytes = width_for(info.n_codes);
  Memory memory(static_cast<std::size_t>(p.n_rows) * info.code_bytes);
  with_code_type(info.code_bytes, [&](auto code) {
    copy_codes<decltype(code)>(column, p.n_rows, static_cast<u8*>(memory.data()), info.has_gaps);
  });
  return memory;
}

std::shared_ptr<Block> root_block(Problem& p, Callable<void()> poll) {
  const i64 n = p.n_rows;
  auto block = std::make_shared<Block>();
  block->n = n;
  p.features.assign(p.n_features(), {});
  const i32 n_features = p.searchable ? p.n_features() : 0;
  p.any_gaps = !p.searchable;
  std::vector<BuiltColumn> built(n_features);
  const bool threaded = n * n_features > 50000;
  std::vector<SortBuffers> buffers(std::max(1, p.params.n_threads));
  parallel_for(
      n_features, threaded ? p.params.n_threads : 1,
      [&](i64 f, int t) {
        built[f] = build_column(p, static_cast<i32>(f), p.features[f], buffers[t]);
      },
      poll);
  for (i32 f = 0; f < n_features; ++f) {
    FeatureInfo& info = p.features[f];
    if (info.store == Store::sorted) {
      info.slot = p.n_sorted++;
      block->entries.push_back(static_cast<Entry*>(built[f].data));
    } else {
      info.slot = p.n_coded++;
      if (info.code_bytes == 1 && !info.constant) {
        info.table = p.table_rows;
        p.table_rows += info.n_codes + 1;
        ++p.n_tabled;
      }
      block->codes.push_back(static_cast<const u8*>(built[f].data));
    }
    p.any_gaps |= info.has_gaps;
    block->memory.push_back(std::move(built[f].memory));
  }
  scale_targets(p);
  block->target = {p.label.data(), p.unit ? nullptr : p.weight.data(), nullptr,
                   p.wy.data(),    p.squares ? p.wy2.data() : nullptr, p.targets.y};
  block->ids = block->allocate<u32>(n);
  for (i64 i = 0; i < n; ++i) block->ids[i] = static_cast<u32>(i);
  return block;
}

}  // namespace treewright
