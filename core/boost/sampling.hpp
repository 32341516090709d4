// Which rows a round's trees are grown from, and how much each of them stands for.
//
// Uniform: every row with the same chance. GOSS (Ke et al. 2017): the rows of largest gradients,
// and some of the others that stand for all of them. MVS (Ibragimov and Gusev 2019): chances in
// proportion to the size of a row's slope, so that the sums of a node vary least; a row stands for
// the inverse of its chance. Chances are compared with numbers that depend on seed, round and row
// alone.
//
// Twin: tests/twins/boosting.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/philox.hpp"
#include "base/types.hpp"

namespace treewright::boost {

enum class SamplingKind : u8 { uniform, mvs, goss };

struct SamplingParams {
  SamplingKind kind = SamplingKind::uniform;
  double share = 1;      // of the rows, in expectation
  double top_share = 0;  // GOSS: rows of largest gradients among them, as a share of all
  u64 seed = 0;

  bool is_on() const { return share < 1; }
  bool has_factors() const { return is_on() && kind != SamplingKind::uniform; }
};

// Uniform in [0, 1), the same for a row of a round whoever asks.
inline double row_chance(u64 seed, i64 round, i64 row) {
  u64 z = seed + 0x9E3779B97F4A7C15ULL * (static_cast<u64>(round) + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL + 0xD1B54A32D192ED03ULL * (static_cast<u64>(row) + 1);
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z = (z ^ (z >> 31)) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>((z ^ (z >> 29)) >> 11) * 0x1.0p-53;
}

struct RowSample {
  std::vector<u32> rows;
  std::vector<double> factor;  // of each row listed; empty: all one
};

// `size` of each row's slope: |gradient| for GOSS, the root of gradient² and hessian² for MVS.
inline RowSample draw_rows(const SamplingParams& p, i64 round, i64 n_rows,
                           const std::vector<double>& size) {
  RowSample out;
  auto add = [&](i64 row, double factor) {
    out.rows.push_back(static_cast<u32>(row));
    if (p.has_factors()) out.factor.push_back(factor);
  };
  if (p.kind == SamplingKind::uniform) {
    for (i64 i = 0; i < n_rows; ++i) {
      if (row_chance(p.seed, round, i) < p.share) add(i, 1);
    }
  } else if (p.kind == SamplingKind::goss) {
    const i64 n_top =
        std::min(n_rows, static_cast<i64>(std::llround(p.top_share * static_cast<double>(n_rows))));
    double least = kInf;
    if (n_top > 0) {
      std::vector<double> sorted = size;
      std::nth_element(sorted.begin(), sorted.begin() + (n_top - 1), sorted.end(),
                       std::greater<>());
      least = sorted[n_top - 1];
    }
    const double chance = (p.share - p.top_share) / (1 - p.top_share);
    for (i64 i = 0; i < n_rows; ++i) {
      if (size[i] >= least)
        add(i, 1);
      else if (row_chance(p.seed, round, i) < chance)
        add(i, 1 / chance);
    }
  } else {
    // The bound above which a row is certain, so that chances add up to the share.
    std::vector<double> sorted = size;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double rest = 0;
    for (const double s : sorted) rest += s;
    const double wanted = p.share * static_cast<double>(n_rows);
    i64 n_certain = 0;
    double bound = wanted > 0 ? rest / wanted : kInf;
    while (n_certain < n_rows && sorted[n_certain] > bound &&
           wanted - static_cast<double>(n_certain) > 1) {
      rest -= sorted[n_certain++];
      bound = rest / (wanted - static_cast<double>(n_certain));
    }
    for (i64 i = 0; i < n_rows; ++i) {
      const double chance = bound > 0 ? std::min(1.0, size[i] / bound) : p.share;
      if (row_chance(p.seed, round, i) < chance) add(i, 1 / chance);
    }
  }
  if (out.rows.empty()) add(0, 1);
  return out;
}

}  // namespace treewright::boost
