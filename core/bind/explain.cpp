// Python's door to Shapley values of trees.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/team.hpp"
#include "base/threads.hpp"
#include "explain/hybrids.hpp"
#include "explain/path_shares.hpp"
#include "predict/input.hpp"
#include "predict/tree_arrays.hpp"

namespace treewright {
namespace {

using namespace explain;
using predict::Input;

// Ctrl-C and progress, from the calling thread; the others ask whether to go on.
class Watch {
 public:
  explicit Watch(nb::object progress) : progress_(std::move(progress)) {}

  void tell(double done) { done_.store(done, std::memory_order_relaxed); }
  bool is_over() const { return is_over_.load(std::memory_order_relaxed); }

  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    try {
      nb::gil_scoped_acquire gil;
      refuse_at_end();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress_.is_none()) progress_(done_.load(std::memory_order_relaxed));
    } catch (...) {
      is_over_.store(true, std::memory_order_relaxed);
      throw;
    }
  }

 private:
  nb::object progress_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::atomic<double> done_{0};
  std::atomic<bool> is_over_{false};
};

// Copies rows [start, start + count) feature by feature, `step` apart.
template <class T>
void turn(const Input& input, const std::vector<i32>& used, i64 start, i64 count, double* to,
          i64 step) {
  for (i64 i = 0; i < count; ++i) {
    const T* row = static_cast<const T*>(input.data) + (start + i) * input.row_step;
    for (const i32 f : used) to[f * step + i] = static_cast<double>(row[f]);
  }
}

class TreeExplainer {
 public:
  // trees: (arrays of a tree, values by node, first output, bounds of soft thresholds or None).
  TreeExplainer(const Vector<i32>& categories, const nb::list& trees, i64 n_outputs, int n_threads)
      : n_categories(view(categories).begin(), view(categories).end()), n_outputs_(n_outputs) {
    lay_out(trees, n_threads);
    std::vector<u8> is_used(n_categories.size(), 0);
    i32 most = 1;
    for (const auto& tree : trees_) {
      for (const i32 f : tree->router.used) is_used[f] = 1;
      most = std::max(most, tree->n_distinct);
    }
    for (std::size_t f = 0; f < is_used.size(); ++f) {
      if (is_used[f]) used.push_back(static_cast<i32>(f));
    }
    const i32 n_used = static_cast<i32>(used.size());
    for (const auto& tree : trees_) {
      if (tree->has_linear || tree->has_surrogates) most = std::max(most, n_used);
    }
    rules_ = std::make_unique<Rules>(most);
    shares_ = std::make_unique<Shares>(n_used);
  }

  // What predict::Input asks for.
  std::vector<i32> n_categories, used;

  nb::object expected() const {
    auto out = allocate(double{}, n_outputs_);
    std::fill_n(out.data(), n_outputs_, 0.0);
    for (const auto& tree : trees_) {
      for (i32 k = 0; k < tree->width; ++k) out.data()[tree->column + k] += tree->expected[k];
    }
    return nb::cast(out);
  }

  nb::tuple path_dependent(nb::handle rows, bool pairs, int n_threads, nb::object progress) {
    const Input input(*this, rows);
    Results results(*this, input.n_rows, pairs);
    Watch watch(std::move(progress));
    {
      GilRelease release;
      run_paths(input, results, n_threads, watch);
    }
    return results.tuple();
  }

  nb::tuple interventional(nb::handle rows, nb::handle background, bool pairs, int n_threads,
                           nb::object progress) {
    const Input input(*this, rows), others(*this, background);
    if (others.n_rows < 1) refuse("A background must have rows.");
    Results results(*this, input.n_rows, pairs);
    Watch watch(std::move(progress));
    {
      GilRelease release;
      run_hybrids(input, others, results, n_threads, watch);
    }
    return results.tuple();
  }

 private:
  struct Results {
    using Values = decltype(allocate(double{}, 1, 1, 1));
    using Pairs = decltype(allocate(double{}, 1, 1, 1, 1));
    i64 n_features, n_outputs;
    Values values;
    Pairs pairs;
    bool has_pairs;

