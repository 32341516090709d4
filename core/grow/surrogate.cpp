#include "grow/surrogate.hpp"

#include <algorithm>

#include "choose/groups.hpp"
#include "choose/order.hpp"
#include "grow/split_builder.hpp"

namespace treewright {
namespace {

// What the primary split did to instances it could decide: their weight, and their number.
struct PrimaryDirection {
  i64 weight[2] = {0, 0};
  i64 count[2] = {0, 0};

  void add(u8 branch, i64 w) {
    weight[branch] += w;
    ++count[branch];
  }
  void add(const PrimaryDirection& other) {
    for (int d = 0; d < 2; ++d) {
      weight[d] += other.weight[d];
      count[d] += other.count[d];
    }
  }
  i64 n() const { return count[0] + count[1]; }
  double majority() const { return static_cast<double>(std::max(weight[0], weight[1])); }
  double total() const { return static_cast<double>(weight[0]) + static_cast<double>(weight[1]); }
};

// Best cut of instances added in order.
class SurrogateScan {
 public:
  explicit SurrogateScan(const PrimaryDirection& all) : all_(all), n_(all.n()) {}

  void add(u8 branch, i64 weight) {
    lead_ += branch ? -weight : weight;
    ++count_;
  }
  void add(const PrimaryDirection& sent) {
    lead_ += sent.weight[0] - sent.weight[1];
    count_ += sent.n();
  }

  // Scores a cut above what was added; true if it is the best so far.
  bool offer() {
    const i64 straight = lead_ + all_.weight[1], reversed = all_.weight[0] - lead_;
    if ((straight <= best && reversed <= best) || count_ < 2 || n_ - count_ < 2) return false;
    best = std::max(straight, reversed);
    is_reversed = reversed > straight;
    return true;
  }

  bool is_reversed = false;
  i64 best = -1;

 private:
  const PrimaryDirection& all_;
  i64 n_;
  i64 lead_ = 0;  // weight below that the primary split sends left, less what it sends right
  i64 count_ = 0;
};

// One feature against the primary split: the split, and the weight it sends correctly.
class SurrogateSearch {
 public:
  // primary: of all instances that the primary split decides
  SurrogateSearch(const NodeView& node, i32 feature, const PrimaryDirection& primary,
                  SideTables sides, Scratch& scratch)
      : node_(node), feature_(feature), primary_(primary), sides_(sides), scratch_(scratch) {}

  bool run() {
    const FeatureInfo& info = node_.problem.features[feature_];
    if (info.store == Store::sorted) return sorted();
    bool found = false;
    with_code_type(info.code_bytes, [&](auto code) { found = coded<decltype(code)>(); });
    return found;
  }

  Split split;
  double correct = 0;
  PrimaryDirection known;  // of the instances known to both

 private:
  struct Cell {
    u32 code;
    bool is_seen;  // also by instances that say nothing: their value bounds a cut
    PrimaryDirection sent;
  };

  bool sorted() {
    const Entry* entries = node_.block.entries[node_.problem.features[feature_].slot];
    const u8* branch = node_.branch;
    const TargetArrays& target = node_.block.target;
    i64 known_end = node_.end;
    while (known_end > node_.begin && entries[known_end - 1].rank == kGap) --known_end;
    if (known_end == node_.end) {
      known = primary_;
    } else {
      for (i64 i = node_.begin; i < known_end; ++i) {
        const u32 id = entries[i].id;
        if (branch[id] <= 1) known.add(branch[id], instance_weight(target, id));
      }
    }
    SurrogateScan scan(known);
    i64 cut = node_.begin;
    for (i64 i = node_.begin; i < known_end; ++i) {
      const Entry& entry = entries[i];
      if (i > node_.begin && entries[i - 1].rank != entry.rank && scan.offer()) cut = i;
      if (branch[entry.id] <= 1) scan.add(branch[entry.id], instance_weight(target, entry.id));
    }
    if (cut > node_.begin) {
      split.breaks.assign(1, sorted_break(node_, feature_, entries[cut - 1], entries[cut]));
    }
    return finish_breaks(scan);
  }

