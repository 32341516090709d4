// Prediction by a forest: reading rows and leaf values.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "base/module.hpp"
#include "predict/forest_walk.hpp"
#include "predict/votes.hpp"

namespace treewright {
namespace {

// What the leaves of a forest say: rows of values, and perhaps a code for each leaf.
struct LeafValues {
  const double* value;
  const u8* code;
  i64 n, width;
  bool are_known;  // codes that rows come to at once
  bool are_votes;
};

// Adds values of leaves to the totals of rows; kWidth values each, or any number if that is 0.
template <int kWidth, class Index>
void add_values(i64 count, Index&& index, const double* values, i64 width, double* totals) {
  if (kWidth) width = kWidth;
  for (i64 i = 0; i < count; ++i) {
    const double* from = values + index(i) * width;
    for (i64 k = 0; k < width; ++k) totals[i * width + k] += from[k];
  }
}

// What is done with the leaves that rows have come to: trees are counted,
struct CountVotes {
  const Votes& votes;

  void operator()(i64 tree, i64, i64 count, Workspace& space) const {
    if (!tree) votes.start(count, space.votes);
    const u32 *label = space.walk.leaf.data(), *list = space.list.data();
    auto code = [label](i64 row) { return ForestModel::code_of(label[row]); };
    u16* to = space.votes.data();
    space.list.empty() ? votes.add(
                             count, [](i64 i) { return i; }, code, to)
                       : votes.add(count, [list](i64 i) { return list[i]; }, code, to);
  }
};

// or the values of leaves added.
struct AddValues {
  const ForestModel& model;
  const LeafValues& leaves;

  void operator()(i64 tree, i64, i64 count, Workspace& space) const {
    const i64 width = leaves.width;
    if (!tree) space.totals.assign(count * width, 0.0);
    double* totals = space.totals.data();
    const u32* label = space.walk.leaf.data();
    auto add = [&](const double* from, auto index) {
      width == 1   ? add_values<1>(count, index, from, width, totals)
      : width == 2 ? add_values<2>(count, index, from, width, totals)
                   : add_values<0>(count, index, from, width, totals);
    };
    const i64 first = model.leaf_offset()[tree];
    if (leaves.are_known) {
      add(leaves.value, [label](i64 i) { return ForestModel::code_of(label[i]); });
    } else if (leaves.code) {
      add(leaves.value, [&](i64 i) { return leaves.code[first + model.number_of(label[i])]; });
    } else {
      add(leaves.value + first * width, [&](i64 i) { return model.number_of(label[i]); });
    }
  }
};

// or added to one column of the totals: tree after tree has the next one (boosted trees).
struct AddToColumn {
  const ForestModel& model;
  const double* value;  // one for each leaf
  const double* start;  // of the totals: a row for all, or one for each
  i64 n_columns;
  bool has_rows;
  bool in_singles;  // every sum is rounded to single precision, as XGBoost has it

  void operator()(i64 tree, i64 first_row, i64 count, Workspace& space) const {
    if (!tree) {
      space.totals.resize(count * n_columns);
      for (i64 i = 0; i < count; ++i) {
        std::copy_n(start + (has_rows ? (first_row + i) * n_columns : 0), n_columns,
                    space.totals.data() + i * n_columns);
      }
    }
    double* totals = space.totals.data() + tree % n_columns;
    const u32* label = space.walk.leaf.data();
    const double* own = value + model.leaf_offset()[tree];
    auto add = [&](auto rounded) {
      for (i64 i = 0; i < count; ++i) {
        double& total = totals[i * n_columns];
        total = rounded(total + own[model.number_of(label[i])]);
      }
    };
    if (in_singles) {
      add([](double sum) { return static_cast<double>(static_cast<float>(sum)); });
    } else {
      add([](double sum) { return sum; });
    }
  }
};

void divide(i64 n, const double* totals, i64 n_trees, double* means) {
  for (i64 i = 0; i < n; ++i) means[i] = totals[i] / static_cast<double>(n_trees);
}

template <class T>
using NumpyVector = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T>
using NumpyMatrix = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

class ForestPredictor {
 public:
  // leaf_codes: what `means` is mostly asked for; trees are made so that rows come to them at once.
  ForestPredictor(const ForestArrays& arrays, const u8* leaf_codes)
      : blocks_(arrays),
        model_(blocks_.model()),
        leaf_codes_(model_.has_codes() ? leaf_codes : nullptr) {}

  i64 n_trees() const { return model_.n_trees(); }
  bool finds_gaps() { return blocks_.finds_gaps(); }

