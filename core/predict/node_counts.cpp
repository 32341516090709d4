// What passed each node, for pictures: counts by bin of the tested value, and quantiles.
//
// Every row stands at the node where it ends and climbs to the root, so that one pass over the
// rows serves all nodes on all levels. A node without a slot has no counts; slots are closed
// upwards (a node with one has a parent with one), and a row climbs to its first slot at once.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"

namespace treewright {
namespace {

using namespace nanobind::literals;

constexpr i64 kRowsPerPoll = 1 << 14;

// Counts of one split: its column, where the bins begin and how many fit into one unit.
struct Slot {
  i32 column;
  double low, scale;
};

double value_at(const Column& column, i64 row) {
  if (column.type != ColumnType::code) return column.value(row);
  const i32 code = column.code(row);
  return code < 0 ? std::numeric_limits<double>::quiet_NaN() : code;
}

// The nearest node with a slot, at or above each node; -1 if there is none.
std::vector<i32> first_slotted(std::span<const i32> parent, std::span<const i32> slot) {
  std::vector<i32> first(parent.size());
  for (std::size_t i = 0; i < parent.size(); ++i)  // parents come before their children
    first[i] = slot[i] >= 0 ? static_cast<i32>(i) : parent[i] < 0 ? -1 : first[parent[i]];
  return first;
}

nb::object split_counts(const nb::list& columns, Vector<i32> end_, Vector<i32> parent_,
                        Vector<i32> slot_, Vector<i32> column_, Vector<double> low,
                        Vector<double> scale, Vector<i32> code_,
                        std::optional<Vector<double>> weight, i64 n_bins, i64 n_codes) {
  const auto end = view(end_), parent = view(parent_), slot = view(slot_), code = view(code_);
  std::vector<Column> values;
  for (const nb::handle& column : columns) values.push_back(read_column(column));
  std::vector<Slot> slots;
  for (std::size_t s = 0; s < column_.size(); ++s)
    slots.push_back({column_.data()[s], low.data()[s], scale.data()[s]});
  std::vector<double> found(slots.size() * n_bins * n_codes, 0.0);
  const double* w = weight ? weight->data() : nullptr;
  {
    GilRelease released;
    SignalPoll poll;
    const auto first = first_slotted(parent, slot);
    const i64 n_rows = static_cast<i64>(end.size());
    for (i64 row = 0; row < n_rows; ++row) {
      if (row % kRowsPerPoll == 0) poll();
      for (i32 node = first[end[row]]; node >= 0; node = parent[node]) {
        const Slot& at = slots[slot[node]];
        const double x = (value_at(values[at.column], row) - at.low) * at.scale;
        if (!(x == x)) continue;
        const i64 bin = static_cast<i64>(std::clamp(x, 0.0, n_bins - 1.0));
        found[(slot[node] * n_bins + bin) * n_codes + code[row]] += w ? w[row] : 1.0;
      }
    }
  }
  return to_numpy(std::move(found), {slots.size(), static_cast<std::size_t>(n_bins * n_codes)});
}

// A quantile is the first value, from below, with enough weight at or below it.
nb::object node_quantiles(Vector<i64> order_, Vector<i32> end_, Vector<i32> parent_,
                          Vector<double> y_, std::optional<Vector<double>> weight,
                          Vector<double> share_) {
  const auto order = view(order_);
  const auto end = view(end_), parent = view(parent_);
  const auto y = view(y_), share = view(share_);
  const std::size_t n_nodes = parent.size(), n_shares = share.size();
  std::vector<double> found(n_nodes * n_shares, std::numeric_limits<double>::quiet_NaN());
  const double* w = weight ? weight->data() : nullptr;
  {
    GilRelease released;
    SignalPoll poll;
    std::vector<double> total(n_nodes, 0.0), passed(n_nodes, 0.0);
    std::vector<std::uint8_t> next(n_nodes, 0);
    for (std::size_t row = 0; row < end.size(); ++row) total[end[row]] += w ? w[row] : 1.0;
    for (std::size_t i = n_nodes; i-- > 1;) total[parent[i]] += total[i];
    i64 turn = 0;
    for (const i64 row : order) {
      if (turn++ % kRowsPerPoll == 0) poll();
      for (i32 node = end[row]; node >= 0; node = parent[node]) {
        passed[node] += w ? w[row] : 1.0;
        std::uint8_t& k = next[node];
        while (k < n_shares && passed[node] >= share[k] * total[node] * (1 - 1e-12))
          found[node * n_shares + k++] = y[row];
      }
    }
  }
  return to_numpy(std::move(found), {n_nodes, n_shares});
}

}  // namespace

void bind_node_counts(nb::module_& m) {
  m.def("split_counts", &split_counts, "columns"_a, "end"_a.noconvert(), "parent"_a.noconvert(),
        "slot"_a.noconvert(), "column"_a.noconvert(), "low"_a.noconvert(), "scale"_a.noconvert(),
        "code"_a.noconvert(), "weight"_a.noconvert().none(), "n_bins"_a, "n_codes"_a);
  m.def("node_quantiles", &node_quantiles, "order"_a.noconvert(), "end"_a.noconvert(),
        "parent"_a.noconvert(), "y"_a.noconvert(), "weight"_a.noconvert().none(),
        "share"_a.noconvert());
}

}  // namespace treewright