  bool finish_breaks(const SurrogateScan& scan) {
    if (scan.best < 0) return false;
    split.kind = SplitKind::breaks;
    split.feature = feature_;
    split.closed = node_.problem.params.closed;
    split.reversed = scan.is_reversed;
    split.n_branches = 2;
    correct = static_cast<double>(scan.best);
    return true;
  }

  template <class Code>
  bool coded() {
    const std::vector<Cell> cells = count_cells<Code>();
    if (cells.size() < 2) return false;
    for (const Cell& cell : cells) known.add(cell.sent);
    if (!node_.problem.columns[feature_].ordered) return subset(cells);
    SurrogateScan scan(known);
    for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
      scan.add(cells[i].sent);
      if (scan.offer()) {
        const u32 below = cells[i].code, above = cells[i + 1].code;
        split.breaks.assign(1, coded_break(node_.problem, feature_, below, above));
      }
    }
    return finish_breaks(scan);
  }

  // What the primary split did to each category of the node, in the order of their codes.
  template <class Code>
  std::vector<Cell> count_cells() const {
    const FeatureInfo& info = node_.problem.features[feature_];
    if (sides_.left && info.table >= 0) return tabled_cells(info);
    // A table over all codes, unless there are many more of them than instances.
    if (info.n_codes > 64 + 2 * static_cast<u64>(node_.size())) return sparse_cells<Code>(info);
    if (node_.problem.unit) return counted_cells(info);
    std::vector<Cell> cells(info.n_codes);
    each_known<Code>(info, [&](u32 c) -> Cell& { return cells[c]; });
    std::erase_if(cells, [](const Cell& cell) { return !cell.is_seen; });
    return cells;
  }

  // Where the primary split decided everything, the children's tables say it all.
  std::vector<Cell> tabled_cells(const FeatureInfo& info) const {
    const Problem& p = node_.problem;
    const i32 width = table_width(p);
    std::vector<Cell> cells;
    cells.reserve(info.n_codes);
    for (u32 c = 0; c < info.n_codes; ++c) {
      Cell cell{c, true, {}};
      int branch = 0;
      for (const i64* tables : {sides_.left, sides_.right}) {
        const TableRow row(p, tables + info.table * width, width, c);
        cell.sent.count[branch] = row.count();
        cell.sent.weight[branch] = p.weight_of(row.stats());
        ++branch;
      }
      if (cell.sent.n()) cells.push_back(cell);
    }
    return cells;
  }

  // Without weights a cell is three numbers: those sent left, those sent right, the undecided.
  std::vector<Cell> counted_cells(const FeatureInfo& info) const {
    const u8* branch = node_.branch;
    const i64 n_cells = (static_cast<i64>(info.n_codes) + 1) * 3;
    scratch_.dense.assign(n_cells, 0);
    with_codes(node_.block, info, [&](auto&& code) {
      count_pairs(
          node_.block, node_.begin, node_.end, n_cells, 3, code,
          [branch](u32 id) { return std::min<u8>(branch[id], 2); }, scratch_.dense.data());
    });
    std::vector<Cell> cells;
    cells.reserve(std::min<u64>(info.n_codes, node_.size()));
    const i64* count = scratch_.dense.data();
    for (u32 c = 0; c < info.n_codes; ++c, count += 3) {
      if (!(count[0] | count[1] | count[2])) continue;
      cells.push_back({c, true, {{count[0], count[1]}, {count[0], count[1]}}});
    }
    return cells;
  }

  template <class Code>
  std::vector<Cell> sparse_cells(const FeatureInfo& info) const {
    std::vector<Cell> cells;
    each_known<Code>(info, [&](u32) -> Cell& { return cells.emplace_back(); });
    merge_equal_codes(cells);
    return cells;
  }

