// Python's door to rows of which trees are grown from tables, and to the search of tables.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/philox.hpp"
#include "base/signals.hpp"
#include "blocks/table_search.hpp"
#include "blocks/tree_share.hpp"
#include "forest/sample.hpp"

namespace treewright {
namespace {

using namespace blocks;
using namespace nb::literals;

template <class T>
using Written = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <class T>
T* array_of(const nb::dict& d, const char* name, i64 n) {
  const auto found = nb::cast<Written<T>>(d[name]);
  if (static_cast<i64>(found.size()) != n)
    refuse(std::string("An array of a block has the wrong size: ") + name + ".");
  return found.data();
}

// Tables that are wanted of slots; checked against the features there are.
template <class BinsOf>
Wanted read_wanted(i64 n_slots, i32 per_slot, const Vector<i32>& feature, const Vector<i64>& start,
                   i64 n_words, i64 width, i32 n_features, BinsOf&& n_bins) {
  if (per_slot < 1 || static_cast<i64>(feature.size()) != n_slots * per_slot ||
      start.size() != feature.size() || n_words < 0)
    refuse("Every slot must want the same number of tables.");
  for (std::size_t i = 0; i < feature.size(); ++i) {
    const i32 f = feature.data()[i];
    if (f < 0 || f >= n_features) refuse("A feature is out of range.");
    const i64 end = start.data()[i] + (n_bins(f) + i64{1}) * width;
    if (start.data()[i] < 0 || end > n_words) refuse("A table is out of range.");
  }
  return {per_slot, view(feature), view(start), n_words};
}

nb::dict sums_of(NodeSums sums, i64 n_stats) {
  nb::dict out;
  const std::size_t n = sums.rows.size();
  out["stats"] = to_numpy(std::move(sums.stats), {n, static_cast<std::size_t>(n_stats)});
  out["rows"] = to_numpy(std::move(sums.rows));
  out["low"] = to_numpy(std::move(sums.low));
  out["high"] = to_numpy(std::move(sums.high));
  return out;
}

class PyTreeShare {
 public:
  PyTreeShare(std::vector<i32> n_bins, i64 width, i32 n_classes, double shift, double scale,
              double square_scale, double weight_unit, bool draws, bool weighs, int n_threads)
      : n_bins_(std::move(n_bins)),
        share_(static_cast<i32>(n_bins_.size()), width,
               {n_classes, shift, scale, square_scale, weight_unit}, draws, weighs,
               std::max(n_threads, 1)) {
    if (width < share_.n_features()) refuse("Rows of bins must hold all features.");
  }

  // Arrays of a block; they are kept, and written to.
  void add(const nb::dict& d, i64 first_row, bool is_mapped) {
    TreeBlock block;
    const auto bins = nb::cast<Written<u8>>(d["bins"]);
    if (bins.ndim() != 2 || static_cast<i64>(bins.shape(1)) != share_.width())
      refuse("Bins must have one row for each row, of the width of all.");
    const i64 n = block.n_rows = static_cast<i64>(bins.shape(0));
    block.first_row = first_row;
    block.bins = bins.data();
    for (i64 i = 0; i < n; ++i) {
      for (i32 f = 0; f < share_.n_features(); ++f) {
        if (block.bins[i * share_.width() + f] > n_bins_[f]) refuse("A bin is out of range.");
      }
    }
    if (share_.target().n_classes) {
      block.label = array_of<u16>(d, "label", n);
      for (i64 i = 0; i < n; ++i) {
        if (block.label[i] >= share_.target().n_classes) refuse("A class is out of range.");
      }
    } else {
      block.y = array_of<double>(d, "y", n);
    }
    if (share_.draws()) block.count = array_of<u16>(d, "count", n);
    if (share_.weighs())
      (share_.draws() ? block.chance : block.weight) = array_of<i64>(d, "weight", n);
    block.node = array_of<i32>(d, "node", n);
    if (is_mapped) {
      const auto map = nb::cast<Written<u8>>(d["map"]);
      block.map = reinterpret_cast<char*>(map.data());
      block.map_size = static_cast<i64>(map.size());
    }
    owners_.push_back(nb::borrow(d));
    share_.add(block);
  }

  // `first_row` and `start`: of the blocks of all shares, where chances differ.
  nb::dict begin_tree(u64 seed, i64 n_all, i64 n_draws, i64 total, Vector<i64> first_row,
                      Vector<i64> start) {
    if (n_all < 1 || n_all > i64{0xFFFFFFFF}) refuse("Rows must have numbers of 32 bits.");
    if ((total > 0) != (share_.draws() && share_.weighs()) || first_row.size() != start.size() ||
        (total > 0 && !start.size()))
      refuse("Chances must be there where rows are drawn by them.");
    const TreeDraws draws{n_all, n_draws, total, view(first_row), view(start)};
    return run([&](auto poll) { return share_.begin_tree(seed, draws, poll); });
  }