  // Means over the trees of the values of the leaves where each row ends. A leaf's values are those
  // of its number, or where codes are given, of its code. Where may_have_gaps is not known, a plain
  // model looks itself, and there is no answer if it meets a gap or an infinity.
  std::optional<NumpyMatrix<double>> means(nb::handle rows, const Matrix<double>& values,
                                           std::optional<Vector<u8>> codes,
                                           std::optional<bool> may_have_gaps, int n_threads) {
    const LeafValues leaves = leaf_values(values, codes);
    const Input input(model_, rows);
    const i64 width = leaves.width;
    auto out = allocate(double{}, input.n_rows, width);
    double* result = out.data();
    bool is_done;
    if (leaves.are_votes) {
      const Votes votes(leaves.value, leaves.n, width, model_.n_trees());
      is_done = blocks_.run(input, may_have_gaps, n_threads, CountVotes{votes},
                            [&](i64 start, i64 count, Workspace& space) {
                              votes.means(count, space.votes.data(), result + start * width);
                            });
    } else {
      is_done = blocks_.run(input, may_have_gaps, n_threads, AddValues{model_, leaves},
                            [&](i64 start, i64 count, Workspace& space) {
                              divide(count * width, space.totals.data(), model_.n_trees(),
                                     result + start * width);
                            });
    }
    return is_done ? std::optional(out) : std::nullopt;
  }

  // Sums of leaf values, of tree t in column t % n_columns, from `start` on: one row, or one for
  // each.
  std::optional<NumpyMatrix<double>> sums(nb::handle rows, const Matrix<double>& values,
                                          const Matrix<double>& start, bool in_singles,
                                          std::optional<bool> may_have_gaps, int n_threads) {
    const Input input(model_, rows);
    const i64 width = static_cast<i64>(start.shape(1)), given = static_cast<i64>(start.shape(0));
    if (static_cast<i64>(values.size()) != model_.n_leaves()) {
      refuse("Leaf values must be one for each of the forest's leaves.");
    }
    if (width < 1 || (given != 1 && given != input.n_rows)) {
      refuse("Sums must start from one row, or from one for each row.");
    }
    auto out = allocate(double{}, input.n_rows, width);
    double* result = out.data();
    const bool is_done =
        blocks_.run(input, may_have_gaps, n_threads,
                    AddToColumn{model_, values.data(), start.data(), width,
                                given == input.n_rows && given != 1, in_singles},
                    [&](i64 first, i64 count, Workspace& space) {
                      std::copy_n(space.totals.data(), count * width, result + first * width);
                    });
    return is_done ? std::optional(out) : std::nullopt;
  }

  // The column where these means are largest, of equal ones the first. Where trees are counted,
  // rows that the rest of them cannot change do not go down these.
  std::optional<NumpyVector<i32>> winners(nb::handle rows, const Matrix<double>& values,
                                          std::optional<Vector<u8>> codes,
                                          std::optional<bool> may_have_gaps, int n_threads) {
    const LeafValues leaves = leaf_values(values, codes);
    const Input input(model_, rows);
    auto out = allocate(i32{}, input.n_rows);
    i32* result = out.data();
    bool is_done;
    if (leaves.are_votes) {
      const Votes votes(leaves.value, leaves.n, leaves.width, model_.n_trees());
      is_done = blocks_.run(
          input, may_have_gaps, n_threads, CountVotes{votes},
          [&](i64 n_done, i64 n_listed, Workspace& space) {
            return votes.still_open(n_done, space.votes.data(), space.list.data(), n_listed);
          },
          [&](i64 start, i64 count, Workspace& space) {
            votes.winners(count, space.votes.data(), result + start);
          });
    } else {
      const i64 width = leaves.width;
      is_done = blocks_.run(
          input, may_have_gaps, n_threads, AddValues{model_, leaves},
          [&](i64 start, i64 count, Workspace& space) {
            // Means may be equal where sums are not.
            divide(count * width, space.totals.data(), model_.n_trees(), space.totals.data());
            const double* mean = space.totals.data();
            for (i64 i = 0; i < count; ++i, mean += width) {
              result[start + i] = static_cast<i32>(std::max_element(mean, mean + width) - mean);
            }
          });
    }
    return is_done ? std::optional(out) : std::nullopt;
  }

  // Node of every tree where each row ends: rows × trees.
  std::optional<NumpyMatrix<i32>> apply(nb::handle rows, std::optional<bool> may_have_gaps,
                                        int n_threads) {
    const Input input(model_, rows);
    const i64 n_trees = model_.n_trees();
    auto out = allocate(i32{}, input.n_rows, n_trees);
    i32* result = out.data();
    const bool is_done = blocks_.run(
        input, may_have_gaps, n_threads,
        [&](i64 tree, i64 start, i64 count, Workspace& space) {
          const BlockWalk& ends = space.walk;
          for (i64 i = 0; i < count; ++i) {
            result[(start + i) * n_trees + tree] = model_.leaf_node(tree, ends.leaf[i]);
          }
        },
        [](i64, i64, Workspace&) {});
    return is_done ? std::optional(out) : std::nullopt;
  }

