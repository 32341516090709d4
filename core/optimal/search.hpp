// The search: dynamic programming over sets of rows, with bounds.
//
// A subproblem is a set of rows and a depth. Two levels are solved at once from the counts of all
// pairs of tests; above that, every test is tried, the promising first, and left alone when bounds
// say that it cannot beat the best so far. Depths are searched one after another, so that there is
// a good tree early. Which of several equally good trees is found does not depend on threads: at
// every node the tests have an order of their own, and the first of the best wins.
//
// Demirović, Lukina, Hebrard, Chan, Bailey, Leckie, Ramamohanarao and Stuckey (2022), MurTree:
// optimal decision trees via dynamic programming and search. Van der Linden, de Weerdt and
// Demirović (2023), Necessary and sufficient conditions for optimal decision trees.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "base/callable.hpp"
#include "base/threads.hpp"
#include "optimal/bounds.hpp"
#include "optimal/cache.hpp"

namespace treewright::optimal {

template <class Counting>
class Search {
 public:
  Search(const Problem& problem, const Counting& counting, const RowTable& table,
         const Settings& settings, Callable<void(double)> poll)
      : problem_(problem), counting_(counting), table_(table), settings_(settings), poll_(poll) {
    if (settings.seconds > 0)
      end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(settings.seconds));
    for (i32 thread = 0; thread < std::max(settings.n_threads, 1); ++thread)
      workers_.push_back(std::make_unique<Worker>(problem, settings.max_depth));
  }

