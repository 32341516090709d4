#include "oblique/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.hpp"

namespace treewright::oblique {
namespace {

constexpr i32 kMostCycles = 100;
constexpr double kBetter = 1e-9;  // relative, of the score
constexpr double kApart = 1e-13;  // sums closer than this share of their terms may be rounding

struct Side {
  double weight = 0.0, mass = 0.0;
  i64 count = 0;
  std::vector<double> sum;

  explicit Side(i32 n) : sum(n, 0.0) {}
  void move(const Node& node, i64 row, double sign) {
    const double w = sign * node.weight[row];
    weight += w;
    mass += sign * node.mass[row];
    count += sign > 0 ? 1 : -1;
    const double* target = node.targets + row * node.n_targets;
    for (i32 k = 0; k < node.n_targets; ++k) sum[k] += w * target[k];
  }
  bool is_enough(const Node& node) const {
    return count >= node.min_leaf && mass * (1 + kBetter) >= node.min_mass;
  }
  double score() const {
    double squares = 0.0;
    for (const double s : sum) squares += s * s;
    return count > 0 && weight > 0 ? squares / weight : 0.0;
  }
};

struct Cut {
  double score = -1.0;
  double at = 0.0;
  bool is_found() const { return score >= 0.0; }
};

class Searcher {
 public:
  Searcher(const Node& node, const Plan& plan, Callable<void()> poll)
      : node_(node), plan_(plan), poll_(poll), random_(plan.seed, 0), order_(node.n_rows) {
    Side all(node.n_targets);
    for (i64 row = 0; row < node.n_rows; ++row) all.move(node, row, 1.0);
    whole_ = all.score();
    for (i32 m = 0; m < node.n_columns; ++m) {
      double most = 0.0;
      for (i64 row = 0; row < node.n_rows; ++row)
        most = std::max(most, std::abs(node.columns[m * node.n_rows + row]));
      reach_.push_back(most);
    }
    weight_ = all.weight;
  }

  Linear run() {
    Linear best;
    double most = -1.0;
    const i64 n_starts = static_cast<i64>(plan_.starts.size()) / node_.n_columns;
    for (i64 s = 0; s < n_starts; ++s) {
      const auto from = plan_.starts.begin() + s * node_.n_columns;
      std::vector<double> direction(from, from + node_.n_columns);
      Cut cut = best_cut(direction);
      if (!cut.is_found()) continue;
      if (plan_.refine) refine(direction, cut);
      if (cut.score > most * (1 + kBetter)) {
        most = cut.score;
        best.weight = direction;
        best.threshold = cut.at;
      }
    }
    if (best.weight.empty()) return best;
    if (plan_.tolerance >= 0) remove_needless(best, most);
    best.gain = (most - whole_) / weight_;
    return best;
  }

 private:
  std::vector<double> values(const std::vector<double>& direction) const {
    std::vector<double> out(node_.n_rows, 0.0);
    for (i32 m = 0; m < node_.n_columns; ++m) {
      if (direction[m] == 0.0) continue;
      const double* column = node_.columns + m * node_.n_rows;
      for (i64 row = 0; row < node_.n_rows; ++row) out[row] += direction[m] * column[row];
    }
    return out;
  }

  // The best threshold of a sum, between two of its values.
  Cut best_cut(const std::vector<double>& direction) {
    poll_();
    const std::vector<double> value = values(direction);
    double apart = 0.0;
    for (i32 m = 0; m < node_.n_columns; ++m) apart += kApart * std::abs(direction[m]) * reach_[m];
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](i32 a, i32 b) { return value[a] < value[b] || (value[a] == value[b] && a < b); });
    Side left(node_.n_targets), right(node_.n_targets);
    for (i64 row = 0; row < node_.n_rows; ++row) right.move(node_, row, 1.0);
    Cut best;
    for (i64 i = 0; i + 1 < node_.n_rows; ++i) {
      left.move(node_, order_[i], 1.0);
      right.move(node_, order_[i], -1.0);
      const double here = value[order_[i]], next = value[order_[i + 1]];
      const double middle = here / 2 + next / 2;
      if (!(next - here > apart) || !left.is_enough(node_) || !right.is_enough(node_)) continue;
      const double score = left.score() + right.score();
      if (score > best.score * (1 + kBetter) || !best.is_found()) best = {score, middle};
    }
    return best;
  }

