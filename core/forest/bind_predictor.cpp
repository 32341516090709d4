// Prediction by a forest: reading rows and leaf values, block by block on several threads.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "../binding.hpp"
#include "../module.hpp"
#include "../predict_input.hpp"
#include "../signals.hpp"
#include "../threads.hpp"
#include "predictor.hpp"
#include "structure.hpp"

namespace treewright {
namespace {

using predict::Input;
using predict::Number;

// Rows that go down a tree together: as many as keep a tree's subtrees busy, if there are that many.
constexpr i64 kLargestBlock = 32768, kSmallestBlock = 1024;

// Some rows in a block of their own, each on cache lines of its own: every tree reads them again,
// and in another order.
template <class T>
void gather_rows(const Input& input, i64 start, i64 count, i64 width, i64 n_features, T* out) {
  if (input.is_block) {
    const T* data = static_cast<const T*>(input.data) + start * input.row_step;
    for (i64 i = 0; i < count; ++i) {
      std::copy_n(data + i * input.row_step, n_features, out + i * width);
    }
    return;
  }
  for (const predict::Column& column : input.columns) {
    auto copy = [&](auto type) {
      using From = decltype(type);
      const From* data = static_cast<const From*>(column.data) + start * column.step;
      for (i64 i = 0; i < count; ++i) {
        out[i * width + column.feature] = static_cast<T>(data[i * column.step]);
      }
    };
    if (column.type == Number::float64) {
      copy(double{});
    } else if (column.type == Number::float32) {
      copy(float{});
    } else {
      copy(i32{});
    }
  }
}

class ForestPredictor {
 public:
  explicit ForestPredictor(const ForestArrays& arrays) : model_(arrays) {}

  // Sums over the trees of the values of the leaves where each row ends.
  auto sums(nb::handle rows, const Matrix<double>& leaf_values, bool may_have_gaps, int n_threads) {
    if (static_cast<i64>(leaf_values.shape(0)) != model_.n_leaves()) {
      refuse("Leaf values must be one row for each of the forest's leaves.");
    }
    const Input input(model_, rows);
    const i64 width = static_cast<i64>(leaf_values.shape(1));
    auto out = allocate(double{}, input.n_rows, width);
    double* result = out.data();
    std::fill_n(result, input.n_rows * width, 0.0);
    const double* values = leaf_values.data();
    run(input, may_have_gaps, n_threads,
        [&](i64 tree, i64 count, auto&& row_of, auto&& leaf_of, auto&&) {
      const double* first = values + model_.leaf_offset()[tree] * width;
      for (i64 i = 0; i < count; ++i) {
        const double* leaf = first + leaf_of(i) * width;
        double* to = result + row_of(i) * width;
        for (i64 k = 0; k < width; ++k) to[k] += leaf[k];
      }
    });
    return out;
  }

  // Node of every tree where each row ends: rows × trees.
  auto apply(nb::handle rows, bool may_have_gaps, int n_threads) {
    const Input input(model_, rows);
    const i64 n_trees = model_.n_trees();
    auto out = allocate(i32{}, input.n_rows, n_trees);
    i32* result = out.data();
    run(input, may_have_gaps, n_threads,
        [&](i64 tree, i64 count, auto&& row_of, auto&&, auto&& node_of) {
      for (i64 i = 0; i < count; ++i) {
        result[row_of(i) * n_trees + tree] = static_cast<i32>(node_of(i));
      }
    });
    return out;
  }

  i64 n_trees() const { return model_.n_trees(); }

 private:
  // Calls take(tree, count, row_of, leaf_of, node_of) for every block and tree, which tell of 0, 1, …
  // count − 1 the row, its leaf and its node; within a block trees come in order.
  template <class Take>
  void run(const Input& input, bool may_have_gaps, int n_threads, Take&& take) {
    if (n_threads < 1) refuse("n_threads must be at least 1, got " + std::to_string(n_threads) + ".");
    const bool floats = model_.has_narrow() && input_is_float(input);
    const bool plain = model_.is_plain() && !may_have_gaps;
    {
      nb::gil_scoped_release release;
      std::lock_guard<std::mutex> guard(lock_);
      plain ? floats ? model_.need_floats() : model_.need_doubles() : model_.need_routers();
    }
    const i64 hardware = std::max(1u, std::thread::hardware_concurrency());
    const i64 wanted = std::min<i64>(n_threads, hardware);
    const i64 share = (input.n_rows + 2 * wanted - 1) / (2 * wanted);
    const i64 block = plain ? std::clamp(share, kSmallestBlock, kLargestBlock) : predict::max_piece;
    const i64 pieces = (input.n_rows + block - 1) / block;
    const int threads = static_cast<int>(std::min(wanted, pieces));
    nb::gil_scoped_release release;
    SignalPoll poll;
    std::vector<Workspace> spaces(threads);
    parallel_for(
        pieces, threads,
        [&](i64 piece, int thread) {
          const i64 start = piece * block, count = std::min(block, input.n_rows - start);
          if (!plain) {
            general(input, start, count, take);
          } else if (floats) {
            fast<float>(input, start, count, spaces[thread], take,
                        [&](i64 t) -> const auto& { return model_.floats(t); });
          } else {
            fast<double>(input, start, count, spaces[thread], take,
                         [&](i64 t) -> const auto& { return model_.doubles(t); });
          }
        },
        poll);
  }

  static bool input_is_float(const Input& input) {
    if (input.is_block) return input.type == Number::float32;
    for (const predict::Column& column : input.columns) {
      // codes of categories are exact as floats
      if (column.type == Number::float64 || column.n_categories > (1 << 24)) return false;
    }
    return true;
  }