    Results(const TreeExplainer& self, i64 n_rows, bool has_pairs)
        : n_features(static_cast<i64>(self.n_categories.size())),
          n_outputs(self.n_outputs_),
          values(allocate(double{}, n_rows, n_features, n_outputs)),
          pairs(allocate(double{}, has_pairs ? n_rows : 0, n_features, n_features, n_outputs)),
          has_pairs(has_pairs) {
      std::fill_n(values.data(), n_rows * row_size(), 0.0);
      if (has_pairs) std::fill_n(pairs.data(), n_rows * n_features * row_size(), 0.0);
    }
    i64 row_size() const { return n_features * n_outputs; }
    nb::tuple tuple() const {
      return nb::make_tuple(values, has_pairs ? nb::cast(pairs) : nb::none());
    }
  };

  struct Given {
    predict::TreeArrays arrays;
    Soft soft;
    const double* values;
    i32 width, column;
  };

  void lay_out(const nb::list& trees, int n_threads) {
    std::vector<Given> given;
    for (nb::handle item : trees) given.push_back(read_tree(nb::cast<nb::tuple>(item)));
    trees_.resize(given.size());
    GilRelease release;
    parallel_for(static_cast<i64>(given.size()), n_threads, [&](i64 i, int) {
      const Given& of = given[i];
      trees_[i] = std::make_unique<ShapTree>(of.arrays, of.soft, of.values, of.width, of.column);
    });
  }

  Given read_tree(const nb::tuple& item) {
    if (item.size() != 4) throw nb::type_error("A tree must be a tuple of 4 entries.");
    const auto a = nb::cast<nb::tuple>(item[0]);
    if (a.size() != 7) throw nb::type_error("The arrays of a tree must be a tuple of 7 entries.");
    const predict::TreeArrays arrays{n_categories,
                                     read_vector<i32>(a[0], owners_),
                                     read_vector<i32>(a[1], owners_),
                                     read_vector<i32>(a[2], owners_),
                                     read_vector<double>(a[3], owners_),
                                     read_vector<i64>(a[4], owners_),
                                     predict::read_splits(nb::cast<nb::tuple>(a[5]), owners_),
                                     predict::read_splits(nb::cast<nb::tuple>(a[6]), owners_)};
    const std::size_t n_nodes = arrays.first_child.size();
    const auto values = nb::cast<Matrix<double>>(item[1]);
    owners_.push_back(nb::borrow(item[1]));
    const i64 column = nb::cast<i64>(item[2]), width = static_cast<i64>(values.shape(1));
    if (values.shape(0) != n_nodes) refuse("Values must have one row for each node of the tree.");
    if (column < 0 || width < 1 || column + width > n_outputs_) {
      refuse("The values of a tree must lie among the outputs.");
    }
    Soft soft;
    if (!item[3].is_none()) {
      const auto bounds = nb::cast<nb::tuple>(item[3]);
      if (bounds.size() != 3) throw nb::type_error("Bounds must be a tuple of 3 arrays.");
      soft = {read_vector<double>(bounds[0], owners_), read_vector<double>(bounds[1], owners_),
              read_vector<double>(bounds[2], owners_)};
      for (const auto& bound : {soft.lower, soft.middle, soft.upper}) {
        if (bound.size() != n_nodes) refuse("Bounds must have one entry for each node.");
      }
    }
    return {arrays, soft, view(values).data(), static_cast<i32>(width), static_cast<i32>(column)};
  }

  void gather(const Input& input, i64 start, i64 count, double* to, i64 step) const {
    if (input.is_block) {
      input.type == predict::Number::float64 ? turn<double>(input, used, start, count, to, step)
                                             : turn<float>(input, used, start, count, to, step);
      return;
    }
    for (const predict::Column& column : input.columns) {
      const auto n = static_cast<i32>(count);
      double* out = to + column.feature * step;
      column.type == predict::Number::float64   ? predict::gather<double>(column, start, n, out)
      : column.type == predict::Number::float32 ? predict::gather<float>(column, start, n, out)
                                                : predict::gather<i32>(column, start, n, out);
    }
  }

