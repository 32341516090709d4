#include "choose/groups.hpp"

#include <numeric>

#include "binned/row_matrix.hpp"

namespace treewright {

void fill_table(const Problem& p, const Block& block, i64 begin, i64 end, const FeatureInfo& info,
                i64* table) {
  const i32 width = table_width(p);
  const i64 n_cells = (static_cast<i64>(info.n_codes) + 1) * width;
  std::fill_n(table, n_cells, 0);
  with_target_kind(p, [&](auto classes, auto unit) {
    with_codes(block, info, [&](auto&& code) {
      if constexpr (classes.value && unit.value) {
        const u16* label = block.target.label;
        count_pairs(
            block, begin, end, n_cells, width, code, [label](u32 id) { return label[id]; }, table);
        return;
      }
      for (i64 i = begin; i < end; ++i) {
        const u32 id = block.ids[i];
        i64* row = table + static_cast<std::size_t>(code(id)) * width;
        ++row[0];
        add_instance<classes.value, unit.value>(p, block.target, id, row + 1);
      }
    });
  });
}

namespace {

void groups_of_table(const Problem& p, const FeatureInfo& info, const i64* table, Groups& g) {
  const i32 width = table_width(p);
  for (u32 c = 0; c < info.n_codes; ++c) {
    const TableRow row(p, table, width, c);
    const i64 count = row.count();
    if (!count) continue;
    g.code.push_back(c);
    g.count.push_back(count);
    g.stats.insert(g.stats.end(), row.stats(), row.stats() + p.n_stats);
  }
  const TableRow gaps(p, table, width, info.n_codes);
  g.gap_count = gaps.count();
  g.gap_stats.assign(gaps.stats(), gaps.stats() + p.n_stats);
}

// The same through a stamped map from code to group: the cost does not depend on the number of
// codes, so that 100 000 categories at a node of ten instances cost ten steps.
template <bool Classes, bool Unit, class Code>
void sparse_groups(const NodeView& node, const FeatureInfo& info, const u8* codes,
                   Scratch& scratch) {
  const Problem& p = node.problem;
  const i32 s = p.n_stats;
  Groups& g = scratch.groups;
  if (scratch.slot.size() < info.n_codes) {
    scratch.slot.resize(info.n_codes);
    scratch.stamp.assign(info.n_codes, 0);
    scratch.epoch = 0;
  }
  if (++scratch.epoch == 0) {
    std::fill(scratch.stamp.begin(), scratch.stamp.end(), 0);
    scratch.epoch = 1;
  }
  g.gap_stats.assign(s, 0);
  std::vector<u32>& seen = g.code;
  for (i64 i = node.begin; i < node.end; ++i) {
    const u32 c = read_code<Code>(codes, node.block.ids[i]);
    if (c == kGap || scratch.stamp[c] == scratch.epoch) continue;
    scratch.stamp[c] = scratch.epoch;
    seen.push_back(c);
  }
  std::sort(seen.begin(), seen.end());
  for (u32 k = 0; k < seen.size(); ++k) scratch.slot[seen[k]] = k;
  g.count.assign(seen.size(), 0);
  g.stats.assign(seen.size() * s, 0);
  for (i64 i = node.begin; i < node.end; ++i) {
    const u32 id = node.block.ids[i];
    const u32 c = read_code<Code>(codes, id);
    i64* stats = g.gap_stats.data();
    if (c == kGap) {
      ++g.gap_count;
    } else {
      stats = g.stats.data() + static_cast<i64>(scratch.slot[c]) * s;
      ++g.count[scratch.slot[c]];
    }
    add_instance<Classes, Unit>(p, node.block.target, id, stats);
  }
}

}  // namespace

void build_groups(const NodeView& node, i32 feature, Scratch& scratch) {
  const Problem& p = node.problem;
  const FeatureInfo& info = p.features[feature];
  Groups& g = scratch.groups;
  g.code.clear();
  g.count.clear();
  g.stats.clear();
  g.gap_count = 0;
  if (node.tables && info.table >= 0) {
    groups_of_table(p, info, node.tables + info.table * table_width(p), g);
  } else if (info.store == Store::by_row || info.n_codes <= 16 || info.n_codes <= node.size()) {
    scratch.dense.resize(static_cast<std::size_t>(info.n_codes + 1) * table_width(p));
    fill_table(p, node.block, node.begin, node.end, info, scratch.dense.data());
    groups_of_table(p, info, scratch.dense.data(), g);
  } else {
    const u8* codes = node.block.codes[info.slot];
    with_target_kind(p, [&](auto classes, auto unit) {
      with_code_type(info.code_bytes, [&](auto code) {
        sparse_groups<classes.value, unit.value, decltype(code)>(node, info, codes, scratch);
      });
    });
  }
  g.order.resize(g.code.size());
  std::iota(g.order.begin(), g.order.end(), 0);
}

}  // namespace treewright
