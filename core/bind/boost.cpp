// Python's door to bins and boosters.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <numeric>
#include <string>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/team.hpp"
#include "base/threads.hpp"
#include "bind/boost.hpp"
#include "binned/bundles.hpp"
#include "binned/distinct.hpp"

namespace treewright {
namespace {

using namespace boost;

std::vector<Column> read_columns(const nb::list& columns) {
  std::vector<Column> out;
  for (const nb::handle column : columns) out.push_back(read_column(column));
  return out;
}

double ordered_value(const Column& column, i64 row) {
  if (column.type != ColumnType::code) return column.value(row);
  const i32 code = column.code(row);
  return code < 0 ? std::nan("") : code;
}

// The row that is drawn from part i of n_drawn equal parts of all rows.
i64 drawn_row(i64 i, i64 n_drawn, i64 n_rows) {
  if (n_drawn == n_rows) return i;
  const double place = static_cast<double>(i) + row_chance(0, 0, i);
  const double size = static_cast<double>(n_rows) / static_cast<double>(n_drawn);
  return std::min(n_rows - 1, static_cast<i64>(place * size));
}

// All values of an ordered column where there are at most max_bins; none where there are more.
std::vector<double> few_values(const Column& column, i64 n_rows, i32 max_bins) {
  Distinct distinct(max_bins);
  for (i64 i = 0; i < n_rows && !distinct.are_many(); ++i) distinct.see(ordered_value(column, i));
  return distinct.are_many() ? std::vector<double>{} : distinct.sorted();
}

// Edges of ordered columns. Where there are more rows than `most`, as many are looked at, one of
// each of as many equal parts, unless the values are few.
nb::list edges_of_columns(const nb::list& arrays, i64 n_rows, std::optional<Vector<double>> weight,
                          i32 max_bins, i64 most, int n_threads) {
  const double* weights = weight ? weight->data() : nullptr;
  if (weight && static_cast<i64>(weight->size()) != n_rows)
    refuse("Weights must be one for each row.");
  const std::vector<Column> columns = read_columns(arrays);
  std::vector<std::vector<double>> edges(columns.size());
  {
    GilRelease release;
    const i64 n = std::min(n_rows, most);
    parallel_for(static_cast<i64>(columns.size()), n_threads, [&](i64 f, int) {
      const Column& column = columns[f];
      if (n < n_rows) {
        Summary few{few_values(column, n_rows, max_bins), {}};
        few.weight.assign(few.value.size(), 1.0);
        if (!few.value.empty()) {
          edges[f] = bin_edges(few, max_bins);
          return;
        }
      }
      std::vector<WeighedValue> values(n);
      for (i64 i = 0; i < n; ++i) {
        const i64 row = drawn_row(i, n, n_rows);
        values[i] = {ordered_value(column, row), weights ? weights[row] : 1.0};
      }
      edges[f] = bin_edges(summarize(values), max_bins);
    });
  }
  nb::list out;
  for (std::vector<double>& e : edges) out.append(to_numpy(std::move(e)));
  return out;
}

// Distinct values of an ordered column, ascending; None where there are more than `most`.
nb::object distinct_values(const nb::object& array, i64 n_rows, i32 most) {
  const Column column = read_column(array);
  if (most > kMostBins) refuse("Distinct values are counted up to 255.");
  std::vector<double> values;
  {
    GilRelease release;
    Distinct distinct(most);
    for (i64 i = 0; i < n_rows && !distinct.are_many(); ++i) distinct.see(ordered_value(column, i));
    if (distinct.are_many())
      values.push_back(std::nan(""));
    else
      values = distinct.sorted();
  }
  if (!values.empty() && values[0] != values[0]) return nb::none();
  return to_numpy(std::move(values));
}

// Of the rows first, first + 1, … of n_all those that edges are made of, counted from `first`.
nb::object drawn_rows(i64 first, i64 n, i64 n_all, i64 most) {
  std::vector<i64> rows;
  const i64 n_drawn = std::min(n_all, most);
  const double size = static_cast<double>(n_all) / static_cast<double>(n_drawn);
  i64 i = std::max<i64>(0, static_cast<i64>(static_cast<double>(first) / size) - 2);
  for (; i < n_drawn; ++i) {
    const i64 row = drawn_row(i, n_drawn, n_all);
    if (row >= first + n) break;
    if (row >= first) rows.push_back(row - first);
  }
  return to_numpy(std::move(rows));
}

nb::object edges_of_summary(const Vector<double>& value, const Vector<double>& weight,
                            i32 max_bins) {
  Summary s;
  s.value.assign(value.data(), value.data() + value.size());
  s.weight.assign(weight.data(), weight.data() + weight.size());
  return to_numpy(bin_edges(s, max_bins));
}

nb::object chances_of_rows(u64 seed, i64 number, i64 first, i64 n) {
  std::vector<double> chance(n);
  for (i64 i = 0; i < n; ++i) chance[i] = row_chance(seed, number, first + i);
  return to_numpy(std::move(chance));
}

// `maps`: for each column its edges (float64), or the codes of its bins (int32) and their number.
void make_bins(BinsHandle* self, const nb::list& columns, const nb::list& maps, i64 n_rows,
               int n_threads) {
  std::vector<BinMap> read;
  for (const nb::handle item : maps) {
    const nb::tuple pair = nb::cast<nb::tuple>(item);
    BinMap map;
    map.n_categories = nb::cast<i32>(pair[1]);
    map.is_nominal = map.n_categories >= 0;
    if (map.is_nominal) {
      const auto codes = nb::cast<Vector<i32>>(pair[0]);
      map.code_of_bin.assign(codes.data(), codes.data() + codes.size());
      for (const i32 code : map.code_of_bin) {
        if (code < 0 || code >= map.n_categories)
          refuse("Codes of bins must be codes of categories.");
      }
    } else {
      const auto edges = nb::cast<Vector<double>>(pair[0]);
      map.edges.assign(edges.data(), edges.data() + edges.size());
    }
    if (map.n_bins() > kMostBins) refuse("A column must have at most 255 bins.");
    read.push_back(std::move(map));
  }
  const std::vector<Column> given = read_columns(columns);
  if (given.size() != read.size()) refuse("Bins need a map for each column.");
  std::shared_ptr<const Bins> bins;
  {
    GilRelease release;
    bins = std::make_shared<const Bins>(std::move(read), given, n_rows, n_threads);
  }
  new (self) BinsHandle{std::move(bins)};
}

SparseColumns read_sparse(const Vector<i64>& start, const Vector<i32>& row,
                          const Vector<double>& value, i64 n_rows) {
  const SparseColumns out{n_rows, view(start), view(row), view(value)};
  bool fits = !out.start.empty() && out.start[0] == 0 && out.row.size() == out.value.size() &&
              out.start.back() == static_cast<i64>(out.row.size());
  for (std::size_t i = 1; fits && i < out.start.size(); ++i)
    fits = out.start[i - 1] <= out.start[i];
  for (const i32 r : out.row) fits = fits && r >= 0 && r < n_rows;
  if (!fits) refuse("Sparse columns must be the arrays of a CSC matrix.");
  return out;
}

nb::list edges_of_sparse(const Vector<i64>& start, const Vector<i32>& row,
                         const Vector<double>& value, i64 n_rows,
                         std::optional<Vector<double>> weight, i32 max_bins, int n_threads) {
  const SparseColumns columns = read_sparse(start, row, value, n_rows);
  if (weight && static_cast<i64>(weight->size()) != n_rows)
    refuse("Weights must be one for each row.");
  const double* weights = weight ? weight->data() : nullptr;
  std::vector<std::vector<double>> edges(columns.n_features());
  {
    GilRelease release;
    const double total =
        weights ? std::accumulate(weights, weights + n_rows, 0.0) : static_cast<double>(n_rows);
    parallel_for(columns.n_features(), n_threads, [&](i64 f, int) {
      edges[f] = sparse_edges(columns, static_cast<i32>(f), weights, total, max_bins);
    });
  }
  nb::list out;
  for (std::vector<double>& e : edges) out.append(to_numpy(std::move(e)));
  return out;
}

std::vector<BinMap> read_edges(const nb::list& edges, i32 n_features) {
  std::vector<BinMap> maps;
  for (const nb::handle item : edges) {
    const auto each = nb::cast<Vector<double>>(item);
    BinMap map;
    map.edges.assign(each.data(), each.data() + each.size());
    if (map.n_bins() > kMostBins) refuse("A column must have at most 255 bins.");
    maps.push_back(std::move(map));
  }
  if (static_cast<i32>(maps.size()) != n_features) refuse("Bins need edges for each column.");
  return maps;
}

// For each feature: column, common bin (−1: alone), first byte, number of bytes.
nb::object bundle_columns(const Vector<i64>& start, const Vector<i32>& row,
                          const Vector<double>& value, i64 n_rows, const nb::list& edges) {
  const SparseColumns columns = read_sparse(start, row, value, n_rows);
  const std::vector<BinMap> maps = read_edges(edges, columns.n_features());
  std::vector<i32> out;
  {
    GilRelease release;
    for (const Stored& s : bundle(maps, columns)) {
      out.insert(out.end(), {s.column, s.common, s.first, s.n_bytes});
    }
  }
  return to_numpy(std::move(out), {maps.size(), std::size_t{4}});
}

BinsHandle sparse_bins(const Vector<i64>& start, const Vector<i32>& row,
                       const Vector<double>& value, i64 n_rows, const nb::list& edges,
                       const Matrix<i32>& stored) {
  const SparseColumns columns = read_sparse(start, row, value, n_rows);
  std::vector<BinMap> maps = read_edges(edges, columns.n_features());
  std::vector<Stored> places;
  if (stored.shape(0) != maps.size() || stored.shape(1) != 4) refuse("Each column has one place.");
  for (std::size_t f = 0; f < maps.size(); ++f) {
    const i32* s = stored.data() + 4 * f;
    const bool fits = s[0] >= 0 && s[0] < columns.n_features() && s[1] < maps[f].n_bins() &&
                      s[2] >= 0 && s[3] >= 0 && s[2] + s[3] <= 256;
    if (!fits) refuse("Places of columns must be those that bundle_columns gave.");
    places.push_back({s[0], s[1], s[2], s[3]});
  }
  GilRelease release;
  return {std::make_shared<const Bins>(std::move(maps), columns, std::move(places))};
}

nb::object bins_by_column(const BinsHandle& self) {
  const Bins& bins = *self.bins;
  const u8* from = bins.column(0);
  return to_numpy(
      std::vector<u8>(from, from + bins.n_rows() * bins.n_columns()),
      {static_cast<std::size_t>(bins.n_columns()), static_cast<std::size_t>(bins.n_rows())});
}

// Bytes of all rows, as they lie.
nb::object bins_by_row(const BinsHandle& self) {
  const Bins& bins = *self.bins;
  const u8* from = bins.row(0);
  return to_numpy(
      std::vector<u8>(from, from + bins.n_rows() * bins.width()),
      {static_cast<std::size_t>(bins.n_rows()), static_cast<std::size_t>(bins.width())});
}

using Factor = std::optional<Vector<double>>;
using Count = std::optional<Vector<i32>>;

Judged read_rows(const BinsHandle& bins, const Matrix<double>& y, const Count& count,
                 const Factor& factor, const Matrix<double>& score, i64 n_columns) {
  Judged rows;
  rows.bins = bins.bins;
  const i64 n = rows.n_rows();
  if (static_cast<i64>(y.shape(1)) != n || static_cast<i64>(score.shape(1)) != n ||
      static_cast<i64>(score.shape(0)) != n_columns ||
      (count && static_cast<i64>(count->size()) != n) ||
      (factor && static_cast<i64>(factor->size()) != n)) {
    refuse("Targets, weights and scores must have one entry for each row of the bins.");
  }
  rows.y.assign(y.data(), y.data() + y.size());
  if (count) rows.count.assign(count->data(), count->data() + n);
  if (factor) rows.factor.assign(factor->data(), factor->data() + n);
  rows.score.assign(score.data(), score.data() + score.size());
  return rows;
}

class PyBooster {
 public:
  PyBooster(const BinsHandle& bins, const nb::dict& params, const Matrix<double>& y,
            const Count& count, const Factor& factor, const Matrix<double>& score, int n_threads)
      : loss_(read_loss(params)),
        booster_(read_rows(bins, y, count, factor, score, loss_.n_columns), read_growth(params),
                 loss_, read_sampling(params), std::max(n_threads, 1)) {
    const i64 wanted = loss_.kind == LossKind::multinomial ? 1 : loss_.n_columns;
    if (static_cast<i64>(y.shape(0)) != wanted)
      refuse("Targets must have one row for each column of scores.");
  }

