#include "lists/subsets.hpp"

#include "choose/factory.hpp"
#include "choose/groups.hpp"

namespace treewright::lists {

SubsetSearch::SubsetSearch(i32 n_slots, i32 first, i32 n_codes, i32 n_classes, i64 min_leaf,
                           i32 max_exhaustive, bool unit)
    : first_(first),
      n_codes_(n_codes),
      k_(n_classes),
      n_slots_(static_cast<u32>(n_slots)),
      unit_(unit),
      width_(n_classes + !unit),
      table_(static_cast<std::size_t>(n_slots) * (n_codes + 1) * width_, 0) {
  Problem& p = problem_;
  p.params.min_leaf = static_cast<decltype(p.params.min_leaf)>(min_leaf);
  p.params.max_exhaustive = max_exhaustive;
  p.targets.n_classes = k_;
  p.n_stats = k_;
  p.unit = unit;
  Column column;
  column.type = ColumnType::code;
  column.n_categories = n_codes;
  column.ordered = false;
  p.columns = {column};
  FeatureInfo info;
  info.store = Store::coded;
  info.code_bytes = n_codes <= 255 ? 1 : n_codes <= 65535 ? 2 : 4;
  info.n_codes = static_cast<u32>(n_codes);
  info.has_gaps = true;
  info.table = 0;
  p.features = {info};
}

std::vector<Subset> SubsetSearch::best(std::span<const i64> totals, std::span<const i64> rows) {
  const auto chooser = make_by_name("gini");
  Scratch scratch;
  std::vector<Subset> found;
  found.reserve(n_slots_);
  for (u32 s = 0; s < n_slots_; ++s) {
    found.push_back(best_of(*chooser, s, totals.data() + i64{s} * k_, rows[s], scratch));
  }
  return found;
}

Subset SubsetSearch::best_of(Chooser& chooser, i64 slot, const i64* total, i64 rows,
                             Scratch& scratch) {
  Block none;
  NodeView view{problem_, none, 0, rows, total, {}};
  view.criterion.problem = &problem_;
  view.criterion.n_classes = k_;
  view.tables = table_.data() + slot * (n_codes_ + i64{1}) * width_;
  const Candidate c = chooser.best(view, 0, scratch);
  Subset subset;
  build_groups(view, 0, scratch);
  Groups& g = scratch.groups;
  subset.n_gaps = g.gap_count;
  if (c.kind == CandidateKind::none) return subset;
  subset.kind = c.kind;
  subset.gain = c.gain;
  subset.scale = c.scale;
  subset.gaps_left = c.gaps_left;
  subset.learned = c.learned_gaps;
  subset.codes.assign(g.code.begin(), g.code.end());
  subset.branches.assign(g.size(), c.kind == CandidateKind::only_gaps ? 0 : 1);
  if (c.kind == CandidateKind::subset_mask) {
    for (i32 i = 0; i < g.size(); ++i) subset.branches[i] = !((c.mask >> i) & 1);
  } else if (c.kind == CandidateKind::group_cut) {
    chooser.order_groups(view.criterion, problem_, g);
    for (i32 i = 0; i < c.cut; ++i) subset.branches[g.order[i]] = 0;
  }
  return subset;
}

}  // namespace treewright::lists
