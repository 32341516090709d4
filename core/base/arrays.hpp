// Arrays across the border: a table's columns in, vectors out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "base/types.hpp"

namespace treewright {

// A column as the table holds it; the caller keeps the array alive.
inline Column read_column(const nanobind::handle& array) {
  namespace nb = nanobind;
  auto a = nb::cast<nb::ndarray<nb::device::cpu, nb::ro>>(array);
  Column c;
  c.data = a.data();
  c.stride = a.stride(0) * static_cast<i64>(a.itemsize());
  c.type = a.dtype() == nb::dtype<float>()    ? ColumnType::f32
           : a.dtype() == nb::dtype<double>() ? ColumnType::f64
                                              : ColumnType::code;
  if (c.type == ColumnType::code && a.dtype() != nb::dtype<i32>()) {
    throw nb::type_error("columns must be float32, float64 or int32");
  }
  return c;
}

template <class T>
nanobind::object to_numpy(std::vector<T> values, std::vector<std::size_t> shape = {}) {
  namespace nb = nanobind;
  auto* owner = new std::vector<T>(std::move(values));
  if (shape.empty()) shape = {owner->size()};
  nb::capsule capsule(owner, [](void* at) noexcept { delete static_cast<std::vector<T>*>(at); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owner->data(), shape.size(), shape.data(), capsule));
}

}  // namespace treewright
