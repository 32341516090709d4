// Checked views of arrays, for the files that bind functions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace treewright {

namespace nb = nanobind;

[[noreturn]] inline void refuse(const std::string& sentence) {
  throw std::invalid_argument(sentence);
}

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto view(const Array& array) {
  const auto* data = array.data();
  if (reinterpret_cast<std::uintptr_t>(data) % sizeof(*data) != 0)
    refuse("Arrays must be aligned; copy them first.");
  return std::span(data, array.size());
}

// A numpy array of uninitialised entries that owns its memory.
template <class... Size>
auto allocate(auto type, Size... sizes) {
  using T = decltype(type);
  std::array<std::size_t, sizeof...(sizes)> shape{static_cast<std::size_t>(sizes)...};
  std::size_t total = 1;
  for (std::size_t size : shape)
    if (__builtin_mul_overflow(total, size, &total)) throw std::bad_alloc();
  T* data = new T[total];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(sizes)>, nb::c_contig>(data, shape.size(),
                                                                             shape.data(), owner);
}

// An entry of a tuple of arrays; owners keeps its memory alive.
template <class T>
std::span<const T> read_vector(nb::handle array, std::vector<nb::object>& owners) {
  Vector<T> vector;
  if (!nb::try_cast(array, vector, false))
    throw nb::type_error("Splits and tests must be contiguous arrays of their documented types.");
  owners.push_back(nb::borrow(array));
  return view(vector);
}

// Any byte other than 0 is true; a bool with such a byte must never be read as one.
inline std::span<const std::uint8_t> read_flags(nb::handle array, std::vector<nb::object>& owners) {
  const auto flags = read_vector<bool>(array, owners);
  return {reinterpret_cast<const std::uint8_t*>(flags.data()), flags.size()};
}

}  // namespace treewright
