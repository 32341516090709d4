#include "forest/forest.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "base/team.hpp"
#include "base/threads.hpp"
#include "binned/row_matrix.hpp"
#include "grow/assemble.hpp"

namespace treewright {
namespace {

// What all trees share.
struct Shared {
  std::unique_ptr<RowMatrix> matrix;
  std::vector<Memory> code_memory;
  std::vector<const u8*> codes;  // per coded slot
  std::vector<u16> label;
  std::vector<i64> weight, wy;  // of one draw of each row
};

void prepare(Problem& p, const ForestPlan& plan, Shared& shared) {
  p.features.assign(p.n_features(), {});
  std::vector<i32> ordered;
  for (i32 f = 0; f < p.n_features(); ++f) {
    FeatureInfo& info = p.features[f];
    const Column& column = p.columns[f];
    if (column.ordered && !column.multiway) {
      info.store = Store::by_row;
      ordered.push_back(f);
    } else {
      info.slot = p.n_coded++;
      shared.code_memory.push_back(coded_column(p, f, info));
      shared.codes.push_back(static_cast<const u8*>(shared.code_memory.back().data()));
    }
  }
  shared.matrix = std::make_unique<RowMatrix>(p.columns, ordered, p.n_rows, plan.n_threads);
  p.matrix = shared.matrix.get();
  p.tries_all_cuts = plan.exact;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const RowFeature& feature = shared.matrix->features[i];
    FeatureInfo& info = p.features[feature.column];
    info.slot = static_cast<i32>(i);
    info.has_gaps = feature.has_gaps;
    info.n_codes = feature.n_bins();
    info.constant = feature.bins_are_values && info.n_codes + info.has_gaps < 2;
  }
  for (const FeatureInfo& info : p.features) p.any_gaps |= info.has_gaps;
  i64 n_draws = p.n_rows;
  for (const i64 draws : plan.sampling.n_draws) n_draws = std::max(n_draws, draws);
  scale_targets(p, n_draws);
  shared.label = std::move(p.label);
  shared.weight = std::move(p.weight);
  shared.wy = std::move(p.wy);
  p.label.clear();
  p.weight.clear();
  p.wy.clear();
}

// The arrays of one tree, used again for the next of the same thread.
struct TreeArena {
  std::vector<i32> counts;
  std::vector<u8> small_counts;
  std::vector<i64> weight, wy;
  std::shared_ptr<Block> block = std::make_shared<Block>();
  std::vector<u32> ids;
  NodeList list{0, 0};
};

// Gives a problem the rows of a tree and makes the root.
void fill_root(Problem& p, const Shared& shared, const ForestPlan& plan, u64 seed,
               TreeArena& arena) {
  const i64 n = p.n_rows;
  arena.counts.resize(n);
  draw_sample(plan.sampling, seed, n, arena.counts.data());
  arena.ids.resize(n + 1);
  arena.small_counts.resize(n);
  i32 most = 0;
  i64 n_drawn = 0;
  for (i64 i = 0; i < n; ++i) {
    const i32 count = arena.counts[i];
    arena.ids[n_drawn] = static_cast<u32>(i);
    arena.small_counts[i] = static_cast<u8>(std::min(count, 255));
    n_drawn += count > 0;
    most = std::max(most, count);
  }
  arena.ids.resize(n_drawn);
  const bool weighted = !shared.weight.empty(), classes = p.is_classification();
  p.unit = most <= 1 && !weighted;
  // Small counts allow faster loops; products of sums must stay within 63 bits.
  const bool counted = !weighted && most <= 255 && n < (i64{1} << 30);
  Block& block = *arena.block;
  block.n = n;
  block.codes = shared.codes;
  block.cells = p.matrix->cells();
  block.ids = arena.ids.data();
  block.target = {};
  if (counted) block.target.count = arena.small_counts.data();
  if (!p.unit && !(counted && classes)) {
    arena.weight.resize(n);
    for (i64 i = 0; i < n; ++i)
      arena.weight[i] = arena.counts[i] * (weighted ? shared.weight[i] : 1);
    block.target.weight = arena.weight.data();
  }
  if (classes) {
    block.target.label = shared.label.data();
  } else {
    const i32 outputs = p.targets.n_outputs;
    arena.wy.resize(n * outputs);
    for (i64 i = 0; i < n * outputs; ++i) arena.wy[i] = arena.counts[i / outputs] * shared.wy[i];
    block.target.wy = arena.wy.data();
    block.target.y = p.targets.y;
  }
  p.total.assign(p.n_stats, 0);
  with_target_kind(p, [&](auto is_classes, auto unit) {
    for (const u32 id : arena.ids) {
      add_instance<is_classes.value, unit.value>(p, block.target, id, p.total.data());
    }
  });
}

class ForestGrower {
 public:
  ForestGrower(Problem& problem, const GrowOptions& options, ForestPlan& plan)
      : p_(problem), options_(options), plan_(plan) {}

