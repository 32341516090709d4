// Python's door to soft thresholds.
#include "quinlan/soft.hpp"
#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "bind/splits.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

SoftTree read_tree(const nb::list& columns, i64 n_rows, const nb::dict& tree,
                   const nb::dict& splits) {
  SoftTree t;
  for (const nb::handle column : columns) t.columns.push_back(read_column(column));
  t.first_child = copy<i32>(tree, "first_child");
  t.n_children = copy<i32>(tree, "n_children");
  t.weight = copy<double>(tree, "weight");
  t.splits = with_gaps(read_splits(splits), std::vector<i32>(t.weight.size(), kGapFraction));
  t.n_rows = n_rows;
  return t;
}

nb::tuple bounds_of(nb::list columns, nb::dict tree, nb::dict splits, Flat<i32> y,
                    Flat<double> weight) {
  const SoftTree t = read_tree(columns, static_cast<i64>(y.shape(0)), tree, splits);
  const auto label = copy<i32>(tree, "label");
  SoftBounds out;
  {
    GilRelease release;
    out = soft_bounds(t, label, y.data(), weight.data(), SignalPoll());
  }
  return nb::make_tuple(to_numpy(std::move(out.lower)), to_numpy(std::move(out.middle)),
                        to_numpy(std::move(out.upper)));
}

nb::object values_of(nb::list columns, i64 n_rows, nb::dict tree, nb::dict splits,
                     nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> values,
                     int n_threads) {
  const SoftTree t = read_tree(columns, n_rows, tree, splits);
  const SoftBounds bounds{copy<double>(tree, "lower"), copy<double>(tree, "middle"),
                          copy<double>(tree, "upper")};
  const i32 width = static_cast<i32>(values.shape(1));
  std::vector<double> out;
  {
    GilRelease release;
    out = soft_values(t, bounds, values.data(), width, n_threads, SignalPoll());
  }
  return to_numpy(std::move(out),
                  {static_cast<std::size_t>(n_rows), static_cast<std::size_t>(width)});
}

}  // namespace

void bind_soft(nb::module_& m) {
  m.def("soft_bounds", &bounds_of, "columns"_a, "tree"_a, "splits"_a, "y"_a.noconvert(),
        "weight"_a.noconvert(), "Bounds of soft thresholds.");
  m.def("soft_values", &values_of, "columns"_a, "n_rows"_a, "tree"_a, "splits"_a,
        "values"_a.noconvert(), "n_threads"_a, "Means over the leaves that rows reach.");
}

}  // namespace treewright