  nb::object tables(i32 base, Vector<i32> slot_of, i64 n_slots, i32 per_slot, Vector<i32> feature,
                    Vector<i64> start, i64 n_words) {
    const TreeLevel level = read_level(base, slot_of, n_slots);
    const Wanted wanted =
        read_wanted(n_slots, per_slot, feature, start, n_words, share_.table_width(),
                    share_.n_features(), [&](i32 f) { return n_bins_[f]; });
    std::vector<i64> out;
    {
      GilRelease release;
      SignalPoll poll;
      out = share_.tables(level, wanted, poll);
    }
    return to_numpy(std::move(out));
  }

  nb::dict divide(i32 base, Vector<i32> slot_of, Vector<i32> feature, Matrix<u8> branch,
                  Vector<i32> first_child) {
    const i64 n = static_cast<i64>(feature.size());
    const TreeLevel level = read_level(base, slot_of, n);
    if (static_cast<i64>(first_child.size()) != n || static_cast<i64>(branch.shape(0)) != n ||
        branch.shape(1) != 256)
      refuse("Every slot must have a test, the branches of its bins, and a first child.");
    for (const i32 f : view(feature)) {
      if (f >= share_.n_features()) refuse("A feature is out of range.");
    }
    for (const u8 b : view(branch)) {
      if (b > 1) refuse("A branch must be 0 or 1.");
    }
    return run([&](auto poll) {
      return share_.divide(level, view(feature), view(branch), view(first_child), poll);
    });
  }

  nb::dict gather(i32 base, Vector<i32> slot_of, i64 n_slots) {
    const TreeLevel level = read_level(base, slot_of, n_slots);
    GatheredRows rows;
    {
      GilRelease release;
      SignalPoll poll;
      rows = share_.gather(level, poll);
    }
    nb::dict out;
    const std::size_t n = rows.slot.size(), k = share_.n_features();
    out["slot"] = to_numpy(std::move(rows.slot));
    out["row"] = to_numpy(std::move(rows.row));
    out["bins"] = to_numpy(std::move(rows.bins), {n, k});
    out["label"] = to_numpy(std::move(rows.label));
    out["y"] = to_numpy(std::move(rows.y));
    out["count"] = to_numpy(std::move(rows.count));
    out["weight"] = to_numpy(std::move(rows.weight));
    return out;
  }

  i32 table_width() const { return share_.table_width(); }

 private:
  TreeLevel read_level(i32 base, const Vector<i32>& slot_of, i64 n_slots) const {
    for (const i32 slot : view(slot_of)) {
      if (slot < -1 || slot >= n_slots) refuse("A slot is out of range.");
    }
    return {base, view(slot_of)};
  }

  template <class Work>
  nb::dict run(Work&& work) {
    NodeSums sums(0, share_.target());
    {
      GilRelease release;
      SignalPoll poll;
      sums = work([&] { poll(); });
    }
    return sums_of(std::move(sums), share_.target().n_stats());
  }

  std::vector<i32> n_bins_;
  TreeShare share_;
  std::vector<nb::object> owners_;
};

class PyTableSearch {
 public:
  PyTableSearch(std::string criterion, i32 n_classes, bool counts_rows, double weight_unit,
                i64 min_leaf, double min_weight_leaf, i32 max_exhaustive, std::vector<i32> n_bins,
                std::vector<u8> ordered, int n_threads)
      : search_({std::move(criterion), n_classes, counts_rows, weight_unit, min_leaf,
                 min_weight_leaf, max_exhaustive, check(n_bins, ordered), std::move(ordered),
                 std::max(n_threads, 1)}) {}

