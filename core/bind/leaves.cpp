// The structure of a forest and what its leaves say, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/binding.hpp"
#include "base/module.hpp"
#include "predict/structure.hpp"

namespace treewright {
namespace {

auto link(const Vector<i32>& n_children) {
  const auto first = first_children(view(n_children));
  auto out = allocate(i32{}, first.size());
  std::copy(first.begin(), first.end(), out.data());
  return out;
}

// Values of inner nodes as sums over their children; rows of leaves stay.
auto sum_up(const Vector<i32>& n_children, const Matrix<double>& values) {
  const auto first = first_children(view(n_children));
  const i64 n = static_cast<i64>(first.size()), width = static_cast<i64>(values.shape(1));
  if (static_cast<i64>(values.shape(0)) != n) refuse("Values must be one row for each node.");
  auto out = allocate(double{}, n, width);
  double* to = out.data();
  std::copy_n(values.data(), n * width, to);
  for (i64 i = n; i-- > 0;) {
    if (first[i] < 0) continue;
    std::fill_n(to + i * width, width, 0.0);
    for (i64 c = first[i]; c < first[i] + n_children.data()[i]; ++c) {
      for (i64 k = 0; k < width; ++k) to[i * width + k] += to[c * width + k];
    }
  }
  return out;
}

// A code for each row of values, and the distinct rows in the order of their first; None if there
// are more than a byte can tell apart.
nb::object code_rows(const Matrix<double>& values) {
  constexpr u64 kPlaces = 1024, kMost = 256;
  const i64 n = static_cast<i64>(values.shape(0)), width = static_cast<i64>(values.shape(1));
  const std::size_t bytes = static_cast<std::size_t>(width) * sizeof(double);
  const double* data = values.data();
  auto codes = allocate(u8{}, n);
  std::vector<i64> first;                 // row of each code
  std::vector<i32> code_at(kPlaces, -1);  // by hash, or at the next free place
  for (i64 i = 0; i < n; ++i) {
    u64 hash = 0;
    for (i64 k = 0; k < width; ++k) {
      hash = (std::rotl(hash, 23) ^ std::bit_cast<u64>(data[i * width + k])) * 0x9e3779b97f4a7c15u;
    }
    u64 place = hash >> 54;
    while (code_at[place] >= 0 &&
           std::memcmp(data + first[code_at[place]] * width, data + i * width, bytes) != 0) {
      place = (place + 1) % kPlaces;
    }
    if (code_at[place] < 0) {
      if (first.size() == kMost) return nb::none();
      code_at[place] = static_cast<i32>(first.size());
      first.push_back(i);
    }
    codes.data()[i] = static_cast<u8>(code_at[place]);
  }
  auto rows = allocate(double{}, first.size(), width);
  for (std::size_t c = 0; c < first.size(); ++c) {
    std::copy_n(data + first[c] * width, width, rows.data() + c * width);
  }
  return nb::make_tuple(codes, rows);
}

}  // namespace

void bind_forest_leaves(nb::module_& m) {
  m.def("code_rows", &code_rows, nb::arg("values").noconvert());
  m.def("first_children", &link, nb::arg("n_children").noconvert());
  m.def("sum_up", &sum_up, nb::arg("n_children").noconvert(), nb::arg("values").noconvert());
}

}  // namespace treewright