  void follow(const BinsHandle& bins, const Matrix<double>& y, const Count& count,
              const Factor& factor, const Matrix<double>& score) {
    booster_.others.push_back(read_rows(bins, y, count, factor, score, loss_.n_columns));
  }

  void round(i64 number, double learning_rate, std::optional<Matrix<double>> gradient,
             std::optional<Matrix<double>> hessian) {
    RoundParams params;
    params.number = number;
    params.learning_rate = learning_rate;
    if (loss_.kind == LossKind::given) {
      const auto size = booster_.training.score.size();
      if (!gradient || !hessian || gradient->size() != size || hessian->size() != size) {
        refuse("A loss of one's own needs gradients and hessians for each score.");
      }
      params.gradient = gradient->data();
      params.hessian = hessian->data();
    }
    GilRelease release;
    SignalPoll poll;
    booster_.round(params, poll);
  }

  double loss(i64 which) {
    const Judged& rows = at(which);
    GilRelease release;
    const Team team;
    return booster_.loss(rows);
  }

  nb::object scores(i64 which) {
    const Judged& rows = at(which);
    return to_numpy(rows.score, {static_cast<std::size_t>(loss_.n_columns),
                                 static_cast<std::size_t>(rows.n_rows())});
  }

  void set_scores(i64 which, const Matrix<double>& score) {
    Judged& rows = at(which);
    if (score.size() != rows.score.size())
      refuse("Scores must have one entry for each row and column.");
    rows.score.assign(score.data(), score.data() + score.size());
  }

