// Python's door to error-based pruning.

#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "bind/grow.hpp"
#include "bind/splits.hpp"
#include "prune/error_based.hpp"
#include "quinlan/part_grower.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

// The nodes of all trees that were grown again, one tree after another.
class RegrownNodes {
 public:
  Regrown add(FlatTree tree) {
    const i64 n = static_cast<i64>(tree.first_child.size());
    for (i64 i = 0; i < n; ++i) splits_.push(tree.splits, i);
    gap_branch_.insert(gap_branch_.end(), tree.gap_branch.begin(), tree.gap_branch.end());
    n_gaps_.insert(n_gaps_.end(), tree.n_gaps.begin(), tree.n_gaps.end());
    for (const Stop reason : tree.stopped) stopped_.push_back(static_cast<u8>(reason));
    p_value_.insert(p_value_.end(), tree.p_value.begin(), tree.p_value.end());
    return {std::move(tree.first_child), std::move(tree.n_children),
            with_gaps(tree.splits, tree.gap_branch)};
  }

  nb::dict take() {
    nb::dict d;
    d["splits"] = splits_dict(std::move(splits_));
    d["default"] = to_numpy(std::move(gap_branch_));
    d["n_gaps"] = to_numpy(std::move(n_gaps_));
    d["stopped"] = to_numpy(std::move(stopped_));
    d["p_value"] = to_numpy(std::move(p_value_));
    return d;
  }

 private:
  FlatSplits splits_;
  std::vector<i32> gap_branch_, n_gaps_;
  std::vector<u8> stopped_;
  std::vector<double> p_value_;
};

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
  rules.price = nb::cast<std::vector<double>>(d["price"]);
  rules.factor = nb::cast<std::vector<double>>(d["factor"]);
  return rules;
}

// The cuts as columns.
nb::dict cut_columns(const std::vector<NodeCut>& cuts) {
  auto column = [&](auto field) {
    std::vector<std::decay_t<decltype(field(cuts[0]))>> values(cuts.size());
    std::transform(cuts.begin(), cuts.end(), values.begin(), field);
    return to_numpy(std::move(values));
  };
  nb::dict d;
  d["node"] = column([](const NodeCut& cut) { return cut.node; });
  d["raised"] = column([](const NodeCut& cut) { return static_cast<u8>(cut.raised); });
  d["n_samples"] = column([](const NodeCut& cut) { return cut.n_samples; });
  d["weight"] = column([](const NodeCut& cut) { return cut.weight; });
  d["before"] = column([](const NodeCut& cut) { return cut.before; });
  d["after"] = column([](const NodeCut& cut) { return cut.after; });
  d["leaves"] = column([](const NodeCut& cut) { return cut.leaves; });
  return d;
}

nb::dict error_based(nb::list columns, nb::dict tree, nb::dict splits, Flat<i32> y,
                     nb::object weight, i32 n_classes, nb::dict rules, nb::object growth) {
  Prunable p;
  for (const nb::handle column : columns) p.columns.push_back(read_column(column));
  p.first_child = copy<i32>(tree, "first_child");
  p.n_children = copy<i32>(tree, "n_children");
  p.splits = with_gaps(read_splits(splits), copy<i32>(tree, "default"));
  p.label = y.data();
  p.n_rows = static_cast<i64>(y.shape(0));
  p.n_classes = n_classes;
  Flat<double> weights;
  if (!weight.is_none()) {
    weights = nb::cast<Flat<double>>(weight);
    p.weight = weights.data();
  }
  const ErrorRules how = read_rules(rules);
  RegrownNodes regrown;
  std::optional<GrowCall> call;
  std::optional<PartGrower> grower;
  Regrow grow_again;
  if (!growth.is_none()) {
    call.emplace(columns, nb::cast<nb::dict>(growth));
    grower.emplace(call->problem, call->options);
    grow_again = [&](const std::vector<i32>& rows, const std::vector<double>& weights) {
      return regrown.add(grower->grow(rows, weights));
    };
  }
  PrunedTree out;
  {
    GilRelease release;
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
  d["place"] = to_numpy(std::move(out.place));
  d["cuts"] = cut_columns(out.cuts);
  d["regrown"] = regrown.take();
  return d;
}

nb::object weakest_mask(Flat<i32> first, Flat<i32> count, Flat<double> errors,
                        nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu> empty,
                        double cases, double start) {
  const std::vector<i32> first_child(first.data(), first.data() + first.shape(0));
  const std::vector<i32> n_children(count.data(), count.data() + count.shape(0));
  const std::vector<double> own(errors.data(), errors.data() + errors.shape(0));
  const std::vector<u8> is_empty(empty.data(), empty.data() + empty.shape(0));
  std::vector<u8> mask;
  {
    GilRelease release;
    mask = weakest_links(first_child, n_children, own, is_empty, cases, start);
  }
  return to_numpy(std::move(mask)).attr("view")("bool");
}

nb::object collapse_mask(Flat<i32> first, Flat<i32> count, Flat<double> errors, double epsilon) {
  const std::vector<i32> first_child(first.data(), first.data() + first.shape(0));
  const std::vector<i32> n_children(count.data(), count.data() + count.shape(0));
  const std::vector<double> own(errors.data(), errors.data() + errors.shape(0));
  std::vector<u8> mask;
  {
    GilRelease release;
    mask = collapsible(first_child, n_children, own, epsilon);
  }
  return to_numpy(std::move(mask)).attr("view")("bool");
}

}  // namespace

void bind_error_based(nb::module_& m) {
  m.def("error_based", &error_based, "columns"_a, "tree"_a, "splits"_a, "y"_a.noconvert(),
        "weight"_a.none(), "n_classes"_a, "rules"_a, "growth"_a.none(),
        "Prune by expected errors.");
  m.def("weakest_links", &weakest_mask, "first_child"_a.noconvert(), "n_children"_a.noconvert(),
        "errors"_a.noconvert(), "is_empty"_a.noconvert(), "cases"_a, "start"_a,
        "Nodes that C5.0's global pruning makes leaves.");
  m.def("collapsible", &collapse_mask, "first_child"_a.noconvert(), "n_children"_a.noconvert(),
        "errors"_a.noconvert(), "epsilon"_a,
        "Nodes whose subtree makes no fewer errors than they would as leaves.");
}

}  // namespace treewright
