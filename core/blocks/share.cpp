#include "blocks/share.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <numeric>

#include "base/team.hpp"
#include "base/threads.hpp"

namespace treewright::blocks {

using namespace boost;

namespace {

// Calls f with the targets of a column, as the block keeps them.
template <class F>
void with_targets(const Block& block, i64 start, F&& f) {
  if (block.y) {
    f(block.y + start);
  } else {
    f(block.small_y + start);
  }
}

constexpr i64 kStrip = 256;  // rows that are worked on together

// Losses and slopes of many rows at once.
template <class Targets>
struct LogisticRows {
  const double* score;
  Targets y;

  double operator()(i64 row) const { return Logistic::loss(score[row], y[row], 0); }
  void fill(i64 first, i64 n, double* loss) const {
    double target[kStrip];
    std::copy_n(y + first, n, target);
    logistic_losses(score + first, target, n, loss);
  }
  void fill(i64 first, i64 n, double* gradient, double* hessian) const {
    double target[kStrip];
    std::copy_n(y + first, n, target);
    logistic_slopes(score + first, target, n, gradient, hessian);
  }
};

// Rows [0, n) become those that go left, then the others; all keep their order.
i64 partition(const Expansion& e, const u8* bins, i64 width, u32* rows, i64 n,
              std::vector<u32>& others) {
  u8 goes_left[256];
  for (i32 b = 0; b < 256; ++b) goes_left[b] = e.left_bins.has(b);
  if (static_cast<i64>(others.size()) < n) others.resize(n);
  constexpr i64 kAhead = 16;
  const u8* column = bins + e.feature;
  i64 n_left = 0, n_right = 0;
  for (i64 i = 0; i < n; ++i) {
    __builtin_prefetch(column + static_cast<i64>(rows[std::min(i + kAhead, n - 1)]) * width);
    const u32 row = rows[i];
    const u8 is_left = goes_left[column[row * width]];
    rows[n_left] = row;
    others[n_right] = row;
    n_left += is_left;
    n_right += 1 - is_left;
  }
  std::copy_n(others.data(), n_right, rows + n_left);
  return n_left;
}

// Sums of all threads. The first one adds to what is given away, the others to memory of their own,
// which stays: new memory for every question costs as much as small nodes do.
template <class Sum>
class ThreadSums {
 public:
  ThreadSums(std::vector<Hand>& hands, i64 n)
      : hands_(hands), words_(n * sizeof(Sum) / sizeof(i64), 0), is_used_(hands.size(), 0) {}

  Sum* of(int thread) {
    std::vector<i64>& own = thread ? hands_[thread].words : words_;
    if (thread && !is_used_[thread]) own.assign(words_.size(), 0);
    is_used_[thread] = 1;
    return reinterpret_cast<Sum*>(own.data());
  }
  std::vector<i64> take() {
    for (std::size_t t = 1; t < hands_.size(); ++t) {
      for (std::size_t i = 0; is_used_[t] && i < words_.size(); ++i) {
        words_[i] += hands_[t].words[i];
      }
    }
    return std::move(words_);
  }

