// The one predictor: a Router behind Python arrays, in blocks of rows over threads.
//
// Rows are independent, so neither pieces nor threads can change a result.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/threads.hpp"
#include "predict/input.hpp"
#include "predict/predict.hpp"
#include "predict/tree_arrays.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

using namespace predict;

// A piece takes some 20 ms at most, so that an interrupt is answered in time.
std::int32_t piece_rows(const Router& router, double extra_work) {
  const double n_used = static_cast<double>(router.used.size());
  const double rows = (1 << 21) / (router.work_per_row + n_used + extra_work);
  return static_cast<std::int32_t>(std::clamp(rows, 1.0, double{max_piece}));
}

// Walks the rows of one piece, then calls finish(start, count, end, block) where row 0 of the
// block is row start of the input.
template <class Block, class Finish>
void run_piece(const Router& router, const Block& block, std::int64_t start, std::int32_t count,
               const Finish& finish) {
  std::int32_t end[max_piece];
  if (router.is_plain)
    walk<true>(router, block, count, end);
  else
    walk<false>(router, block, count, end);
  finish(start, count, end, block);
}

template <class T>
Block<T, 1> rows_from(const Input& input, std::int64_t start) {
  return {static_cast<const T*>(input.data) + start * input.row_step, input.row_step};
}

// Runs all pieces; extra_work is what finish does per row, in steps of a walk.
template <class Finish>
void run(const Router& router, const Input& input, int n_threads, double extra_work,
         const Finish& finish) {
  const std::int64_t rows = piece_rows(router, extra_work);
  constexpr double thread_work = 50000;  // starting a thread costs about as much
  const double work = static_cast<double>(input.n_rows) * (router.work_per_row + extra_work);
  const int team = static_cast<int>(std::clamp(work / thread_work, 1.0, double(n_threads)));
  std::vector<std::unique_ptr<double[]>> scratch(team);
  auto body = [&](std::int64_t piece, int thread) {
    const std::int64_t start = piece * rows;
    const auto count = static_cast<std::int32_t>(std::min(rows, input.n_rows - start));
    if (!input.is_block) {
      auto& own = scratch[thread];
      if (!own) own.reset(new double[router.n_categories.size() * max_piece]);
      run_piece(router, gather_all(input, start, count, own.get()), start, count, finish);
    } else if (input.type == Number::float64) {
      run_piece(router, rows_from<double>(input, start), start, count, finish);
    } else {
      run_piece(router, rows_from<float>(input, start), start, count, finish);
    }
  };
  // A few rows are done before another Python thread could take over.
  std::optional<GilRelease> release;
  if (work > thread_work / 10) release.emplace();
  parallel_for((input.n_rows + rows - 1) / rows, team, body, SignalPoll());
}

class Predictor {
 public:
  explicit Predictor(const TreeArrays& tree) : router_(tree) {}

  const Router& router() const { return router_; }

  // The node where each row ends; of a divided row the end with the largest share.
  auto apply(nb::handle rows, int n_threads) const {
    const Input input = read(rows, n_threads);
    auto out = allocate(std::int32_t{}, input.n_rows);
    run(router_, input, n_threads, 0,
        [&, result = out.data()](std::int64_t start, std::int32_t count, const std::int32_t* end,
                                 const auto& block) {
          Division division;
          for (std::int32_t i = 0; i < count; ++i)
            result[start + i] = heaviest(end[i], block, i, division);
        });
    return out;
  }

  // The values of each row's end; of a divided row the mean over its ends weighted by share.
  auto values(nb::handle rows, const Matrix<double>& node_values, int n_threads) const {
    check_nodes(node_values.shape(0), "values");
    const Input input = read(rows, n_threads);
    const std::size_t k = node_values.shape(1);
    auto out = allocate(double{}, input.n_rows, k);
    run(router_, input, n_threads, static_cast<double>(k),
        [&, result = out.data(), source = view(node_values).data()](
            std::int64_t start, std::int32_t count, const std::int32_t* end, const auto& block) {
          Division division;
          for (std::int32_t i = 0; i < count; ++i) {
            double* to = result + (start + i) * k;
            if (end[i] >= 0) {
              std::copy_n(source + end[i] * k, k, to);
              continue;
            }
            division.descend(router_, ~end[i], block[i]);
            std::fill_n(to, k, 0.0);
            for (const auto& part : division.ends)
              for (std::size_t c = 0; c < k; ++c) to[c] += part.share * source[part.node * k + c];
          }
        });
    return out;
  }

