// Prediction by a forest: reading rows and leaf values, block by block on several threads.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <optional>

#include "../binding.hpp"
#include "../module.hpp"
#include "../predict_input.hpp"
#include "../signals.hpp"
#include "../threads.hpp"
#include "predictor.hpp"
#include "row_keys.hpp"
#include "structure.hpp"
#include "votes.hpp"

namespace treewright {
namespace {

using predict::Input;
using predict::Number;

// Rows that go down a tree together: as many as keep a tree's subtrees busy, if there are that many.
constexpr i64 kLargestBlock = 32768, kSmallestBlock = 1024;
static_assert(kLargestBlock <= BlockWalk::kMostRows);

// What a thread uses for one block after the other: fresh memory would cost more than a walk.
struct Workspace {
  std::vector<char> rows;
  BlockWalk walk;
  std::vector<double> totals;
  std::vector<u16> votes;
  std::vector<i32> columns;  // of kTopRows rows
  std::vector<u8> top;       // places of rows after the first levels of some trees
};

// Trees whose first levels rows pass together, so that columns are made once for all.
constexpr i64 kTreesTogether = 64;

// Adds values of leaves to the totals of rows; kWidth values each, or any number if that is 0.
template <int kWidth, class Index>
void add_values(i64 count, Index&& index, const double* values, i64 width, double* totals) {
  if (kWidth) width = kWidth;
  for (i64 i = 0; i < count; ++i) {
    const double* from = values + index(i) * width;
    for (i64 k = 0; k < width; ++k) totals[i * width + k] += from[k];
  }
}

template <class T>
using NumpyMatrix = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

class ForestPredictor {
 public:
  // leaf_codes: what `means` is mostly asked for; trees are made so that rows come to them at once.
  ForestPredictor(const ForestArrays& arrays, const u8* leaf_codes)
      : model_(arrays), leaf_codes_(model_.has_codes() ? leaf_codes : nullptr) {}

  // Means over the trees of the values of the leaves where each row ends. A leaf's values are those
  // of its number, or where codes are given, of its code. Where may_have_gaps is not known, a plain
  // model looks itself, and there is no answer if it meets a gap or an infinity.
  std::optional<NumpyMatrix<double>> means(nb::handle rows, const Matrix<double>& values,
                                           std::optional<Vector<u8>> codes,
                                           std::optional<bool> may_have_gaps, int n_threads) {
    const i64 n_values = static_cast<i64>(values.shape(0)), n_leaves = model_.n_leaves();
    const u8* code = codes ? codes->data() : nullptr;
    if ((code ? static_cast<i64>(codes->shape(0)) : n_values) != n_leaves) {
      refuse("Leaf values must be one row, or one code, for each of the forest's leaves.");
    }
    if (code && *std::max_element(code, code + n_leaves) >= n_values) {
      refuse("Codes of leaves must be rows of the leaf values.");
    }
    const Input input(model_, rows);
    const i64 width = static_cast<i64>(values.shape(1));
    auto out = allocate(double{}, input.n_rows, width);
    double* result = out.data();
    const i64 n_trees = model_.n_trees();
    const bool is_known = code && code == leaf_codes_;
    if (is_known && Votes::are(values.data(), n_values, width, n_trees)) {
      const Votes votes(values.data(), n_values, width, n_trees);
      const bool is_done = run(
          input, may_have_gaps, n_threads,
          [&](i64 tree, i64, i64 count, Workspace& space) {
            if (!tree) votes.start(count, space.votes);
            const u32* label = space.walk.leaf.data();
            votes.add(count, [label](i64 i) { return ForestModel::code_of(label[i]); }, space.votes.data());
          },
          [&](i64 start, i64 count, Workspace& space) {
            votes.means(count, space.votes.data(), result + start * width);
          });
      return is_done ? std::optional(out) : std::nullopt;
    }
    const bool is_done = run(
        input, may_have_gaps, n_threads,
        [&](i64 tree, i64, i64 count, Workspace& space) {
          if (!tree) space.totals.assign(count * width, 0.0);
          double* totals = space.totals.data();
          const u32* label = space.walk.leaf.data();
          auto add = [&](const double* from, auto index) {
            width == 1   ? add_values<1>(count, index, from, width, totals)
            : width == 2 ? add_values<2>(count, index, from, width, totals)
                         : add_values<0>(count, index, from, width, totals);
          };
          const i64 first = model_.leaf_offset()[tree];
          if (is_known) {
            add(values.data(), [label](i64 i) { return ForestModel::code_of(label[i]); });
          } else if (code) {
            add(values.data(), [&](i64 i) { return code[first + model_.number_of(label[i])]; });
          } else {
            add(values.data() + first * width, [&](i64 i) { return model_.number_of(label[i]); });
          }
        },
        [&](i64 start, i64 count, Workspace& space) {
          const double divisor = static_cast<double>(n_trees);
          double* to = result + start * width;
          for (i64 i = 0; i < count * width; ++i) to[i] = space.totals[i] / divisor;
        });
    return is_done ? std::optional(out) : std::nullopt;
  }

