// Python's door to optimal trees.
#include <nanobind/nanobind.h>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "optimal/optimal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

using namespace optimal;

template <class T>
std::vector<T> copied(const auto& array) {
  const auto span = view(array);
  return {span.begin(), span.end()};
}

Problem read_problem(const Matrix<u16>& bins, const Matrix<i32>& tests, const Matrix<i64>& values,
                     const Vector<i32>& classes, const Vector<i64>& worst, const nb::dict& terms) {
  Problem p;
  p.n_rows = static_cast<i64>(bins.shape(0));
  p.n_columns = static_cast<i32>(bins.shape(1));
  p.bins = copied<u16>(bins);
  p.n_bins.assign(p.n_columns, 1);
  for (i64 at = 0; at < p.n_rows * p.n_columns; ++at) {
    i32& most = p.n_bins[at % p.n_columns];
    most = std::max<i32>(most, p.bins[at] + 1);
  }
  const auto rows = view(tests);
  for (std::size_t t = 0; t < tests.shape(0); ++t) {
    const i32* row = &rows[4 * t];
    p.tests.push_back({row[0], static_cast<u16>(row[1]), static_cast<u16>(row[2]), row[3]});
    p.n_bins[row[0]] = std::max(p.n_bins[row[0]], row[2]);
  }
  p.leaf = nb::cast<bool>(terms["squares"]) ? Leaf::squares : Leaf::labels;
  p.n_channels = static_cast<i32>(values.shape(1));
  p.values = copied<i64>(values);
  p.square_unit = nb::cast<double>(terms["square_unit"]);
  p.unit = nb::cast<i64>(terms["unit"]);
  p.classes = copied<i32>(classes);
  p.worst = copied<i64>(worst);
  p.penalty = nb::cast<i64>(terms["penalty"]);
  return p;
}

// Ctrl-C ends the search with the best tree so far; anything else that poll raised is an error.
bool was_interrupted(const Found& found) {
  if (!found.failure) return false;
  try {
    std::rethrow_exception(found.failure);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
  }
  return true;
}

nb::dict best_tree(Matrix<u16> bins, Matrix<i32> tests, Matrix<i64> values, Vector<i32> classes,
                   Vector<i64> worst, nb::dict terms, i32 max_depth, double seconds, i32 n_threads,
                   nb::object progress) {
  Problem problem = read_problem(bins, tests, values, classes, worst, terms);
  const Settings settings{max_depth, n_threads, seconds};
  Found found;
  {
    GilRelease release;
    auto last = std::chrono::steady_clock::now();
    found = find_best(std::move(problem), settings, [&](double share) {
      const auto now = std::chrono::steady_clock::now();
      if (now - last < std::chrono::milliseconds(50)) return;
      last = now;
      nb::gil_scoped_acquire gil;
      refuse_at_end();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress.is_none()) progress(share);
    });
  }
  nb::dict out;
  out["is_interrupted"] = was_interrupted(found);
  out["test"] = to_numpy(std::move(found.test));
  out["left"] = to_numpy(std::move(found.left));
  out["right"] = to_numpy(std::move(found.right));
  out["cost"] = found.cost;
  out["lower"] = found.lower;
  return out;
}

}  // namespace

void bind_optimal(nb::module_& m) {
  m.def("optimal_tree", &best_tree, "bins"_a.noconvert(), "tests"_a.noconvert(),
        "values"_a.noconvert(), "classes"_a.noconvert(), "worst"_a.noconvert(), "terms"_a,
        "max_depth"_a, "seconds"_a, "n_threads"_a, "progress"_a.none(),
        "The tree of least cost, and a bound.");
}

}  // namespace treewright