  // Adds every instance with a value to the cell that `cell_of` gives for its code.
  template <class Code, class CellOf>
  void each_known(const FeatureInfo& info, CellOf&& cell_of) const {
    const u8* codes = node_.block.codes[info.slot];
    const u8* branch = node_.branch;
    for (i64 i = node_.begin; i < node_.end; ++i) {
      const u32 id = node_.block.ids[i];
      const u32 c = read_code<Code>(codes, id);
      if (c == kGap) continue;
      Cell& cell = cell_of(c);
      cell.code = c;
      cell.is_seen = true;
      if (branch[id] <= 1) cell.sent.add(branch[id], instance_weight(node_.block.target, id));
    }
  }

  static void merge_equal_codes(std::vector<Cell>& cells) {
    std::sort(cells.begin(), cells.end(),
              [](const Cell& a, const Cell& b) { return a.code < b.code; });
    std::size_t n = 0;
    for (const Cell& cell : cells) {
      if (n && cells[n - 1].code == cell.code) {
        cells[n - 1].sent.add(cell.sent);
      } else {
        cells[n++] = cell;
      }
    }
    cells.resize(n);
  }

  // Every category goes where the primary split sent most of it.
  bool subset(const std::vector<Cell>& cells) {
    split.kind = SplitKind::codes;
    split.feature = feature_;
    split.n_branches = 2;
    split.codes.reserve(cells.size());
    split.branches.reserve(cells.size());
    const bool heavier = known.weight[1] >= known.weight[0];  // for a category that is undecided
    i64 n_wrong = 0;
    for (const Cell& cell : cells) {
      const PrimaryDirection& sent = cell.sent;
      if (sent.n() == 0) continue;
      const bool is_tie = sent.weight[0] == sent.weight[1];
      const bool right = is_tie ? heavier : sent.weight[1] > sent.weight[0];
      split.codes.push_back(static_cast<i32>(cell.code));
      split.branches.push_back(right);
      correct += static_cast<double>(sent.weight[right]);
      n_wrong += sent.count[!right];
    }
    return !node_.problem.params.surrogate_errors || n_wrong >= 2;
  }

  const NodeView& node_;
  i32 feature_;
  const PrimaryDirection& primary_;
  SideTables sides_;
  Scratch& scratch_;
};

}  // namespace

std::vector<Surrogate> find_surrogates(const NodeView& node, i32 primary,
                                       const std::vector<i32>& active, const Marked& marked,
                                       SideTables sides, OnEach each) {
  const Params& params = node.problem.params;
  const PrimaryDirection direction{{marked.weight[0], marked.weight[1]},
                                   {marked.count[0], marked.count[1]}};
  std::vector<Surrogate> found(active.size());
  each(static_cast<i64>(active.size()), [&](i64 i, Scratch& scratch) {
    if (active[i] == primary) return;
    SurrogateSearch search(node, active[i], direction, sides, scratch);
    if (!search.run()) return;
    Surrogate& s = found[i];
    const PrimaryDirection& base = params.surrogate_share ? search.known : direction;
    const double majority = base.majority() / base.total();
    s.agreement = search.correct / base.total();
    if (!(s.agreement > majority + 1e-10)) return;
    s.adjusted = (s.agreement - majority) / (1 - majority);
    s.split = std::move(search.split);
  });
  std::vector<i32> order;
  order.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].split.kind != SplitKind::leaf) order.push_back(static_cast<i32>(i));
  }
  sort_few(order, [&](i32 a, i32 b) { return found[a].agreement > found[b].agreement + 1e-12; });
  if (static_cast<i32>(order.size()) > params.max_surrogates) order.resize(params.max_surrogates);
  std::vector<Surrogate> best;
  best.reserve(order.size());
  for (const i32 i : order) best.push_back(std::move(found[i]));
  return best;
}

}  // namespace treewright
