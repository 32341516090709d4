#include "blocks/table_search.hpp"

#include "base/team.hpp"
#include "base/threads.hpp"
#include "choose/factory.hpp"
#include "choose/groups.hpp"

namespace treewright::blocks {

TableSearch::TableSearch(SearchParams params)
    : params_(std::move(params)), chooser_(make_by_name(params_.criterion)) {
  if (!chooser_) throw std::invalid_argument("The criterion has no search of its name.");
  Problem& p = problem_;
  p.params.task = params_.n_classes ? Task::classes : Task::numbers;
  p.params.min_leaf = params_.min_leaf;
  p.params.min_weight_leaf = params_.min_weight_leaf;
  p.params.max_exhaustive = params_.max_exhaustive;
  p.weight_unit = params_.weight_unit;
  p.targets.n_classes = params_.n_classes;
  p.targets.n_outputs = 1;
  p.n_stats = params_.n_classes ? params_.n_classes : 2;
  p.unit = !params_.counts_rows;
  for (i32 f = 0; f < n_features(); ++f) {
    Column column;
    column.type = ColumnType::code;
    column.n_categories = params_.n_bins[f];
    column.ordered = params_.ordered[f];
    p.columns.push_back(column);
    FeatureInfo info;
    info.store = Store::coded;
    info.code_bytes = 1;
    info.n_codes = static_cast<u32>(params_.n_bins[f]);
    info.has_gaps = true;
    info.table = 0;  // a view has the table of one feature
    p.features.push_back(info);
  }
}

i32 TableSearch::table_width() const { return treewright::table_width(problem_); }

NodeView TableSearch::view_of(const i64* totals, i64 rows) {
  NodeView view{problem_, none_, 0, rows, totals, {}};
  CriterionView& v = view.criterion;
  v.problem = &problem_;
  v.n_classes = params_.n_classes;
  v.n_outputs = 1;
  if (!params_.n_classes) centre_on(v, totals);
  return view;
}

TableTests TableSearch::best(const Wanted& wanted, std::span<const i64> tables,
                             std::span<const i64> totals, std::span<const i64> rows,
                             Callable<void()> poll) {
  const i64 n = std::ssize(rows), m = wanted.per_slot;
  std::vector<Candidate> found(n);
  std::vector<i64> at(n, -1);
  std::vector<Scratch> buffers(params_.n_threads);
  {
    const Team team;
    parallel_for(
        n, params_.n_threads,
        [&](i64 slot, int thread) {
          NodeView view = view_of(totals.data() + slot * problem_.n_stats, rows[slot]);
          for (i64 j = slot * m; j < (slot + 1) * m; ++j) {
            view.tables = tables.data() + wanted.start[j];
            const Candidate c = chooser_->best(view, wanted.feature[j], buffers[thread]);
            if (!c.beats(found[slot])) continue;
            found[slot] = c;
            at[slot] = j;
          }
        },
        poll);
  }
  TableTests out;
  for (i64 slot = 0; slot < n; ++slot) {
    NodeView view = view_of(totals.data() + slot * problem_.n_stats, rows[slot]);
    if (at[slot] >= 0) view.tables = tables.data() + wanted.start[at[slot]];
    keep(view, found[slot], buffers[0], out);
  }
  return out;
}

void TableSearch::keep(const NodeView& view, const Candidate& best, Scratch& scratch,
                       TableTests& out) {
  const bool is_test = best.kind != CandidateKind::none;
  i32 below = -1, above = -1;
  i64 n_gaps = 0;
  if (is_test) {
    build_groups(view, best.feature, scratch);
    Groups& g = scratch.groups;
    n_gaps = g.gap_count;
    if (params_.ordered[best.feature]) {
      if (best.kind == CandidateKind::group_cut) {
        below = static_cast<i32>(g.code[best.cut - 1]);
        above = static_cast<i32>(g.code[best.cut]);
      }
    } else {
      std::vector<i32> branch(g.size(), best.kind == CandidateKind::only_gaps ? 0 : 1);
      if (best.kind == CandidateKind::subset_mask) {
        for (i32 i = 0; i < g.size(); ++i) branch[i] = !((best.mask >> i) & 1);
      } else if (best.kind == CandidateKind::group_cut) {
        chooser_->order_groups(view.criterion, problem_, g);
        for (i32 i = 0; i < best.cut; ++i) branch[g.order[i]] = 0;
      }
      out.codes.insert(out.codes.end(), g.code.begin(), g.code.end());
      out.branches.insert(out.branches.end(), branch.begin(), branch.end());
    }
  }
  out.feature.push_back(is_test ? best.feature : -1);
  out.below.push_back(below);
  out.above.push_back(above);
  out.gain.push_back(is_test ? best.gain : 0);
  out.scale.push_back(best.scale);
  out.only_gaps.push_back(best.kind == CandidateKind::only_gaps);
  out.gaps_left.push_back(best.gaps_left);
  out.n_gaps.push_back(n_gaps);
  out.code_offset.push_back(std::ssize(out.codes));
}

std::vector<i32> drawn_features(u64 seed, std::span<const u64> path, i32 n, i32 from, i32 count) {
  std::vector<i32> out;
  out.reserve(path.size() * count);
  FeatureDraw draw;
  for (const u64 each : path) {
    draw.start(n, seed, each);
    for (i32 i = 0; i < from; ++i) draw.next();
    for (i32 i = 0; i < count; ++i) out.push_back(draw.next());
  }
  return out;
}

}  // namespace treewright::blocks
