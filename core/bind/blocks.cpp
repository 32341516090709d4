// Python's door to blocks of rows, and to the planner of trees that are grown on them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <variant>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "bind/boost.hpp"
#include "blocks/planner.hpp"
#include "blocks/share.hpp"

namespace treewright {
namespace {

using namespace blocks;

template <class T>
using Writable = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

std::vector<Expansion> read_expansions(const nb::dict& d) {
  const auto places = nb::cast<Matrix<i32>>(d["places"]);
  const auto bins = nb::cast<Matrix<u64>>(d["bins"]);
  const std::size_t n = places.shape(0);
  if (places.shape(1) != 5 || bins.shape(0) != n || bins.shape(1) != 4)
    refuse("Expansions must have five places and four words each.");
  std::vector<Expansion> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const i32* at = places.data() + 5 * i;
    out[i] = {at[0], at[1], at[2], at[3], at[4], {}};
    std::copy_n(bins.data() + 4 * i, 4, out[i].left_bins.words().begin());
    for (const i32 place : {at[0], at[1], at[2]}) {
      if (place < 0 || place >= kMostNodes) refuse("A node's number is out of range.");
    }
  }
  return out;
}

nb::dict write_expansions(const std::vector<Expansion>& expansions) {
  std::vector<i32> places;
  std::vector<u64> bins;
  for (const Expansion& e : expansions) {
    places.insert(places.end(), {e.parent, e.left, e.right, e.feature, e.counted});
    bins.insert(bins.end(), e.left_bins.words().begin(), e.left_bins.words().end());
  }
  nb::dict out;
  const std::size_t n = expansions.size();
  out["places"] = to_numpy(std::move(places), {n, 5});
  out["bins"] = to_numpy(std::move(bins), {n, 4});
  return out;
}

// A tree of bins as it travels: left child, feature, bins that go left, value.
nb::dict write_tree(const BinTree& tree, std::vector<i32> number_of_node) {
  std::vector<i32> left, feature;
  std::vector<u64> bins;
  std::vector<double> value;
  for (const BinNode& node : tree.nodes) {
    const BinSplit split = node.left < 0 ? BinSplit{} : tree.splits[node.split];
    left.push_back(node.left);
    feature.push_back(split.feature);
    bins.insert(bins.end(), split.left.words().begin(), split.left.words().end());
    value.push_back(node.value);
  }
  const std::size_t n = left.size();
  nb::dict out;
  out["left"] = to_numpy(std::move(left));
  out["feature"] = to_numpy(std::move(feature));
  out["bins"] = to_numpy(std::move(bins), {n, 4});
  out["value"] = to_numpy(std::move(value));
  out["number"] = to_numpy(std::move(number_of_node));
  return out;
}

BinTree read_tree(const nb::dict& d, i32 n_features) {
  const auto left = nb::cast<Vector<i32>>(d["left"]), feature = nb::cast<Vector<i32>>(d["feature"]);
  const auto bins = nb::cast<Matrix<u64>>(d["bins"]);
  const auto value = nb::cast<Vector<double>>(d["value"]);
  const i32 n = static_cast<i32>(left.size());
  if (static_cast<i32>(feature.size()) != n || static_cast<i32>(value.size()) != n ||
      static_cast<i32>(bins.shape(0)) != n || bins.shape(1) != 4)
    refuse("The arrays of a tree must be of one length.");
  BinTree tree;
  tree.nodes.resize(n);
  for (i32 i = 0; i < n; ++i) {
    tree.nodes[i].value = value.data()[i];
    if (left.data()[i] < 0) continue;
    if (left.data()[i] <= i || left.data()[i] + 1 >= n || feature.data()[i] < 0 ||
        feature.data()[i] >= n_features)
      refuse("A tree must have children behind their parents, and known features.");
    tree.nodes[i].left = left.data()[i];
    tree.nodes[i].split = static_cast<i32>(tree.splits.size());
    tree.splits.push_back({});
    tree.splits.back().feature = feature.data()[i];
    std::copy_n(bins.data() + 4 * i, 4, tree.splits.back().left.words().begin());
  }
  return tree;
}

// What is summed. `is_tall`: whatever else would do.
SumKind sum_kind(const LossParams& loss, double most_factor, i64 n_counted, bool is_tall) {
  if (is_tall) return SumKind::tall;
  if (n_counted >= i64{1} << Units::kMostRowBits)
    refuse("So many rows must be counted in tall sums.");
  bool is_narrow = false;
  with_loss(loss.kind,
            [&](auto each) { is_narrow = decltype(each)::kEqualHessian && most_factor == 0; });
  return is_narrow ? SumKind::narrow : SumKind::wide;
}

i64 sum_bytes(SumKind kind) {
  return with_sum(kind, [](auto sum) { return static_cast<i64>(sizeof(sum)); });
}

class PyShare {
 public:
  PyShare(const nb::dict& params, const Vector<i32>& offsets, i64 width, i64 n_counted,
          double most_factor, bool is_tall, int n_threads)
      : params_(read(params, offsets, width, n_counted, most_factor, is_tall, n_threads)),
        share_(params_) {}