  // What a thread uses for one block after the other: fresh memory would cost more than a walk.
  struct Workspace {
    std::vector<char> rows;
    SubtreeWalk walk;
  };

  template <class T, class Take, class Trees>
  void fast(const Input& input, i64 start, i64 count, Workspace& space, Take&& take,
            Trees&& trees) const {
    constexpr i64 kLine = 64 / sizeof(T);
    const i64 n_features = static_cast<i64>(model_.n_categories.size());
    const i64 step = n_features > kLine / 2 ? (n_features + kLine - 1) / kLine * kLine : n_features;
    space.rows.resize(static_cast<std::size_t>(count * step) * sizeof(T) + 64);
    const auto address = reinterpret_cast<std::uintptr_t>(space.rows.data());
    T* data = reinterpret_cast<T*>((address + 63) & ~std::uintptr_t{63});
    gather_rows<T>(input, start, count, step, n_features, data);
    SubtreeWalk& walk = space.walk;
    for (i64 t = 0; t < model_.n_trees(); ++t) {
      const auto& tree = trees(t);
      walk.run(tree, count, data, step);
      take(
          t, count, [&](i64 i) { return start + walk.order[i]; },
          [&](i64 i) { return static_cast<i64>(tree.leaf[walk.end[i]]); },
          [&](i64 i) { return tree.number[walk.end[i]]; });
    }
  }

  template <class Take>
  void general(const Input& input, i64 start, i64 count, Take&& take) const {
    const auto n = static_cast<std::int32_t>(count);
    std::vector<double> scratch(model_.n_categories.size() * predict::max_piece);
    std::int32_t end[predict::max_piece];
    auto each_tree = [&](const auto& block) {
      for (i64 t = 0; t < model_.n_trees(); ++t) {
        const predict::Router& router = model_.router(t);
        router.is_plain ? predict::walk<true>(router, block, n, end)
                        : predict::walk<false>(router, block, n, end);
        take(
            t, count, [&](i64 i) { return start + i; },
            [&](i64 i) { return model_.leaf(t, end[i]) - model_.leaf_offset()[t]; },
            [&](i64 i) { return end[i]; });
      }
    };
    if (input.is_block && input.type == Number::float32) {
      each_tree(predict::Block<float, 1>{
          static_cast<const float*>(input.data) + start * input.row_step, input.row_step});
    } else if (input.is_block) {
      each_tree(predict::Block<double, 1>{
          static_cast<const double*>(input.data) + start * input.row_step, input.row_step});
    } else {
      each_tree(predict::gather_all(input, start, n, scratch.data()));
    }
  }

  ForestModel model_;
  std::mutex lock_;
};

void construct(ForestPredictor* self, const Vector<i32>& n_categories,
               const Vector<i64>& node_offset, const Vector<i32>& n_children,
               const Vector<i32>& feature, const Vector<i32>& gap_branch, const Vector<u8>& kind,
               const Vector<u8>& closed, const Vector<i32>& n_breaks, const Vector<i32>& n_codes,
               const Vector<double>& breaks, const Vector<i32>& codes,
               const Vector<i32>& branches) {
  new (self) ForestPredictor({view(n_categories), view(node_offset), view(n_children),
                              view(feature), view(gap_branch), view(kind), view(closed),
                              view(n_breaks), view(n_codes), view(breaks), view(codes),
                              view(branches)});
}

auto link(const Vector<i32>& n_children) {
  const auto first = first_children(view(n_children));
  auto out = allocate(i32{}, first.size());
  std::copy(first.begin(), first.end(), out.data());
  return out;
}

// Values of inner nodes as sums over their children; rows of leaves stay.
auto sum_up(const Vector<i32>& n_children, const Matrix<double>& values) {
  const auto first = first_children(view(n_children));
  const i64 n = static_cast<i64>(first.size()), width = static_cast<i64>(values.shape(1));
  if (static_cast<i64>(values.shape(0)) != n) refuse("Values must be one row for each node.");
  auto out = allocate(double{}, n, width);
  double* to = out.data();
  std::copy_n(values.data(), n * width, to);
  for (i64 i = n; i-- > 0;) {
    if (first[i] < 0) continue;
    std::fill_n(to + i * width, width, 0.0);
    for (i64 c = first[i]; c < first[i] + n_children.data()[i]; ++c) {
      for (i64 k = 0; k < width; ++k) to[i * width + k] += to[c * width + k];
    }
  }
  return out;
}

}  // namespace

void bind_forest_predictor(nb::module_& m) {
  nb::class_<ForestPredictor>(m, "ForestPredictor")
      .def("__init__", &construct, nb::arg("n_categories").noconvert(),
           nb::arg("node_offset").noconvert(), nb::arg("n_children").noconvert(),
           nb::arg("feature").noconvert(), nb::arg("gap_branch").noconvert(),
           nb::arg("kind").noconvert(), nb::arg("closed").noconvert(),
           nb::arg("n_breaks").noconvert(), nb::arg("n_codes").noconvert(),
           nb::arg("breaks").noconvert(), nb::arg("codes").noconvert(),
           nb::arg("branches").noconvert())
      .def("sums", &ForestPredictor::sums, nb::arg("rows"), nb::arg("leaf_values").noconvert(),
           nb::arg("may_have_gaps"), nb::arg("n_threads") = 1)
      .def("apply", &ForestPredictor::apply, nb::arg("rows"), nb::arg("may_have_gaps"),
           nb::arg("n_threads") = 1)
      .def_prop_ro("n_trees", &ForestPredictor::n_trees);
  m.def("first_children", &link, nb::arg("n_children").noconvert());
  m.def("sum_up", &sum_up, nb::arg("n_children").noconvert(), nb::arg("values").noconvert());
}

}  // namespace treewright
