// What the doors to boosters and to blocks share: bins, and parameters in the core's words.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "boost/booster.hpp"
#include "boost/tree_arrays.hpp"

namespace treewright {

struct BinsHandle {
  std::shared_ptr<const Bins> bins;
};

using namespace boost;

template <class T>
T number(const nb::dict& d, const char* name) {
  return nb::cast<T>(d[name]);
}

inline GrowParams read_growth(const nb::dict& d) {
  GrowParams p;
  const auto growth = number<std::string>(d, "growth");
  p.growth = growth == "leaf"    ? Growth::leaf
             : growth == "depth" ? Growth::depth
                                 : Growth::symmetric;
  p.max_leaves = number<i64>(d, "max_leaves");
  if (const i64 depth = number<i64>(d, "max_depth")) p.max_depth = static_cast<i32>(depth);
  p.min_rows = number<i64>(d, "min_rows");
  p.min_hessian = number<double>(d, "min_hessian");
  p.l1 = number<double>(d, "l1");
  p.l2 = number<double>(d, "l2");
  p.min_gain = number<double>(d, "min_gain");
  p.max_step = number<double>(d, "max_step");
  p.nominal_smoothing = number<double>(d, "nominal_smoothing");
  p.nominal_l2 = number<double>(d, "nominal_l2");
  p.nominal_max_groups = number<i32>(d, "nominal_max_groups");
  p.tree_share = number<double>(d, "tree_share");
  p.level_share = number<double>(d, "level_share");
  p.node_share = number<double>(d, "node_share");
  p.monotonic = number<std::vector<i32>>(d, "monotonic");
  p.interactions = number<std::vector<std::vector<i32>>>(d, "interactions");
  p.seed = number<u64>(d, "seed");
  return p;
}

inline LossParams read_loss(const nb::dict& d) {
  static const std::map<std::string, LossKind> kinds{{"squared_error", LossKind::squared},
                                                     {"absolute_error", LossKind::absolute},
                                                     {"huber", LossKind::huber},
                                                     {"quantile", LossKind::quantile},
                                                     {"poisson", LossKind::poisson},
                                                     {"gamma", LossKind::gamma},
                                                     {"tweedie", LossKind::tweedie},
                                                     {"logistic", LossKind::logistic},
                                                     {"multinomial", LossKind::multinomial},
                                                     {"exponential", LossKind::exponential},
                                                     {"given", LossKind::given}};
  const auto at = kinds.find(number<std::string>(d, "loss"));
  if (at == kinds.end()) refuse("Unknown loss.");
  return {at->second, number<i32>(d, "n_columns"), number<double>(d, "loss_number")};
}

inline SamplingParams read_sampling(const nb::dict& d) {
  const auto kind = number<std::string>(d, "sampling");
  SamplingParams p;
  p.kind = kind == "goss"  ? SamplingKind::goss
           : kind == "mvs" ? SamplingKind::mvs
                           : SamplingKind::uniform;
  p.share = number<double>(d, "share");
  p.top_share = number<double>(d, "top_share");
  p.seed = number<u64>(d, "seed");
  return p;
}

// Trees as the arrays of a forest.
inline nb::dict tree_arrays(const std::vector<BinTree>& trees, const Bins& bins) {
  TreeArrays a;
  for (const BinTree& tree : trees) a.add(tree, bins);
  const std::size_t n_trees = a.node_offset.size() - 1, n_leaves = a.leaf_value.size();
  nb::dict out;
  out["node_offset"] = to_numpy(std::move(a.node_offset));
  out["n_children"] = to_numpy(std::move(a.n_children));
  out["feature"] = to_numpy(std::move(a.feature));
  out["gap_branch"] = to_numpy(std::move(a.gap_branch));
  out["n_gaps"] = to_numpy(std::move(a.n_gaps));
  out["gain"] = to_numpy(std::move(a.gain));
  out["kind"] = to_numpy(std::move(a.kind));
  out["n_breaks"] = to_numpy(std::move(a.n_breaks));
  out["n_codes"] = to_numpy(std::move(a.n_codes));
  out["breaks"] = to_numpy(std::move(a.breaks));
  out["codes"] = to_numpy(std::move(a.codes));
  out["branches"] = to_numpy(std::move(a.branches));
  out["leaf_samples"] = to_numpy(std::move(a.leaf_samples));
  out["leaf_value"] = to_numpy(std::move(a.leaf_value), {n_leaves, 1});
  out["leaf_weight"] = to_numpy(std::move(a.leaf_weight));
  out["importance"] =
      to_numpy(std::move(a.importance), {n_trees, static_cast<std::size_t>(bins.n_features())});
  return out;
}

}  // namespace treewright
