// Python's door to error-based pruning.
#include <nanobind/stl/vector.h>

#include "bind_arrays.hpp"
#include "error_based.hpp"
#include "module.hpp"
#include "signals.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copy(const nb::dict& d, const char* key) {
  const auto a = nb::cast<Array<T>>(d[key]);
  return std::vector<T>(a.data(), a.data() + a.shape(0));
}

// The splits of a tree, from the arrays of the Python Splits.
std::vector<Split> read_splits(const nb::dict& d) {
  const auto kind = copy<u8>(d, "kind");
  const auto feature = copy<i32>(d, "feature"), codes = copy<i32>(d, "codes");
  const auto branches = copy<i32>(d, "branches"), terms = copy<i32>(d, "term_feature");
  const auto closed = copy<bool>(d, "closed"), reversed = copy<bool>(d, "reversed");
  const auto breaks = copy<double>(d, "breaks"), weights = copy<double>(d, "term_weight");
  const auto break_at = copy<i64>(d, "break_offset"), code_at = copy<i64>(d, "code_offset");
  const auto term_at = copy<i64>(d, "term_offset");
  std::vector<Split> splits(kind.size());
  auto range = [](const auto& pool, const std::vector<i64>& at, std::size_t i, auto& to) {
    to.assign(pool.begin() + at[i], pool.begin() + at[i + 1]);
  };
  for (std::size_t i = 0; i < splits.size(); ++i) {
    Split& s = splits[i];
    s.kind = static_cast<SplitKind>(kind[i]);
    s.feature = feature[i];
    s.closed = closed[i];
    s.reversed = reversed[i];
    range(breaks, break_at, i, s.breaks);
    range(codes, code_at, i, s.codes);
    range(branches, code_at, i, s.branches);
    range(terms, term_at, i, s.term_feature);
    range(weights, term_at, i, s.term_weight);
  }
  return splits;
}

void set_gaps(const nb::dict& tree, std::vector<Split>& splits) {
  const auto gaps = copy<i32>(tree, "default");
  for (std::size_t i = 0; i < gaps.size(); ++i) splits[i].gap_branch = gaps[i];
}

ErrorRules read_rules(const nb::dict& d) {
  ErrorRules rules;
  rules.confidence = nb::cast<double>(d["confidence"]);
  rules.z = nb::cast<double>(d["z"]);
  rules.tail = nb::cast<double>(d["tail"]);
  rules.least_tail = nb::cast<double>(d["least_tail"]);
  rules.tolerance = nb::cast<double>(d["tolerance"]);
  rules.prune = nb::cast<bool>(d["prune"]);
  rules.raise = nb::cast<bool>(d["raise_subtrees"]);
  rules.c50 = nb::cast<bool>(d["c50"]);
  rules.min_items = nb::cast<double>(d["min_items"]);
  return rules;
}

nb::dict error_based(nb::list columns, nb::dict tree, nb::dict splits, Array<i32> y,
                     nb::object weight, i32 n_classes, nb::dict rules, nb::object regrow) {
  Prunable p;
  for (const nb::handle column : columns) p.columns.push_back(read_column(column));
  p.first_child = copy<i32>(tree, "first_child");
  p.n_children = copy<i32>(tree, "n_children");
  p.splits = read_splits(splits);
  set_gaps(tree, p.splits);
  p.label = y.data();
  p.n_rows = static_cast<i64>(y.shape(0));
  p.n_classes = n_classes;
  Array<double> weights;
  if (!weight.is_none()) {
    weights = nb::cast<Array<double>>(weight);
    p.weight = weights.data();
  }
  const ErrorRules how = read_rules(rules);
  Regrow grow_again;
  if (!regrow.is_none()) {
    grow_again = [&](const std::vector<i32>& rows, const std::vector<double>& weights) {
      nb::gil_scoped_acquire gil;
      const auto grown = nb::cast<nb::tuple>(regrow(to_numpy(rows), to_numpy(weights)));
      const auto tree = nb::cast<nb::dict>(grown[0]);
      Regrown out{copy<i32>(tree, "first_child"), copy<i32>(tree, "n_children"),
                  read_splits(nb::cast<nb::dict>(grown[1]))};
      set_gaps(tree, out.splits);
      return out;
    };
  }
  PrunedTree out;
  {
    nb::gil_scoped_release release;
    out = prune_by_errors(p, how, check_signals, grow_again);
  }
  const std::size_t n = out.source.size();
  nb::dict d;
  d["source"] = to_numpy(std::move(out.source));
  d["first_child"] = to_numpy(std::move(out.first_child));
  d["n_children"] = to_numpy(std::move(out.n_children));
  d["n_samples"] = to_numpy(std::move(out.n_samples));
  d["value"] = to_numpy(std::move(out.value), {n, static_cast<std::size_t>(n_classes)});
  d["errors"] = to_numpy(std::move(out.errors));
  return d;
}

nb::object weakest_mask(Array<i32> first, Array<i32> count, Array<double> errors,
                        nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu> empty,
                        double cases) {
  const std::vector<i32> first_child(first.data(), first.data() + first.shape(0));
  const std::vector<i32> n_children(count.data(), count.data() + count.shape(0));
  const std::vector<double> own(errors.data(), errors.data() + errors.shape(0));
  const std::vector<u8> is_empty(empty.data(), empty.data() + empty.shape(0));
  std::vector<u8> mask;
  {
    nb::gil_scoped_release release;
    mask = weakest_links(first_child, n_children, own, is_empty, cases);
  }
  return to_numpy(std::move(mask)).attr("view")("bool");
}

nb::object collapse_mask(Array<i32> first, Array<i32> count, Array<double> errors,
                         double epsilon) {
  const std::vector<i32> first_child(first.data(), first.data() + first.shape(0));
  const std::vector<i32> n_children(count.data(), count.data() + count.shape(0));
  const std::vector<double> own(errors.data(), errors.data() + errors.shape(0));
  std::vector<u8> mask;
  {
    nb::gil_scoped_release release;
    mask = collapsible(first_child, n_children, own, epsilon);
  }
  return to_numpy(std::move(mask)).attr("view")("bool");
}

}  // namespace

void bind_error_based(nb::module_& m) {
  m.def("error_based", &error_based, "columns"_a, "tree"_a, "splits"_a, "y"_a.noconvert(),
        "weight"_a.none(), "n_classes"_a, "rules"_a, "regrow"_a.none(), "Prune by expected errors.");
  m.def("weakest_links", &weakest_mask, "first_child"_a.noconvert(), "n_children"_a.noconvert(),
        "errors"_a.noconvert(), "is_empty"_a.noconvert(), "cases"_a,
        "Nodes that C5.0's global pruning makes leaves.");
  m.def("collapsible", &collapse_mask, "first_child"_a.noconvert(), "n_children"_a.noconvert(),
        "errors"_a.noconvert(), "epsilon"_a,
        "Nodes whose subtree makes no fewer errors than they would as leaves.");
}

}  // namespace treewright