  nb::dict best(i32 per_slot, Vector<i32> feature, Vector<i64> start, Vector<i64> tables,
                Matrix<i64> totals, Vector<i64> rows) {
    const i64 n = static_cast<i64>(rows.size());
    const Wanted wanted = read_wanted(n, per_slot, feature, start, static_cast<i64>(tables.size()),
                                      search_.table_width(), search_.n_features(),
                                      [&](i32 f) { return search_.n_bins(f); });
    if (static_cast<i64>(totals.shape(0)) != n ||
        static_cast<i32>(totals.shape(1)) != search_.n_stats())
      refuse("Every slot must have its totals.");
    for (const i64 each : view(rows)) {
      if (each <= kFewRows) refuse("Nodes of few rows are grown in memory.");
    }
    TableTests tests;
    {
      GilRelease release;
      SignalPoll poll;
      tests = search_.best(wanted, view(tables), view(totals), view(rows), poll);
    }
    nb::dict out;
    out["feature"] = to_numpy(std::move(tests.feature));
    out["below"] = to_numpy(std::move(tests.below));
    out["above"] = to_numpy(std::move(tests.above));
    out["gain"] = to_numpy(std::move(tests.gain));
    out["scale"] = to_numpy(std::move(tests.scale));
    out["only_gaps"] = to_numpy(std::move(tests.only_gaps));
    out["gaps_left"] = to_numpy(std::move(tests.gaps_left));
    out["n_gaps"] = to_numpy(std::move(tests.n_gaps));
    out["code_offset"] = to_numpy(std::move(tests.code_offset));
    out["codes"] = to_numpy(std::move(tests.codes));
    out["branches"] = to_numpy(std::move(tests.branches));
    return out;
  }

 private:
  static constexpr i64 kFewRows = 32;  // which the search would look for in memory

  static std::vector<i32> check(const std::vector<i32>& n_bins, const std::vector<u8>& ordered) {
    if (n_bins.size() != ordered.size()) refuse("Every feature must be ordered or not.");
    for (const i32 n : n_bins) {
      if (n < 0 || n > 255) refuse("A feature must have at most 255 bins.");
    }
    return n_bins;
  }

  TableSearch search_;
};

nb::object child_paths(Vector<u64> path) {
  std::vector<u64> out;
  for (const u64 each : view(path)) {
    out.push_back(child_path(each, 0));
    out.push_back(child_path(each, 1));
  }
  return to_numpy(std::move(out));
}

}  // namespace

void bind_tree_blocks(nb::module_& m) {
  nb::class_<PyTreeShare>(m, "TreeShare")
      .def(nb::init<std::vector<i32>, i64, i32, double, double, double, double, bool, bool, int>(),
           "n_bins"_a, "width"_a, "n_classes"_a, "shift"_a, "scale"_a, "square_scale"_a,
           "weight_unit"_a, "draws"_a, "weighs"_a, "n_threads"_a)
      .def("add", &PyTreeShare::add, "arrays"_a, "first_row"_a, "is_mapped"_a)
      .def("begin_tree", &PyTreeShare::begin_tree, "seed"_a, "n_all"_a, "n_draws"_a, "total"_a,
           "first_row"_a.noconvert(), "start"_a.noconvert())
      .def("tables", &PyTreeShare::tables, "base"_a, "slot_of"_a.noconvert(), "n_slots"_a,
           "per_slot"_a, "feature"_a.noconvert(), "start"_a.noconvert(), "n_words"_a)
      .def("divide", &PyTreeShare::divide, "base"_a, "slot_of"_a.noconvert(),
           "feature"_a.noconvert(), "branch"_a.noconvert(), "first_child"_a.noconvert())
      .def("gather", &PyTreeShare::gather, "base"_a, "slot_of"_a.noconvert(), "n_slots"_a)
      .def("table_width", &PyTreeShare::table_width);
  nb::class_<PyTableSearch>(m, "TableSearch")
      .def(nb::init<std::string, i32, bool, double, i64, double, i32, std::vector<i32>,
                    std::vector<u8>, int>(),
           "criterion"_a, "n_classes"_a, "counts_rows"_a, "weight_unit"_a, "min_leaf"_a,
           "min_weight_leaf"_a, "max_exhaustive"_a, "n_bins"_a, "ordered"_a, "n_threads"_a)
      .def("best", &PyTableSearch::best, "per_slot"_a, "feature"_a.noconvert(),
           "start"_a.noconvert(), "tables"_a.noconvert(), "totals"_a.noconvert(),
           "rows"_a.noconvert());
  m.def(
      "drawn_features",
      [](u64 seed, Vector<u64> path, i32 n, i32 from, i32 count) {
        if (n < 1 || from < 0 || count < 1 || from + count > n) refuse("A draw is out of range.");
        const std::size_t rows = path.size();
        return to_numpy(drawn_features(seed, view(path), n, from, count),
                        {rows, static_cast<std::size_t>(count)});
      },
      "seed"_a, "path"_a.noconvert(), "n"_a, "from_"_a, "count"_a);
  m.def("child_paths", &child_paths, "path"_a.noconvert());
  m.def("tree_seed", [](u64 seed, i64 tree) { return tree_seed(seed, tree); }, "seed"_a, "tree"_a);
}

}  // namespace treewright
