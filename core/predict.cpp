// The one predictor: a Router behind Python arrays, in blocks of rows over threads.
//
// Rows are independent, so neither pieces nor threads can change a result. A row-major block of
// floats is walked where it lies; all else is first gathered, piece by piece, into a small block
// of doubles, where codes that are gaps become NaN. (Walking a column-major block where it lies
// took half as long again.)

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <chrono>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "module.hpp"
#include "predict.hpp"
#include "threads.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

using namespace predict;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<nb::ro, nb::device::cpu>;  // any dtype, shape and strides

template <class T>
std::span<const T> view(const Vector<T>& array) {
  return {array.data(), array.size()};
}

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

[[noreturn]] void refuse(const std::string& sentence) {
  throw std::invalid_argument(sentence);
}

// Answers Ctrl-C from the calling thread, at most every 50 ms: taking the GIL may mean waiting.
class Signals {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    nb::gil_scoped_acquire gil;
    last_ = now;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

enum class Number : std::uint8_t { float32, float64, code };

struct Column {
  Number type;
  std::int32_t feature;
  std::int32_t n_categories;
  const void* data;
  std::ptrdiff_t step;
};

std::optional<Number> number_type(const Floats& array) {
  if (array.dtype() == nb::dtype<double>()) return Number::float64;
  if (array.dtype() == nb::dtype<float>()) return Number::float32;
  if (array.dtype() == nb::dtype<std::int32_t>()) return Number::code;
  return std::nullopt;
}

// The rows to predict: a row-major block, or the columns that the tree uses.
struct Input {
  std::int64_t n_rows = 0;
  bool is_block = false;
  Number type = Number::float64;  // of the block, as the next two
  const void* data = nullptr;
  std::ptrdiff_t row_step = 0;
  std::vector<Column> columns;
  std::vector<Floats> owners;  // keep the memory alive

  Input(const Router& router, nb::handle rows) {
    if (PyTuple_Check(rows.ptr()))
      read_columns(router, nb::borrow<nb::tuple>(rows));
    else
      read_block(router, rows);
  }

 private:
  void read_block(const Router& router, nb::handle rows) {
    Floats array;
    if (!nb::try_cast(rows, array, false) || array.ndim() != 2)
      refuse("Rows must be a tuple of columns or a 2-d float array.");
    const std::size_t n_features = router.n_categories.size();
    if (array.shape(1) != n_features)
      refuse("Rows must have the tree's " + std::to_string(n_features) + " features, got " +
             std::to_string(array.shape(1)) + ".");
    const auto number = number_type(array);
    if (!number || *number == Number::code)
      refuse("A block of rows must be float32 or float64; pass other data as columns.");
    for (std::int32_t f : router.used)
      if (router.n_categories[f] >= 0)
        refuse("A block of rows holds continuous features only, but feature " + std::to_string(f) +
               " has categories; pass a tuple of columns.");
    n_rows = static_cast<std::int64_t>(array.shape(0));
    is_block = array.stride(1) == 1;
    type = *number;
    data = array.data();
    row_step = array.stride(0);
    if (!is_block) {
      const std::size_t size = type == Number::float64 ? sizeof(double) : sizeof(float);
      for (std::int32_t f : router.used)
        columns.push_back({type, f, -1,
                           static_cast<const char*>(data) + f * array.stride(1) * size, row_step});
    }
    owners.push_back(std::move(array));
  }

