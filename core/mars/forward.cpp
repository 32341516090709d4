#include "mars/forward.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/team.hpp"
#include "base/threads.hpp"
#include "mars/queue.hpp"
#include "mars/search.hpp"

namespace treewright::mars {
namespace {

constexpr double kLowestGrsq = -10;
// Gains that differ by no more are equal, and the first stays.
constexpr double kSameGain = 1e-8;
// A new column with no more than this share outside the basis is not added.
constexpr double kDependent = 1e-14;

// One place of the basis: a term, an empty place, or one whose column is zero everywhere.
struct Slot {
  i32 term = -1;
  i32 degree = 0;
  bool is_tried = true;
};

struct Task {
  i32 slot, term, feature;
  bool is_kept;  // what its search knows stays for the next step
};

struct Choice {
  double gain = 0;
  Task task{-1, -1, -1, false};
  i32 knot_row = -1;  // below 0: the feature enters without a knot
  bool is_pair = false;
  bool adds_pair = false;  // the queue gets two entries, see queue.hpp
};

class Pass {
 public:
  Pass(const Data& data, const Options& options,
       Callable<void(const std::vector<i32>&, std::vector<u8>&)> offer)
      : data_(data),
        options_(options),
        offer_(offer),
        basis_(data.n_rows),
        residual_(data.n_rows),
        queue_(options.fast_k, options.fast_beta),
        sources_{basis_, residual_, {}, 0},
        work_(options.n_threads) {}

  Forward run(Callable<void()> poll);

 private:
  void prepare(Callable<void()> poll);
  void start();
  std::vector<Task> list_tasks();
  std::vector<std::vector<i32>> by_feature(const std::vector<Task>& tasks) const;
  Choice choose(Callable<void()> poll);
  Found examine(const Task& task, Workspace& work, const Limits& limits);
  bool add(const Choice& choice);
  void add_term(const Term& term, std::vector<double> values, std::vector<double> column);
  std::vector<double> hinge(const Task& task, Kind kind, i32 knot_row, bool for_basis) const;
  void renew_sources(i32 n_new);
  double gcv(double rss, i32 n_terms) const;
  bool is_linear_only(i32 f) const { return data_.linear && data_.linear[f]; }
  bool enters_linearly(i32 f) const {
    return (options_.auto_linear && !features_[f].is_narrow) || is_linear_only(f);
  }
  double total() const;

