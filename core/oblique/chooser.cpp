#include "oblique/chooser.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "choose/cuts.hpp"

namespace treewright::oblique {
namespace {

constexpr double kMustGain = 1e-9;  // by which a linear test must be better, relative
constexpr int kDigits = 6;
constexpr i32 kDrawsOfSums = -1;  // the branch of no child: a stream of its own for each node

double rounded(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::general, kDigits);
  std::from_chars(text, end.ptr, x);
  return x;
}

// Signs of a few columns: two for certain, each other one with a chance of one in all of them.
Direction sparse_direction(i32 n, Philox& random) {
  Direction out(n, 0.0);
  const i32 first = static_cast<i32>(random.below(n));
  const i32 second = static_cast<i32>(random.below(n - 1));
  out[first] = out[second + (second >= first)] = 1.0;
  const double step = std::log1p(-1.0 / n);  // how far the next one is
  for (double at = -1.0;;) {
    at += 1.0 + std::floor(std::log(1.0 - random.uniform()) / step);
    if (!(at < n)) break;
    out[static_cast<i32>(at)] = 1.0;
  }
  for (double& sign : out) {
    if (sign != 0.0 && random.next() & 1) sign = -1.0;
  }
  return out;
}

class LinearChooser : public LinearSearch {
 public:
  explicit LinearChooser(Rules rules) : rules_(std::move(rules)) {}

  bool better(const NodeView& node, const Candidate& single, const std::vector<i32>& features,
              bool drawn, Callable<void()> poll, Scratch& scratch, Split& split) override {
    // Projections are drawn themselves, of all features.
    const bool of_all = drawn && rules_.method == Method::sparse;
    std::vector<i32> all(of_all ? node.problem.n_features() : 0);
    std::iota(all.begin(), all.end(), 0);
    std::vector<i32> some(of_all ? all : features);
    std::sort(some.begin(), some.end());
    Design design(node, rules_.terms, some, scratch);
    std::vector<Part>& parts = design.parts;
    const auto n = static_cast<i64>(parts.size());
    if (design.n_features() < 2 || !design.has_distinct_rows(2 * n)) return false;
    Philox random(node.problem.params.seed, child_path(node.path, kDrawsOfSums));
    const i32 n_drawn = drawn ? node.problem.params.max_features : 0;
    Plan plan = planned(node, design, single, n_drawn, random);
    plan.keeps_two = drawn;
    Direction direction = best_linear(node, plan, random, poll).weight;
    if (direction.empty()) return false;
    for (i64 m = 0; m < n; ++m) {
      direction[m] = direction[m] == 0.0 ? 0.0 : direction[m] / parts[m].spread;
    }
    return propose(node, design, single, direction, random, poll, split);
  }

 private:
  // Directions to cut, and the columns that they need.
  Plan planned(const NodeView& node, Design& design, const Candidate& single, i32 n_drawn,
               Philox& random) const {
    std::vector<Part>& parts = design.parts;
    const auto n = static_cast<i32>(parts.size());
    Plan plan;
    plan.tolerance = rules_.deletion;
    plan.columns.assign(n, nullptr);
    if (rules_.method == Method::sparse) {
      i32 count = rules_.n_projections ? rules_.n_projections : 2 * (n_drawn ? n_drawn : n);
      for (; count > 0; --count) plan.starts.push_back(sparse_direction(n, random));
    } else {
      plan.refine = rules_.method == Method::stepwise;
      plan.n_jumps = rules_.n_jumps;
    }
    for (i32 m = 0; m < n; ++m) {
      plan.features.push_back(parts[m].feature);
      auto takes = [m](const Direction& d) { return d[m] != 0.0; };
      if (rules_.method == Method::sparse && std::ranges::none_of(plan.starts, takes)) continue;
      design.make(parts[m]);
      plan.columns[m] = parts[m].column.data();
      if (parts[m].spread > 0) continue;
      std::ranges::fill(parts[m].column, 0.0);  // numbers at the ends of their range
      parts[m].spread = 1.0;
    }
    if (rules_.method == Method::stepwise) {
      const auto at = std::ranges::find(plan.features, single.feature) - plan.features.begin();
      Direction& along = plan.starts.emplace_back(n, 0.0);
      along[at < n ? at : 0] = 1.0;
      for (i32 i = 0; i < rules_.n_restarts; ++i) {
        for (double& w : plan.starts.emplace_back(n)) w = 2 * random.uniform() - 1;
      }
    } else if (rules_.method == Method::given) {
      plan.starts = rules_.directions(node, parts);
    }
    return plan;
  }