  // Arrays of a block; they are kept, and written to.
  void add(const nb::dict& d, i64 first_row, bool is_mapped) {
    Block block;
    block.first_row = first_row;
    const auto bins = array<u8>(d, "bins");
    block.n_rows = static_cast<i64>(bins->shape(0));
    const i64 n = block.n_rows, k = params_.loss.n_columns;
    if (bins->ndim() != 2 || static_cast<i64>(bins->shape(1)) != params_.width)
      refuse("Bins must have one row for each row, of the width of all.");
    block.bins = bins->data();
    block.score = of_size<double>(d, "score", n * k);
    const i64 n_targets = params_.loss.kind == LossKind::multinomial ? 1 : k;
    if (d.contains("small_y")) {
      block.small_y = of_size<float>(d, "small_y", n * n_targets);
    } else {
      block.y = of_size<double>(d, "y", n * n_targets);
    }
    if (d.contains("count")) block.count = of_size<i32>(d, "count", n);
    if (d.contains("factor")) block.factor = of_size<double>(d, "factor", n);
    if (d.contains("sums")) {
      block.sums = of_size<char>(d, "sums", n * sum_bytes(params_.sum));
      block.rows = of_size<u32>(d, "rows", n);
      if (params_.loss.kind == LossKind::multinomial)
        block.probability = of_size<float>(d, "probability", n * k);
    }
    if (is_mapped) {
      const auto map = array<u8>(d, "map");
      block.map = reinterpret_cast<char*>(map->data());
      block.map_size = static_cast<i64>(map->size());
    }
    can_grow_ &= block.sums != nullptr;
    owners_.push_back(nb::borrow(d));
    share_.add(std::move(block));
  }

  double most_loss() {
    GilRelease release;
    return share_.most_loss();
  }
  void set_most_loss(double most) { share_.set_loss_unit(LossUnit::above(most)); }

  // Sums of losses and weights as four words, and whether all were finite.
  nb::tuple loss() {
    LossSum sum;
    {
      GilRelease release;
      sum = share_.loss();
    }
    auto high = [](__int128 v) { return static_cast<i64>(v >> 64); };
    auto low = [](__int128 v) { return static_cast<u64>(v); };
    return nb::make_tuple(high(sum.loss), low(sum.loss), high(sum.weight), low(sum.weight),
                          sum.is_finite);
  }

  void begin_round() {
    require_growth();
    GilRelease release;
    share_.begin_round();
  }

  nb::dict begin_tree(i32 column, int gradient, int hessian, bool is_coarse, u64 key, i64 number,
                      const Vector<i32>& features, bool keeps_first) {
    require_growth();
    check_column(column);
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (features.data()[i] < 0 || features.data()[i] >= n_features())
        refuse("A feature is out of range.");
    }
    Begun begun;
    {
      GilRelease release;
      SignalPoll poll;
      begun = share_.begin_tree(column, {gradient, hessian, is_coarse}, key, number,
                                std::span(features.data(), features.size()), keeps_first, poll);
    }
    nb::dict out;
    out["slopes"] = nb::make_tuple(begun.slopes.most_gradient, begun.slopes.most_hessian,
                                   begun.slopes.gradient, begun.slopes.hessian);
    out["n_rows"] = begun.n_rows;
    out["histogram"] = to_numpy(std::move(begun.histogram));
    return out;
  }

