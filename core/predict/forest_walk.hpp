// Rows go down all trees of a forest, block by block on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "base/binding.hpp"
#include "base/signals.hpp"
#include "base/threads.hpp"
#include "predict/forest_model.hpp"
#include "predict/input.hpp"
#include "predict/row_keys.hpp"
#include "predict/top_levels.hpp"

namespace treewright {

using predict::Input;
using predict::Number;

// Rows that go down a tree together: as many as keep a tree's subtrees busy, if there are that
// many.
constexpr i64 kLargestBlock = 32768, kSmallestBlock = 1024;
static_assert(kLargestBlock <= BlockWalk::kMostRows);
// Rows from which, and leaves of a tree up to which, it pays to make all tests of small trees where
// rows could walk by keys as well: 0.5 of the time with 31 leaves, 0.77 with 127. Walks of rows
// with gaps, and past tests of categories, always take longer.
constexpr i64 kFewestRanked = 64, kMostRankedLeaves = 128;

// What a thread uses for one block after the other: fresh memory would cost more than a walk.
struct Workspace {
  std::vector<char> rows;
  BlockWalk walk;
  std::vector<double> totals;
  std::vector<u16> votes;
  std::vector<u8> bytes;     // of rows for small trees
  std::vector<i32> columns;  // of kTopRows rows
  std::vector<u8> top;       // places of rows after the first levels of some trees
  std::vector<u32> list;     // rows of the block that still go down trees, where some do not
};

// Trees whose first levels rows pass together, so that columns are made once for all.
constexpr i64 kTreesTogether = 64;

class RowBlocks {
 public:
  explicit RowBlocks(const ForestArrays& arrays) : model_(arrays) {}

  const ForestModel& model() const { return model_; }

  // Whether rows may be handed over that nobody has looked at for gaps and infinities.
  bool finds_gaps() {
    std::lock_guard<std::mutex> guard(lock_);
    return model_.is_plain() || model_.need_ranks();
  }

  using Take = Callable<void(i64, i64, i64, Workspace&)>;
  using Drop = Callable<i64(i64, i64, Workspace&)>;
  using Finish = Callable<void(i64, i64, Workspace&)>;
  using GoesOn = Callable<bool()>;

  // Calls take(tree, start, count, space) for every tree and block of rows, where space.walk tells
  // their ends, and finish(start, count, space) after a block's last tree; trees come in order.
  // Whether it came to its end: not if it met a gap or an infinity that it was to look for. With
  // `drop`, some rows may not go down all trees: drop(n_trees_done, n_listed, space) is asked now
  // and then, shortens space.list and returns its length. A count is that of the rows listed, if
  // there are fewer than all.
  bool run(const Input& input, std::optional<bool> may_have_gaps, int n_threads, Take take,
           Finish finish) {
    return run(
        input, may_have_gaps, n_threads, false, take,
        [](i64, i64 count, Workspace&) { return count; }, finish);
  }
  bool run(const Input& input, std::optional<bool> may_have_gaps, int n_threads, Take take,
           Drop drop, Finish finish) {
    return run(input, may_have_gaps, n_threads, true, take, drop, finish);
  }

  // Rows down all trees by the calling thread alone, which need not hold the GIL.
  void run_here(const Input& input, bool may_have_gaps, Workspace& space, Take take) {
    const bool plain = model_.is_plain() && !may_have_gaps;
    const Way way = way_of(input, plain, false);
    const i64 block = plain ? kLargestBlock : predict::max_piece;
    for (i64 start = 0; start < input.n_rows; start += block) {
      go(
          way, input, start, std::min(block, input.n_rows - start), false, false, space, take,
          [](i64, i64 count, Workspace&) { return count; }, [] { return true; });
    }
  }

 private:
  // What rows are: bytes for small trees, keys of floats or of doubles, or anything, with gaps.
  enum class Way : u8 { ranked, floats, doubles, general };

  // Whether rows without gaps had better be ranked as well.
  bool ranks_pay(i64 n_rows) const {
    return n_rows >= kFewestRanked && model_.n_leaves() <= kMostRankedLeaves * model_.n_trees();
  }

  // Makes what a way needs.
  Way way_of(const Input& input, bool plain, bool may_rank) {
    std::lock_guard<std::mutex> guard(lock_);
    if (may_rank && model_.need_ranks()) return Way::ranked;
    if (!plain) {
      model_.need_routers();
      return Way::general;
    }
    if (input_is_float(input) && model_.need_floats()) return Way::floats;
    model_.need_doubles();
    return Way::doubles;
  }

