// The rows of a tree: how often each is drawn.
//
// Twin: tests/twins/forest.py. The key of the random numbers is the tree's seed, the
// stream that of the stratum.
#pragma once

#include <vector>

#include "base/philox.hpp"
#include "base/types.hpp"

namespace treewright {

struct Sampling {
  bool all = true;  // every row once, nothing is drawn
  bool replace = true;
  const double* weight = nullptr;  // chances; null: equal
  const i32* strata = nullptr;     // null: one stratum
  std::vector<i64> n_draws;        // per stratum
};

inline u64 tree_seed(u64 seed, i64 tree) {
  // as child_path, for numbers beyond 32 bits
  u64 z = seed + 0x9E3779B97F4A7C15ULL * (static_cast<u64>(tree) + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// The stream of the rows that are drawn from a stratum.
inline u64 sample_stream(i32 stratum) { return child_path(0x53414D504C45, stratum); }

template <class Take>
void each_by_chance(Philox random, i64 total, i64 n_draws, Take&& take) {
  for (i64 i = 0; i < n_draws; ++i) {
    const double u = static_cast<double>((random.next() >> 11) + 1) * 0x1.0p-53;
    take(u * static_cast<double>(total));
  }
}

// Calls take(row) for each row of a sample with replacement and equal chances.
template <class Take>
void each_drawn(u64 seed, i64 n, i64 n_draws, Take&& take) {
  Philox(seed, sample_stream(0)).each_below32(static_cast<u32>(n), n_draws, take);
}

// Calls take(at) with numbers in (0, total], which say whose chances are met, for each row of a
// sample with replacement. Chances are whole numbers, so that blocks of rows can add them up.
template <class Take>
void each_by_chance(u64 seed, i64 total, i64 n_draws, Take&& take) {
  each_by_chance(Philox(seed, sample_stream(0)), total, n_draws, take);
}

// What n chances, the largest of them `most`, are multiplied with before they are rounded.
double chance_scale(double most, bool are_whole, i64 n);

// Fills counts (n entries) for the tree with this seed.
void draw_sample(const Sampling& sampling, u64 seed, i64 n, i32* counts);

}  // namespace treewright
