// What all steps of a growth share: the problem, buffers of threads, progress.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "base/threads.hpp"
#include "grow/grow.hpp"
#include "grow/pending.hpp"
#include "grow/store.hpp"

namespace treewright {

// Work on one feature of a smaller node is not worth a thread.
constexpr i64 kSharedWork = 200000;
constexpr i64 kPolledInstances = 1 << 16;

class Growth {
 public:
  Problem& p;
  const GrowOptions& options;
  std::unique_ptr<NodeStore> store;
  std::vector<Scratch> buffers;  // one per thread
  double gain_unit = 1;          // turns a candidate's gain into a share of the total
  i64 n_asked = 0;               // nodes that a Python chooser was asked for

  Growth(Problem& problem, const GrowOptions& o) : p(problem), options(o) {
    store = make_store(*this);
    buffers.resize(std::max(1, p.params.n_threads));
    last_poll_ = std::chrono::steady_clock::now();
  }

  Pending make_root() {
    Pending root;
    root.end = p.n_rows;
    root.path = p.params.root_path ? p.params.root_path : child_path(p.params.seed, 0);
    if (options.root) {
      root.block = options.root;
      root.end = options.root_size;
    } else {
      root.block = root_block(p, [this] { poll(0); });
    }
    auto active = std::make_shared<std::vector<i32>>();
    for (i32 f = 0; f < p.n_features() && p.searchable; ++f) {
      if (!p.features[f].constant) active->push_back(f);
    }
    root.active = active;
    gain_unit = unit_of_gain();
    if (options.chooser) options.chooser->prepare(p);
    return root;
  }

  NodeList new_list() const {
    // Two classes under monotonic constraints keep the clipped rate of the second.
    const i32 rates = p.params.monotonic.empty() ? 0 : 1;
    NodeList list(p.n_stats, p.is_classification() ? rates : p.targets.n_outputs);
    list.keeps_reasons = !options.root;
    return list;
  }

  NodeView view_of(Pending& node, const i64* stats, Scratch& scratch) {
    Block& block = *node.block;
    if (scratch.branch.size() < static_cast<std::size_t>(block.n)) scratch.branch.resize(block.n);
    NodeView view{p,
                  block,
                  node.begin,
                  node.end,
                  stats,
                  {},
                  node.lower,
                  node.upper,
                  node.path,
                  node.depth,
                  node.tables.empty() ? nullptr : node.tables.data()};
    view.branch = scratch.branch.data();
    CriterionView& v = view.criterion;
    v.problem = &p;
    v.n_classes = p.targets.n_classes;
    v.n_outputs = p.targets.n_outputs;
    v.factor = p.targets.split_factor.empty() ? nullptr : p.targets.split_factor.data();
    v.loss = p.targets.criterion_loss.empty() ? nullptr : p.targets.criterion_loss.data();
    if (!p.is_classification()) centre_on(v, stats);
    return view;
  }

  // Progress, at most every 50 ms; the calling thread's alone.
  void poll(i64 finished_rows) {
    if (!options.poll) return;
    done_.fetch_add(finished_rows, std::memory_order_relaxed);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_poll_ < std::chrono::milliseconds(50)) return;
    last_poll_ = now;
    options.poll(static_cast<double>(done_.load(std::memory_order_relaxed)) /
                 static_cast<double>(p.n_rows));
  }

  // The same from any thread, without a call.
  void count_done(i64 rows) { done_.fetch_add(rows, std::memory_order_relaxed); }

  // Calls work(i, scratch) for every i below n; on all threads where the node may use them and its
  // instances are worth it.
  void for_each(i64 n, i64 instances, bool shared, Scratch& scratch, OnIndex work) {
    if (shared && n * instances >= kSharedWork) {
      parallel_for(
          n, p.params.n_threads, [&](i64 i, int t) { work(i, buffers[t]); }, [&] { poll(0); });
    } else {
      // the calling thread's node may be large enough to keep Ctrl-C waiting
      const bool asks = &scratch == buffers.data() && instances >= kPolledInstances;
      for (i64 i = 0; i < n; ++i) {
        work(i, scratch);
        if (asks) poll(0);
      }
    }
  }

 private:
  double unit_of_gain() const {
    if (options.own_scale) return 1;
    if (p.is_classification()) {
      double total = 0;
      for (i32 k = 0; k < p.targets.n_classes; ++k) {
        const double factor = p.targets.split_factor.empty() ? 1 : p.targets.split_factor[k];
        total += factor * static_cast<double>(p.total[k]);
      }
      return 1 / total;
    }
    const double total = static_cast<double>(p.total[0]) * p.weight_unit;
    switch (options.numbers) {
      case NumberCriterion::squared:
        return p.y_unit * p.y_unit / p.weight_unit / total / p.targets.n_outputs;
      case NumberCriterion::poisson:
        return p.y_unit / total / p.targets.n_outputs;
      default:
        return 1 / total / p.targets.n_outputs;
    }
  }

  std::atomic<i64> done_{0};
  std::chrono::steady_clock::time_point last_poll_;
};

}  // namespace treewright