  // The trees grown since they were last taken.
  nb::dict take_trees() {
    const Bins& bins = *booster_.training.bins;
    nb::dict out = tree_arrays(booster_.trees, bins);
    booster_.trees.clear();
    return out;
  }

 private:
  // −1: the rows of training, otherwise those that follow.
  Judged& at(i64 which) {
    if (which < 0) return booster_.training;
    if (which >= static_cast<i64>(booster_.others.size())) refuse("There are no such rows.");
    return booster_.others[which];
  }

  LossParams loss_;
  Booster booster_;
};

}  // namespace

void bind_boost(nb::module_& m) {
  m.def("bin_edges", &edges_of_columns, nb::arg("columns"), nb::arg("n_rows"),
        nb::arg("weight").noconvert().none(), nb::arg("max_bins"), nb::arg("most_rows"),
        nb::arg("n_threads"));
  m.def("summary_edges", &edges_of_summary, nb::arg("value").noconvert(),
        nb::arg("weight").noconvert(), nb::arg("max_bins"));
  m.def("sparse_edges", &edges_of_sparse, nb::arg("start").noconvert(), nb::arg("row").noconvert(),
        nb::arg("value").noconvert(), nb::arg("n_rows"), nb::arg("weight").noconvert().none(),
        nb::arg("max_bins"), nb::arg("n_threads"));
  m.def("bundle_columns", &bundle_columns, nb::arg("start").noconvert(), nb::arg("row").noconvert(),
        nb::arg("value").noconvert(), nb::arg("n_rows"), nb::arg("edges"));
  m.def("sparse_bins", &sparse_bins, nb::arg("start").noconvert(), nb::arg("row").noconvert(),
        nb::arg("value").noconvert(), nb::arg("n_rows"), nb::arg("edges"),
        nb::arg("stored").noconvert());
  m.def("distinct_values", &distinct_values, nb::arg("column"), nb::arg("n_rows"), nb::arg("most"));
  m.def("drawn_rows", &drawn_rows, nb::arg("first"), nb::arg("n"), nb::arg("n_all"),
        nb::arg("most"));
  m.def("row_chances", &chances_of_rows, nb::arg("seed"), nb::arg("number"), nb::arg("first"),
        nb::arg("n"));
  nb::class_<BinsHandle>(m, "Bins")
      .def("__init__", &make_bins, nb::arg("columns"), nb::arg("maps"), nb::arg("n_rows"),
           nb::arg("n_threads"))
      .def("by_row", &bins_by_row)
      .def("by_column", &bins_by_column);
  nb::class_<PyBooster>(m, "Booster")
      .def(nb::init<const BinsHandle&, const nb::dict&, const Matrix<double>&, const Count&,
                    const Factor&, const Matrix<double>&, int>(),
           nb::arg("bins"), nb::arg("params"), nb::arg("y").noconvert(),
           nb::arg("count").noconvert().none(), nb::arg("factor").noconvert().none(),
           nb::arg("score").noconvert(), nb::arg("n_threads"))
      .def("follow", &PyBooster::follow, nb::arg("bins"), nb::arg("y").noconvert(),
           nb::arg("count").noconvert().none(), nb::arg("factor").noconvert().none(),
           nb::arg("score").noconvert())
      .def("round", &PyBooster::round, nb::arg("number"), nb::arg("learning_rate"),
           nb::arg("gradient").noconvert().none() = nb::none(),
           nb::arg("hessian").noconvert().none() = nb::none())
      .def("loss", &PyBooster::loss, nb::arg("which"))
      .def("scores", &PyBooster::scores, nb::arg("which"))
      .def("set_scores", &PyBooster::set_scores, nb::arg("which"), nb::arg("score").noconvert())
      .def("take_trees", &PyBooster::take_trees);
}

}  // namespace treewright
