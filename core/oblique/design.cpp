#include "oblique/design.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/philox.hpp"
#include "choose/groups.hpp"
#include "choose/order.hpp"
#include "data/numbers.hpp"

namespace treewright::oblique {
namespace {

constexpr double kVaries = 1e-12;  // values closer than this share of their size are the same
constexpr double kFaint = 1e-9;    // values below this share of the largest are rounding
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool differ(double a, double b) {
  return std::abs(a - b) > kVaries * std::max(std::abs(a), std::abs(b));
}

}  // namespace

Design::Design(const NodeView& node, NominalTerms terms, std::span<const i32> features,
               Scratch& scratch)
    : node_(node), columns_(node.problem.columns), n_(node.size()) {
  for (const i32 f : features) {
    if (columns_[f].type != ColumnType::code) {
      add_number(f);
    } else if (!columns_[f].ordered && terms != NominalTerms::none) {
      add_nominal(f, terms, scratch);
    }
  }
}

void Design::add_number(i32 feature) {
  const Column& column = columns_[feature];
  double first = kNaN;
  for (i64 i = 0; i < n_; ++i) {
    const double x = column.value(row(i));
    if (first != first) {
      first = x;
    } else if (differ(x, first)) {  // not at a gap
      parts.push_back({feature, {}, {}, {}});
      return;
    }
  }
}

void Design::add_nominal(i32 feature, NominalTerms terms, Scratch& scratch) {
  const Problem& p = node_.problem;
  build_groups(node_, feature, scratch);
  Groups& g = scratch.groups;
  const i32 n = g.size();
  if (n < 2) return;
  auto weight = [&](i32 k) {
    return p.weight_of(g.stats.data() + static_cast<i64>(k) * p.n_stats);
  };
  i32 usual = 0;
  for (i32 k = 1; k < n; ++k) {
    if (weight(k) > weight(usual)) usual = k;
  }
  if (terms == NominalTerms::indicators) {
    for (i32 k = 0; k < n; ++k) {
      if (k != usual) parts.push_back({feature, {static_cast<i32>(g.code[k])}, {1.0}, {}});
    }
    return;
  }
  order_by_profile(node_.criterion, p, g);
  double largest = 0;
  for (i32 k = 0; k < n; ++k) largest = std::max(largest, std::abs(g.key[k] - g.key[usual]));
  Part part{feature, {}, {}, {}};
  for (i32 k = 0; k < n && largest > 0; ++k) {
    const double value = (g.key[k] - g.key[usual]) / largest;
    if (std::abs(value) < kFaint) continue;
    part.codes.push_back(static_cast<i32>(g.code[k]));
    part.values.push_back(value);
  }
  if (!part.codes.empty()) parts.push_back(std::move(part));
}

i32 Design::n_features() const {
  i32 n = 0, last = -1;
  for (const Part& part : parts) {
    n += part.feature != last;
    last = part.feature;
  }
  return n;
}

u64 Design::hash(i64 i) const {
  u64 mixed = 0;
  i32 last = -1;
  const i64 at = row(i);
  for (const Part& part : parts) {
    if (part.feature == last) continue;
    last = part.feature;
    const Column& column = columns_[last];
    const double x = part.is_number() ? column.value(at) : column.code(at);
    mixed = child_path(mixed ^ (x != x ? 1 : std::bit_cast<u64>(x + 0.0)), 0);
  }
  return mixed | 1;  // 0 is an empty place
}

bool Design::has_distinct_rows(i64 count) const {
  if (n_ <= count) return false;
  const u64 size = std::bit_ceil(static_cast<u64>(4 * count + 4));
  std::vector<u64> seen(size, 0);
  i64 distinct = 0;
  for (i64 i = 0; i < n_ && distinct <= count; ++i) {
    const u64 key = hash(i);
    u64 at = (key >> 20) & (size - 1);
    while (seen[at] && seen[at] != key) at = (at + 1) & (size - 1);
    distinct += !seen[at];
    seen[at] = key;
  }
  return distinct > count;
}

std::vector<double> Design::weighed(const Part& part, const std::vector<double>& weights) const {
  std::vector<double> out(n_);
  const Column& column = columns_[part.feature];
  if (part.is_number()) {
    for (i64 i = 0; i < n_; ++i) out[i] = weights[0] * column.value(row(i));
    return out;
  }
  std::vector<double> table(column.n_categories, 0.0);
  for (std::size_t k = 0; k < weights.size(); ++k) table[part.codes[k]] = weights[k];
  for (i64 i = 0; i < n_; ++i) {
    const i32 code = column.code(row(i));
    out[i] = code < 0 ? kNaN : table[code];
  }
  return out;
}

// Sums are made in an order-free way, of values that were brought to [0, 1].
void Design::make(Part& part) const {
  if (part.is_made) return;
  part.is_made = true;
  part.column = weighed(part, part.is_number() ? std::vector<double>{1.0} : part.values);
  std::vector<double>& x = part.column;
  double low = kInf, high = -kInf;
  for (const double v : x) {
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  const double range = high - low;
  if (!(range > 0) || !std::isfinite(range)) return;
  const TargetArrays& target = node_.block.target;
  const u32* ids = node_.block.ids + node_.begin;
  i64 weight = 0;
  for (i64 i = 0; i < n_; ++i) {
    x[i] = (x[i] - low) / range;
    weight += x[i] == x[i] ? instance_weight(target, ids[i]) : 0;
  }
  const double known = static_cast<double>(weight);
  auto sum = [&](auto&& term) {
    return ordered_free_sum(n_, known, [&](i64 i) {
      return x[i] == x[i] ? static_cast<double>(instance_weight(target, ids[i])) * term(x[i]) : 0.0;
    });
  };
  const double mean = sum([](double v) { return v; }) / known;
  const double whole = static_cast<double>(node_.problem.weight_of(node_.stats));
  const double spread =
      std::sqrt(sum([mean](double v) { return (v - mean) * (v - mean); }) / whole);
  if (!(spread > 0)) return;
  part.mean = low + mean * range;
  part.spread = spread * range;
  for (double& v : x) v = v == v ? (v - mean) / spread : 0.0;
}

}  // namespace treewright::oblique