  nb::dict expand(const nb::dict& expansions) {
    require_growth();
    const std::vector<Expansion> read = read_expansions(expansions);
    for (const Expansion& e : read) {
      if (e.feature < 0 || e.feature >= n_features()) refuse("A feature is out of range.");
    }
    Divided divided;
    {
      GilRelease release;
      SignalPoll poll;
      divided = share_.expand(read, poll);
    }
    nb::dict out;
    out["n_left"] = to_numpy(std::move(divided.n_left));
    out["n_right"] = to_numpy(std::move(divided.n_right));
    out["histograms"] = to_numpy(std::move(divided.histograms));
    return out;
  }

  nb::dict finish_tree(const nb::dict& tree) {
    require_growth();
    const BinTree read = read_tree(tree, n_features());
    const auto number = nb::cast<Vector<i32>>(tree["number"]);
    if (number.size() != read.nodes.size()) refuse("A tree's nodes must have a number each.");
    LeafSums sums;
    {
      GilRelease release;
      sums = share_.finish_tree(read, std::span(number.data(), number.size()));
    }
    nb::dict out;
    out["n_rows"] = to_numpy(std::move(sums.n_rows));
    out["weight"] = to_numpy(std::move(sums.weight));
    return out;
  }

  void follow(const nb::dict& tree, i32 column) {
    check_column(column);
    const BinTree read = read_tree(tree, n_features());
    GilRelease release;
    share_.follow(read, column);
  }

 private:
  static ShareParams read(const nb::dict& d, const Vector<i32>& offsets, i64 width, i64 n_counted,
                          double most_factor, bool is_tall, int n_threads) {
    ShareParams p;
    p.offsets.assign(offsets.data(), offsets.data() + offsets.size());
    p.width = width;
    p.loss = read_loss(d);
    p.sampling = read_sampling(d);
    p.n_counted = n_counted;
    p.n_threads = std::max(n_threads, 1);
    if (most_factor > 0) p.factor_unit = factor_unit(most_factor, n_counted);
    p.sum = sum_kind(p.loss, most_factor, n_counted, is_tall);
    return p;
  }

  i32 n_features() const { return static_cast<i32>(params_.offsets.size()) - 1; }
  void check_column(i32 column) const {
    if (column < 0 || column >= params_.loss.n_columns) refuse("A column is out of range.");
  }
  void require_growth() const {
    if (!can_grow_) refuse("These blocks only follow.");
  }

  template <class T>
  static std::optional<Writable<T>> array(const nb::dict& d, const char* name) {
    return nb::cast<Writable<T>>(d[name]);
  }
  template <class T>
  static T* of_size(const nb::dict& d, const char* name, i64 n) {
    if constexpr (std::is_same_v<T, char>) {
      return reinterpret_cast<char*>(of_size<u8>(d, name, n));
    } else {
      const auto found = array<T>(d, name);
      if (static_cast<i64>(found->size()) != n)
        refuse(std::string("An array of a block has the wrong size: ") + name + ".");
      return found->data();
    }
  }

  ShareParams params_;
  Share share_;
  bool can_grow_ = true;
  std::vector<nb::object> owners_;
};

class PyPlanner {
  template <class F>
  auto with_planner(F&& f) {
    if (auto* narrow = std::get_if<Planner<NarrowSum>>(&planner_)) return f(*narrow);
    if (auto* tall = std::get_if<Planner<TallSum>>(&planner_)) return f(*tall);
    return f(std::get<Planner<WideSum>>(planner_));
  }

 public:
  PyPlanner(const PyPlanner&) = delete;
  // `bins`: of no rows; they say how columns become bins. `n_counted`: rows as often as they
  // count; none: once.
  PyPlanner(const BinsHandle& bins, const nb::dict& params, i64 n_rows,
            std::optional<i64> n_counted, double most_factor, bool is_tall)
      : bins_(bins.bins),
        grow_(read_growth(params)),
        n_rows_(n_rows),
        n_counted_(n_counted.value_or(n_rows)) {
    const LossParams loss = read_loss(params);
    scales_.resize(loss.n_columns);
    sum_ = sum_kind(loss, most_factor, n_counted_, is_tall);
    if (most_factor > 0) factor_unit_ = factor_unit(most_factor, n_counted_);
    may_be_coarse_ =
        sum_ != SumKind::narrow && most_factor == 0 && !n_counted && n_rows >= kCoarseRows;
    with_sum(sum_, [&](auto sum) {
      planner_.emplace<Planner<decltype(sum)>>(*bins_, grow_);
      return 0;
    });
  }

