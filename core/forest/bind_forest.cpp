// Python's door to forests: flat arrays in, flat arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>

#include "../bind_arrays.hpp"
#include "../bind_grow.hpp"
#include "../module.hpp"
#include "../signals.hpp"
#include "bind_sampling.hpp"
#include "forest.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

// A vector of integers in the narrowest unsigned type that holds them; they are not negative.
template <class T>
nb::object narrow(std::vector<T> values) {
  T most = 0;
  for (const T v : values) most = std::max(most, v);
  auto as = [&](auto type) {
    using To = decltype(type);
    std::vector<To> out(values.begin(), values.end());
    std::vector<T>().swap(values);
    return to_numpy(std::move(out));
  };
  const u64 bound = static_cast<u64>(most);
  return bound < 256 ? as(u8{}) : bound < 65536 ? as(u16{}) : as(u32{});
}

// Weights that are counts are kept as such.
nb::object narrow_weights(std::vector<double> values) {
  for (const double v : values) {
    if (v != std::floor(v) || v > 0x1p32 - 1) return to_numpy(std::move(values));
  }
  std::vector<u32> counts(values.begin(), values.end());
  std::vector<double>().swap(values);
  return narrow(std::move(counts));
}

bool all_equal(const std::vector<i32>& values, i32 to) {
  return std::all_of(values.begin(), values.end(), [to](i32 v) { return v == to; });
}

nb::dict forest_dict(CompactForest f, i32 n_features, bool classes, i32 width) {
  nb::dict d;
  const std::size_t n_trees = static_cast<std::size_t>(f.n_trees());
  d["node_offset"] = to_numpy(std::move(f.node_offset));
  d["n_children"] = narrow(std::move(f.n_children));
  d["feature"] = narrow(std::move(f.feature));
  for (i32& branch : f.gap_branch) branch += 2;  // −2 and −1 have meanings
  d["gap_branch"] = narrow(std::move(f.gap_branch));
  if (!all_equal(f.n_gaps, 0)) {
    d["n_gaps"] = narrow(std::move(f.n_gaps));
    d["gain"] = to_numpy(std::move(f.gain));
  }
  d["closed"] = to_numpy(std::move(f.closed)).attr("view")("bool");
  if (!all_equal(f.n_breaks, 1) || !all_equal(f.n_codes, 0)) {
    d["kind"] = to_numpy(std::move(f.kind));
    d["n_breaks"] = narrow(std::move(f.n_breaks));
    d["n_codes"] = narrow(std::move(f.n_codes));
    d["codes"] = narrow(std::move(f.codes));
    d["branches"] = narrow(std::move(f.branches));
  }
  d["breaks"] = to_numpy(std::move(f.breaks));
  d["leaf_samples"] = narrow(std::move(f.leaf_samples));
  if (classes) {
    d["leaf_classes"] = narrow(std::move(f.leaf_classes));
    d["pair_class"] = narrow(std::move(f.pair_class));
    d["pair_weight"] = narrow_weights(std::move(f.pair_weight));
    if (!f.clipped.empty()) d["clipped"] = to_numpy(std::move(f.clipped));
  } else {
    const std::size_t n_leaves = f.leaf_weight.size();
    d["leaf_value"] =
        to_numpy(std::move(f.leaf_value), {n_leaves, static_cast<std::size_t>(width)});
    d["leaf_weight"] = narrow_weights(std::move(f.leaf_weight));
    d["leaf_impurity"] = to_numpy(std::move(f.leaf_impurity));
  }
  d["importance"] =
      to_numpy(std::move(f.importance), {n_trees, static_cast<std::size_t>(n_features)});
  return d;
}

void read_out_of_bag(const nb::dict& d, OutOfBag& oob) {
  const auto kind = get<std::string>(d, "oob");
  oob.kind = kind == "probability" ? OutOfBagKind::probability
             : kind == "vote"      ? OutOfBagKind::vote
             : kind == "value"     ? OutOfBagKind::value
                                   : OutOfBagKind::none;
  if (!d["oob_total"].is_none()) {
    const auto total = get<Array<double>>(d, "oob_total");
    oob.total.assign(total.data(), total.data() + total.size());
    const auto n_trees = get<Array<i32>>(d, "oob_trees");
    oob.n_trees.assign(n_trees.data(), n_trees.data() + n_trees.size());
  }
}

nb::object draw(u64 seed, i64 tree, i64 n_rows, nb::dict plan) {
  Sampling sampling;
  SamplingHolder holder;
  read_sampling(plan, sampling, holder);
  std::vector<i32> counts(n_rows);
  {
    nb::gil_scoped_release release;
    draw_sample(sampling, tree_seed(seed, tree), n_rows, counts.data());
  }
  return to_numpy(std::move(counts));
}

nb::tuple grow_trees(nb::list columns, nb::dict params, nb::dict plan_dict) {
  GrowCall call(columns, params);
  ForestPlan plan;
  SamplingHolder holder;
  read_sampling(plan_dict, plan.sampling, holder);
  plan.first_tree = get<i64>(plan_dict, "first_tree");
  plan.n_trees = get<i64>(plan_dict, "n_trees");
  plan.seed = get<u64>(plan_dict, "seed");
  plan.exact = get<bool>(plan_dict, "exact");
  plan.n_threads = call.problem.params.n_threads;
  const nb::object progress = plan_dict["progress"];
  plan.poll = [progress, last = i64{-1}](i64 done) mutable {
    check_signals();
    if (done == last) return;
    last = done;
    nb::gil_scoped_acquire gil;
    if (!progress.is_none()) progress(done);
  };
  read_out_of_bag(plan_dict, plan.oob);
  GrownForest grown;
  {
    nb::gil_scoped_release release;
    grown = grow_forest(call.problem, call.options, plan);
  }
  nb::object error = nb::none();
  if (grown.interrupted) {
    try {
      std::rethrow_exception(grown.interrupted);
    } catch (nb::python_error& e) {
      if (!grown.trees.n_trees()) throw;
      error = nb::borrow(e.value());
    }
  }
  const Problem& p = call.problem;
  const bool classes = p.is_classification();
  const i32 width = classes ? p.targets.n_classes : p.targets.n_outputs;
  nb::dict oob;
  if (plan.oob.kind != OutOfBagKind::none) {
    oob["total"] = to_numpy(std::move(plan.oob.total), {static_cast<std::size_t>(p.n_rows),
                                                        static_cast<std::size_t>(width)});
    oob["n_trees"] = to_numpy(std::move(plan.oob.n_trees));
    oob["errors"] = to_numpy(std::move(plan.oob.errors));
  }
  return nb::make_tuple(forest_dict(std::move(grown.trees), p.n_features(), classes, width), oob,
                        error);
}

}  // namespace

void bind_forest(nb::module_& m) {
  m.def("draw_sample", &draw, nb::arg("seed"), nb::arg("tree"), nb::arg("n_rows"), nb::arg("plan"));
  m.def("grow_forest", &grow_trees, nb::arg("columns"), nb::arg("params"), nb::arg("plan"));
}

}  // namespace treewright
