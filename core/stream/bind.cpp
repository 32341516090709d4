// Python's door to trees that learn from streams.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <deque>
#include <optional>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "stream/tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

using namespace stream;

// All that was learned as one row of numbers.
struct Writer {
  std::vector<double> out;
  void operator()(double v) { out.push_back(v); }
  template <class T>
  void operator()(const std::vector<T>& values) {
    out.push_back(static_cast<double>(values.size()));
    for (const T v : values) out.push_back(static_cast<double>(v));
  }
  template <class T>
  void each(std::vector<T>& values) {
    out.push_back(static_cast<double>(values.size()));
    for (T& v : values) {
      if constexpr (requires { v.visit(*this); }) {
        v.visit(*this);
      } else {
        (*this)(v);
      }
    }
  }
  void refuse() {}
};

struct Reader {
  std::span<const double> in;
  std::size_t at = 0;

  [[noreturn]] void refuse() { treewright::refuse("what the stream tree learned is damaged"); }
  double next() {
    if (at >= in.size()) refuse();
    return in[at++];
  }
  std::size_t length() {
    const double n = next();
    if (!(n >= 0) || n > static_cast<double>(in.size() - at)) refuse();
    return static_cast<std::size_t>(n);
  }
  i32 whole() {
    const double v = next();
    if (!(v >= -2147483647.0 && v <= 2147483647.0)) refuse();
    return static_cast<i32>(v);
  }
  void operator()(double& v) { v = next(); }
  void operator()(i32& v) { v = whole(); }
  void operator()(bool& v) { v = next() != 0; }
  void operator()(std::vector<double>& values) {
    values.resize(length());
    for (double& v : values) v = next();
  }
  void operator()(std::vector<i32>& values) {
    values.resize(length());
    for (i32& v : values) v = whole();
  }
  template <class T>
  void each(std::vector<T>& values) {
    values.clear();
    for (std::size_t n = length(); n > 0; --n) {
      values.emplace_back();
      if constexpr (requires { values.back().visit(*this); }) {
        values.back().visit(*this);
      } else {
        (*this)(values.back());
      }
    }
  }
};

Options read_options(const nb::dict& d) {
  Options o;
  o.n_classes = nb::cast<i32>(d["n_classes"]);
  o.n_codes = nb::cast<std::vector<i32>>(d["n_codes"]);
  o.grace = nb::cast<double>(d["grace"]);
  o.delta = nb::cast<double>(d["delta"]);
  o.tau = nb::cast<double>(d["tau"]);
  o.max_depth = nb::cast<i32>(d["max_depth"]);
  o.leaf = static_cast<Leaf>(nb::cast<i32>(d["leaf"]));
  o.fast = nb::cast<bool>(d["fast"]);
  o.again = nb::cast<double>(d["again"]);
  o.drift = nb::cast<bool>(d["drift"]);
  o.drift_delta = nb::cast<double>(d["drift_delta"]);
  o.max_bytes = nb::cast<double>(d["max_bytes"]);
  o.gini = nb::cast<bool>(d["gini"]);
  return o;
}

constexpr i64 kBetweenPolls = 512;

// Answers before learning each row, where they are wanted.
nb::object learn(StreamTree& tree, Matrix<double> rows, Vector<double> y,
                 std::optional<Vector<double>> weight, bool want) {
  const i64 n = static_cast<i64>(rows.shape(0)), d = static_cast<i64>(rows.shape(1));
  const i32 k = std::max(tree.options().n_classes, 1);
  const double* x = view(rows).data();
  const double* target = view(y).data();
  const double* w = weight ? view(*weight).data() : nullptr;
  std::vector<double> answers(want ? n * k : 0);
  {
    GilRelease release;
    SignalPoll poll;
    for (i64 i = 0; i < n; ++i) {
      tree.learn(x + i * d, target[i], w ? w[i] : 1.0, want ? answers.data() + i * k : nullptr);
      if (i % kBetweenPolls == 0) poll();
    }
  }
  if (!want) return nb::none();
  return to_numpy(std::move(answers), {static_cast<std::size_t>(n), static_cast<std::size_t>(k)});
}