 private:
  LeafValues leaf_values(const Matrix<double>& values,
                         const std::optional<Vector<u8>>& codes) const {
    const i64 n_values = static_cast<i64>(values.shape(0)), n_leaves = model_.n_leaves();
    const u8* code = codes ? codes->data() : nullptr;
    if ((code ? static_cast<i64>(codes->shape(0)) : n_values) != n_leaves) {
      refuse("Leaf values must be one row, or one code, for each of the forest's leaves.");
    }
    if (code && *std::max_element(code, code + n_leaves) >= n_values) {
      refuse("Codes of leaves must be rows of the leaf values.");
    }
    const i64 width = static_cast<i64>(values.shape(1));
    const bool are_known = code && code == leaf_codes_;
    const bool are_votes =
        are_known && Votes::are(values.data(), n_values, width, model_.n_trees());
    return {values.data(), code, n_values, width, are_known, are_votes};
  }

  RowBlocks blocks_;
  const ForestModel& model_;
  const u8* leaf_codes_;  // kept alive, so that no other codes have their address
};

void construct_forest(ForestPredictor* self, const Vector<i32>& n_categories,
                      const Vector<i64>& node_offset, const Vector<i32>& n_children,
                      const Vector<i32>& feature, const Vector<i32>& gap_branch,
                      const Vector<u8>& kind, const Vector<u8>& closed, const Vector<i32>& n_breaks,
                      const Vector<i32>& n_codes, const Vector<double>& breaks,
                      const Vector<i32>& codes, const Vector<i32>& branches,
                      const Vector<i32>& n_terms, const Vector<i32>& term_feature,
                      const Vector<double>& term_weight, const Vector<i32>& term_code,
                      std::optional<Vector<u8>> leaf_codes) {
  new (self)
      ForestPredictor({view(n_categories),
                       view(node_offset),
                       view(n_children),
                       view(feature),
                       view(gap_branch),
                       view(kind),
                       view(closed),
                       view(n_breaks),
                       view(n_codes),
                       view(breaks),
                       view(codes),
                       view(branches),
                       {view(n_terms), view(term_feature), view(term_weight), view(term_code)},
                       leaf_codes ? view(*leaf_codes) : std::span<const u8>()},
                      leaf_codes ? leaf_codes->data() : nullptr);
}

}  // namespace

void bind_forest_predictor(nb::module_& m) {
  nb::class_<ForestPredictor>(m, "ForestPredictor")
      .def("__init__", &construct_forest, nb::arg("n_categories").noconvert(),
           nb::arg("node_offset").noconvert(), nb::arg("n_children").noconvert(),
           nb::arg("feature").noconvert(), nb::arg("gap_branch").noconvert(),
           nb::arg("kind").noconvert(), nb::arg("closed").noconvert(),
           nb::arg("n_breaks").noconvert(), nb::arg("n_codes").noconvert(),
           nb::arg("breaks").noconvert(), nb::arg("codes").noconvert(),
           nb::arg("branches").noconvert(), nb::arg("n_terms").noconvert(),
           nb::arg("term_feature").noconvert(), nb::arg("term_weight").noconvert(),
           nb::arg("term_code").noconvert(), nb::arg("leaf_codes").noconvert().none() = nb::none(),
           nb::keep_alive<1, 18>())
      .def("means", &ForestPredictor::means, nb::arg("rows"), nb::arg("values").noconvert(),
           nb::arg("codes").none(), nb::arg("may_have_gaps").none(), nb::arg("n_threads") = 1)
      .def("sums", &ForestPredictor::sums, nb::arg("rows"), nb::arg("values").noconvert(),
           nb::arg("start").noconvert(), nb::arg("in_singles"), nb::arg("may_have_gaps").none(),
           nb::arg("n_threads") = 1)
      .def("winners", &ForestPredictor::winners, nb::arg("rows"), nb::arg("values").noconvert(),
           nb::arg("codes").none(), nb::arg("may_have_gaps").none(), nb::arg("n_threads") = 1)
      .def("apply", &ForestPredictor::apply, nb::arg("rows"), nb::arg("may_have_gaps").none(),
           nb::arg("n_threads") = 1)
      .def_prop_ro("n_trees", &ForestPredictor::n_trees)
      .def_prop_ro("finds_gaps", &ForestPredictor::finds_gaps);
}

}  // namespace treewright
