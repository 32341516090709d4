// The rows to predict, as Python hands them over: one block of floats, or a tuple of columns.
//
// A row-major block is walked where it lies; all else is gathered, piece by piece, into a small
// block of doubles, where codes that are gaps become NaN. (Walking a column-major block where it
// lies took half as long again.)
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "base/binding.hpp"
#include "predict/predict.hpp"

namespace treewright::predict {

namespace nb = nanobind;

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;  // any dtype, shape and strides

enum class Number : std::uint8_t { float32, float64, code };

struct Column {
  Number type;
  std::int32_t feature;
  std::int32_t n_categories;
  const void* data;
  std::ptrdiff_t step;
};

// The type of an array that can be read in place, or nothing.
inline std::optional<Number> number_type(const AnyArray& array) {
  if (reinterpret_cast<std::uintptr_t>(array.data()) % array.itemsize() != 0) return std::nullopt;
  if (array.dtype() == nb::dtype<double>()) return Number::float64;
  if (array.dtype() == nb::dtype<float>()) return Number::float32;
  if (array.dtype() == nb::dtype<std::int32_t>()) return Number::code;
  return std::nullopt;
}

// The rows to predict: a row-major block, or the columns that the model uses. A model is anything
// with n_categories (-1 for continuous features) and used (features that it reads).
struct Input {
  std::int64_t n_rows = 0;
  bool is_block = false;
  Number type = Number::float64;  // of the block, as the next two
  const void* data = nullptr;
  std::ptrdiff_t row_step = 0;
  std::vector<Column> columns;
  std::vector<AnyArray> owners;  // keep the memory alive

  // A row-major block that the caller keeps.
  Input(std::int64_t n, Number number, const void* cells, std::ptrdiff_t step)
      : n_rows(n), is_block(true), type(number), data(cells), row_step(step) {}

  template <class Model>
  Input(const Model& model, nb::handle rows) {
    if (PyTuple_Check(rows.ptr()))
      read_columns(model, nb::borrow<nb::tuple>(rows));
    else
      read_block(model, rows);
  }

 private:
  template <class Model>
  void read_block(const Model& model, nb::handle rows) {
    AnyArray array;
    if (!nb::try_cast(rows, array, false) || array.ndim() != 2)
      refuse("Rows must be a tuple of columns or a 2-d float array.");
    const std::size_t n_features = model.n_categories.size();
    if (array.shape(1) != n_features)
      refuse("Rows must have the model's " + std::to_string(n_features) + " features, got " +
             std::to_string(array.shape(1)) + ".");
    const auto number = number_type(array);
    if (!number || *number == Number::code)
      refuse("A block of rows must be aligned float32 or float64; pass other data as columns.");
    for (std::int32_t f : model.used)
      if (model.n_categories[f] >= 0)
        refuse("A block of rows holds continuous features only, but feature " + std::to_string(f) +
               " has categories; pass a tuple of columns.");
    n_rows = static_cast<std::int64_t>(array.shape(0));
    is_block = array.stride(1) == 1;
    type = *number;
    data = array.data();
    row_step = array.stride(0);
    if (!is_block) {
      const std::size_t size = type == Number::float64 ? sizeof(double) : sizeof(float);
      for (std::int32_t f : model.used)
        columns.push_back(
            {type, f, -1, static_cast<const char*>(data) + f * array.stride(1) * size, row_step});
    }
    owners.push_back(std::move(array));
  }

  template <class Model>
  void read_columns(const Model& model, const nb::tuple& rows) {
    const std::size_t n_features = model.n_categories.size();
    if (rows.size() != n_features)
      refuse("Rows must have the model's " + std::to_string(n_features) + " columns, got " +
             std::to_string(rows.size()) + ".");
    n_rows = -1;
    columns.reserve(model.used.size());
    owners.reserve(model.used.size());
    for (std::int32_t f : model.used) {
      AnyArray array;
      if (!nb::try_cast(rows[f], array, false) || array.ndim() != 1)
        refuse("Columns must be 1-d arrays, but column " + std::to_string(f) + " is not.");
      const auto number = number_type(array);
      const bool is_code = model.n_categories[f] >= 0;
      if (!number || (*number == Number::code) != is_code)
        refuse("Column " + std::to_string(f) + " must be " +
               (is_code ? "aligned int32 codes." : "aligned float32 or float64."));
      const auto length = static_cast<std::int64_t>(array.shape(0));
      if (n_rows >= 0 && length != n_rows)
        refuse("Columns must have one length, but column " + std::to_string(f) + " has " +
               std::to_string(length) + " rows, not " + std::to_string(n_rows) + ".");
      n_rows = length;
      columns.push_back({*number, f, model.n_categories[f], array.data(),
                         static_cast<std::ptrdiff_t>(array.stride(0))});
      owners.push_back(std::move(array));
    }
  }
};

template <class T>
void gather(const Column& column, std::int64_t start, std::int32_t count, double* out) {
  const T* data = static_cast<const T*>(column.data) + start * column.step;
  for (std::int32_t i = 0; i < count; ++i) {
    const T x = data[i * column.step];
    if constexpr (std::is_same_v<T, std::int32_t>)
      out[i] = x >= 0 && x < column.n_categories ? x : std::numeric_limits<double>::quiet_NaN();
    else
      out[i] = x;
  }
}

using Gathered = Block<double, max_piece>;

// Copies rows [start, start + count) into scratch, feature by feature.
inline Gathered gather_all(const Input& input, std::int64_t start, std::int32_t count,
                           double* scratch) {
  for (const Column& column : input.columns) {
    double* out = scratch + static_cast<std::ptrdiff_t>(column.feature) * max_piece;
    if (column.type == Number::float64)
      gather<double>(column, start, count, out);
    else if (column.type == Number::float32)
      gather<float>(column, start, count, out);
    else
      gather<std::int32_t>(column, start, count, out);
  }
  return {scratch, 1};
}

}  // namespace treewright::predict
