#include "oblique/search.hpp"

#include <algorithm>
#include <cmath>

#include "choose/cuts.hpp"
#include "oblique/division.hpp"

namespace treewright::oblique {
namespace {

constexpr i32 kMostCycles = 100;
constexpr double kBetter = 1e-9;  // relative, of the gain
constexpr double kNoise = 1e-14;  // of the sums behind it
constexpr double kApart = 1e-13;  // sums closer than this share of their terms may be rounding

struct Cut {
  double gain = -kInf;
  double at = 0.0;
  bool is_found() const { return gain > -kInf; }
};

template <class Sides>
class Searcher {
 public:
  Searcher(const NodeView& node, const Plan& plan, Philox& random, Callable<void()> poll)
      : node_(node),
        plan_(plan),
        random_(random),
        poll_(poll),
        n_(node.size()),
        ids_(node.block.ids + node.begin),
        admission_(node, 0),
        noise_(kNoise * gain_scale(node.criterion, node.problem, node.stats)),
        sides_(node),
        items_(n_) {
    whole_ = sides_.score();
    for (const double* column : plan.columns) {
      double most = 0.0;
      for (i64 i = 0; column && i < n_; ++i) most = std::max(most, std::abs(column[i]));
      reach_.push_back(most);
    }
  }

  Linear run() {
    Linear best;
    Cut most;
    for (const Direction& start : plan_.starts) {
      Direction direction = start;
      Cut cut = best_cut(direction);
      if (!cut.is_found()) continue;
      if (plan_.refine) refine(direction, cut);
      if (is_better(cut, most)) {
        most = cut;
        best.weight = direction;
      }
      poll_();
    }
    if (best.weight.empty()) return best;
    if (plan_.tolerance >= 0) remove_needless(best.weight, most);
    best.threshold = most.at;
    best.gain = most.gain;
    return best;
  }

 private:
  bool is_better(const Cut& cut, const Cut& best) const {
    if (!best.is_found()) return cut.is_found();
    return cut.gain > best.gain + kBetter * std::abs(best.gain) + noise_;
  }

  bool is_admissible() const {
    const i64 left = sides_.n_left();
    return left >= admission_.min_leaf && n_ - left >= admission_.min_leaf &&
           (admission_.min_weight <= 0 || (sides_.left_weight() >= admission_.min_weight &&
                                           sides_.right_weight() >= admission_.min_weight));
  }

  std::vector<double> values(const Direction& direction) const {
    std::vector<double> out(n_, 0.0);
    for (std::size_t m = 0; m < direction.size(); ++m) {
      if (direction[m] == 0.0) continue;
      const double* column = plan_.columns[m];
      for (i64 i = 0; i < n_; ++i) out[i] += direction[m] * column[i];
    }
    return out;
  }

  // The best threshold of a sum, between two of its values.
  Cut best_cut(const Direction& direction) {
    const std::vector<double> value = values(direction);
    double apart = 0.0;
    for (std::size_t m = 0; m < direction.size(); ++m) {
      apart += kApart * std::abs(direction[m]) * reach_[m];
    }
    for (i64 i = 0; i < n_; ++i) items_[i] = {value[i], ids_[i]};
    sort_items();
    sides_.start();
    Cut best;
    for (i64 i = 0; i + 1 < n_; ++i) {
      sides_.move(items_[i].id, true);
      const double here = items_[i].at, next = items_[i + 1].at;
      if (!(next - here > apart) || !is_admissible()) continue;
      const Cut cut{sides_.score() - whole_, here / 2 + next / 2};
      if (is_better(cut, best)) best = cut;
    }
    return best;
  }

  // The best s such that the rows with value + s · slope < 0 are the left side.
  Cut best_step(const std::vector<double>& value, const double* slope) {
    items_.clear();
    sides_.start();
    for (i64 i = 0; i < n_; ++i) {
      const double d = slope[i];
      // far to the left: value + s · slope is below 0 where the slope is above 0
      if (d > 0 || (d == 0 && value[i] < 0)) sides_.move(ids_[i], true);
      if (d != 0) items_.push_back({-value[i] / d, ids_[i], d > 0});
    }
    sort_items();
    Cut best;
    for (std::size_t i = 0; i + 1 < items_.size(); ++i) {
      sides_.move(items_[i].id, !items_[i].leaves);
      const double middle = items_[i].at / 2 + items_[i + 1].at / 2;
      if (!(items_[i].at < middle) || !std::isfinite(middle) || !is_admissible()) continue;
      const Cut cut{sides_.score() - whole_, middle};
      if (is_better(cut, best)) best = cut;
    }
    items_.resize(n_);
    return best;
  }