  // Node of every tree where each row ends: rows × trees.
  std::optional<NumpyMatrix<i32>> apply(nb::handle rows, std::optional<bool> may_have_gaps,
                                        int n_threads) {
    const Input input(model_, rows);
    const i64 n_trees = model_.n_trees();
    auto out = allocate(i32{}, input.n_rows, n_trees);
    i32* result = out.data();
    const bool is_done = run(
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

  i64 n_trees() const { return model_.n_trees(); }
  bool is_plain() const { return model_.is_plain(); }

 private:
  using Take = Callable<void(i64, i64, i64, Workspace&)>;
  using Finish = Callable<void(i64, i64, Workspace&)>;
  using GoesOn = Callable<bool()>;

  // Calls take(tree, start, count, space) for every tree and block of rows, where space.walk tells
  // their ends, and finish(start, count, space) after a block's last tree; trees come in order. Whether
  // it came to its end: not if it met a gap or an infinity that it was to look for.
  bool run(const Input& input, std::optional<bool> may_have_gaps, int n_threads, Take take,
           Finish finish) {
    if (n_threads < 1) refuse("n_threads must be at least 1, got " + std::to_string(n_threads) + ".");
    const bool looks = !may_have_gaps.has_value();
    const bool plain = model_.is_plain() && !may_have_gaps.value_or(false);
    if (looks && !plain) refuse("Only a forest of plain cuts looks for gaps itself.");
    bool floats = plain && input_is_float(input);
    nb::gil_scoped_release release;
    {
      std::lock_guard<std::mutex> guard(lock_);
      floats = floats && model_.need_floats();
      if (!plain) {
        model_.need_routers();
      } else if (!floats) {
        model_.need_doubles();
      }
    }
    const i64 hardware = std::max(1u, std::thread::hardware_concurrency());
    const i64 wanted = std::min<i64>(n_threads, hardware);
    const i64 block = plain ? block_size(input.n_rows, wanted) : predict::max_piece;
    const i64 pieces = (input.n_rows + block - 1) / block;
    const int threads = static_cast<int>(std::min(wanted, pieces));
    SignalPoll poll;
    std::atomic<bool> ended{false};
    std::vector<Workspace> spaces(threads);
    parallel_for(pieces, threads, [&](i64 piece, int thread) {
      if (ended) return;
      const i64 start = piece * block, count = std::min(block, input.n_rows - start);
      // Asked before every tree, for a block may take long: Ctrl-C ends the work of all threads.
      auto goes_on = [&] {
        try {
          if (thread == 0) poll();
        } catch (...) {
          ended = true;
          throw;
        }
        return !ended;
      };
      const bool is_done =
          !plain   ? general(input, start, count, spaces[thread], take, goes_on)
          : floats ? walk<FloatNode>(input, start, count, looks, spaces[thread], take, goes_on)
                   : walk<DoubleNode>(input, start, count, looks, spaces[thread], take, goes_on);
      if (is_done) {
        finish(start, count, spaces[thread]);
      } else {
        ended = true;
      }
    });
    return !ended;
  }

  // Blocks of about the same size, as many for each thread.
  static i64 block_size(i64 n_rows, i64 threads) {
    const i64 rounds = std::max<i64>(2, (n_rows + threads * kLargestBlock - 1) / (threads * kLargestBlock));
    return std::max((n_rows + threads * rounds - 1) / (threads * rounds), kSmallestBlock);
  }

  static bool input_is_float(const Input& input) {
    if (input.is_block) return input.type == Number::float32;
    for (const predict::Column& column : input.columns) {
      // codes of categories are exact as floats
      if (column.type == Number::float64 || column.n_categories > (1 << 24)) return false;
    }
    return true;
  }

  // Both ways return whether they came to the end.
  template <class Node>
  bool walk(const Input& input, i64 start, i64 count, bool looks, Workspace& space, Take take,
            GoesOn goes_on) const {
    using Key = typename Node::Key;
    const i64 n_features = static_cast<i64>(model_.n_categories.size());
    const i64 width = row_width<Key>(n_features);
    // More, to align them and because columns are read by eight.
    const i64 bytes = (count + BlockWalk::kSpareRows) * width * static_cast<i64>(sizeof(Key)) + 128;
    if (std::ssize(space.rows) < bytes) space.rows.resize(bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(space.rows.data());
    Key* keys = reinterpret_cast<Key*>((address + 63) & ~std::uintptr_t{63});
    const BlockRows<Key> rows{keys, width, count};
    const bool is_finite =
        gather_keys<typename Node::Value>(input, start, count, n_features, width, keys);
    if (looks && !is_finite) return false;
    for (i64 first = 0; first < model_.n_trees(); first += kTreesTogether) {
      const i64 end = std::min(first + kTreesTogether, model_.n_trees());
      const i64 step = pass_tops(first, end, rows, space, Node{});
      for (i64 t = first; t < end; ++t) {
        if (!goes_on()) return false;
        const BlockTree<Node>& tree = model_.tree(t, Node{});
        const bool has_top = step && !tree.upper.empty();
        space.walk.run(tree, rows, has_top ? space.top.data() + (t - first) * step : nullptr);
        take(t, start, count, space);
      }
    }
    return true;
  }

  // Takes rows through the first levels of some trees; the distance between trees in space.top, 0 if
  // they were not.
  i64 pass_tops(i64 first, i64 end, const BlockRows<u32>& rows, Workspace& space, FloatNode) const {
    const i64 n_columns = static_cast<i64>(model_.n_categories.size()) + 1;
    if (n_columns > kTopFeatures || rows.count < kTopRows) return 0;
    const i64 step = (rows.count + 31) / 32 * 32 + BlockWalk::kSpareRows;
    space.top.assign((end - first) * step, kTopEnd);
    space.columns.resize((n_columns + 7) / 8 * 8 * kTopRows);
    for (i64 i = 0; i < rows.count; i += kTopRows) {
      const i64 count = std::min(kTopRows, rows.count - i);
      turn_keys(rows.keys + i * rows.width, rows.width, count, n_columns, space.columns.data());
      for (i64 t = first; t < end; ++t) {
        const BlockTree<FloatNode>& tree = model_.tree(t, FloatNode{});
        if (tree.upper.empty()) continue;
        pass_top(tree.upper.data(), space.columns.data(), count,
                 space.top.data() + (t - first) * step + i);
      }
    }
    return step;
  }
  i64 pass_tops(i64, i64, const BlockRows<u64>&, Workspace&, DoubleNode) const { return 0; }

  bool general(const Input& input, i64 start, i64 count, Workspace& space, Take take,
               GoesOn goes_on) const {
    const auto n = static_cast<std::int32_t>(count);
    std::vector<double> scratch(model_.n_categories.size() * predict::max_piece);
    std::int32_t end[predict::max_piece];
    BlockWalk& ends = space.walk;
    ends.make_room(count);
    auto each_tree = [&](const auto& block) {
      for (i64 t = 0; t < model_.n_trees(); ++t) {
        if (!goes_on()) return false;
        const predict::Router& router = model_.router(t);
        router.is_plain ? predict::walk<true>(router, block, n, end)
                        : predict::walk<false>(router, block, n, end);
        for (i64 i = 0; i < count; ++i) {
          ends.leaf[i] = model_.leaf_label(t, end[i]);
        }
        take(t, start, count, space);
      }
      return true;
    };
    if (input.is_block && input.type == Number::float32) {
      return each_tree(predict::Block<float, 1>{
          static_cast<const float*>(input.data) + start * input.row_step, input.row_step});
    }
    if (input.is_block) {
      return each_tree(predict::Block<double, 1>{
          static_cast<const double*>(input.data) + start * input.row_step, input.row_step});
    }
    return each_tree(predict::gather_all(input, start, n, scratch.data()));
  }

  ForestModel model_;
  const u8* leaf_codes_;  // kept alive, so that no other codes have their address
  std::mutex lock_;
};

void construct_forest(ForestPredictor* self, const Vector<i32>& n_categories,
                      const Vector<i64>& node_offset, const Vector<i32>& n_children,
                      const Vector<i32>& feature, const Vector<i32>& gap_branch,
                      const Vector<u8>& kind, const Vector<u8>& closed,
                      const Vector<i32>& n_breaks, const Vector<i32>& n_codes,
                      const Vector<double>& breaks, const Vector<i32>& codes,
                      const Vector<i32>& branches, std::optional<Vector<u8>> leaf_codes) {
  new (self) ForestPredictor({view(n_categories), view(node_offset), view(n_children),
                              view(feature), view(gap_branch), view(kind), view(closed),
                              view(n_breaks), view(n_codes), view(breaks), view(codes),
                              view(branches), leaf_codes ? view(*leaf_codes) : std::span<const u8>()},
                             leaf_codes ? leaf_codes->data() : nullptr);
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

// A code for each row of values, and the distinct rows in the order of their first; None if there are
// more than a byte can tell apart.
nb::object code_rows(const Matrix<double>& values) {
  constexpr u64 kPlaces = 1024, kMost = 256;
  const i64 n = static_cast<i64>(values.shape(0)), width = static_cast<i64>(values.shape(1));
  const std::size_t bytes = static_cast<std::size_t>(width) * sizeof(double);
  const double* data = values.data();
  auto codes = allocate(u8{}, n);
  std::vector<i64> first;                     // row of each code
  std::vector<i32> code_at(kPlaces, -1);      // by hash, or at the next free place
  for (i64 i = 0; i < n; ++i) {
    u64 hash = 0;
    for (i64 k = 0; k < width; ++k) {
      hash = (std::rotl(hash, 23) ^ std::bit_cast<u64>(data[i * width + k])) * 0x9e3779b97f4a7c15u;
    }
    u64 place = hash >> 54;
    while (code_at[place] >= 0 &&
           std::memcmp(data + first[code_at[place]] * width, data + i * width, bytes) != 0) {
      place = (place + 1) % kPlaces;
    }
    if (code_at[place] < 0) {
      if (first.size() == kMost) return nb::none();
      code_at[place] = static_cast<i32>(first.size());
      first.push_back(i);
    }
    codes.data()[i] = static_cast<u8>(code_at[place]);
  }
  auto rows = allocate(double{}, first.size(), width);
  for (std::size_t c = 0; c < first.size(); ++c) {
    std::copy_n(data + first[c] * width, width, rows.data() + c * width);
  }
  return nb::make_tuple(codes, rows);
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
           nb::arg("branches").noconvert(), nb::arg("leaf_codes").noconvert().none() = nb::none(),
           nb::keep_alive<1, 14>())
      .def("means", &ForestPredictor::means, nb::arg("rows"), nb::arg("values").noconvert(),
           nb::arg("codes").none(), nb::arg("may_have_gaps").none(), nb::arg("n_threads") = 1)
      .def("apply", &ForestPredictor::apply, nb::arg("rows"), nb::arg("may_have_gaps").none(),
           nb::arg("n_threads") = 1)
      .def_prop_ro("n_trees", &ForestPredictor::n_trees)
      .def_prop_ro("is_plain", &ForestPredictor::is_plain);
  m.def("code_rows", &code_rows, nb::arg("values").noconvert());
  m.def("first_children", &link, nb::arg("n_children").noconvert());
  m.def("sum_up", &sum_up, nb::arg("n_children").noconvert(), nb::arg("values").noconvert());
}

}  // namespace treewright