  // Every node that each row visits, ascending, as (indptr, indices).
  nb::tuple path(nb::handle rows, int n_threads) const {
    const Input input = read(rows, n_threads);
    const double extra = router_.max_path;
    const std::int32_t rows_per_piece = piece_rows(router_, extra);
    std::vector<std::vector<std::int32_t>> visited(input.n_rows / rows_per_piece + 1);
    auto indptr = allocate(std::int64_t{}, input.n_rows + 1);
    indptr.data()[0] = 0;
    run(router_, input, n_threads, extra,
        [&, length = indptr.data() + 1](std::int64_t start, std::int32_t count,
                                        const std::int32_t* end, const auto& block) {
          Division division;
          auto& nodes = visited[start / rows_per_piece];
          for (std::int32_t i = 0; i < count; ++i) {
            const auto before = static_cast<std::ptrdiff_t>(nodes.size());
            add_path(nodes, end[i], block, i, division);
            length[start + i] = static_cast<std::int64_t>(nodes.size()) - before;
          }
        });
    for (std::int64_t i = 0; i < input.n_rows; ++i) indptr.data()[i + 1] += indptr.data()[i];
    auto indices = allocate(std::int32_t{}, indptr.data()[input.n_rows]);
    std::int32_t* to = indices.data();
    for (const auto& nodes : visited) to = std::copy(nodes.begin(), nodes.end(), to);
    return nb::make_tuple(indptr, indices);
  }

  // Every end of every row, as (indptr, nodes, shares); most rows have one, with a share of 1.
  nb::tuple ends(nb::handle rows, int n_threads) const {
    const Input input = read(rows, n_threads);
    const double extra = router_.max_path;
    const std::int32_t rows_per_piece = piece_rows(router_, extra);
    std::vector<std::vector<Division::Part>> found(input.n_rows / rows_per_piece + 1);
    auto indptr = allocate(std::int64_t{}, input.n_rows + 1);
    indptr.data()[0] = 0;
    run(router_, input, n_threads, extra,
        [&, length = indptr.data() + 1](std::int64_t start, std::int32_t count,
                                        const std::int32_t* end, const auto& block) {
          Division division;
          auto& parts = found[start / rows_per_piece];
          for (std::int32_t i = 0; i < count; ++i) {
            const std::size_t before = parts.size();
            if (end[i] >= 0) {
              parts.push_back({end[i], 1.0});
            } else {
              division.descend(router_, ~end[i], block[i]);
              parts.insert(parts.end(), division.ends.begin(), division.ends.end());
            }
            length[start + i] = static_cast<std::int64_t>(parts.size() - before);
          }
        });
    for (std::int64_t i = 0; i < input.n_rows; ++i) indptr.data()[i + 1] += indptr.data()[i];
    auto nodes = allocate(std::int32_t{}, indptr.data()[input.n_rows]);
    auto shares = allocate(double{}, indptr.data()[input.n_rows]);
    std::int64_t at = 0;
    for (const auto& parts : found) {
      for (const Division::Part& part : parts) {
        nodes.data()[at] = part.node;
        shares.data()[at++] = part.share;
      }
    }
    return nb::make_tuple(indptr, nodes, shares);
  }

  // For each row and each of the ascending alphas the first node on the row's path that has
  // collapsed (node_alpha <= alpha), or where the path ends.
  auto reach(nb::handle rows, const Vector<double>& node_alpha, const Vector<double>& alphas,
             int n_threads) const {
    check_nodes(node_alpha.size(), "alphas");
    const auto collapsed_from = first_at_least(view(alphas), view(node_alpha));
    const auto m = static_cast<std::int32_t>(alphas.size());
    const Input input = read(rows, n_threads);
    auto out = allocate(std::int32_t{}, input.n_rows, m);
    run(router_, input, n_threads, router_.max_path + m,
        [&, result = out.data()](std::int64_t start, std::int32_t count, const std::int32_t* end,
                                 const auto& block) {
          Division division;
          std::vector<std::int32_t> path;
          for (std::int32_t i = 0; i < count; ++i) {
            path.clear();
            climb(path, heaviest(end[i], block, i, division));
            fill_reach(path, collapsed_from, m, result + (start + i) * m);
          }
        });
    return out;
  }

 private:
  Input read(nb::handle rows, int n_threads) const {
    if (n_threads < 1)
      refuse("n_threads must be at least 1, got " + std::to_string(n_threads) + ".");
    return Input(router_, rows);
  }

  void check_nodes(std::size_t count, const char* what) const {
    if (count != router_.nodes.size())
      refuse(std::string("Node ") + what + " must be one for each of the tree's " +
             std::to_string(router_.nodes.size()) + " nodes, got " + std::to_string(count) + ".");
  }

