// Python's door to the tests of independence: one object per fit, one call per level of nodes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <thread>

#include "base/arrays.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "ctree/association.hpp"

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
             const std::vector<bool>& ordered, nb::object labels, nb::object numbers, i32 width,
             int n_threads)
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

  // Node i has the rows from begin[i] to end[i] − 1.
  nb::dict test(const Array<i64>& rows, nb::object weights, const Array<i64>& begin,
                const Array<i64>& end, const Array<i32>& features, bool with_covariance) {
    const std::vector<RowSet> nodes = row_sets(rows, weights, begin, end);
    const std::vector<i32> tested(features.data(), features.data() + features.size());
    const i64 width = nodes.empty() ? 0 : static_cast<i64>(tested.size() / nodes.size());
    std::vector<Association> found;
    {
      GilRelease release;
      found = associate(columns_, response_, nodes, tested, width, with_covariance, n_threads_,
                        SignalPoll());
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

  // One entry per node: None, or the statistic, the value, the codes and their branches.
  nb::list split(const Array<i64>& rows, nb::object weights, const Array<i64>& begin,
                 const Array<i64>& end, const Array<i32>& features, const std::string& form,
                 const Array<double>& least_weight, i32 max_exhaustive) {
    const std::vector<RowSet> nodes = row_sets(rows, weights, begin, end);
    const std::vector<i32> split(features.data(), features.data() + features.size());
    const std::vector<double> least(least_weight.data(), least_weight.data() + least_weight.size());
    std::vector<BinarySplit> found;
    {
      GilRelease release;
      found = best_binary_splits(columns_, response_, nodes, split, form_of(form), least,
                                 max_exhaustive, n_threads_, SignalPoll());
    }
    nb::list out;
    for (const BinarySplit& s : found) {
      if (s.found) {
        out.append(nb::make_tuple(s.statistic, s.value, s.codes, s.branches));
      } else {
        out.append(nb::none());
      }
    }
    return out;
  }

  nb::object resample(const Array<i64>& rows, nb::object weights, const std::vector<i32>& features,
                      const std::string& form, i64 n_resamples, u64 key, u64 stream) {
    const RowSet set = row_set(rows, weights);
    std::vector<i64> counts;
    {
      GilRelease release;
      counts = count_extreme(columns_, response_, set, features, form_of(form), n_resamples, key,
                             stream, n_threads_, SignalPoll());
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
    if (set.n && largest >= static_cast<u64>(n_rows_))
      throw nb::value_error("a row is out of range");
    if (!weights.is_none()) set.weights = nb::cast<Array<double>>(weights).data();
    return set;
  }

  std::vector<RowSet> row_sets(const Array<i64>& rows, const nb::object& weights,
                               const Array<i64>& begin, const Array<i64>& end) const {
    const RowSet all = row_set(rows, weights);
    std::vector<RowSet> sets;
    for (std::size_t i = 0; i < begin.size(); ++i) {
      const i64 from = begin.data()[i], to = end.data()[i];
      if (from < 0 || from > to || to > all.n) throw nb::value_error("a node is out of range");
      sets.push_back({all.rows + from, all.weights ? all.weights + from : nullptr, to - from});
    }
    return sets;
  }

  nb::list held_;
  nb::object held_labels_, held_numbers_;
  std::vector<Column> columns_;
  TestedResponse response_;
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
           nb::arg("begin"), nb::arg("end"), nb::arg("features").noconvert(),
           nb::arg("with_covariance"))
      .def("split", &Associator::split, nb::arg("rows").noconvert(), nb::arg("weights").none(),
           nb::arg("begin"), nb::arg("end"), nb::arg("features").noconvert(), nb::arg("form"),
           nb::arg("least_weight"), nb::arg("max_exhaustive"))
      .def("resample", &Associator::resample, nb::arg("rows").noconvert(),
           nb::arg("weights").none(), nb::arg("features"), nb::arg("form"), nb::arg("n_resamples"),
           nb::arg("key"), nb::arg("stream"));
}

}  // namespace treewright