nb::object answer(const StreamTree& tree, Matrix<double> rows) {
  const i64 n = static_cast<i64>(rows.shape(0)), d = static_cast<i64>(rows.shape(1));
  const i32 k = std::max(tree.options().n_classes, 1);
  const double* x = view(rows).data();
  std::vector<double> answers(n * k);
  {
    GilRelease release;
    SignalPoll poll;
    for (i64 i = 0; i < n; ++i) {
      tree.answer(x + i * d, answers.data() + i * k);
      if (i % kBetweenPolls == 0) poll();
    }
  }
  return to_numpy(std::move(answers), {static_cast<std::size_t>(n), static_cast<std::size_t>(k)});
}

// The columns of an ordinary tree: parents first, siblings together.
nb::dict arrays(const StreamTree& tree) {
  const std::vector<Node>& nodes = tree.nodes();
  std::vector<i32> order{tree.root()}, first_child, n_children, feature, fallback, codes, branches;
  std::vector<double> threshold, merit, totals;
  std::vector<i64> code_offset{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node& n = nodes[order[i]];
    first_child.push_back(n.is_leaf() ? -1 : static_cast<i32>(order.size()));
    n_children.push_back(static_cast<i32>(n.kids.size()));
    feature.push_back(n.is_leaf() ? -1 : n.feature);
    threshold.push_back(n.threshold);
    merit.push_back(n.is_leaf() ? 0 : n.merit);
    i32 heaviest = n.is_leaf() ? kGapStop : 0;
    for (std::size_t b = 0; b < n.kids.size(); ++b) {
      if (nodes[n.kids[b]].passed > nodes[n.kids[heaviest]].passed) heaviest = static_cast<i32>(b);
    }
    fallback.push_back(heaviest);
    for (std::size_t c = 0; c < n.branch.size(); ++c) {
      if (n.is_leaf() || n.branch[c] < 0) continue;
      codes.push_back(static_cast<i32>(c));
      branches.push_back(n.branch[c]);
    }
    code_offset.push_back(static_cast<i64>(codes.size()));
    totals.insert(totals.end(), n.totals.begin(), n.totals.end());
    order.insert(order.end(), n.kids.begin(), n.kids.end());
  }
  // An inner node stands for the rows of its leaves.
  const std::size_t s = tree.options().n_sums(), n = order.size();
  for (std::size_t i = n; i-- > 0;) {
    if (first_child[i] < 0) continue;
    std::fill_n(totals.begin() + static_cast<i64>(i * s), s, 0.0);
    for (i32 b = 0; b < n_children[i]; ++b) {
      for (std::size_t k = 0; k < s; ++k) totals[i * s + k] += totals[(first_child[i] + b) * s + k];
    }
  }
  nb::dict d;
  d["first_child"] = to_numpy(std::move(first_child));
  d["n_children"] = to_numpy(std::move(n_children));
  d["feature"] = to_numpy(std::move(feature));
  d["default"] = to_numpy(std::move(fallback));
  d["threshold"] = to_numpy(std::move(threshold));
  d["merit"] = to_numpy(std::move(merit));
  d["code_offset"] = to_numpy(std::move(code_offset));
  d["codes"] = to_numpy(std::move(codes));
  d["branches"] = to_numpy(std::move(branches));
  d["totals"] = to_numpy(std::move(totals), {n, s});
  return d;
}

nb::object state(StreamTree& tree) {
  Writer writer;
  tree.visit(writer);
  return to_numpy(std::move(writer.out));
}

void restore(StreamTree& tree, Vector<double> numbers) {
  StreamTree read(tree.options());
  Reader reader{view(numbers)};
  read.visit(reader);
  if (reader.at != reader.in.size() || !read.settle()) reader.refuse();
  tree = std::move(read);
}

}  // namespace

void bind_stream(nb::module_& m) {
  nb::class_<StreamTree>(m, "StreamTree")
      .def(
          "__init__", [](StreamTree* self, nb::dict o) { new (self) StreamTree(read_options(o)); },
          "options"_a)
      .def("set_codes", &StreamTree::set_codes, "n_codes"_a)
      .def("learn", &learn, "rows"_a.noconvert(), "y"_a.noconvert(), "weight"_a.none(), "want"_a)
      .def("answer", &answer, "rows"_a.noconvert())
      .def("arrays", &arrays)
      .def("state", &state)
      .def("restore", &restore, "numbers"_a.noconvert())
      .def_prop_ro("n_active", &StreamTree::n_active);
}

}  // namespace treewright