  // Equal ones in any order: nothing is cut between them, and sums are exact.
  void sort_items() {
    std::sort(items_.begin(), items_.end(),
              [](const Item& a, const Item& b) { return a.at < b.at; });
  }

  void refine(Direction& direction, Cut& cut) {
    std::vector<double> value = below(direction, cut.at);
    for (i32 cycle = 0; cycle < kMostCycles; ++cycle) {
      poll_();
      bool is_improved = step_coefficients(direction, cut, value);
      for (i32 jump = 0; !is_improved && jump < plan_.n_jumps; ++jump)
        is_improved = step_at_random(direction, cut, value);
      // the threshold is a coefficient too
      const Cut again = best_cut(direction);
      if (is_better(again, cut)) {
        cut = again;
        is_improved = true;
      } else if (again.is_found() && !is_better(cut, again)) {
        cut.at = again.at;  // between two values
      }
      value = below(direction, cut.at);
      if (!is_improved) return;
    }
  }

  std::vector<double> below(const Direction& direction, double threshold) const {
    std::vector<double> value = values(direction);
    for (double& v : value) v -= threshold;
    return value;
  }

  bool step_coefficients(Direction& direction, Cut& cut, std::vector<double>& value) {
    bool is_improved = false;
    for (std::size_t m = 0; m < direction.size(); ++m) {
      const double* column = plan_.columns[m];
      poll_();
      const Cut step = best_step(value, column);
      if (!is_better(step, cut)) continue;
      direction[m] += step.at;
      cut.gain = step.gain;
      for (i64 i = 0; i < n_; ++i) value[i] += step.at * column[i];
      is_improved = true;
    }
    return is_improved;
  }

  // A step along a random direction of all coefficients and the threshold.
  bool step_at_random(Direction& direction, Cut& cut, std::vector<double>& value) {
    Direction way(direction.size());
    for (double& w : way) w = 2 * random_.uniform() - 1;
    const double lift = 2 * random_.uniform() - 1;
    std::vector<double> slope = values(way);
    for (double& s : slope) s += lift;
    const Cut step = best_step(value, slope.data());
    if (!is_better(step, cut)) return false;
    for (std::size_t m = 0; m < direction.size(); ++m) direction[m] += step.at * way[m];
    cut.at -= step.at * lift;
    cut.gain = step.gain;
    for (i64 i = 0; i < n_; ++i) value[i] += step.at * slope[i];
    return true;
  }

  // The coefficient that is missed least goes, as long as little of the gain goes with it.
  void remove_needless(Direction& weight, Cut& cut) {
    const double least = cut.gain * (1 - plan_.tolerance) - noise_;
    for (;;) {
      Cut kept;
      std::size_t removed = weight.size();
      for (std::size_t m = 0; m < weight.size(); ++m) {
        if (weight[m] == 0.0) continue;
        Direction without = weight;
        without[m] = 0.0;
        if (plan_.keeps_two && n_features(without) < 2) continue;
        const Cut now = best_cut(without);
        if (now.is_found() && now.gain >= least && is_better(now, kept)) {
          kept = now;
          removed = m;
        }
        poll_();
      }
      if (removed == weight.size()) return;
      weight[removed] = 0.0;
      cut = kept;
    }
  }

  // Features of a sum, two if there are more.
  i32 n_features(const Direction& direction) const {
    i32 first = -1;
    for (std::size_t m = 0; m < direction.size(); ++m) {
      if (direction[m] == 0.0 || plan_.features[m] == first) continue;
      if (first >= 0) return 2;
      first = plan_.features[m];
    }
    return first >= 0;
  }

  struct Item {
    double at;
    u32 id;
    bool leaves = false;  // a step takes the row away from the left side
  };

  const NodeView& node_;
  const Plan& plan_;
  Philox& random_;
  Callable<void()> poll_;
  i64 n_;
  const u32* ids_;
  Admission admission_;
  double noise_;
  Sides sides_;
  std::vector<Item> items_;
  std::vector<double> reach_;  // the largest absolute value of each column
  double whole_ = 0.0;
};

}  // namespace

Linear best_linear(const NodeView& node, const Plan& plan, Philox& random, Callable<void()> poll) {
  const Problem& p = node.problem;
  if (!p.is_classification()) {
    return Searcher<Division<SquaredError>>(node, plan, random, poll).run();
  }
  if (node.criterion.factor || p.weight_of(node.stats) > kMostCounted) {
    return Searcher<Division<Gini>>(node, plan, random, poll).run();
  }
  return Searcher<GiniDivision>(node, plan, random, poll).run();
}

}  // namespace treewright::oblique