  void run_paths(const Input& input, Results& results, int n_threads, Watch& watch) {
    const i64 n_features = results.n_features, row_size = results.row_size();
    const i64 size = std::min<i64>(max_piece, std::max<i64>(kLanes, input.n_rows / n_threads));
    const i64 piece_rows = (size + kLanes - 1) / kLanes * kLanes;
    const i64 n_pieces = (input.n_rows + piece_rows - 1) / piece_rows;
    std::atomic<i64> n_done{0};
    std::vector<std::unique_ptr<std::vector<double>>> scratch(n_threads);
    auto body = [&](i64 number, int thread) {
      auto& own = scratch[thread];
      if (!own) own = std::make_unique<std::vector<double>>(n_features * max_piece, 0.0);
      std::vector<double> sums(row_size * max_piece, 0.0);
      PathWorker worker(*rules_);
      const i64 start = number * piece_rows, count = std::min(piece_rows, input.n_rows - start);
      gather(input, start, count, own->data(), max_piece);
      double* pairs =
          results.has_pairs ? results.pairs.data() + start * n_features * row_size : nullptr;
      const PathSums to{sums.data(), pairs, n_features, n_outputs_};
      for (const auto& tree : trees_) {
        for (i64 first = 0; first < count; first += kLanes) {
          const i64 n = std::min<i64>(kLanes, count - first);
          worker.add(*tree, own->data(), static_cast<i32>(first), static_cast<i32>(n), to);
          if (thread == 0) watch();
          if (watch.is_over()) return;
        }
      }
      double* out = results.values.data() + start * row_size;
      for (i64 i = 0; i < count; ++i) {
        for (i64 j = 0; j < row_size; ++j) out[i * row_size + j] = sums[j * max_piece + i];
      }
      watch.tell(static_cast<double>(++n_done) / static_cast<double>(n_pieces));
    };
    parallel_for(n_pieces, n_threads, body, [] {});
  }

  void run_hybrids(const Input& input, const Input& others, Results& results, int n_threads,
                   Watch& watch) {
    const i64 n_features = results.n_features, n_others = others.n_rows;
    std::vector<double> background(n_features * n_others);
    for (i64 start = 0; start < n_others; start += max_piece) {
      gather(others, start, std::min<i64>(max_piece, n_others - start), background.data() + start,
             n_others);
    }
    const HybridSums to{results.values.data(), results.has_pairs ? results.pairs.data() : nullptr,
                        n_features, n_outputs_};
    const i64 size = std::min(RowSet::kMost, (input.n_rows + n_threads - 1) / n_threads);
    const i64 n_pieces = size ? (input.n_rows + size - 1) / size : 0;
    std::vector<std::unique_ptr<double[]>> scratch(n_threads);
    Team team;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      const Background known(*trees_[t], {background.data(), n_others, n_others}, *shares_,
                             input.n_rows, n_threads, [&] { watch(); });
      auto body = [&](i64 number, int thread) {
        auto& own = scratch[thread];
        if (!own) own.reset(new double[n_features * size]);
        const i64 start = number * size, count = std::min(size, input.n_rows - start);
        gather(input, start, count, own.get(), size);
        known.add({own.get(), size, count}, start, to, [&] {
          if (thread == 0) watch();
          return watch.is_over();
        });
      };
      parallel_for(n_pieces, n_threads, body, [] {});
      watch.tell(static_cast<double>(t + 1) / static_cast<double>(trees_.size()));
    }
  }

  i64 n_outputs_;
  std::vector<nb::object> owners_;
  std::vector<std::unique_ptr<ShapTree>> trees_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<Shares> shares_;
};

}  // namespace

void bind_explain(nb::module_& m) {
  nb::class_<TreeExplainer>(m, "TreeExplainer")
      .def(nb::init<const Vector<i32>&, const nb::list&, i64, int>(),
           nb::arg("n_categories").noconvert(), nb::arg("trees"), nb::arg("n_outputs"),
           nb::arg("n_threads") = 1)
      .def("path_dependent", &TreeExplainer::path_dependent, nb::arg("rows"), nb::arg("pairs"),
           nb::arg("n_threads"), nb::arg("progress").none())
      .def("interventional", &TreeExplainer::interventional, nb::arg("rows"), nb::arg("background"),
           nb::arg("pairs"), nb::arg("n_threads"), nb::arg("progress").none())
      .def_prop_ro("expected", &TreeExplainer::expected);
}

}  // namespace treewright
