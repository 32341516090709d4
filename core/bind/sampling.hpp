// How rows are drawn, read from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "bind/grow.hpp"
#include "forest/sample.hpp"

namespace treewright {

namespace nb = nanobind;

// Holds what a sampling points to.
struct SamplingHolder {
  Array<double> weight;
  Array<i32> strata;
};

inline void read_sampling(const nb::dict& d, Sampling& s, SamplingHolder& holder) {
  const nb::object draws = d["n_draws"];
  s.all = draws.is_none();
  if (s.all) return;
  s.n_draws = nb::cast<std::vector<i64>>(draws);
  s.replace = get<bool>(d, "replace");
  if (!d["chance"].is_none()) {
    holder.weight = get<Array<double>>(d, "chance");
    s.weight = holder.weight.data();
  }
  if (!d["strata"].is_none()) {
    holder.strata = get<Array<i32>>(d, "strata");
    s.strata = holder.strata.data();
  }
}

}  // namespace treewright