  nb::object offsets() const {
    return to_numpy(std::vector<i32>(bins_->offsets(), bins_->offsets() + bins_->n_features() + 1));
  }
  i64 width() const { return bins_->width(); }
  i64 sum_bytes() const { return treewright::sum_bytes(sum_); }

  nb::object begin(i64 number) {
    key_ = child_path(grow_.seed, static_cast<i32>(number));
    return with_planner([&](auto& planner) { return to_numpy(planner.begin(key_)); });
  }

  // Powers of gradients and hessians, whether units are coarse, and the key of the round.
  nb::tuple scale(i32 column) const {
    const Scale& s = scales_.at(column);
    return nb::make_tuple(s.gradient, s.hessian, s.is_coarse, key_);
  }
  // Takes over what shares have seen with that scale; whether it is right.
  bool take_slopes(i32 column, double most_gradient, double most_hessian, i64 gradient,
                   i64 hessian) {
    Scale& s = scales_.at(column);
    const Scale found = SlopeRange{most_gradient, most_hessian, gradient, hessian}.scale(
        s, n_rows_, may_be_coarse_);
    const bool is_right = found == s;
    s = found;
    return is_right;
  }

  void start(i32 column, const Vector<i64>& root, i64 n_rows) {
    with_planner([&](auto& planner) {
      using Sum = typename std::decay_t<decltype(planner)>::SumType;
      check_words<Sum>(root, 1);
      planner.start(Units(n_counted_, scales_.at(column), 1.0, sum_, key_), aligned<Sum>(root),
                    n_rows);
      return 0;
    });
  }

  nb::dict wanted(i64 most) {
    std::vector<Expansion> found;
    n_counted_nodes_ = 0;
    {
      GilRelease release;
      found = with_planner([&](auto& planner) { return planner.wanted(std::max<i64>(most, 1)); });
    }
    for (const Expansion& e : found) n_counted_nodes_ += e.counted >= 0;
    n_wanted_ = static_cast<i64>(found.size());
    return write_expansions(found);
  }

  void take(const Vector<i64>& histograms, const Vector<i64>& n_left, const Vector<i64>& n_right) {
    if (static_cast<i64>(n_left.size()) != n_wanted_ ||
        static_cast<i64>(n_right.size()) != n_wanted_)
      refuse("Answers must be as many as expansions.");
    with_planner([&](auto& planner) {
      using Sum = typename std::decay_t<decltype(planner)>::SumType;
      check_words<Sum>(histograms, n_counted_nodes_);
      const Sum* sums = aligned<Sum>(histograms);
      GilRelease release;
      planner.take(sums, n_left.data(), n_right.data());
      return 0;
    });
  }

  // The tree as it travels, its leaves shrunk.
  nb::dict finish(double learning_rate) {
    std::vector<i32> number_of_node;
    tree_ = with_planner([&](auto& planner) { return planner.finish(number_of_node); });
    for (BinNode& node : tree_.nodes) node.value *= learning_rate;
    return write_tree(tree_, std::move(number_of_node));
  }