  bool go(Way way, const Input& input, i64 start, i64 count, bool looks, bool drops,
          Workspace& space, Take take, Drop drop, GoesOn goes_on) const {
    if (way == Way::general) return general(input, start, count, space, take, goes_on);
    if (way == Way::ranked) return ranked(input, start, count, looks, space, take, goes_on);
    return way == Way::floats
               ? walk<FloatNode>(input, start, count, looks, drops, space, take, drop, goes_on)
               : walk<DoubleNode>(input, start, count, looks, drops, space, take, drop, goes_on);
  }

  bool run(const Input& input, std::optional<bool> may_have_gaps, int n_threads, bool drops,
           Take take, Drop drop, Finish finish) {
    if (n_threads < 1)
      refuse("n_threads must be at least 1, got " + std::to_string(n_threads) + ".");
    const bool looks = !may_have_gaps.has_value();
    const bool plain = model_.is_plain() && !may_have_gaps.value_or(false);
    if (looks && !finds_gaps())
      refuse("Only a forest of plain cuts or small trees looks for gaps itself.");
    GilRelease release;
    const Way way = way_of(input, plain, !plain || ranks_pay(input.n_rows));
    const i64 hardware = std::max(1u, std::thread::hardware_concurrency());
    const i64 wanted = std::min<i64>(n_threads, hardware);
    const i64 block = way == Way::ranked    ? RankedTrees::kRows
                      : way == Way::general ? predict::max_piece
                                            : block_size(input.n_rows, wanted);
    const i64 pieces = (input.n_rows + block - 1) / block;
    const int threads = static_cast<int>(std::min(wanted, pieces));
    SignalPoll poll;
    std::atomic<bool> ended{false};
    std::vector<Workspace> spaces(threads);
    parallel_for(pieces, threads, [&](i64 piece, int thread) {
      if (ended) return;
      const i64 start = piece * block, count = std::min(block, input.n_rows - start);
      // Asked before every tree, for a block may take long: Ctrl-C ends the work of all threads.
      auto goes_on = [&] {
        try {
          if (thread == 0) poll();
        } catch (...) {
          ended = true;
          throw;
        }
        return !ended;
      };
      Workspace& space = spaces[thread];
      space.list.clear();
      const bool is_done = go(way, input, start, count, looks, drops, space, take, drop, goes_on);
      if (is_done) {
        finish(start, count, space);
      } else {
        ended = true;
      }
    });
    return !ended;
  }

  // Blocks of about the same size, as many for each thread.
  static i64 block_size(i64 n_rows, i64 threads) {
    const i64 rounds =
        std::max<i64>(2, (n_rows + threads * kLargestBlock - 1) / (threads * kLargestBlock));
    return std::max((n_rows + threads * rounds - 1) / (threads * rounds), kSmallestBlock);
  }

  static bool input_is_float(const Input& input) {
    if (input.is_block) return input.type == Number::float32;
    for (const predict::Column& column : input.columns) {
      // codes of categories are exact as floats
      if (column.type == Number::float64 || column.n_categories > (1 << 24)) return false;
    }
    return true;
  }