  // The test with its coefficients rounded, if it is better.
  bool propose(const NodeView& node, const Design& design, const Candidate& single,
               const Direction& direction, Philox& random, Callable<void()> poll,
               Split& split) const {
    double scale = 0.0, sign = 0.0;  // the first term is added
    for (std::size_t m = 0; m < direction.size(); ++m) {
      const Part& part = design.parts[m];
      scale = std::max(scale, std::abs(direction[m]));
      if (sign == 0.0) sign = direction[m] * (part.is_number() ? 1.0 : part.values[0]);
    }
    if (sign < 0) scale = -scale;
    split.reset();
    std::vector<std::vector<double>> columns;
    std::vector<double> means;
    for (std::size_t m = 0; m < direction.size(); ++m) {
      if (direction[m] == 0.0) continue;
      const Part& part = design.parts[m];
      const double coefficient = direction[m] / scale;
      std::vector<double> weights{rounded(coefficient)};
      if (!part.is_number()) weights.resize(part.values.size());
      for (std::size_t k = 0; !part.is_number() && k < weights.size(); ++k) {
        weights[k] = rounded(coefficient * part.values[k]);
      }
      if (!add_terms(part, weights, split)) continue;
      means.push_back((part.is_number() ? weights[0] : coefficient) * part.mean);
      columns.push_back(design.weighed(part, weights));
    }
    const std::vector<i32>& tested = split.term_feature;
    if (tested.empty() || tested.front() == tested.back()) return false;
    return cut(node, single, columns, means, random, poll, split);
  }

  static bool add_terms(const Part& part, const std::vector<double>& weights, Split& split) {
    const std::size_t before = split.term_feature.size();
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (weights[k] == 0.0) continue;
      split.term_feature.push_back(part.feature);
      split.term_weight.push_back(weights[k]);
      split.term_code.push_back(part.is_number() ? kNoCode : part.codes[k]);
    }
    return split.term_feature.size() > before;
  }

  // Finds the threshold of the terms of `split`.
  static bool cut(const NodeView& node, const Candidate& single,
                  std::vector<std::vector<double>>& columns, const std::vector<double>& means,
                  Philox& random, Callable<void()> poll, Split& split) {
    for (i64 i = 0; i < node.size(); ++i) {
      if (std::ranges::none_of(columns, [i](const auto& x) { return x[i] != x[i]; })) continue;
      for (std::size_t m = 0; m < columns.size(); ++m) columns[m][i] = means[m];
    }
    Plan plan;
    for (const auto& column : columns) plan.columns.push_back(column.data());
    plan.starts.emplace_back(columns.size(), 1.0);
    const Linear found = best_linear(node, plan, random, poll);
    const bool has_single = single.kind != CandidateKind::none;
    const double bar = (has_single ? single.gain * (1 + kMustGain) : 0.0) +
                       1e-15 * gain_scale(node.criterion, node.problem, node.stats);
    if (found.weight.empty() || !(found.gain > bar)) return false;
    split.kind = SplitKind::linear;
    split.n_branches = 2;
    split.gain = found.gain;
    split.breaks.assign(1, found.threshold);
    const double mean = std::accumulate(means.begin(), means.end(), 0.0);
    split.gap_branch = mean < found.threshold ? 0 : 1;
    return true;
  }

  Rules rules_;
};

}  // namespace

std::unique_ptr<LinearSearch> make_linear(Rules rules) {
  return std::make_unique<LinearChooser>(std::move(rules));
}

}  // namespace treewright::oblique