  const Data& data_;
  const Options& options_;
  Callable<void(const std::vector<i32>&, std::vector<u8>&)> offer_;
  std::vector<Feature> features_;
  std::vector<double> root_weight_;
  double n_ = 0;                             // rows, with their copies
  Columns basis_, residual_;                 // orthonormal; what is left of the responses
  std::vector<std::vector<double>> values_;  // of each term, at most 1 in size
  std::vector<std::vector<double>> blocks_;  // the same by row, eight terms side by side
  std::vector<double> support_;              // number of rows where a term is not zero
  std::vector<std::vector<i32>> used_;       // features of each term
  std::vector<std::vector<u8>> offered_;     // features that may multiply it
  std::vector<std::vector<Known>> known_;    // by term and feature
  i64 known_bytes_ = 0;
  std::vector<Slot> slots_;
  ParentQueue queue_;
  Sources sources_;
  std::vector<Workspace> work_;
  Forward out_;
  i32 stamp_ = 0;
  double most_gain_ = kInf;  // of the next step
};

void Pass::prepare(Callable<void()> poll) {
  const i64 n = data_.n_rows;
  root_weight_.assign(n, 1);
  n_ = static_cast<double>(n);
  if (data_.copies) n_ = std::accumulate(data_.copies, data_.copies + n, 0.0);
  for (i64 i = 0; data_.weight && i < n; ++i) root_weight_[i] = std::sqrt(data_.weight[i]);
  features_.resize(data_.n_features);
  parallel_for(
      data_.n_features, options_.n_threads,
      [&](i64 f, int) {
        Feature& feature = features_[f];
        feature.raw = data_.x + f * n;
        const auto [low, high] = std::minmax_element(feature.raw, feature.raw + n);
        feature.is_constant = *low == *high;
        feature.is_narrow = *high - *low < kNarrow * std::max(std::fabs(*low), std::fabs(*high));
        double mean = 0;
        for (i64 i = 0; i < n; ++i) mean += (feature.raw[i] - *low) / static_cast<double>(n);
        const double scale = feature.is_constant ? 1 : *high - *low;
        feature.order.resize(n);
        std::iota(feature.order.begin(), feature.order.end(), 0);
        std::sort(feature.order.begin(), feature.order.end(), [&](i32 a, i32 b) {
          return feature.raw[a] != feature.raw[b] ? feature.raw[a] > feature.raw[b] : a > b;
        });
        feature.x.resize(n);
        for (i64 i = 0; i < n; ++i) {
          feature.x[i] = ((feature.raw[feature.order[i]] - *low) - mean) / scale;
        }
      },
      poll);
}

// The constant term, and the responses about their means.
void Pass::start() {
  const i64 n = data_.n_rows;
  add_term({}, std::vector<double>(n, 1), root_weight_);
  slots_.push_back({0, 0, true});
  queue_.add(1, stamp_);
  for (i32 r = 0; r < data_.n_responses; ++r) {
    std::vector<double> y(n);
    for (i64 i = 0; i < n; ++i) y[i] = data_.y[i * data_.n_responses + r] * root_weight_[i];
    orthogonalise(basis_, y);
    residual_.append(y.data());
  }
  out_.rss.push_back(total());
  out_.sizes.push_back(1);
  renew_sources(1);
}

double Pass::total() const {
  double sum = 0;
  for (i32 r = 0; r < residual_.size(); ++r)
    for (i64 i = 0; i < data_.n_rows; ++i) sum += residual_.at(r, i) * residual_.at(r, i);
  return sum;
}

double Pass::gcv(double rss, i32 n_terms) const {
  const double price = options_.penalty < 0 ? 0 : n_terms + options_.penalty * (n_terms - 1) / 2;
  if (price >= n_) return kInf;
  return rss / (n_ * (1 - price / n_) * (1 - price / n_));
}

// Adds a column to the orthonormal basis and takes it out of the residuals.
void Pass::add_term(const Term& term, std::vector<double> values, std::vector<double> column) {
  const i64 n = data_.n_rows;
  if (term.feature >= 0) out_.terms.push_back(term);
  const double length = std::sqrt(squares(column));
  basis_.append(column.data(), 1 / length);
  std::vector<i32> used;
  if (term.feature >= 0) {
    used = used_[term.parent];
    used.push_back(term.feature);
  }
  std::vector<u8> offered(data_.n_features, 1);
  offer_(used, offered);
  for (const i32 f : used) offered[f] = 0;
  double support = 0;
  for (i64 i = 0; i < n; ++i)
    if (values[i] != 0) support += data_.copies ? data_.copies[i] : 1;
  for (i32 r = 0; r < residual_.size(); ++r) {
    double* block = residual_.block(r / kLanes) + r % kLanes;
    double part = 0;
    for (i64 i = 0; i < n; ++i) part += column[i] / length * block[i * kLanes];
    for (i64 i = 0; i < n; ++i) block[i * kLanes] -= part * (column[i] / length);
  }
  const std::size_t lane = values_.size() % kBlock;
  if (lane == 0) blocks_.emplace_back(n * kBlock, 0.0);
  for (i64 i = 0; i < n; ++i) blocks_.back()[i * kBlock + lane] = values[i];
  values_.push_back(std::move(values));
  support_.push_back(support);
  used_.push_back(std::move(used));
  offered_.push_back(std::move(offered));
  known_.emplace_back(data_.n_features);
}

// The newest columns of the basis and the residuals side by side, where they fit.
void Pass::renew_sources(i32 n_new) {
  const i32 n_responses = residual_.size();
  sources_.n_fresh = n_new + n_responses <= kLanes ? n_new : 0;
  if (!sources_.n_fresh) return;
  sources_.fresh.assign(data_.n_rows * kLanes, 0);
  for (i64 i = 0; i < data_.n_rows; ++i) {
    double* to = sources_.fresh.data() + i * kLanes;
    for (i32 j = 0; j < n_new; ++j) to[j] = basis_.at(basis_.size() - n_new + j, i);
    for (i32 r = 0; r < n_responses; ++r) to[n_new + r] = residual_.at(r, i);
  }
}

std::vector<Task> Pass::list_tasks() {
  std::vector<Task> tasks;
  for (const i32 s : queue_.order(stamp_)) {
    const Slot slot = s < static_cast<i32>(slots_.size()) ? slots_[s] : Slot{-1, 0, false};
    if (!slot.is_tried || slot.degree >= options_.degree) continue;
    queue_.tried(s, 0, static_cast<i32>(slots_.size()));
    if (slot.term < 0) continue;
    for (i32 f = 0; f < data_.n_features; ++f) {
      if (!offered_[slot.term][f] || features_[f].is_constant) continue;
      Known& known = known_[slot.term][f];
      bool is_kept = known.is_ready;
      if (!is_kept) {
        const Spans s_f = spans(options_, data_.n_features, n_, support_[slot.term], slot.term > 0);
        const i64 bytes = static_cast<i64>(support_[slot.term] / s_f.step + 1) * 20;
        is_kept = known_bytes_ + bytes <= options_.cache_bytes;
        if (is_kept) known_bytes_ += bytes;
      }
      tasks.push_back({s, slot.term, f, is_kept});
    }
  }
  return tasks;
}

// The tasks of a feature whose parents lie in one block of terms together.
std::vector<std::vector<i32>> Pass::by_feature(const std::vector<Task>& tasks) const {
  std::vector<std::vector<i32>> groups(data_.n_features * blocks_.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    groups[tasks[i].feature * blocks_.size() + tasks[i].term / kBlock].push_back(
        static_cast<i32>(i));
  }
  std::erase_if(groups, [](const std::vector<i32>& group) { return group.empty(); });
  return groups;
}

Found Pass::examine(const Task& task, Workspace& work, const Limits& limits) {
  const Spans s = spans(options_, data_.n_features, n_, support_[task.term], task.term > 0);
  work.run.gather(features_[task.feature], work.parents.data() + task.term % kBlock * data_.n_rows,
                  data_.weight ? root_weight_.data() : nullptr, data_.copies, n_, s,
                  is_linear_only(task.feature));
  if (task.is_kept) return search(known_[task.term][task.feature], work, sources_, limits);
  work.scratch.is_ready = false;
  return search(work.scratch, work, sources_, limits);
}

Choice Pass::choose(Callable<void()> poll) {
  const std::vector<Task> tasks = list_tasks();
  std::vector<Found> found(tasks.size());
  const i32 next = static_cast<i32>(slots_.size());
  const Limits limits = {next < kLateSlot ? kTolerance : kLateTolerance, most_gain_};
  const std::vector<std::vector<i32>> groups = by_feature(tasks);
  parallel_for(
      static_cast<i64>(groups.size()), options_.n_threads,
      [&](i64 g, int thread) {
        Workspace& work = work_[thread];
        const Task& first = tasks[groups[g][0]];
        sort_columns(work, sources_, features_[first.feature], blocks_[first.term / kBlock].data());
        for (const i32 i : groups[g]) found[i] = examine(tasks[i], work, limits);
      },
      poll);
  Choice best;
  double of_parent = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (i == 0 || tasks[i].slot != tasks[i - 1].slot) of_parent = 0;
    if (found[i].linear_gain > best.gain * (1 + kSameGain)) {
      best = {found[i].linear_gain, tasks[i], -1, false, best.adds_pair};
    }
    if (found[i].knot_gain > best.gain * (1 + kSameGain)) {
      const bool is_new = found[i].is_new;
      best = {found[i].knot_gain, tasks[i], found[i].knot_row, is_new, is_new};
    }
    of_parent = std::max({of_parent, found[i].linear_gain, found[i].knot_gain});
    queue_.tried(tasks[i].slot, of_parent, next);
  }
  return best;
}

// A term's values, or a column with the same span beside its parent's for the basis: a feature far
// from zero loses its digits in the product.
std::vector<double> Pass::hinge(const Task& task, Kind kind, i32 knot_row, bool for_basis) const {
  const Feature& feature = features_[task.feature];
  const std::vector<double>& parent = values_[task.term];
  const double least = feature.raw[feature.order.back()], most = feature.raw[feature.order[0]];
  const double knot = knot_row >= 0 ? feature.raw[knot_row] : least;
  const bool is_raw = kind == Kind::linear && !for_basis;
  const double scale = is_raw ? std::max(std::fabs(least), std::fabs(most)) : most - least;
  std::vector<double> values(parent.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = feature.raw[i];
    const double h = is_raw                  ? x
                     : kind == Kind::falling ? std::max(knot - x, 0.0)
                                             : std::max(x - knot, 0.0);
    values[i] = parent[i] * (h / scale) * (for_basis ? root_weight_[i] : 1);
  }
  return values;
}

// Adds the choice unless the pass ends with it; whether the pass goes on.
bool Pass::add(const Choice& choice) {
  const Task& task = choice.task;
  const Feature& feature = features_[task.feature];
  const bool is_linear = choice.knot_row < 0 && enters_linearly(task.feature);
  const bool adds_pair = choice.adds_pair && !is_linear;
  const double before = out_.rss.back(), whole = out_.rss.front();
  const i32 n_terms = basis_.size() + (choice.is_pair ? 2 : 1);
  const double after = std::max(0.0, before - choice.gain);
  if (gcv(after, n_terms) > (1 - kLowestGrsq) * gcv(whole, 1))
    return out_.end = End::low_grsq, false;
  if (choice.gain < options_.thresh * whole) return out_.end = End::small_gain, false;

  const i32 degree = static_cast<i32>(used_[task.term].size()) + 1;
  const i32 first = static_cast<i32>(slots_.size());
  slots_.push_back({-1, degree, adds_pair});
  slots_.push_back({-1, degree, adds_pair});
  i32 n_new = 0;
  for (i32 which = 0; which <= (choice.is_pair ? 1 : 0); ++which) {
    const Kind kind = which ? Kind::falling : is_linear ? Kind::linear : Kind::rising;
    std::vector<double> column = hinge(task, kind, choice.knot_row, true);
    const double length = squares(column);
    orthogonalise(basis_, column);
    if (!(squares(column) > kDependent * length)) continue;
    const double knot = feature.raw[choice.knot_row >= 0 ? choice.knot_row : feature.order.back()];
    std::vector<double> values = hinge(task, kind, choice.knot_row, false);
    slots_[first + which] = {basis_.size(), degree, true};
    add_term({task.term, task.feature, kind, knot, first + which}, std::move(values),
             std::move(column));
    ++n_new;
  }
  if (!n_new) return out_.end = End::no_gain, false;
  queue_.add(adds_pair ? 2 : 1, first);
  stamp_ = first;
  most_gain_ = kMostGrowth * choice.gain;
  out_.rss.push_back(total());
  out_.sizes.push_back(basis_.size());
  renew_sources(n_new);
  if (out_.rss.back() <= options_.thresh * whole) return out_.end = End::perfect, false;
  return true;
}

Forward Pass::run(Callable<void()> poll) {
  Team team;
  prepare(poll);
  start();
  if (!(out_.rss[0] > 0)) {
    out_.end = End::no_gain;
    return std::move(out_);
  }
  while (static_cast<i32>(slots_.size()) + 2 <= options_.max_terms) {
    poll();
    const Choice choice = choose(poll);
    if (!(choice.gain > 0)) {
      out_.end = End::no_gain;
      break;
    }
    if (!add(choice)) break;
  }
  return std::move(out_);
}

}  // namespace

Forward forward(const Data& data, const Options& options,
                Callable<void(const std::vector<i32>&, std::vector<u8>&)> offer,
                Callable<void()> poll) {
  return Pass(data, options, offer).run(poll);
}

}  // namespace treewright::mars
