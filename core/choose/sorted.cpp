#include "choose/sorted.hpp"

#include "base/simd.hpp"
#include "base/sort.hpp"
#include "binned/row_matrix.hpp"

namespace treewright {

TREEWRIGHT_VECTORS
bool any_beats(const double* c, i64 count, i64 first, i64 n, const BestRatio& best) {
  const double bar = best.bar(), denominator = best.denominator;
  const double total = static_cast<double>(n);
  const double start = static_cast<double>(first);
  int any = 0;
  for (int k = 0; k < static_cast<int>(count); ++k) {
    const double left = start + k;
    any |= c[k] * c[k] * denominator > bar * (left * (total - left));
  }
  return any != 0;
}

const Entry* entries_of(const NodeView& node, i32 feature, Scratch& scratch) {
  const Problem& p = node.problem;
  const FeatureInfo& info = p.features[feature];
  if (info.store == Store::sorted) return node.block.entries[info.slot] + node.begin;
  auto& items = scratch.by_row.items;
  const i64 n = node.size();
  items.resize(n);
  for (i64 i = 0; i < n; ++i) {
    const u32 id = node.block.ids[node.begin + i];
    const u32 key = static_cast<u32>(p.matrix->key(node.block.cells, id, info.slot)) ^ 0x80000000u;
    items[i] = u64{key} << 32 | id;
  }
  sort_items(items.data(), n, scratch.by_row.other);
  std::vector<Entry>& out = scratch.entries;
  out.resize(n);
  u32 rank = 0;
  for (i64 i = 0; i < n; ++i) {
    rank += i && items[i] >> 32 != items[i - 1] >> 32;
    const bool gap = items[i] >> 32 == ~u32{0};
    out[i] = {gap ? kGap : rank, static_cast<u32>(items[i])};
  }
  return out.data();
}

}  // namespace treewright