  // Both ways return whether they came to the end.
  template <class Node>
  bool walk(const Input& input, i64 start, i64 count, bool looks, bool drops, Workspace& space,
            Take take, Drop drop, GoesOn goes_on) const {
    using Key = typename Node::Key;
    const i64 n_features = static_cast<i64>(model_.n_categories.size());
    const i64 width = row_width<Key>(n_features);
    // More, to align them and because columns are read by eight.
    const i64 bytes = (count + BlockWalk::kSpareRows) * width * static_cast<i64>(sizeof(Key)) + 128;
    if (std::ssize(space.rows) < bytes) space.rows.resize(bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(space.rows.data());
    Key* keys = reinterpret_cast<Key*>((address + 63) & ~std::uintptr_t{63});
    BlockRows<Key> rows{keys, width, count};
    const bool is_finite =
        gather_keys<typename Node::Value>(input, start, count, n_features, width, keys);
    if (looks && !is_finite) return false;
    const i64 n_trees = model_.n_trees(), between_drops = std::max<i64>(1, n_trees / 20);
    for (i64 first = 0; first < n_trees && rows.count; first += kTreesTogether) {
      const i64 end = std::min(first + kTreesTogether, n_trees);
      const i64 step = pass_tops(first, end, {keys, width, count}, space, Node{});
      for (i64 t = first; t < end && rows.count; ++t) {
        if (!goes_on()) return false;
        const BlockTree<Node>& tree = model_.tree(t, Node{});
        const bool has_top = step && !tree.upper.empty();
        space.walk.run(tree, rows, has_top ? space.top.data() + (t - first) * step : nullptr);
        take(t, start, rows.count, space);
        // Nothing is settled before half of the trees.
        if (drops && 2 * t >= n_trees && t % between_drops == 0)
          drop_rows(t + 1, rows, space, drop);
      }
    }
    return true;
  }

  template <class Key>
  static void drop_rows(i64 n_done, BlockRows<Key>& rows, Workspace& space, Drop drop) {
    if (space.list.empty()) {
      space.list.resize(rows.count + BlockWalk::kSpareRows);
      std::iota(space.list.begin(), space.list.end(), 0);
    }
    rows.count = drop(n_done, rows.count, space);
    rows.list = space.list.data();
    if (!rows.count) return;
    // Lanes beyond the last row need one as well.
    u32* end = space.list.data() + rows.count;
    std::fill_n(end, BlockWalk::kSpareRows, end[-1]);
  }

  // Takes rows through the first levels of some trees; the distance between trees in space.top, 0
  // if they were not.
  i64 pass_tops(i64 first, i64 end, const BlockRows<u32>& rows, Workspace& space, FloatNode) const {
    const i64 n_columns = static_cast<i64>(model_.n_categories.size()) + 1;
    if (n_columns > kTopFeatures || rows.count < kTopRows) return 0;
    const i64 step = (rows.count + 31) / 32 * 32 + BlockWalk::kSpareRows;
    space.top.assign((end - first) * step, kTopEnd);
    space.columns.resize((n_columns + 7) / 8 * 8 * kTopRows);
    for (i64 i = 0; i < rows.count; i += kTopRows) {
      const i64 count = std::min(kTopRows, rows.count - i);
      turn_keys(rows.keys + i * rows.width, rows.width, count, n_columns, space.columns.data());
      for (i64 t = first; t < end; ++t) {
        const BlockTree<FloatNode>& tree = model_.tree(t, FloatNode{});
        if (tree.upper.empty()) continue;
        pass_top(tree.upper.data(), space.columns.data(), count,
                 space.top.data() + (t - first) * step + i);
      }
    }
    return step;
  }
  i64 pass_tops(i64, i64, const BlockRows<u64>&, Workspace&, DoubleNode) const { return 0; }

  bool ranked(const Input& input, i64 start, i64 count, bool looks, Workspace& space, Take take,
              GoesOn goes_on) const {
    const RankedTrees& trees = model_.ranked();
    space.bytes.resize(trees.n_bytes() + 64);
    u8* bytes = space.bytes.data();
    bytes += -reinterpret_cast<std::uintptr_t>(bytes) & 63;
    if (!trees.gather(input, start, count, bytes) && looks) return false;
    space.walk.make_room(count);
    u32* label = space.walk.leaf.data();
    alignas(64) u8 leaf[RankedTrees::kRows];
    for (i64 t = 0; t < model_.n_trees(); ++t) {
      if (t % kTreesTogether == 0 && !goes_on()) return false;
      trees.find_leaves(t, bytes, count, leaf);
      for (i64 i = 0; i < count; ++i) label[i] = model_.label_of_leaf(t, leaf[i]);
      take(t, start, count, space);
    }
    return true;
  }

  bool general(const Input& input, i64 start, i64 count, Workspace& space, Take take,
               GoesOn goes_on) const {
    const auto n = static_cast<std::int32_t>(count);
    std::vector<double> scratch(model_.n_categories.size() * predict::max_piece);
    std::int32_t end[predict::max_piece];
    BlockWalk& ends = space.walk;
    ends.make_room(count);
    auto each_tree = [&](const auto& block) {
      for (i64 t = 0; t < model_.n_trees(); ++t) {
        if (!goes_on()) return false;
        const predict::Router& router = model_.router(t);
        router.is_plain ? predict::walk<true>(router, block, n, end)
                        : predict::walk<false>(router, block, n, end);
        for (i64 i = 0; i < count; ++i) {
          ends.leaf[i] = model_.leaf_label(t, end[i]);
        }
        take(t, start, count, space);
      }
      return true;
    };
    if (input.is_block && input.type == Number::float32) {
      return each_tree(predict::Block<float, 1>{
          static_cast<const float*>(input.data) + start * input.row_step, input.row_step});
    }
    if (input.is_block) {
      return each_tree(predict::Block<double, 1>{
          static_cast<const double*>(input.data) + start * input.row_step, input.row_step});
    }
    return each_tree(predict::gather_all(input, start, n, scratch.data()));
  }

  ForestModel model_;
  std::mutex lock_;
};

}  // namespace treewright
