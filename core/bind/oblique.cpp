// Python's door to linear tests.
#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "oblique/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

nb::tuple linear_split(Matrix<double> columns, Matrix<double> targets, Vector<double> weight,
                       Matrix<double> starts, bool refine, i32 n_jumps, double tolerance, u64 seed,
                       Vector<double> mass, i64 min_leaf, double min_mass) {
  const oblique::Node node{static_cast<i64>(columns.shape(1)),
                           static_cast<i32>(columns.shape(0)),
                           static_cast<i32>(targets.shape(1)),
                           view(columns).data(),
                           view(targets).data(),
                           view(weight).data(),
                           view(mass).data(),
                           min_leaf,
                           min_mass};
  const auto directions = view(starts);
  const oblique::Plan plan{
      {directions.begin(), directions.end()}, refine, n_jumps, tolerance, seed};
  oblique::Linear found;
  {
    nb::gil_scoped_release release;
    SignalPoll poll;
    found = oblique::best_linear(node, plan, [&] { poll(); });
  }
  return nb::make_tuple(to_numpy(std::move(found.weight)), found.threshold, found.gain);
}

}  // namespace

void bind_oblique(nb::module_& m) {
  m.def("linear_split", &linear_split, "columns"_a.noconvert(), "targets"_a.noconvert(),
        "weight"_a.noconvert(), "starts"_a.noconvert(), "refine"_a, "n_jumps"_a, "tolerance"_a,
        "seed"_a, "mass"_a.noconvert(), "min_leaf"_a, "min_mass"_a,
        "The best linear test of a node.");
}

}  // namespace treewright