  // The best s such that the rows with value + s · slope < 0 are the left side.
  Cut best_step(const std::vector<double>& value, const double* slope) {
    poll_();
    struct Turn {
      double at;
      i32 row;
    };
    std::vector<Turn> turns;
    Side left(node_.n_targets), right(node_.n_targets);
    for (i64 row = 0; row < node_.n_rows; ++row) {
      const double d = slope[row];
      // far to the left: value + s · slope is below 0 where the slope is above 0
      const bool is_left = d > 0 || (d == 0 && value[row] < 0);
      (is_left ? left : right).move(node_, row, 1.0);
      if (d != 0) turns.push_back({-value[row] / d, static_cast<i32>(row)});
    }
    std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
      return a.at < b.at || (a.at == b.at && a.row < b.row);
    });
    Cut best;
    for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
      const bool leaves = slope[turns[i].row] > 0;
      left.move(node_, turns[i].row, leaves ? -1.0 : 1.0);
      right.move(node_, turns[i].row, leaves ? 1.0 : -1.0);
      const double middle = turns[i].at / 2 + turns[i + 1].at / 2;
      if (!(turns[i].at < middle) || !std::isfinite(middle)) continue;
      if (!left.is_enough(node_) || !right.is_enough(node_)) continue;
      const double score = left.score() + right.score();
      if (score > best.score * (1 + kBetter) || !best.is_found()) best = {score, middle};
    }
    return best;
  }

  void refine(std::vector<double>& direction, Cut& cut) {
    std::vector<double> value = values(direction);
    for (double& v : value) v -= cut.at;
    for (i32 cycle = 0; cycle < kMostCycles; ++cycle) {
      bool is_better = step_coefficients(direction, cut, value);
      for (i32 jump = 0; !is_better && jump < plan_.n_jumps; ++jump)
        is_better = step_at_random(direction, cut, value);
      // the threshold is a coefficient too
      const Cut again = best_cut(direction);
      if (again.score > cut.score * (1 + kBetter)) {
        cut = again;
        is_better = true;
      } else if (again.is_found() && again.score >= cut.score * (1 - kBetter)) {
        cut.at = again.at;  // between two values
      }
      value = values(direction);
      for (double& v : value) v -= cut.at;
      if (!is_better) return;
    }
  }

  bool step_coefficients(std::vector<double>& direction, Cut& cut, std::vector<double>& value) {
    bool is_better = false;
    for (i32 m = 0; m < node_.n_columns; ++m) {
      const double* column = node_.columns + m * node_.n_rows;
      const Cut step = best_step(value, column);
      if (!(step.score > cut.score * (1 + kBetter))) continue;
      direction[m] += step.at;
      cut.score = step.score;
      for (i64 row = 0; row < node_.n_rows; ++row) value[row] += step.at * column[row];
      is_better = true;
    }
    return is_better;
  }

  // A step along a random direction of all coefficients and the threshold.
  bool step_at_random(std::vector<double>& direction, Cut& cut, std::vector<double>& value) {
    std::vector<double> way(node_.n_columns);
    for (double& w : way) w = 2 * random_.uniform() - 1;
    const double lift = 2 * random_.uniform() - 1;
    std::vector<double> slope = values(way);
    for (double& s : slope) s += lift;
    const Cut step = best_step(value, slope.data());
    if (!(step.score > cut.score * (1 + kBetter))) return false;
    for (i32 m = 0; m < node_.n_columns; ++m) direction[m] += step.at * way[m];
    cut.at -= step.at * lift;
    cut.score = step.score;
    for (i64 row = 0; row < node_.n_rows; ++row) value[row] += step.at * slope[row];
    return true;
  }

  // The coefficient that is missed least goes, as long as little of the gain goes with it.
  void remove_needless(Linear& best, double& score) {
    const double least = score - plan_.tolerance * (score - whole_);
    for (;;) {
      Cut kept;
      i32 removed = -1;
      for (i32 m = 0; m < node_.n_columns; ++m) {
        if (best.weight[m] == 0.0) continue;
        std::vector<double> without = best.weight;
        without[m] = 0.0;
        const Cut cut = best_cut(without);
        if (cut.is_found() && cut.score >= least && cut.score > kept.score * (1 + kBetter)) {
          kept = cut;
          removed = m;
        }
      }
      if (removed < 0) return;
      best.weight[removed] = 0.0;
      best.threshold = kept.at;
      score = kept.score;
    }
  }

  const Node& node_;
  const Plan& plan_;
  Callable<void()> poll_;
  Philox random_;
  std::vector<i32> order_;
  std::vector<double> reach_;  // the largest absolute value of each column
  double whole_ = 0.0, weight_ = 0.0;
};

}  // namespace

Linear best_linear(const Node& node, const Plan& plan, Callable<void()> poll) {
  return Searcher(node, plan, poll).run();
}

}  // namespace treewright::oblique
