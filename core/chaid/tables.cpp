// Contingency tables of a node: sums over its rows per category of every coded feature.
//
// One pass over the rows per feature; the features are shared among threads. All sums are
// integers (the caller has scaled weights and targets by powers of two), so neither the order of
// the rows nor the number of threads changes a digit. Category `size` of a feature is its gap.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/threads.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::device::cpu>;

// Where the rows of one feature are counted.
struct Feature {
  const std::int32_t* codes;
  std::int64_t stride;
  std::int64_t size;    // categories without the gap
  std::int64_t* cells;  // (size + 1) × width

  std::int64_t category(std::int64_t row) const {
    const std::int32_t code = codes[row * stride];
    return code < 0 ? size : code;
  }
};

struct Classes {
  const std::int32_t* label;
  const std::int64_t* weight;  // null: every row counts once
  std::int64_t width;

  void add(std::int64_t row, std::int64_t* cells) const {
    cells[label[row]] += weight ? weight[row] : 1;
  }
};

struct Sums {
  const std::int64_t* values;  // rows × width
  std::int64_t width;

  void add(std::int64_t row, std::int64_t* cells) const {
    for (std::int64_t k = 0; k < width; ++k) cells[k] += values[row * width + k];
  }
};

// Rows are counted in two tables by turns: one cell of a small table is hit again so soon that an
// addition would wait for the one before (1.4 times as fast).
template <class Target>
void count(const Feature& f, const Vector<std::int64_t>& rows, const Target& target) {
  const std::int64_t n = static_cast<std::int64_t>(rows.shape(0));
  const std::int64_t* row = rows.data();
  std::vector<std::int64_t> other((f.size + 1) * target.width, 0);
  for (std::int64_t i = 0; i + 1 < n; i += 2) {
    target.add(row[i], f.cells + f.category(row[i]) * target.width);
    target.add(row[i + 1], other.data() + f.category(row[i + 1]) * target.width);
  }
  if (n % 2) target.add(row[n - 1], f.cells + f.category(row[n - 1]) * target.width);
  for (std::size_t k = 0; k < other.size(); ++k) f.cells[k] += other[k];
}

template <class Target>
nb::object tables(const nb::list& columns, const std::vector<std::int64_t>& sizes,
                  const Vector<std::int64_t>& rows, const Target& target, int n_threads) {
  std::int64_t n_cells = 0;
  for (const std::int64_t size : sizes) n_cells += size + 1;
  std::vector<std::int64_t> found(n_cells * target.width, 0);
  std::vector<Feature> features;
  std::int64_t* cells = found.data();
  for (std::size_t f = 0; f < sizes.size(); ++f) {
    const auto codes = nb::cast<Codes>(columns[f]);
    features.push_back({codes.data(), codes.stride(0), sizes[f], cells});
    cells += (sizes[f] + 1) * target.width;
  }
  {
    GilRelease released;
    parallel_for(
        static_cast<std::int64_t>(features.size()), std::max(1, n_threads),
        [&](std::int64_t f, int) { count(features[f], rows, target); }, SignalPoll());
  }
  return to_numpy(std::move(found),
                  {static_cast<std::size_t>(n_cells), static_cast<std::size_t>(target.width)});
}

template <class T>
nb::object bin_codes(nb::ndarray<const T, nb::ndim<1>, nb::device::cpu> column,
                     Vector<double> breaks) {
  const std::int64_t n = static_cast<std::int64_t>(column.shape(0)), stride = column.stride(0);
  std::vector<std::int32_t> codes(n);
  const double* first = breaks.data();
  const double* last = first + breaks.shape(0);
  {
    GilRelease released;
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(column.data()[i * stride]);
      std::int32_t code = 0;
      if (last - first <= 16) {  // counting beats a search: it has no branch to mispredict
        for (const double* b = first; b != last; ++b) code += x > *b;
      } else {
        code = static_cast<std::int32_t>(std::lower_bound(first, last, x) - first);
      }
      codes[i] = x == x ? code : -1;
    }
  }
  return to_numpy(std::move(codes));
}

}  // namespace

void bind_tables(nb::module_& m) {
  constexpr const char* doc = "Number of breaks below each value, −1 for a gap.";
  m.def("bin_codes", &bin_codes<double>, "column"_a.noconvert(), "breaks"_a.noconvert(), doc);
  m.def("bin_codes", &bin_codes<float>, "column"_a.noconvert(), "breaks"_a.noconvert(), doc);
  m.def(
      "class_tables",
      [](nb::list columns, std::vector<std::int64_t> sizes, Vector<std::int64_t> rows,
         Vector<std::int32_t> label, std::int64_t n_classes,
         std::optional<Vector<std::int64_t>> weight, int n_threads) {
        const Classes target{label.data(), weight ? weight->data() : nullptr, n_classes};
        return tables(columns, sizes, rows, target, n_threads);
      },
      "columns"_a, "sizes"_a, "rows"_a.noconvert(), "label"_a.noconvert(), "n_classes"_a,
      "weight"_a.none(), "n_threads"_a = 1,
      "Weight of every class per category of each feature, the gap last; features stacked.");
  m.def(
      "sum_tables",
      [](nb::list columns, std::vector<std::int64_t> sizes, Vector<std::int64_t> rows,
         Matrix values, int n_threads) {
        const Sums target{values.data(), static_cast<std::int64_t>(values.shape(1))};
        return tables(columns, sizes, rows, target, n_threads);
      },
      "columns"_a, "sizes"_a, "rows"_a.noconvert(), "values"_a.noconvert(), "n_threads"_a = 1,
      "Sums of the columns of values per category of each feature, the gap last.");
}

}  // namespace treewright
