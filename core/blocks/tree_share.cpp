#include "blocks/tree_share.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/philox.hpp"
#include "base/team.hpp"
#include "base/threads.hpp"
#include "forest/sample.hpp"

namespace treewright::blocks {

NodeSums::NodeSums(i64 n_nodes, const TreeTarget& target)
    : stats(n_nodes * target.n_stats(), 0), rows(n_nodes, 0) {
  if (target.n_classes) return;
  low.assign(n_nodes, kInf);
  high.assign(n_nodes, -kInf);
}

void NodeSums::add(const NodeSums& other) {
  for (std::size_t i = 0; i < stats.size(); ++i) stats[i] += other.stats[i];
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += other.rows[i];
  for (std::size_t i = 0; i < low.size(); ++i) {
    low[i] = std::min(low[i], other.low[i]);
    high[i] = std::max(high[i], other.high[i]);
  }
}

template <class Body>
void TreeShare::each_block(Body&& body, Callable<void()> poll) const {
  const Team team;
  parallel_for(
      static_cast<i64>(blocks_.size()), n_threads_,
      [&](i64 i, int thread) {
        TreeBlock& block = blocks_[i];
        body(block, thread);
        if (block.map) madvise(block.map, block.map_size, MADV_DONTNEED);
      },
      poll);
}

void TreeShare::add_row(const TreeBlock& block, i64 row, i64 at, NodeSums& sums) const {
  ++sums.rows[at];
  const i64 weight = weight_of(block, row);
  i64* stats = sums.stats.data() + at * target_.n_stats();
  if (block.label) {
    stats[block.label[row]] += weight;
    return;
  }
  const double y = block.y[row], centred = y - target_.shift;
  stats[0] += weight;
  const double factor = factor_of(block, row);
  const i64 count = block.count ? block.count[row] : 1;
  stats[1] += count * std::llrint(centred * factor * target_.scale);
  stats[2] += count * std::llrint(centred * centred * factor * target_.square_scale);
  sums.low[at] = std::min(sums.low[at], y);
  sums.high[at] = std::max(sums.high[at], y);
}

// As draw_sample, whose counts of all rows would not fit.
void TreeShare::draw(u64 seed, const TreeDraws& draws) {
  for (TreeBlock& block : blocks_) std::fill_n(block.count, block.n_rows, u16{0});
  auto take = [](TreeBlock& block, i64 row) {
    block.count[row] += block.count[row] < std::numeric_limits<u16>::max();
  };
  if (draws.total) {
    std::map<i64, TreeBlock*> own;
    for (TreeBlock& block : blocks_) own[block.first_row] = &block;
    each_by_chance(seed, draws.total, draws.n_draws, [&](double at) {
      // The first block whose chances reach it; what is beyond the last is the last row's.
      const auto after =
          std::partition_point(draws.start.begin() + 1, draws.start.end(),
                               [&](i64 start) { return static_cast<double>(start) < at; });
      const std::size_t i = after - draws.start.begin() - 1;
      const auto found = own.find(draws.first_row[i]);
      if (found == own.end()) return;  // another share's
      TreeBlock& block = *found->second;
      const i64 start = draws.start[i];
      const i64* row = std::partition_point(
          block.chance, block.chance + block.n_rows,
          [&](i64 chance) { return static_cast<double>(start + chance) < at; });
      take(block, std::min(row - block.chance, block.n_rows - 1));
    });
    return;
  }
  std::vector<i64> ends;
  for (const TreeBlock& block : blocks_) ends.push_back(block.first_row + block.n_rows);
  std::size_t last = 0;
  each_drawn(seed, draws.n_all, draws.n_draws, [&](i64 row) {
    if (row >= ends[last] || row < blocks_[last].first_row) {
      last = std::upper_bound(ends.begin(), ends.end(), row) - ends.begin();
      if (last == ends.size()) last = 0;
      if (row >= ends[last] || row < blocks_[last].first_row) return;  // another share's
    }
    take(blocks_[last], row - blocks_[last].first_row);
  });
}

NodeSums TreeShare::begin_tree(u64 seed, const TreeDraws& draws, Callable<void()> poll) {
  if (draws_) draw(seed, draws);
  std::vector<NodeSums> parts(n_threads_, NodeSums(1, target_));
  each_block(
      [&](TreeBlock& block, int thread) {
        for (i64 i = 0; i < block.n_rows; ++i) {
          const bool is_in = !block.count || block.count[i];
          block.node[i] = is_in - 1;
          if (is_in) add_row(block, i, 0, parts[thread]);
        }
      },
      poll);
  for (int t = 1; t < n_threads_; ++t) parts[0].add(parts[t]);
  return std::move(parts[0]);
}

std::vector<i64> TreeShare::tables(const TreeLevel& level, const Wanted& wanted,
                                   Callable<void()> poll) const {
  // Threads share out the features of a slot, so that they share the tables.
  std::vector<i64> out(wanted.n_words, 0);
  const i64 words = table_width(), m = wanted.per_slot;
  const int n_parts = static_cast<int>(std::min<i64>(n_threads_, m));
  const Team team;
  for (TreeBlock& block : blocks_) {
    parallel_for(n_parts, n_parts, [&](i64 part, int) {
      const i64 first = part * m / n_parts, last = (part + 1) * m / n_parts;
      for (i64 i = 0; i < block.n_rows; ++i) {
        const i32 slot = level.slot(block.node[i]);
        if (slot < 0) continue;
        const u8* bins = block.bins + i * width_;
        const i64 weight = weight_of(block, i);
        const i64 count = block.count ? block.count[i] : 1;
        const i64 number = block.y ? count * std::llrint((block.y[i] - target_.shift) *
                                                         factor_of(block, i) * target_.scale)
                                   : 0;
        for (i64 j = slot * m + first; j < slot * m + last; ++j) {
          i64* at = out.data() + wanted.start[j] + bins[wanted.feature[j]] * words;
          if (block.y) {
            ++at[0];
            at[1] += weight;
            at[2] += number;
          } else if (words == target_.n_classes) {
            ++at[block.label[i]];
          } else {
            ++at[0];
            at[1 + block.label[i]] += weight;
          }
        }
      }
    });
    if (block.map) madvise(block.map, block.map_size, MADV_DONTNEED);
    poll();
  }
  return out;
}

NodeSums TreeShare::divide(const TreeLevel& level, std::span<const i32> feature,
                           std::span<const u8> branch, std::span<const i32> first_child,
                           Callable<void()> poll) {
  std::vector<NodeSums> parts(n_threads_, NodeSums(2 * std::ssize(feature), target_));
  each_block(
      [&](TreeBlock& block, int thread) {
        for (i64 i = 0; i < block.n_rows; ++i) {
          const i32 slot = level.slot(block.node[i]);
          if (slot < 0 || feature[slot] < 0) continue;
          const u8 side = branch[256 * i64{slot} + block.bins[i * width_ + feature[slot]]];
          add_row(block, i, 2 * i64{slot} + side, parts[thread]);
          block.node[i] = first_child[slot] + side;
        }
      },
      poll);
  for (int t = 1; t < n_threads_; ++t) parts[0].add(parts[t]);
  return std::move(parts[0]);
}

GatheredRows TreeShare::gather(const TreeLevel& level, Callable<void()> poll) const {
  GatheredRows out;
  for (const TreeBlock& block : blocks_) {
    for (i64 i = 0; i < block.n_rows; ++i) {
      const i32 slot = level.slot(block.node[i]);
      if (slot < 0) continue;
      out.slot.push_back(slot);
      out.row.push_back(block.first_row + i);
      const u8* bins = block.bins + i * width_;
      out.bins.insert(out.bins.end(), bins, bins + n_features_);
      if (block.label) out.label.push_back(block.label[i]);
      if (block.y) out.y.push_back(block.y[i]);
      if (block.count) out.count.push_back(block.count[i]);
      if (block.weight) out.weight.push_back(block.weight[i]);
    }
    if (block.map) madvise(block.map, block.map_size, MADV_DONTNEED);
    poll();
  }
  return out;
}

}  // namespace treewright::blocks
