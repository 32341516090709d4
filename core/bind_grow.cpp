// Python's door to the growth loop: flat arrays in, flat arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "assemble.hpp"
#include "bind_call.hpp"
#include "module.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

nb::dict splits_dict(FlatSplits s) {
  nb::dict d;
  d["kind"] = to_numpy(std::move(s.kind));
  d["feature"] = to_numpy(std::move(s.feature));
  d["closed"] = to_numpy(std::move(s.closed)).attr("view")("bool");
  d["reversed"] = to_numpy(std::move(s.reversed)).attr("view")("bool");
  d["break_offset"] = to_numpy(std::move(s.break_offset));
  d["breaks"] = to_numpy(std::move(s.breaks));
  d["code_offset"] = to_numpy(std::move(s.code_offset));
  d["codes"] = to_numpy(std::move(s.codes));
  d["branches"] = to_numpy(std::move(s.branches));
  d["term_offset"] = to_numpy(std::move(s.term_offset));
  d["term_feature"] = to_numpy(std::move(s.term_feature));
  d["term_weight"] = to_numpy(std::move(s.term_weight));
  return d;
}

nb::dict tree_dict(FlatTree t, std::size_t width) {
  const std::size_t n = t.first_child.size();
  nb::dict d;
  d["first_child"] = to_numpy(std::move(t.first_child));
  d["n_children"] = to_numpy(std::move(t.n_children));
  d["splits"] = splits_dict(std::move(t.splits));
  d["default"] = to_numpy(std::move(t.gap_branch));
  d["surrogate_offset"] = to_numpy(std::move(t.surrogate_offset));
  d["surrogates"] = splits_dict(std::move(t.surrogates));
  d["surrogate_agreement"] = to_numpy(std::move(t.agreement));
  d["surrogate_adjusted"] = to_numpy(std::move(t.adjusted));
  d["n_samples"] = to_numpy(std::move(t.n_samples));
  d["weight"] = to_numpy(std::move(t.weight));
  d["value"] = to_numpy(std::move(t.value), {n, width});
  if (!t.clipped.empty()) d["clipped"] = to_numpy(std::move(t.clipped));
  d["impurity"] = to_numpy(std::move(t.impurity));
  d["gain"] = to_numpy(std::move(t.gain));
  d["n_gaps"] = to_numpy(std::move(t.n_gaps));
  d["python_id"] = to_numpy(std::move(t.python_id));
  return d;
}

nb::dict grow_tree(nb::list columns, nb::dict params) {
  Call call(columns, params);
  FlatTree tree;
  {
    nb::gil_scoped_release release;
    Grown grown = grow(call.problem, call.options);
    tree = assemble(call.problem, grown);
  }
  const Problem& p = call.problem;
  return tree_dict(std::move(tree), p.is_classification() ? p.targets.n_classes : p.targets.n_outputs);
}

// The best candidate of each feature over all rows given, and surrogates of one of them.
nb::list score_candidates(nb::list columns, nb::dict params, i32 primary) {
  Call call(columns, params);
  std::vector<std::pair<Candidate, Split>> found;
  std::vector<Surrogate> surrogates;
  {
    nb::gil_scoped_release release;
    found = candidates(call.problem, call.options, primary, &surrogates);
  }
  nb::list out;
  auto describe = [](const Split& s, nb::dict& d) {
    d["kind"] = static_cast<int>(s.kind);
    d["breaks"] = nb::cast(s.breaks);
    d["codes"] = nb::cast(s.codes);
    d["branches"] = nb::cast(s.branches);
    d["n_branches"] = s.n_branches;
    d["reversed"] = s.reversed;
    d["feature"] = s.feature;
  };
  for (const auto& [candidate, split] : found) {
    nb::dict d;
    describe(split, d);
    d["feature"] = candidate.feature;
    d["found"] = candidate.kind != CandidateKind::none;
    d["gain"] = split.gain;
    d["gaps_left"] = candidate.gaps_left;
    nb::list rows;
    if (candidate.feature == primary) {
      for (const Surrogate& s : surrogates) {
        nb::dict row;
        describe(s.split, row);
        row["agreement"] = s.agreement;
        row["adjusted"] = s.adjusted;
        rows.append(row);
      }
    }
    d["surrogates"] = rows;
    out.append(d);
  }
  return out;
}

}  // namespace

void bind_grow(nb::module_& m) {
  m.def("grow", &grow_tree, nb::arg("columns"), nb::arg("params"));
  m.def("candidates", &score_candidates, nb::arg("columns"), nb::arg("params"), nb::arg("primary"));
}

}  // namespace treewright
