// Python's door to the tests of independence: one object per fit, one call per node.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <thread>

#include "association.hpp"
#include "bind_arrays.hpp"
#include "module.hpp"
#include "signals.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

Form form_of(const std::string& name) {
  return name == "maximum" ? Form::maximum : Form::quadratic;
}

class Associator {
 public:
  // columns as the table holds them; the response is labels (int32) or numbers (float64)
  Associator(nb::list columns, const std::vector<i32>& n_categories,
             const std::vector<bool>& ordered, nb::object labels, nb::object numbers,
             i32 width, int n_threads)
      : held_(columns), held_labels_(labels), held_numbers_(numbers) {
    const int hardware = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    n_threads_ = std::clamp(n_threads, 1, hardware);
    for (std::size_t f = 0; f < columns.size(); ++f) {
      Column c = read_column(columns[f]);
      c.n_categories = n_categories[f];
      c.ordered = ordered[f];
      n_rows_ = static_cast<i64>(nb::len(nb::object(columns[f])));
      columns_.push_back(c);
    }
    response_.width = width;
    if (!labels.is_none()) {
      response_.label = nb::cast<Array<i32>>(labels).data();
    } else {
      response_.h = nb::cast<Array<double>>(numbers).data();
    }
  }

  nb::dict test(const Array<i64>& rows, nb::object weights, const std::vector<i32>& features,
                bool with_covariance) {
    const RowSet set = row_set(rows, weights);
    std::vector<Association> found;
    {
      nb::gil_scoped_release release;
      found = associate(columns_, response_, set, features, with_covariance, n_threads_,
                        check_signals);
    }
    std::vector<double> quadratic, maximum;
    std::vector<i32> rank;
    nb::list level_weight, covariance;
    for (Association& a : found) {
      quadratic.push_back(a.quadratic);
      maximum.push_back(a.maximum);
      rank.push_back(a.rank);
      if (!with_covariance) continue;
      level_weight.append(to_numpy(std::move(a.level_weight)));
      covariance.append(to_numpy(std::move(a.covariance)));
    }
    nb::dict d;
    d["quadratic"] = to_numpy(std::move(quadratic));
    d["maximum"] = to_numpy(std::move(maximum));
    d["rank"] = to_numpy(std::move(rank));
    d["level_weight"] = level_weight;
    d["covariance"] = covariance;
    return d;
  }

  nb::object split(const Array<i64>& rows, nb::object weights, i32 feature,
                   const std::string& form, double least_weight, i32 max_exhaustive) {
    const RowSet set = row_set(rows, weights);
    BinarySplit found;
    {
      nb::gil_scoped_release release;
      found = best_binary_split(columns_, response_, set, feature, form_of(form),
                                {least_weight, max_exhaustive});
    }
    if (!found.found) return nb::none();
    nb::dict d;
    d["statistic"] = found.statistic;
    d["value"] = found.value;
    d["codes"] = to_numpy(std::move(found.codes));
    d["branches"] = to_numpy(std::move(found.branches));
    return d;
  }

  nb::object resample(const Array<i64>& rows, nb::object weights, const std::vector<i32>& features,
                      const std::string& form, i64 n_resamples, u64 key, u64 stream) {
    const RowSet set = row_set(rows, weights);
    std::vector<i64> counts;
    {
      nb::gil_scoped_release release;
      counts = count_extreme(columns_, response_, set, features, form_of(form), n_resamples, key,
                             stream, n_threads_, check_signals);
    }
    return to_numpy(std::move(counts));
  }

 private:
  RowSet row_set(const Array<i64>& rows, const nb::object& weights) const {
    RowSet set;
    set.rows = rows.data();
    set.n = static_cast<i64>(rows.shape(0));
    u64 largest = 0;  // a negative number is a huge one
    for (i64 i = 0; i < set.n; ++i) largest = std::max(largest, static_cast<u64>(set.rows[i]));
    if (set.n && largest >= static_cast<u64>(n_rows_)) throw nb::value_error("a row is out of range");
    if (!weights.is_none()) set.weights = nb::cast<Array<double>>(weights).data();
    return set;
  }

  nb::list held_;
  nb::object held_labels_, held_numbers_;
  std::vector<Column> columns_;
  Response response_;
  i64 n_rows_ = 0;
  int n_threads_ = 1;
};

}  // namespace

void bind_association(nb::module_& m) {
  nb::class_<Associator>(m, "Associator")
      .def(nb::init<nb::list, const std::vector<i32>&, const std::vector<bool>&, nb::object,
                    nb::object, i32, int>(),
           nb::arg("columns"), nb::arg("n_categories"), nb::arg("ordered"),
           nb::arg("labels").none(), nb::arg("numbers").none(), nb::arg("width"),
           nb::arg("n_threads"))
      .def("test", &Associator::test, nb::arg("rows").noconvert(), nb::arg("weights").none(),
           nb::arg("features"), nb::arg("with_covariance"))
      .def("split", &Associator::split, nb::arg("rows").noconvert(), nb::arg("weights").none(),
           nb::arg("feature"), nb::arg("form"), nb::arg("least_weight"), nb::arg("max_exhaustive"))
      .def("resample", &Associator::resample, nb::arg("rows").noconvert(),
           nb::arg("weights").none(), nb::arg("features"), nb::arg("form"),
           nb::arg("n_resamples"), nb::arg("key"), nb::arg("stream"));
}

}  // namespace treewright