  Found run() {
    const Part root = table_.all(counting_.rows());
    Found found;
    found.cost = greedy(root, settings_.max_depth, found);
    found.lower = settings_.max_depth ? root.floor + problem_.penalty : found.cost;
    for (i32 depth = 1; depth <= settings_.max_depth && !is_over(); ++depth) {
      is_last_ = depth == settings_.max_depth;
      const Outcome outcome = solve_root(root, depth, found.cost);
      const bool is_stopped = is_over();
      if (outcome.is_exact && outcome.lower < found.cost) {
        found.test.clear();
        found.left.clear();
        found.right.clear();
        is_extracting_ = true;
        extract(root, depth, outcome, found);
        is_extracting_ = false;
        found.cost = outcome.lower;
      }
      if (is_last_) found.lower = std::max(found.lower, std::min(known_lower_, found.cost));
      if (is_stopped) break;
    }
    found.is_interrupted = failure_ != nullptr;
    found.failure = failure_;
    return found;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // What one thread needs at one depth.
  struct Level {
    explicit Level(const Problem& problem) : bounds(problem) {}
    Part left, right;
    Glance glance;
    std::vector<i32> order;
    FamilyBounds bounds;
  };

  struct Worker {
    Worker(const Problem& problem, i32 max_depth) {
      for (i32 depth = 0; depth <= max_depth; ++depth) levels.emplace_back(problem);
    }
    std::vector<Level> levels;
    Glance glance;
    Pairs pairs;
    typename Counting::Scratch scratch;
  };

  // The tests of a node as they are gone through; at the root by several threads.
  struct Progress {
    i64 best = kNever;  // so far, by the test at this place of the order
    i64 place = -1;
    i32 test = -1;
    i64 lower = kNever;  // no test that was left alone costs less
  };

  i64 as_leaf(const Part& part) const { return counting_.leaf(part.rows) + problem_.penalty; }

  // Tests that divide the rows, the most promising first.
  void sort_tests(const Part& part, const Glance& glance, std::vector<i32>& order) const {
    order.clear();
    const i32 n_rows = static_cast<i32>(part.rows.size());
    for (std::size_t t = 0; t < problem_.tests.size(); ++t)
      if (glance.n_left[t] > 0 && glance.n_left[t] < n_rows) order.push_back(static_cast<i32>(t));
    std::stable_sort(order.begin(), order.end(),
                     [&](i32 a, i32 b) { return glance.rank[a] < glance.rank[b]; });
  }

  // What needs no search: true if the outcome is known well enough for this limit.
  bool is_settled(const Part& part, i32 depth, i64 limit, Outcome& outcome) {
    const i64 floor = part.floor + problem_.penalty;
    if (floor >= limit) {
      outcome = {floor, -1, false};
      return true;
    }
    const i64 leaf = as_leaf(part);
    if (depth == 0 || leaf <= floor + problem_.penalty) {
      outcome = {leaf, -1, true};
      return true;
    }
    return cache_.find(part.key, depth, outcome) && (outcome.is_exact || outcome.lower >= limit);
  }

  // The best tree of these rows, if it costs less than the limit; otherwise a bound.
  Outcome solve(const Part& part, i32 depth, i64 limit, i32 thread) {
    Outcome outcome;
    if (is_settled(part, depth, limit, outcome)) return outcome;
    if (!is_extracting_ && is_over(thread))
      return {std::max(outcome.lower, part.floor + problem_.penalty), -1, false};
    if (depth <= 2) {
      outcome = solve_shallow(part, depth, *workers_[thread]);
    } else {
      outcome = solve_deep(part, depth, limit, thread);
    }
    cache_.keep(part.key, depth, outcome);
    return outcome;
  }

  // One or two levels below these rows, from counts.
  Outcome solve_shallow(const Part& part, i32 depth, Worker& worker) {
    const i64 penalty = problem_.penalty;
    Glance& glance = worker.glance;
    counting_.glance(part.rows, glance, worker.scratch);
    if (depth == 2) counting_.pairs(part.rows, worker.pairs, worker.scratch);
    Outcome best{as_leaf(part), -1, true};
    for (std::size_t t = 0; t < problem_.tests.size(); ++t) {
      i64 left = glance.left[t] + penalty, right = glance.right[t] + penalty;
      if (depth == 2) {
        left = std::min(left, worker.pairs.left[t] + 2 * penalty);
        right = std::min(right, worker.pairs.right[t] + 2 * penalty);
      }
      if (left + right < best.lower) best = {left + right, static_cast<i32>(t), true};
    }
    return best;
  }

  Outcome solve_deep(const Part& part, i32 depth, i64 limit, i32 thread) {
    Worker& worker = *workers_[thread];
    Level& level = worker.levels[depth];
    prepare(part, depth, worker, level);
    Progress progress;
    progress.best = as_leaf(part);
    for (std::size_t at = 0; at < level.order.size(); ++at) {
      if (!is_extracting_ && is_over(thread)) {
        progress.lower = std::min(progress.lower, part.floor + 2 * problem_.penalty);
        break;
      }
      try_test(part, depth, static_cast<i64>(at), limit, thread, level, level.order, level.bounds,
               progress);
    }
    return concluded(progress);
  }

  static Outcome concluded(const Progress& progress) {
    return {std::min(progress.best, progress.lower), progress.test,
            progress.lower >= progress.best};
  }

  void prepare(const Part& part, i32 depth, Worker& worker, Level& level) {
    counting_.glance(part.rows, level.glance, worker.scratch);
    sort_tests(part, level.glance, level.order);
    level.bounds.reset(part.rows, counting_.slack(depth));
  }

  // Searches both sides of the test at this place of the order as far as the bounds ask for it.
  void try_test(const Part& part, i32 depth, i64 place, i64 limit, i32 thread, Level& level,
                const std::vector<i32>& order, FamilyBounds& bounds, Progress& progress) {
    const i32 test = order[place];
    i64 low[2] = {problem_.penalty, problem_.penalty};
    i64 bound;
    {
      const auto guard = guarded(depth);
      bound = std::min(limit, place < progress.place ? progress.best + 1 : progress.best);
      bounds.raise(test, low[0], low[1]);
      if (low[0] + low[1] >= bound) {
        progress.lower = std::min(progress.lower, low[0] + low[1]);
        return;
      }
    }
    table_.divide(part, test, level.left, level.right);
    const Part* side[2] = {&level.left, &level.right};
    Outcome known;
    for (int s = 0; s < 2; ++s) {
      low[s] = std::max(low[s], side[s]->floor + problem_.penalty);
      if (cache_.find(side[s]->key, depth - 1, known)) low[s] = std::max(low[s], known.lower);
    }
    // The side with more rows first: its bound says more.
    const int first = level.left.rows.size() >= level.right.rows.size() ? 0 : 1;
    bool is_exact = low[0] + low[1] < bound;
    for (int turn = 0; turn < 2 && is_exact; ++turn) {
      const int s = turn ? 1 - first : first;
      const Outcome outcome = solve(*side[s], depth - 1, bound - low[1 - s], thread);
      low[s] = std::max(low[s], outcome.lower);
      is_exact = outcome.is_exact && low[0] + low[1] < bound;
    }
    const auto guard = guarded(depth);
    bounds.learn(test, low[0], low[1]);
    const i64 cost = low[0] + low[1];
    if (!is_exact) {
      progress.lower = std::min(progress.lower, cost);
    } else if (cost < progress.best || (cost == progress.best && place < progress.place)) {
      progress.best = cost;
      progress.place = place;
      progress.test = test;
    }
  }

  // Only the root has several threads.
  std::unique_lock<std::mutex> guarded(i32 depth) {
    return depth == root_depth_ && !is_extracting_ ? std::unique_lock<std::mutex>(root_lock_)
                                                   : std::unique_lock<std::mutex>();
  }

  Outcome solve_root(const Part& root, i32 depth, i64 limit) {
    known_lower_ = root.floor + problem_.penalty;
    Outcome outcome;
    if (depth <= 2 || is_settled(root, depth, limit, outcome)) {
      outcome = solve(root, depth, limit, 0);
      known_lower_ = outcome.lower;
      return outcome;
    }
    Level top(problem_);
    prepare(root, depth, *workers_[0], top);
    Progress progress;
    progress.best = as_leaf(root);
    root_depth_ = depth;
    std::atomic<i64> n_done{0};
    const i64 n_tests = static_cast<i64>(top.order.size());
    parallel_for(n_tests, settings_.n_threads, [&](i64 place, i32 thread) {
      if (is_over(thread)) {
        const std::lock_guard<std::mutex> guard(root_lock_);
        progress.lower = std::min(progress.lower, root.floor + 2 * problem_.penalty);
        return;
      }
      try_test(root, depth, place, limit, thread, workers_[thread]->levels[depth], top.order,
               top.bounds, progress);
      if (is_last_) share_done_ = static_cast<double>(++n_done) / static_cast<double>(n_tests);
    });
    root_depth_ = -1;
    outcome = concluded(progress);
    known_lower_ = outcome.lower;
    // The best so far is a tree, even where tests were left when the time was over.
    return {progress.best, progress.test, true};
  }

  // The tree of a solved subproblem, from its root on; what the cache has forgotten is solved
  // again.
  i32 extract(const Part& part, i32 depth, const Outcome& outcome, Found& found) {
    const i32 node = static_cast<i32>(found.test.size());
    found.test.push_back(outcome.test);
    found.left.push_back(-1);
    found.right.push_back(-1);
    if (outcome.test < 0) return node;
    Part left, right;
    table_.divide(part, outcome.test, left, right);
    const i32 on_left = extract(left, depth - 1, solve(left, depth - 1, kNever, 0), found);
    const i32 on_right = extract(right, depth - 1, solve(right, depth - 1, kNever, 0), found);
    found.left[node] = on_left;
    found.right[node] = on_right;
    return node;
  }

  // Grown by impurity, then cut back where a leaf is as cheap.
  i64 greedy(const Part& part, i32 depth, Found& found) {
    const i32 node = static_cast<i32>(found.test.size());
    found.test.push_back(-1);
    found.left.push_back(-1);
    found.right.push_back(-1);
    const i64 leaf = as_leaf(part);
    if (depth == 0 || leaf <= part.floor + 2 * problem_.penalty) return leaf;
    Worker& worker = *workers_[0];
    std::vector<i32> order;
    counting_.glance(part.rows, worker.glance, worker.scratch);
    sort_tests(part, worker.glance, order);
    if (order.empty()) return leaf;
    Part left, right;
    table_.divide(part, order[0], left, right);
    const i32 on_left = static_cast<i32>(found.test.size());
    i64 cost = greedy(left, depth - 1, found);
    const i32 on_right = static_cast<i32>(found.test.size());
    cost += greedy(right, depth - 1, found);
    if (cost >= leaf) {
      found.test.resize(node + 1);
      found.left.resize(node + 1);
      found.right.resize(node + 1);
      return leaf;
    }
    found.test[node] = order[0];
    found.left[node] = on_left;
    found.right[node] = on_right;
    return cost;
  }

  // Whether the time is over, or poll, which the calling thread calls now and then, has thrown.
  bool is_over(i32 thread = 0) {
    if (is_stopped_.load(std::memory_order_relaxed)) return true;
    if (settings_.seconds > 0 && Clock::now() >= end_) {
      is_stopped_ = true;
    } else if (thread == 0) {
      try {
        poll_(share_done_.load(std::memory_order_relaxed));
      } catch (...) {
        failure_ = std::current_exception();
        is_stopped_ = true;
      }
    }
    return is_stopped_;
  }

  const Problem& problem_;
  const Counting& counting_;
  const RowTable& table_;
  const Settings settings_;
  Callable<void(double)> poll_;
  Clock::time_point end_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Cache cache_;
  std::mutex root_lock_;
  i32 root_depth_ = -1;
  i64 known_lower_ = 0;
  bool is_last_ = false, is_extracting_ = false;
  std::atomic<double> share_done_{0.0};
  std::atomic<bool> is_stopped_{false};
  std::exception_ptr failure_;
};

}  // namespace treewright::optimal
