// Python's door to bins and boosters.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/team.hpp"
#include "base/threads.hpp"
#include "boost/booster.hpp"
#include "boost/tree_arrays.hpp"

namespace treewright {
namespace {

using namespace boost;

std::vector<Column> read_columns(const nb::list& columns) {
  std::vector<Column> out;
  for (const nb::handle column : columns) out.push_back(read_column(column));
  return out;
}

// Edges of ordered columns. Where there are more rows than `most`, as many are looked at, one of
// each of as many equal parts.
nb::list edges_of_columns(const nb::list& arrays, i64 n_rows, std::optional<Vector<double>> weight,
                          i32 max_bins, i64 most, int n_threads) {
  const double* weights = weight ? weight->data() : nullptr;
  if (weight && static_cast<i64>(weight->size()) != n_rows)
    refuse("Weights must be one for each row.");
  const std::vector<Column> columns = read_columns(arrays);
  std::vector<std::vector<double>> edges(columns.size());
  {
    nb::gil_scoped_release release;
    const i64 n = std::min(n_rows, most);
    parallel_for(static_cast<i64>(columns.size()), n_threads, [&](i64 f, int) {
      const Column& column = columns[f];
      std::vector<WeighedValue> values(n);
      for (i64 i = 0; i < n; ++i) {
        const double place = static_cast<double>(i) + row_chance(0, 0, i);
        const i64 row =
            n == n_rows
                ? i
                : std::min(n_rows - 1, static_cast<i64>(place * (static_cast<double>(n_rows) /
                                                                 static_cast<double>(n))));
        values[i].weight = weights ? weights[row] : 1.0;
        if (column.type == ColumnType::code) {
          const i32 code = column.code(row);
          values[i].value = code < 0 ? std::nan("") : code;
        } else {
          values[i].value = column.value(row);
        }
      }
      edges[f] = bin_edges(summarize(values), max_bins);
    });
  }
  nb::list out;
  for (std::vector<double>& e : edges) out.append(to_numpy(std::move(e)));
  return out;
}

nb::object edges_of_summary(const Vector<double>& value, const Vector<double>& weight,
                            i32 max_bins) {
  Summary s;
  s.value.assign(value.data(), value.data() + value.size());
  s.weight.assign(weight.data(), weight.data() + weight.size());
  return to_numpy(bin_edges(s, max_bins));
}

struct BinsHandle {
  std::shared_ptr<const Bins> bins;
};

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
    nb::gil_scoped_release release;
    bins = std::make_shared<const Bins>(std::move(read), given, n_rows, n_threads);
  }
  new (self) BinsHandle{std::move(bins)};
}

nb::object bins_by_column(const BinsHandle& self) {
  const Bins& bins = *self.bins;
  const u8* from = bins.column(0);
  return to_numpy(
      std::vector<u8>(from, from + bins.n_rows() * bins.n_features()),
      {static_cast<std::size_t>(bins.n_features()), static_cast<std::size_t>(bins.n_rows())});
}

template <class T>
T number(const nb::dict& d, const char* name) {
  return nb::cast<T>(d[name]);
}

GrowParams read_growth(const nb::dict& d) {
  GrowParams p;
  const auto growth = number<std::string>(d, "growth");
  p.growth = growth == "leaf"    ? Growth::leaf
             : growth == "depth" ? Growth::depth
                                 : Growth::symmetric;
  p.max_leaves = number<i64>(d, "max_leaves");
  if (const i64 depth = number<i64>(d, "max_depth")) p.max_depth = static_cast<i32>(depth);
  p.min_rows = number<i64>(d, "min_rows");
  p.min_hessian = number<double>(d, "min_hessian");
  p.l1 = number<double>(d, "l1");
  p.l2 = number<double>(d, "l2");
  p.min_gain = number<double>(d, "min_gain");
  p.max_step = number<double>(d, "max_step");
  p.nominal_smoothing = number<double>(d, "nominal_smoothing");
  p.nominal_l2 = number<double>(d, "nominal_l2");
  p.nominal_max_groups = number<i32>(d, "nominal_max_groups");
  p.tree_share = number<double>(d, "tree_share");
  p.level_share = number<double>(d, "level_share");
  p.node_share = number<double>(d, "node_share");
  p.monotonic = number<std::vector<i32>>(d, "monotonic");
  p.interactions = number<std::vector<std::vector<i32>>>(d, "interactions");
  p.seed = number<u64>(d, "seed");
  return p;
}

LossParams read_loss(const nb::dict& d) {
  static const std::map<std::string, LossKind> kinds{{"squared_error", LossKind::squared},
                                                     {"absolute_error", LossKind::absolute},
                                                     {"huber", LossKind::huber},
                                                     {"quantile", LossKind::quantile},
                                                     {"poisson", LossKind::poisson},
                                                     {"gamma", LossKind::gamma},
                                                     {"tweedie", LossKind::tweedie},
                                                     {"logistic", LossKind::logistic},
                                                     {"multinomial", LossKind::multinomial},
                                                     {"exponential", LossKind::exponential},
                                                     {"given", LossKind::given}};
  const auto at = kinds.find(number<std::string>(d, "loss"));
  if (at == kinds.end()) refuse("Unknown loss.");
  return {at->second, number<i32>(d, "n_columns"), number<double>(d, "loss_number")};
}

SamplingParams read_sampling(const nb::dict& d) {
  const auto kind = number<std::string>(d, "sampling");
  SamplingParams p;
  p.kind = kind == "goss"  ? SamplingKind::goss
           : kind == "mvs" ? SamplingKind::mvs
                           : SamplingKind::uniform;
  p.share = number<double>(d, "share");
  p.top_share = number<double>(d, "top_share");
  p.seed = number<u64>(d, "seed");
  return p;
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
    nb::gil_scoped_release release;
    SignalPoll poll;
    booster_.round(params, poll);
  }

  double loss(i64 which) {
    const Judged& rows = at(which);
    nb::gil_scoped_release release;
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
    TreeArrays a;
    for (const BinTree& tree : booster_.trees) a.add(tree, bins);
    booster_.trees.clear();
    const std::size_t n_trees = a.node_offset.size() - 1, n_leaves = a.leaf_value.size();
    nb::dict out;
    out["node_offset"] = to_numpy(std::move(a.node_offset));
    out["n_children"] = to_numpy(std::move(a.n_children));
    out["feature"] = to_numpy(std::move(a.feature));
    out["gap_branch"] = to_numpy(std::move(a.gap_branch));
    out["n_gaps"] = to_numpy(std::move(a.n_gaps));
    out["gain"] = to_numpy(std::move(a.gain));
    out["kind"] = to_numpy(std::move(a.kind));
    out["n_breaks"] = to_numpy(std::move(a.n_breaks));
    out["n_codes"] = to_numpy(std::move(a.n_codes));
    out["breaks"] = to_numpy(std::move(a.breaks));
    out["codes"] = to_numpy(std::move(a.codes));
    out["branches"] = to_numpy(std::move(a.branches));
    out["leaf_samples"] = to_numpy(std::move(a.leaf_samples));
    out["leaf_value"] = to_numpy(std::move(a.leaf_value), {n_leaves, 1});
    out["leaf_weight"] = to_numpy(std::move(a.leaf_weight));
    out["importance"] =
        to_numpy(std::move(a.importance), {n_trees, static_cast<std::size_t>(bins.n_features())});
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
  nb::class_<BinsHandle>(m, "Bins")
      .def("__init__", &make_bins, nb::arg("columns"), nb::arg("maps"), nb::arg("n_rows"),
           nb::arg("n_threads"))
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
