// Codes of a column of Python texts.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/arrays.hpp"
#include "base/module.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

// The distinct texts that were seen, by their bytes; those lie in the Python objects.
class Texts {
 public:
  // The number of a text, a new one if it was not seen before.
  i32 number_of(std::string_view text) {
    if (2 * known_.size() >= place_.size()) grow();
    const u64 hash = hash_of(text);
    std::size_t at = hash & (place_.size() - 1);
    for (; place_[at] >= 0; at = (at + 1) & (place_.size() - 1)) {
      const Known& known = known_[place_[at]];
      if (known.hash == hash && known.text == text) return place_[at];
    }
    place_[at] = static_cast<i32>(known_.size());
    known_.push_back({text, hash});
    return place_[at];
  }

  nb::list list() const {
    nb::list out;
    for (const Known& known : known_) out.append(nb::str(known.text.data(), known.text.size()));
    return out;
  }
  bool empty() const { return known_.empty(); }

 private:
  struct Known {
    std::string_view text;
    u64 hash;
  };

  static u64 hash_of(std::string_view text) {
    constexpr u64 kMix = 0x9E3779B97F4A7C15;
    u64 hash = text.size() * kMix;
    auto add = [&](u64 word) {
      hash = (hash ^ word) * kMix;
      hash ^= hash >> 29;
    };
    std::size_t i = 0;
    for (u64 word; i + 8 <= text.size(); i += 8) {
      std::memcpy(&word, text.data() + i, 8);
      add(word);
    }
    u64 rest = 0;
    for (; i < text.size(); ++i) rest = rest << 8 | static_cast<u8>(text[i]);
    add(rest);
    return hash;
  }

  void grow() {
    place_.assign(place_.empty() ? 64 : 2 * place_.size(), -1);
    for (std::size_t i = 0; i < known_.size(); ++i) {
      std::size_t at = known_[i].hash & (place_.size() - 1);
      while (place_[at] >= 0) at = (at + 1) & (place_.size() - 1);
      place_[at] = static_cast<i32>(i);
    }
  }

  std::vector<Known> known_;
  std::vector<i32> place_;  // number by hash; −1: free
};

// None where a value is neither text nor a gap (None, NaN), or where there is no text.
nb::object text_codes(const nb::list& values) {
  std::vector<i32> codes(nb::len(values));
  Texts texts;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    PyObject* value = PyList_GetItem(values.ptr(), static_cast<Py_ssize_t>(i));
    if (PyUnicode_Check(value)) {
      Py_ssize_t size = 0;
      const char* text = PyUnicode_AsUTF8AndSize(value, &size);
      if (!text) {  // a lone surrogate
        PyErr_Clear();
        return nb::none();
      }
      codes[i] = texts.number_of({text, static_cast<std::size_t>(size)});
    } else {
      const bool is_nan =
          PyFloat_Check(value) && PyFloat_AsDouble(value) != PyFloat_AsDouble(value);
      if (value != Py_None && !is_nan) return nb::none();
      codes[i] = -1;
    }
  }
  if (texts.empty()) return nb::none();
  return nb::make_tuple(to_numpy(std::move(codes)), texts.list());
}

}  // namespace

void bind_text_codes(nb::module_& m) { m.def("text_codes", &text_codes, nb::arg("values")); }

}  // namespace treewright