  GrownForest run() {
    const Team team;
    prepare(p_, plan_, shared_);
    const int threads =
        std::max(1, static_cast<int>(std::min<i64>(plan_.n_threads, plan_.n_trees)));
    std::vector<TreeArena> arenas(threads);
    finished_.resize(plan_.n_trees);
    plan_.oob.begin(p_);
    GrownForest out;
    TaskQueue<i64> queue;
    for (i64 i = 0; i < plan_.n_trees; ++i) queue.push(i);
    try {
      queue.run(threads, [&](i64 i, int t) { one_tree(i, t, arenas[t]); }, [&] { report(); });
      report();
    } catch (...) {
      out.interrupted = failure_;
    }
    out.trees = std::move(trees_);
    return out;
  }

 private:
  void one_tree(i64 i, int thread, TreeArena& arena) {
    Problem p = p_;
    p.params.n_threads = 1;
    p.params.seed = tree_seed(plan_.seed, plan_.first_tree + i);
    fill_root(p, shared_, plan_, p.params.seed, arena);
    GrowOptions o;
    o.chooser = options_.chooser;
    o.linear = options_.linear;
    o.numbers = options_.numbers;
    o.own_scale = options_.own_scale;
    o.root = arena.block;
    o.root_size = static_cast<i64>(arena.ids.size());
    o.list = &arena.list;
    o.poll = [this, thread](double) {
      if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
      if (thread == 0) report();
    };
    Finished done;
    try {
      Grown grown = grow(p, o);
      done.tree = CompactTree(p, grown);
      arena.list = std::move(grown.lists[0]);
      done.out_of_bag = plan_.oob.ask(p, done.tree, arena.counts);
      hand_in(i, std::move(done));
      if (thread == 0) report();
    } catch (...) {
      fail();
      throw;
    }
  }

  struct Finished {
    CompactTree tree;
    OutOfBagRows out_of_bag;
  };

  // Trees are taken in order: one that is early waits for those before it.
  void hand_in(i64 i, Finished done) {
    std::lock_guard<std::mutex> guard(lock_);
    finished_[i] = std::move(done);
    while (n_taken_ < plan_.n_trees && finished_[n_taken_]) {
      plan_.oob.add(p_, finished_[n_taken_]->out_of_bag);
      trees_.push_back(std::move(finished_[n_taken_]->tree));
      finished_[n_taken_].reset();
      ++n_taken_;
    }
    n_finished_.fetch_add(1);
  }

  // From the calling thread.
  void report() {
    try {
      if (plan_.poll) plan_.poll(n_finished_.load());
    } catch (...) {
      fail();
      throw;
    }
  }

  // Keeps the first failure and lets the other threads know.
  void fail() {
    std::lock_guard<std::mutex> guard(lock_);
    if (!failure_) failure_ = std::current_exception();
    stop_.store(true);
  }

  Problem& p_;
  const GrowOptions& options_;
  ForestPlan& plan_;
  Shared shared_;
  std::atomic<bool> stop_{false};
  std::exception_ptr failure_;
  std::atomic<i64> n_finished_{0};
  std::mutex lock_;
  std::vector<std::optional<Finished>> finished_;
  i64 n_taken_ = 0;
  std::vector<CompactTree> trees_;
};

}  // namespace

GrownForest grow_forest(Problem& problem, const GrowOptions& options, ForestPlan& plan) {
  return ForestGrower(problem, options, plan).run();
}

}  // namespace treewright