  template <class Block>
  std::int32_t heaviest(std::int32_t end, const Block& block, std::int32_t i,
                        Division& division) const {
    if (end >= 0) return end;
    division.descend(router_, ~end, block[i]);
    return division.heaviest();
  }

  // For each node the first of the ascending alphas at which it is a leaf.
  static std::vector<std::int32_t> first_at_least(std::span<const double> alphas,
                                                  std::span<const double> node_alpha) {
    if (alphas.size() >= std::numeric_limits<std::int32_t>::max())
      refuse("alphas must be fewer than 2^31.");
    for (std::size_t j = 0; j < alphas.size(); ++j)
      if (!(alphas[j] >= alphas[j ? j - 1 : 0])) refuse("alphas must ascend and not be NaN.");
    std::vector<std::int32_t> first;
    first.reserve(node_alpha.size());
    for (const double alpha : node_alpha) {
      const auto at = alpha != alpha ? alphas.end() : std::ranges::lower_bound(alphas, alpha);
      first.push_back(static_cast<std::int32_t>(at - alphas.begin()));
    }
    return first;
  }

  // Appends the nodes from the root to node.
  void climb(std::vector<std::int32_t>& path, std::int32_t node) const {
    const auto before = static_cast<std::ptrdiff_t>(path.size());
    for (; node >= 0; node = router_.parent[node]) path.push_back(node);
    std::reverse(path.begin() + before, path.end());
  }

  template <class Block>
  void add_path(std::vector<std::int32_t>& nodes, std::int32_t end, const Block& block,
                std::int32_t i, Division& division) const {
    climb(nodes, end >= 0 ? end : ~end);
    if (end >= 0) return;
    division.descend(router_, ~end, block[i]);
    // The node that divides is on the path to it already.
    std::sort(division.visited.begin(), division.visited.end());
    nodes.insert(nodes.end(), division.visited.begin() + 1, division.visited.end());
  }

  static void fill_reach(const std::vector<std::int32_t>& path,
                         const std::vector<std::int32_t>& collapsed_from, std::int32_t m,
                         std::int32_t* out) {
    std::int32_t open = m;  // alphas [0, open) have not met a collapsed node yet
    for (const std::int32_t node : path) {
      const std::int32_t from = node == path.back() ? 0 : collapsed_from[node];
      if (from >= open) continue;
      std::fill(out + from, out + open, node);
      open = from;
    }
  }

  Router router_;
};

void construct(Predictor* self, const Vector<std::int32_t>& n_categories,
               const Vector<std::int32_t>& first_child, const Vector<std::int32_t>& n_children,
               const Vector<std::int32_t>& gap, const Vector<double>& weight,
               const Vector<std::int64_t>& surrogate_offset, const nb::tuple& splits,
               const nb::tuple& surrogates) {
  std::vector<nb::object> owners;
  const TreeArrays tree{view(n_categories),
                        view(first_child),
                        view(n_children),
                        view(gap),
                        view(weight),
                        view(surrogate_offset),
                        read_splits(splits, owners),
                        read_splits(surrogates, owners)};
  new (self) Predictor(tree);
}

}  // namespace

void bind_predict(nb::module_& m) {
  nb::class_<Predictor>(m, "Predictor")
      .def("__init__", &construct, nb::arg("n_categories").noconvert(),
           nb::arg("first_child").noconvert(), nb::arg("n_children").noconvert(),
           nb::arg("default").noconvert(), nb::arg("weight").noconvert(),
           nb::arg("surrogate_offset").noconvert(), nb::arg("splits"), nb::arg("surrogates"))
      .def("apply", &Predictor::apply, nb::arg("rows"), nb::arg("n_threads") = 1)
      .def("values", &Predictor::values, nb::arg("rows"), nb::arg("node_values").noconvert(),
           nb::arg("n_threads") = 1)
      .def("path", &Predictor::path, nb::arg("rows"), nb::arg("n_threads") = 1)
      .def("ends", &Predictor::ends, nb::arg("rows"), nb::arg("n_threads") = 1)
      .def("reach", &Predictor::reach, nb::arg("rows"), nb::arg("node_alpha").noconvert(),
           nb::arg("alphas").noconvert(), nb::arg("n_threads") = 1)
      .def_prop_ro("n_nodes", [](const Predictor& self) { return self.router().n_nodes(); })
      .def_prop_ro("n_features",
                   [](const Predictor& self) { return self.router().n_categories.size(); })
      .def_prop_ro("divides", [](const Predictor& self) { return self.router().divides(); });
}

}  // namespace treewright