 private:
  std::vector<Hand>& hands_;
  std::vector<i64> words_;
  std::vector<u8> is_used_;
};

}  // namespace

template <class Body>
void Share::each_block(Body&& body, Callable<void()> poll) const {
  const Team team;
  parallel_for(
      static_cast<i64>(blocks_.size()), p_.n_threads,
      [&](i64 i, int thread) {
        Block& block = blocks_[i];
        body(block, thread);
        if (block.map) madvise(block.map, block.map_size, MADV_DONTNEED);
      },
      poll);
}

// Calls f(loss of a row) for each column of scores, or once for all of them.
template <class F>
void Share::each_loss(const Block& block, F&& f) const {
  const i64 n = block.n_rows;
  if (p_.loss.kind == LossKind::multinomial) {
    with_targets(block, 0, [&](auto y) {
      f([=, this](i64 i) { return class_loss(block.score + i, n, p_.loss.n_columns, y[i]); });
    });
    return;
  }
  for (i32 k = 0; k < p_.loss.n_columns; ++k) {
    with_targets(block, k * n, [&](auto y) {
      with_loss(p_.loss.kind, [&](auto loss) {
        const double *score = block.score + k * n, a = p_.loss.number;
        if constexpr (std::is_same_v<decltype(loss), Logistic>) {
          f(LogisticRows<decltype(y)>{score, y});
        } else {
          f([=](i64 i) { return decltype(loss)::loss(score[i], y[i], a); });
        }
      });
    });
  }
}

double Share::most_loss() const {
  std::vector<double> most(p_.n_threads, 0.0);
  each_block([&](const Block& block, int thread) {
    each_loss(block, [&](auto&& of_row) {
      for (i64 i = 0; i < block.n_rows; ++i) {
        most[thread] = std::max(most[thread], std::abs(of_row(i)) * block.factor_of(i));
      }
    });
  });
  return *std::max_element(most.begin(), most.end());
}

LossSum Share::loss() const {
  std::vector<LossSum> parts(p_.n_threads);
  each_block([&](const Block& block, int thread) {
    LossSum& part = parts[thread];
    each_loss(block, [&](auto&& of_row) {
      double each[kStrip];
      for (i64 start = 0; start < block.n_rows && part.is_finite; start += kStrip) {
        const i64 n = std::min(kStrip, block.n_rows - start);
        if constexpr (requires { of_row.fill(start, n, each); }) {
          of_row.fill(start, n, each);
        } else {
          for (i64 i = 0; i < n; ++i) each[i] = of_row(start + i);
        }
        part.add_rows(loss_unit_, p_.factor_unit, each, n,
                      block.count ? block.count + start : nullptr,
                      block.factor ? block.factor + start : nullptr);
      }
    });
  });
  LossSum total;
  for (const LossSum& part : parts) total.add(part);
  return total;
}

void Share::begin_round() {
  if (p_.loss.kind != LossKind::multinomial) return;
  each_block([&](const Block& block, int) {
    constexpr i64 kRows = 8192;
    for (i64 first = 0; first < block.n_rows; first += kRows) {
      class_probabilities(block.score, block.n_rows, p_.loss.n_columns, first,
                          std::min(first + kRows, block.n_rows), block.probability);
    }
  });
}

Begun Share::begin_tree(i32 column, const Scale& scale, u64 key, i64 number,
                        std::span<const i32> features, bool keeps_first, Callable<void()> poll) {
  column_ = column;
  features_.assign(features.begin(), features.end());
  return with_sum(p_.sum, [&](auto sum) {
    return begin<decltype(sum)>(scale, key, number, keeps_first, poll);
  });
}

template <class Sum>
Begun Share::begin(const Scale& scale, u64 key, i64 number, bool keeps_first,
                   Callable<void()> poll) {
  const Units units(p_.n_counted, scale, 1.0, p_.sum, key);
  is_coarse_ = units.is_coarse();
  row_bits_ = units.row_bits();
  std::vector<Begun> parts(p_.n_threads);
  ThreadSums<Sum> sums(hands_, p_.n_places());
  each_block(
      [&](Block& block, int thread) {
        fill<Sum>(block, units, scale, parts[thread]);
        draw(block, number, keeps_first);
        parts[thread].n_rows += block.nodes[0].stop;
        const bool is_whole = block.nodes[0].stop == block.n_rows;
        add_rows(BinRows(block.bins, p_.width, p_.offsets), features_,
                 is_whole ? nullptr : block.rows, 0, block.nodes[0].stop, sums_of<Sum>(block),
                 hands_[thread].piece, sums.of(thread));
      },
      poll);
  Begun out;
  for (const Begun& part : parts) {
    out.slopes.add(part.slopes);
    out.n_rows += part.n_rows;
  }
  out.histogram = sums.take();
  return out;
}

template <class Sum>
RowSums<Sum> Share::sums_of(const Block& block) const {
  RowSums<Sum> sums{reinterpret_cast<const Sum*>(block.sums), nullptr, row_bits_};
  if (is_coarse_) sums.packed = reinterpret_cast<const PackedRow*>(block.sums);
  return sums;
}

// Slopes of the rows, packed.
template <class Sum>
void Share::fill(Block& block, const Units& units, const Scale& scale, Begun& part) const {
  const i64 n = block.n_rows,
            first_target = p_.loss.kind == LossKind::multinomial ? 0 : column_ * n;
  const double *score = block.score + column_ * n, a = p_.loss.number;
  auto pack = [&](auto&& slope_of) {
    double g[kStrip], h[kStrip];
    for (i64 start = 0; start < n; start += kStrip) {
      const i64 m = std::min(kStrip, n - start), number = block.first_row + start;
      if constexpr (requires { slope_of.fill(start, m, g, h); }) {
        slope_of.fill(start, m, g, h);
      } else {
        for (i64 i = 0; i < m; ++i) {
          const Slope slope = slope_of(start + i);
          g[i] = slope.gradient, h[i] = slope.hessian;
        }
      }
      for (i64 i = 0; block.factor && i < m; ++i) {
        g[i] *= block.factor[start + i], h[i] *= block.factor[start + i];
      }
      part.slopes.add(bound_slopes(scale, m, g, h));
      if (units.is_coarse()) {
        pack_rows(units, g, h, number, m, reinterpret_cast<PackedRow*>(block.sums) + start);
        continue;
      }
      Sum* to = reinterpret_cast<Sum*>(block.sums) + start;
      for (i64 i = 0; i < m; ++i) {
        const i64 count = block.count_of(start + i);
        units.pack(g[i], h[i], count, static_cast<u32>(number + i), to[i]);
      }
    }
  };
  with_targets(block, first_target, [&](auto y) {
    if (p_.loss.kind == LossKind::multinomial) {
      const float* probability = block.probability + column_ * n;
      pack([&](i64 i) { return class_slope(probability[i], y[i] == column_); });
    } else if (p_.loss.kind == LossKind::logistic) {
      pack(LogisticRows<decltype(y)>{score, y});
    } else {
      with_loss(p_.loss.kind, [&](auto loss) {
        pack([&](i64 i) { return decltype(loss)::slope(score[i], y[i], a); });
      });
    }
  });
}

// The rows that the tree is grown from, as those of node 0.
void Share::draw(Block& block, i64 number, bool keeps_first) const {
  i64 n = 0;
  if (!p_.sampling.is_on()) {
    n = block.n_rows;
    std::iota(block.rows, block.rows + n, u32{0});
  } else {
    for (i64 i = 0; i < block.n_rows; ++i) {
      const i64 row = block.first_row + i;
      block.rows[n] = static_cast<u32>(i);
      n += row_chance(p_.sampling.seed, number, row) < p_.sampling.share ||
           (keeps_first && row == 0);
    }
  }
  block.nodes.assign(1, {0, n});
}

Divided Share::expand(std::span<const Expansion> expansions, Callable<void()> poll) {
  return with_sum(p_.sum, [&](auto sum) { return divide<decltype(sum)>(expansions, poll); });
}

template <class Sum>
Divided Share::divide(std::span<const Expansion> expansions, Callable<void()> poll) {
  const i64 n = static_cast<i64>(expansions.size()), n_places = p_.n_places();
  i64 n_counted = 0;
  i32 n_nodes = 0;
  for (const Expansion& e : expansions) {
    n_counted += e.counted >= 0;
    n_nodes = std::max(n_nodes, std::max(e.left, e.right) + 1);
  }
  struct Part {
    std::vector<i64> n_left, n_right;
  };
  std::vector<Part> parts(p_.n_threads, {std::vector<i64>(n), std::vector<i64>(n)});
  ThreadSums<Sum> sums(hands_, n_counted * n_places);
  each_block(
      [&](Block& block, int thread) {
        Part& part = parts[thread];
        Hand& hand = hands_[thread];
        Sum* to = sums.of(thread);
        block.nodes.resize(std::max<std::size_t>(block.nodes.size(), n_nodes), {0, 0});
        const BinRows bins(block.bins, p_.width, p_.offsets);
        for (i64 i = 0; i < n; ++i) {
          const Expansion& e = expansions[i];
          const Block::Range all = block.nodes[e.parent];
          const i64 n_left = partition(e, block.bins, p_.width, block.rows + all.start,
                                       all.stop - all.start, hand.others);
          block.nodes[e.left] = {all.start, all.start + n_left};
          block.nodes[e.right] = {all.start + n_left, all.stop};
          part.n_left[i] += n_left;
          part.n_right[i] += all.stop - all.start - n_left;
          if (e.counted < 0) continue;
          const Block::Range counted = block.nodes[e.counted ? e.right : e.left];
          add_rows(bins, features_, block.rows, counted.start, counted.stop - counted.start,
                   sums_of<Sum>(block), hand.piece, to);
          to += n_places;
        }
      },
      poll);
  Divided out{std::vector<i64>(n), std::vector<i64>(n), sums.take()};
  for (const Part& part : parts) {
    for (i64 i = 0; i < n; ++i) {
      out.n_left[i] += part.n_left[i];
      out.n_right[i] += part.n_right[i];
    }
  }
  return out;
}

// The weight of rows of a node, in units of the factors.
i64 Share::weight_of(const Block& block, Block::Range node) const {
  if (!block.count && !block.factor) {
    return (node.stop - node.start) * std::llrint(1 / p_.factor_unit);
  }
  i64 weight = 0;
  for (i64 at = node.start; at < node.stop; ++at) {
    const u32 row = block.rows[at];
    weight += block.count_of(row) * std::llrint(block.factor_of(row) / p_.factor_unit);
  }
  return weight;
}

LeafSums Share::finish_tree(const BinTree& tree, std::span<const i32> number_of_node) {
  const i64 n = static_cast<i64>(tree.nodes.size());
  std::vector<LeafSums> parts(p_.n_threads, {std::vector<i64>(n), std::vector<i64>(n)});
  each_block([&](Block& block, int thread) {
    double* score = block.score + column_ * block.n_rows;
    for (i64 i = 0; i < n; ++i) {
      // Nodes that no split of a pass has made are empty here.
      const i32 number = number_of_node[i];
      if (number < 0 || number >= static_cast<i32>(block.nodes.size())) continue;
      const Block::Range leaf = block.nodes[number];
      const double value = tree.nodes[i].value;
      for (i64 at = leaf.start; !p_.sampling.is_on() && at < leaf.stop; ++at) {
        score[block.rows[at]] += value;
      }
      parts[thread].n_rows[i] += leaf.stop - leaf.start;
      parts[thread].weight[i] += weight_of(block, leaf);
    }
    if (!p_.sampling.is_on()) return;
    for (i64 row = 0; row < block.n_rows; ++row) {
      score[row] += tree.nodes[leaf_of(tree, block.bins + row * p_.width)].value;
    }
  });
  for (int t = 1; t < p_.n_threads; ++t) {
    for (i64 i = 0; i < n; ++i) {
      parts[0].n_rows[i] += parts[t].n_rows[i];
      parts[0].weight[i] += parts[t].weight[i];
    }
  }
  return std::move(parts[0]);
}

void Share::follow(const BinTree& tree, i32 column) {
  each_block([&](Block& block, int) {
    double* score = block.score + column * block.n_rows;
    for (i64 row = 0; row < block.n_rows; ++row) {
      score[row] += tree.nodes[leaf_of(tree, block.bins + row * p_.width)].value;
    }
  });
}

}  // namespace treewright::blocks