  void read_columns(const Router& router, const nb::tuple& rows) {
    const std::size_t n_features = router.n_categories.size();
    if (rows.size() != n_features)
      refuse("Rows must have the tree's " + std::to_string(n_features) + " columns, got " +
             std::to_string(rows.size()) + ".");
    n_rows = -1;
    columns.reserve(router.used.size());
    owners.reserve(router.used.size());
    for (std::int32_t f : router.used) {
      Floats array;
      if (!nb::try_cast(rows[f], array, false) || array.ndim() != 1)
        refuse("Columns must be 1-d arrays, but column " + std::to_string(f) + " is not.");
      const auto number = number_type(array);
      const bool is_code = router.n_categories[f] >= 0;
      if (!number || (*number == Number::code) != is_code)
        refuse("Column " + std::to_string(f) + " must be " +
               (is_code ? "int32 codes." : "float32 or float64."));
      const auto length = static_cast<std::int64_t>(array.shape(0));
      if (n_rows >= 0 && length != n_rows)
        refuse("Columns must have one length, but column " + std::to_string(f) + " has " +
               std::to_string(length) + " rows, not " + std::to_string(n_rows) + ".");
      n_rows = length;
      columns.push_back({*number, f, router.n_categories[f], array.data(),
                         static_cast<std::ptrdiff_t>(array.stride(0))});
      owners.push_back(std::move(array));
    }
  }
};

template <class T>
void gather(const Column& column, std::int64_t start, std::int32_t count, double* out) {
  const T* data = static_cast<const T*>(column.data) + start * column.step;
  for (std::int32_t i = 0; i < count; ++i) {
    const T x = data[i * column.step];
    if constexpr (std::is_same_v<T, std::int32_t>)
      out[i] = x >= 0 && x < column.n_categories ? x : std::numeric_limits<double>::quiet_NaN();
    else
      out[i] = x;
  }
}

using Gathered = Block<double, max_piece>;

// Copies rows [start, start + count) into scratch, feature by feature.
Gathered gather_all(const Input& input, std::int64_t start, std::int32_t count, double* scratch) {
  for (const Column& column : input.columns) {
    double* out = scratch + static_cast<std::ptrdiff_t>(column.feature) * max_piece;
    if (column.type == Number::float64)
      gather<double>(column, start, count, out);
    else if (column.type == Number::float32)
      gather<float>(column, start, count, out);
    else
      gather<std::int32_t>(column, start, count, out);
  }
  return {scratch, 1};
}

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
  std::optional<nb::gil_scoped_release> release;
  if (work > thread_work / 10) release.emplace();
  parallel_for((input.n_rows + rows - 1) / rows, team, body, Signals());
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
        [&, result = out.data(), source = node_values.data()](
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

  // For each row and each of the ascending alphas the first node on the row's path that has
  // collapsed (node_alpha <= alpha), or where the path ends.
  auto reach(nb::handle rows, const Vector<double>& node_alpha, const Vector<double>& alphas,
             int n_threads) const {
    check_nodes(node_alpha.size(), "alphas");
    const auto m = static_cast<std::int32_t>(alphas.size());
    for (std::int32_t j = 0; j < m; ++j)
      if (!(j ? alphas.data()[j] >= alphas.data()[j - 1] : alphas.data()[j] == alphas.data()[j]))
        refuse("alphas must ascend and not be NaN.");
    // collapsed_from[v]: the first alpha at which node v is a leaf.
    std::vector<std::int32_t> collapsed_from(node_alpha.size());
    for (std::size_t v = 0; v < collapsed_from.size(); ++v) {
      const double alpha = node_alpha.data()[v];
      const double* end = alphas.data() + m;
      collapsed_from[v] = alpha != alpha ? m
                                         : static_cast<std::int32_t>(
                                               std::lower_bound(alphas.data(), end, alpha) -
                                               alphas.data());
    }
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
    if (n_threads < 1) refuse("n_threads must be at least 1, got " + std::to_string(n_threads) + ".");
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

template <class T>
std::span<const T> read_vector(nb::handle array, std::vector<nb::object>& owners) {
  Vector<T> vector;
  if (!nb::try_cast(array, vector, false))
    throw nb::type_error("Splits must be contiguous arrays of their documented types.");
  owners.push_back(nb::borrow(array));
  return view(vector);
}

// Any byte other than 0 is true; a bool with such a byte must never be read as one.
std::span<const std::uint8_t> read_flags(nb::handle array, std::vector<nb::object>& owners) {
  const auto flags = read_vector<bool>(array, owners);
  return {reinterpret_cast<const std::uint8_t*>(flags.data()), flags.size()};
}

SplitArrays read_splits(const nb::tuple& arrays, std::vector<nb::object>& owners) {
  if (arrays.size() != 12) throw nb::type_error("Splits must be a tuple of 12 arrays.");
  return {read_vector<std::uint8_t>(arrays[0], owners),
          read_vector<std::int32_t>(arrays[1], owners),
          read_flags(arrays[2], owners),
          read_flags(arrays[3], owners),
          read_vector<std::int64_t>(arrays[4], owners),
          read_vector<double>(arrays[5], owners),
          read_vector<std::int64_t>(arrays[6], owners),
          read_vector<std::int32_t>(arrays[7], owners),
          read_vector<std::int32_t>(arrays[8], owners),
          read_vector<std::int64_t>(arrays[9], owners),
          read_vector<std::int32_t>(arrays[10], owners),
          read_vector<double>(arrays[11], owners)};
}

void construct(Predictor* self, const Vector<std::int32_t>& n_categories,
               const Vector<std::int32_t>& first_child, const Vector<std::int32_t>& n_children,
               const Vector<std::int32_t>& gap, const Vector<double>& weight,
               const Vector<std::int64_t>& surrogate_offset, const nb::tuple& splits,
               const nb::tuple& surrogates) {
  std::vector<nb::object> owners;
  const TreeArrays tree{view(n_categories),          view(first_child),
                        view(n_children),            view(gap),
                        view(weight),                view(surrogate_offset),
                        read_splits(splits, owners), read_splits(surrogates, owners)};
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
      .def("reach", &Predictor::reach, nb::arg("rows"), nb::arg("node_alpha").noconvert(),
           nb::arg("alphas").noconvert(), nb::arg("n_threads") = 1)
      .def_prop_ro("n_nodes", [](const Predictor& self) { return self.router().n_nodes(); })
      .def_prop_ro("n_features",
                   [](const Predictor& self) { return self.router().n_categories.size(); })
      .def_prop_ro("divides", [](const Predictor& self) { return self.router().divides(); });
}

}  // namespace treewright
