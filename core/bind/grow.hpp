// What Python's calls to the growth loop have in common.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "grow/grow.hpp"

namespace treewright {

template <class T>
using Array = nanobind::ndarray<const T, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
T get(const nanobind::dict& d, const char* key) {
  return nanobind::cast<T>(d[key]);
}

// Everything a call needs, read from Python with the GIL held; the caller keeps columns and
// parameters alive.
struct GrowCall {
  GrowCall(const nanobind::list& columns, const nanobind::dict& params);

  Problem problem;
  GrowOptions options;
  std::unique_ptr<Chooser> chooser;
  std::unique_ptr<LinearSearch> linear;
  QuinlanRules quinlan;  // of Quinlan's choosers

  // What the targets point to.
  Array<i32> label;
  Array<double> y, weight;
};

// The search of linear tests by the rules of treewright.tree.growing.recipe.ObliqueRules.
std::unique_ptr<LinearSearch> read_linear(const nanobind::dict& rules);

// The arrays of the Python Splits.
nanobind::dict splits_dict(FlatSplits splits);

}  // namespace treewright
