// The splits of a Python tree as the predictor takes them.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "base/binding.hpp"
#include "predict/predict.hpp"

namespace treewright::predict {

// The arrays of the Python Splits, in their order; owners keeps their memory alive.
inline SplitArrays read_splits(const nb::tuple& arrays, std::vector<nb::object>& owners) {
  if (arrays.size() != 13) throw nb::type_error("Splits must be a tuple of 13 arrays.");
  return {read_vector<std::uint8_t>(arrays[0], owners),
          read_vector<std::int32_t>(arrays[1], owners),
          read_flags(arrays[2], owners),
          read_flags(arrays[3], owners),
          read_vector<std::int64_t>(arrays[4], owners),
          read_vector<double>(arrays[5], owners),
          read_vector<std::int64_t>(arrays[6], owners),
          read_vector<std::int32_t>(arrays[7], owners),
          read_vector<std::int32_t>(arrays[8], owners),
          read_vector<std::int64_t>(arrays[9], owners),
          read_vector<std::int32_t>(arrays[10], owners),
          read_vector<double>(arrays[11], owners),
          read_vector<std::int32_t>(arrays[12], owners)};
}

}  // namespace treewright::predict