  // The same as arrays of a forest, with what came to its leaves.
  nb::dict tree(const Vector<i64>& n_rows, const Vector<i64>& weight) {
    if (n_rows.size() != tree_.nodes.size() || weight.size() != tree_.nodes.size())
      refuse("Rows and weights must be those of all nodes.");
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (tree_.nodes[i].left >= 0) continue;
      tree_.nodes[i].n_rows = n_rows.data()[i];
      tree_.nodes[i].weight = static_cast<double>(weight.data()[i]) * factor_unit_;
    }
    return tree_arrays({tree_}, *bins_);
  }

  // Mean loss from the words that shares give.
  double mean_loss(double most, i64 loss_high, u64 loss_low, i64 weight_high,
                   u64 weight_low) const {
    auto whole = [](i64 high, u64 low) {
      return static_cast<__int128>(high) * (static_cast<__int128>(1) << 64) + low;
    };
    LossSum sum{whole(loss_high, loss_low), whole(weight_high, weight_low), true};
    return sum.mean(LossUnit::above(most), factor_unit_);
  }

 private:
  template <class Sum>
  void check_words(const Vector<i64>& words, i64 n) const {
    if (words.size() * sizeof(i64) != n * bins_->n_places() * sizeof(Sum))
      refuse("A histogram has the wrong size.");
  }
  // Vectors of the core want addresses that numpy does not promise.
  template <class Sum>
  const Sum* aligned(const Vector<i64>& words) {
    copy_.resize(words.size() / 2 + 1);
    std::memcpy(static_cast<void*>(copy_.data()), words.data(), words.size() * sizeof(i64));
    return reinterpret_cast<const Sum*>(copy_.data());
  }

  std::shared_ptr<const Bins> bins_;
  GrowParams grow_;
  i64 n_rows_, n_counted_;
  double factor_unit_ = 1;
  std::vector<Scale> scales_;
  bool may_be_coarse_ = false;
  u64 key_ = 0;
  SumKind sum_ = SumKind::wide;
  std::variant<std::monostate, Planner<WideSum>, Planner<NarrowSum>, Planner<TallSum>> planner_;
  std::vector<WideSum> copy_;
  BinTree tree_;
  i64 n_wanted_ = 0, n_counted_nodes_ = 0;
};

}  // namespace

void bind_blocks(nb::module_& m) {
  nb::class_<PyShare>(m, "Share")
      .def(nb::init<const nb::dict&, const Vector<i32>&, i64, i64, double, bool, int>(),
           nb::arg("params"), nb::arg("offsets").noconvert(), nb::arg("width"),
           nb::arg("n_counted"), nb::arg("most_factor"), nb::arg("is_tall"), nb::arg("n_threads"))
      .def("add", &PyShare::add, nb::arg("arrays"), nb::arg("first_row"), nb::arg("is_mapped"))
      .def("most_loss", &PyShare::most_loss)
      .def("set_most_loss", &PyShare::set_most_loss, nb::arg("most"))
      .def("loss", &PyShare::loss)
      .def("begin_round", &PyShare::begin_round)
      .def("begin_tree", &PyShare::begin_tree, nb::arg("column"), nb::arg("gradient"),
           nb::arg("hessian"), nb::arg("is_coarse"), nb::arg("key"), nb::arg("number"),
           nb::arg("features").noconvert(), nb::arg("keeps_first"))
      .def("expand", &PyShare::expand, nb::arg("expansions"))
      .def("finish_tree", &PyShare::finish_tree, nb::arg("tree"))
      .def("follow", &PyShare::follow, nb::arg("tree"), nb::arg("column"));
  nb::class_<PyPlanner>(m, "Planner")
      .def(nb::init<const BinsHandle&, const nb::dict&, i64, std::optional<i64>, double, bool>(),
           nb::arg("bins"), nb::arg("params"), nb::arg("n_rows"), nb::arg("n_counted").none(),
           nb::arg("most_factor"), nb::arg("is_tall"))
      .def("offsets", &PyPlanner::offsets)
      .def("width", &PyPlanner::width)
      .def("sum_bytes", &PyPlanner::sum_bytes)
      .def("begin", &PyPlanner::begin, nb::arg("number"))
      .def("scale", &PyPlanner::scale, nb::arg("column"))
      .def("take_slopes", &PyPlanner::take_slopes, nb::arg("column"), nb::arg("most_gradient"),
           nb::arg("most_hessian"), nb::arg("gradient"), nb::arg("hessian"))
      .def("start", &PyPlanner::start, nb::arg("column"), nb::arg("root").noconvert(),
           nb::arg("n_rows"))
      .def("wanted", &PyPlanner::wanted, nb::arg("most"))
      .def("take", &PyPlanner::take, nb::arg("histograms").noconvert(),
           nb::arg("n_left").noconvert(), nb::arg("n_right").noconvert())
      .def("finish", &PyPlanner::finish, nb::arg("learning_rate"))
      .def("tree", &PyPlanner::tree, nb::arg("n_rows").noconvert(), nb::arg("weight").noconvert())
      .def("mean_loss", &PyPlanner::mean_loss, nb::arg("most"), nb::arg("loss_high"),
           nb::arg("loss_low"), nb::arg("weight_high"), nb::arg("weight_low"));
}

}  // namespace treewright
