// Python's door to forests: flat arrays in, flat arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>

#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "bind/grow.hpp"
#include "bind/sampling.hpp"
#include "forest/forest.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

using Trees = std::vector<CompactTree>;

// One array of all trees, with `shift` added; what it was made from is given back.
template <class To, class T>
nb::object joined(Trees& trees, std::vector<T> CompactTree::* array, T shift = 0) {
  std::size_t size = 0;
  for (const CompactTree& tree : trees) size += (tree.*array).size();
  std::vector<To> out(size);
  To* to = out.data();
  for (CompactTree& tree : trees) {
    std::vector<T> from = std::move(tree.*array);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(from[i] + shift);
    to += from.size();
  }
  return to_numpy(std::move(out));
}

template <class T>
nb::object joined(Trees& trees, std::vector<T> CompactTree::* array) {
  return joined<T, T>(trees, array);
}

// The same in the narrowest unsigned type that holds the values; they are not negative.
template <class T>
nb::object narrow(Trees& trees, std::vector<T> CompactTree::* array, T shift = 0) {
  T most = 0;
  for (const CompactTree& tree : trees) {
    for (const T v : tree.*array) most = std::max(most, v);
  }
  const double bound = static_cast<double>(most + shift);
  return bound < 256     ? joined<u8>(trees, array, shift)
         : bound < 65536 ? joined<u16>(trees, array, shift)
                         : joined<u32>(trees, array, shift);
}

// Weights that are counts are kept as such.
nb::object narrow_weights(Trees& trees, std::vector<double> CompactTree::* array) {
  for (const CompactTree& tree : trees) {
    for (const double v : tree.*array) {
      const bool is_count = v <= 0x1p32 - 1 && v == static_cast<double>(static_cast<i64>(v));
      if (!is_count) return joined(trees, array);
    }
  }
  return narrow(trees, array);
}

bool all_equal(const Trees& trees, std::vector<i32> CompactTree::* array, i32 to) {
  return std::all_of(trees.begin(), trees.end(), [&](const CompactTree& tree) {
    const std::vector<i32>& values = tree.*array;
    return std::all_of(values.begin(), values.end(), [to](i32 v) { return v == to; });
  });
}

nb::dict forest_dict(Trees trees, i32 n_features, bool classes, i32 width) {
  using Tree = CompactTree;
  nb::dict d;
  const std::size_t n_trees = trees.size();
  std::vector<i64> node_offset{0};
  for (const Tree& tree : trees) {
    node_offset.push_back(node_offset.back() + static_cast<i64>(tree.n_children.size()));
  }
  d["node_offset"] = to_numpy(std::move(node_offset));
  d["n_children"] = narrow(trees, &Tree::n_children);
  d["feature"] = narrow(trees, &Tree::feature);
  d["gap_branch"] = narrow(trees, &Tree::gap_branch, 2);  // −2 and −1 have meanings
  if (!all_equal(trees, &Tree::n_gaps, 0)) {
    d["n_gaps"] = narrow(trees, &Tree::n_gaps);
    d["gain"] = joined(trees, &Tree::gain);
  }
  d["closed"] = joined(trees, &Tree::closed).attr("view")("bool");
  const bool is_linear = !all_equal(trees, &Tree::n_terms, 0);
  if (is_linear) {
    d["n_terms"] = narrow(trees, &Tree::n_terms);
    d["term_feature"] = narrow(trees, &Tree::term_feature);
    d["term_weight"] = joined(trees, &Tree::term_weight);
    d["term_code"] = narrow(trees, &Tree::term_code, 1);  // 0: no category, a number
  }
  if (is_linear || !all_equal(trees, &Tree::n_breaks, 1) || !all_equal(trees, &Tree::n_codes, 0)) {
    d["kind"] = joined(trees, &Tree::kind);
    d["n_breaks"] = narrow(trees, &Tree::n_breaks);
    d["n_codes"] = narrow(trees, &Tree::n_codes);
    d["codes"] = narrow(trees, &Tree::codes);
    d["branches"] = narrow(trees, &Tree::branches);
  }
  d["breaks"] = joined(trees, &Tree::breaks);
  d["leaf_samples"] = narrow(trees, &Tree::leaf_samples);
  if (classes) {
    d["leaf_classes"] = narrow(trees, &Tree::leaf_classes);
    d["pair_class"] = narrow(trees, &Tree::pair_class);
    d["pair_weight"] = narrow_weights(trees, &Tree::pair_weight);
    if (n_trees && !trees[0].clipped.empty()) d["clipped"] = joined(trees, &Tree::clipped);
  } else {
    d["leaf_value"] = joined(trees, &Tree::leaf_value).attr("reshape")(-1, width);
    d["leaf_weight"] = narrow_weights(trees, &Tree::leaf_weight);
    d["leaf_impurity"] = joined(trees, &Tree::leaf_impurity);
  }
  d["importance"] = joined(trees, &Tree::importance).attr("reshape")(n_trees, n_features);
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
    GilRelease release;
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
    GilRelease release;
    grown = grow_forest(call.problem, call.options, plan);
  }
  nb::object error = nb::none();
  if (grown.interrupted) {
    try {
      std::rethrow_exception(grown.interrupted);
    } catch (nb::python_error& e) {
      if (grown.trees.empty()) throw;
      error = nb::borrow(e.value());
    }
  }
  const Problem& p = call.problem;
  const bool classes = p.is_classification();
  const i32 width = classes ? p.targets.n_classes : p.targets.n_outputs;
  nb::dict oob;
  if (plan.oob.kind != OutOfBagKind::none) {
    oob["total"] = to_numpy(std::move(plan.oob.total),
                            {static_cast<std::size_t>(p.n_rows), static_cast<std::size_t>(width)});
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
