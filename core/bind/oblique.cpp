// What Python says of linear tests.
#include "base/arrays.hpp"
#include "bind/grow.hpp"
#include "oblique/chooser.hpp"

namespace nb = nanobind;

namespace treewright {
namespace {

using namespace oblique;

// Asks a Python function: standardised columns, class codes or numbers, and weights of a node in,
// a direction per row out.
GiveDirections ask_directions(const nb::object& function) {
  return [function](const NodeView& node, const std::vector<Part>& parts) {
    const std::size_t n = node.size(), m = parts.size();
    const Problem& p = node.problem;
    const TargetArrays& target = node.block.target;
    const u32* ids = node.block.ids + node.begin;
    std::vector<double> columns, weight, y;
    std::vector<i32> label;
    columns.reserve(n * m);
    for (const Part& part : parts) {
      columns.insert(columns.end(), part.column.begin(), part.column.end());
    }
    const i32 outputs = p.targets.n_outputs;
    for (std::size_t i = 0; i < n; ++i) {
      weight.push_back(static_cast<double>(instance_weight(target, ids[i])) * p.weight_unit);
      if (p.is_classification()) {
        label.push_back(target.label[ids[i]]);
        if (node.criterion.factor) weight.back() *= node.criterion.factor[label.back()];
      } else {
        const double* own = target.y + static_cast<i64>(ids[i]) * outputs;
        y.insert(y.end(), own, own + outputs);
      }
    }
    nb::gil_scoped_acquire gil;
    const nb::object said = function(
        to_numpy(std::move(columns), {m, n}),
        p.is_classification() ? to_numpy(std::move(label))
                              : to_numpy(std::move(y), {n, static_cast<std::size_t>(outputs)}),
        to_numpy(std::move(weight)));
    const auto rows = nb::cast<Array<double>>(said);
    if (rows.ndim() != 2 || rows.shape(1) != m) {
      throw nb::value_error("directions must have a coefficient for each column");
    }
    std::vector<Direction> out;
    for (std::size_t i = 0; i < rows.shape(0); ++i) {
      out.emplace_back(rows.data() + i * m, rows.data() + (i + 1) * m);
    }
    return out;
  };
}

}  // namespace

std::unique_ptr<LinearSearch> read_linear(const nb::dict& d) {
  Rules rules;
  rules.method = static_cast<Method>(get<int>(d, "method"));
  rules.terms = static_cast<NominalTerms>(get<int>(d, "nominal_terms"));
  rules.n_projections = get<i32>(d, "n_projections");
  rules.n_restarts = get<i32>(d, "n_restarts");
  rules.n_jumps = get<i32>(d, "n_jumps");
  rules.deletion = get<double>(d, "deletion");
  if (rules.method == Method::given) rules.directions = ask_directions(d["directions"]);
  return make_linear(std::move(rules));
}

}  // namespace treewright
