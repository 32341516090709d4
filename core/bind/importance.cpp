// Python's door to out-of-bag permutation importance.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "base/memory.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "base/threads.hpp"
#include "bind/sampling.hpp"
#include "forest/importance.hpp"
#include "predict/forest_model.hpp"
#include "predict/input.hpp"
#include "predict/tree_arrays.hpp"

namespace treewright {
namespace {

using predict::Router;

// The trees of a forest, made into routers one at a time or once and for all.
struct Source {
  std::vector<i32> n_categories, used;  // as predict::Input asks for
  i64 n_trees = 0, n_values = 0;
  std::function<AskedTree(i64)> tree;  // its values are a place: where they begin, in rows
  std::vector<i64> first_value;
  std::vector<nb::object> owners;

  void use(const std::vector<u8>& is_used) {
    for (std::size_t f = 0; f < is_used.size(); ++f) {
      if (is_used[f]) used.push_back(static_cast<i32>(f));
    }
  }
};

// Trees as they are: one tuple of arrays each, as Predictor takes them. All nodes have values.
void read_trees(const nb::list& trees, Source& source) {
  auto routers = std::make_shared<std::vector<std::shared_ptr<const Router>>>();
  std::vector<u8> is_used(source.n_categories.size(), 0);
  for (nb::handle item : trees) {
    const auto a = nb::cast<nb::tuple>(item);
    if (a.size() != 7) throw nb::type_error("A tree must be a tuple of 7 entries.");
    std::vector<nb::object> owners;
    routers->push_back(std::make_shared<const Router>(predict::TreeArrays{
        source.n_categories, read_vector<i32>(a[0], owners), read_vector<i32>(a[1], owners),
        read_vector<i32>(a[2], owners), read_vector<double>(a[3], owners),
        read_vector<i64>(a[4], owners), predict::read_splits(nb::cast<nb::tuple>(a[5]), owners),
        predict::read_splits(nb::cast<nb::tuple>(a[6]), owners)}));
    for (const i32 f : routers->back()->used) is_used[f] = 1;
    source.first_value.push_back(source.n_values);
    source.n_values += routers->back()->n_nodes();
  }
  source.n_trees = static_cast<i64>(routers->size());
  source.use(is_used);
  source.tree = [routers](i64 t) { return AskedTree{(*routers)[t], nullptr, {}}; };
}

// The arrays of a compact forest, as ForestPredictor takes them. Leaves have values.
void read_forest(const nb::tuple& a, Source& source) {
  if (a.size() != 15) throw nb::type_error("A forest must be a tuple of 15 arrays.");
  auto& o = source.owners;
  const auto forest = std::make_shared<const ForestArrays>(ForestArrays{
      source.n_categories, read_vector<i64>(a[0], o), read_vector<i32>(a[1], o),
      read_vector<i32>(a[2], o), read_vector<i32>(a[3], o), read_vector<u8>(a[4], o),
      read_vector<u8>(a[5], o), read_vector<i32>(a[6], o), read_vector<i32>(a[7], o),
      read_vector<double>(a[8], o), read_vector<i32>(a[9], o), read_vector<i32>(a[10], o),
      ForestTerms{read_vector<i32>(a[11], o), read_vector<i32>(a[12], o),
                  read_vector<double>(a[13], o), read_vector<i32>(a[14], o)}});
  const ForestModel whole(*forest);  // checks the arrays
  source.n_trees = whole.n_trees();
  source.n_values = whole.n_leaves();
  source.used = whole.used;
  source.first_value = whole.leaf_offset();
  // where each tree begins among inner nodes, breaks, codes and terms
  struct Start {
    i64 inner = 0, breaks = 0, codes = 0, terms = 0;
  };
  auto starts = std::make_shared<std::vector<Start>>(1);
  Start at;
  for (i64 t = 0; t < source.n_trees; ++t) {
    for (i64 i = forest->node_offset[t]; i < forest->node_offset[t + 1]; ++i) {
      if (!forest->n_children[i]) continue;
      at.breaks += forest->n_breaks[at.inner];
      at.codes += forest->n_codes[at.inner];
      if (!forest->terms.count.empty()) at.terms += forest->terms.count[at.inner];
      ++at.inner;
    }
    starts->push_back(at);
  }
  source.tree = [forest, starts](i64 t) {
    const Start from = (*starts)[t], to = (*starts)[t + 1];
    const i64 first = forest->node_offset[t], n = forest->node_offset[t + 1] - first;
    const std::vector<i64> offset{0, n};
    auto inner = [&](auto array) { return array.subspan(from.inner, to.inner - from.inner); };
    auto codes = [&](auto array) { return array.subspan(from.codes, to.codes - from.codes); };
    auto terms = [&](auto array) { return array.subspan(from.terms, to.terms - from.terms); };
    const ForestTerms& linear = forest->terms;
    const auto counts = linear.count.empty() ? linear.count : inner(linear.count);
    const auto model = std::make_shared<ForestModel>(ForestArrays{
        forest->n_categories, offset, forest->n_children.subspan(first, n), inner(forest->feature),
        inner(forest->gap_branch), inner(forest->kind), inner(forest->closed),
        inner(forest->n_breaks), inner(forest->n_codes),
        forest->breaks.subspan(from.breaks, to.breaks - from.breaks), codes(forest->codes),
        codes(forest->branches),
        ForestTerms{counts, terms(linear.feature), terms(linear.weight), terms(linear.code)}});
    model->need_routers();
    AskedTree tree{std::shared_ptr<const Router>(model, &model->router(0)), nullptr, {}};
    tree.end.resize(n);
    for (i64 i = 0; i < n; ++i) tree.end[i] = model->leaf_number(0, i);
    return tree;
  };
}

// Columns of any type as rows of doubles.
Memory gather_table(const predict::Input& input, i64 width, int n_threads) {
  Memory memory(static_cast<std::size_t>(input.n_rows * width) * sizeof(double));
  double* out = static_cast<double*>(memory.data());
  constexpr i64 kPiece = predict::max_piece;
  parallel_for((input.n_rows + kPiece - 1) / kPiece, n_threads, [&](i64 piece, int) {
    const i64 start = piece * kPiece, count = std::min(kPiece, input.n_rows - start);
    std::vector<double> scratch(width * kPiece);
    predict::gather_all(input, start, static_cast<i32>(count), scratch.data());
    for (const predict::Column& column : input.columns) {
      const double* from = scratch.data() + column.feature * kPiece;
      for (i64 i = 0; i < count; ++i) out[(start + i) * width + column.feature] = from[i];
    }
  });
  return memory;
}

auto importance(const Vector<i32>& n_categories, nb::object trees, nb::handle rows,
                std::optional<Vector<i32>> label, std::optional<Matrix<double>> y,
                const Matrix<double>& values, nb::dict plan, int n_threads) {
  Source source;
  source.n_categories.assign(n_categories.data(), n_categories.data() + n_categories.size());
  nb::isinstance<nb::list>(trees) ? read_trees(nb::cast<nb::list>(trees), source)
                                  : read_forest(nb::cast<nb::tuple>(trees), source);
  const predict::Input input(source, rows);
  ImportanceProblem problem;
  SamplingHolder holder;
  read_sampling(plan, problem.sampling, holder);
  problem.seed = get<u64>(plan, "seed");
  problem.n_rows = input.n_rows;
  problem.n_trees = source.n_trees;
  problem.n_features = static_cast<i32>(n_categories.size());
  problem.width = static_cast<i32>(values.shape(1));
  problem.n_threads = n_threads;
  if (n_threads < 1) refuse("n_threads must be at least 1, got " + std::to_string(n_threads) + ".");
  if (label.has_value() == y.has_value()) refuse("Either labels or numbers must be given.");
  const i64 n_targets = static_cast<i64>(label ? label->shape(0) : y->shape(0));
  if (n_targets != input.n_rows) refuse("The target must have one entry for each row.");
  if (y && y->shape(1) != values.shape(1)) refuse("Values must be one for each output.");
  if (static_cast<i64>(values.shape(0)) != source.n_values || !values.shape(1)) {
    refuse("Values must be one row for each of the forest's ends.");
  }
  problem.label = label ? label->data() : nullptr;
  problem.y = y ? y->data() : nullptr;
  problem.tree = [&](i64 t) {
    AskedTree tree = source.tree(t);
    tree.values = values.data() + source.first_value[t] * problem.width;
    return tree;
  };
  problem.poll = SignalPoll();
  auto out = allocate(double{}, problem.n_trees, problem.n_features);
  double* lost = out.data();
  {
    GilRelease release;
    if (input.is_block && input.type == predict::Number::float32) {
      const RowBlock<float> block{static_cast<const float*>(input.data), input.row_step};
      oob_importance(problem, block, lost);
    } else if (input.is_block) {
      const RowBlock<double> block{static_cast<const double*>(input.data), input.row_step};
      oob_importance(problem, block, lost);
    } else {
      const Memory memory = gather_table(input, problem.n_features, n_threads);
      const RowBlock<double> block{static_cast<const double*>(memory.data()), problem.n_features};
      oob_importance(problem, block, lost);
    }
  }
  return out;
}

}  // namespace

void bind_importance(nb::module_& m) {
  m.def("oob_importance", &importance, nb::arg("n_categories").noconvert(), nb::arg("trees"),
        nb::arg("rows"), nb::arg("label").noconvert().none(), nb::arg("y").noconvert().none(),
        nb::arg("values").noconvert(), nb::arg("plan"), nb::arg("n_threads") = 1);
  m.def(
      "shuffle",
      [](u64 key, i32 feature, i64 n) {
        std::vector<u32> order;
        shuffle(key, feature, order, n);
        auto out = allocate(i64{}, n);
        std::copy(order.begin(), order.end(), out.data());
        return out;
      },
      nb::arg("key"), nb::arg("feature"), nb::arg("n"));
}

}  // namespace treewright
