#include "optimal/counts.hpp"

#include <bit>

#include "base/simd.hpp"

namespace treewright::optimal {
namespace {

// Bit r of word b becomes bit b of word r.
void transpose(u64 (&block)[64]) {
  u64 mask = 0x00000000ffffffffULL;
  for (int step = 32; step; step >>= 1, mask ^= mask << step) {
    for (int k = 0; k < 64; k = (k + step + 1) & ~step) {
      const u64 swap = (block[k] >> step ^ block[k + step]) & mask;
      block[k] ^= swap << step;
      block[k + step] ^= swap;
    }
  }
}

struct Layout {
  const u64* planes;
  const i32* first;
  const i32* totals;
  const i32* passing;
  i32 n_classes, n_tests;
  i64 unit;
};

// Two classes: the errors of a part are the rarer one.
TREEWRIGHT_VECTORS void pair_two(const Layout& at, Pairs& pairs) {
  const i32 n0 = at.first[1], n_words = at.first[2];
  for (i32 i = 0; i < at.n_tests; ++i) {
    const i32 a0 = at.passing[2 * i], a1 = at.passing[2 * i + 1];
    const i32 rest0 = at.totals[0] - a0, rest1 = at.totals[1] - a1;
    if (a0 + a1 == 0 || rest0 + rest1 == 0) continue;
    const u64* one = at.planes + static_cast<i64>(i) * n_words;
    for (i32 j = i + 1; j < at.n_tests; ++j) {
      const u64* other = at.planes + static_cast<i64>(j) * n_words;
      i32 c0 = 0, c1 = 0;
      for (i32 w = 0; w < n0; ++w) c0 += std::popcount(one[w] & other[w]);
      for (i32 w = n0; w < n_words; ++w) c1 += std::popcount(one[w] & other[w]);
      const i32 b0 = at.passing[2 * j], b1 = at.passing[2 * j + 1];
      pairs.offer(i, j, std::min(c0, c1) * at.unit, std::min(a0 - c0, a1 - c1) * at.unit,
                  std::min(b0 - c0, b1 - c1) * at.unit,
                  std::min(rest0 - b0 + c0, rest1 - b1 + c1) * at.unit);
    }
  }
}

TREEWRIGHT_VECTORS void pair_many(const Layout& at, Pairs& pairs) {
  const i32 k = at.n_classes, n_words = at.first[k];
  for (i32 i = 0; i < at.n_tests; ++i) {
    const u64* one = at.planes + static_cast<i64>(i) * n_words;
    const i32* a = at.passing + static_cast<i64>(i) * k;
    for (i32 j = i + 1; j < at.n_tests; ++j) {
      const u64* other = at.planes + static_cast<i64>(j) * n_words;
      const i32* b = at.passing + static_cast<i64>(j) * k;
      i32 sum[4] = {0, 0, 0, 0}, most[4] = {0, 0, 0, 0};
      for (i32 c = 0; c < k; ++c) {
        i32 count = 0;
        for (i32 w = at.first[c]; w < at.first[c + 1]; ++w)
          count += std::popcount(one[w] & other[w]);
        const i32 part[4] = {count, a[c] - count, b[c] - count, at.totals[c] - a[c] - b[c] + count};
        for (int q = 0; q < 4; ++q) {
          sum[q] += part[q];
          most[q] = std::max(most[q], part[q]);
        }
      }
      pairs.offer(i, j, (sum[0] - most[0]) * at.unit, (sum[1] - most[1]) * at.unit,
                  (sum[2] - most[2]) * at.unit, (sum[3] - most[3]) * at.unit);
    }
  }
}

TREEWRIGHT_VECTORS void count_passing(const u64* planes, const i32* first, i32 n_classes,
                                      i32 n_tests, i32* passing) {
  const i32 n_words = first[n_classes];
  for (i32 t = 0; t < n_tests; ++t) {
    const u64* plane = planes + static_cast<i64>(t) * n_words;
    for (i32 c = 0; c < n_classes; ++c) {
      i32 count = 0;
      for (i32 w = first[c]; w < first[c + 1]; ++w) count += std::popcount(plane[w]);
      passing[static_cast<i64>(t) * n_classes + c] = count;
    }
  }
}

}  // namespace

Counts::Counts(const Problem& problem, const RowTable& table)
    : problem_(problem), table_(table), n_classes_(problem.n_channels) {}

std::vector<i32> Counts::rows() const {
  std::vector<i32> rows(problem_.n_rows);
  std::iota(rows.begin(), rows.end(), 0);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](i32 a, i32 b) { return problem_.classes[a] < problem_.classes[b]; });
  return rows;
}

i64 Counts::errors(const i32* counts) const {
  i32 sum = 0, most = 0;
  for (i32 c = 0; c < n_classes_; ++c) {
    sum += counts[c];
    most = std::max(most, counts[c]);
  }
  return (sum - most) * problem_.unit;
}

i64 Counts::leaf(Rows rows) const {
  i64 most = 0, run = 0;  // classes lie together
  for (std::size_t r = 0; r < rows.size(); ++r) {
    run = r && problem_.classes[rows[r]] == problem_.classes[rows[r - 1]] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return (static_cast<i64>(rows.size()) - most) * problem_.unit;
}

void Counts::lay_out(Rows rows, Scratch& s) const {
  const i64 n_tests = static_cast<i64>(problem_.tests.size());
  s.totals.assign(n_classes_, 0);
  for (const i32 row : rows) ++s.totals[problem_.classes[row]];
  s.first.assign(n_classes_ + 1, 0);
  for (i32 c = 0; c < n_classes_; ++c) s.first[c + 1] = s.first[c] + (s.totals[c] + 63) / 64;
  const i64 n_words = s.first[n_classes_];
  s.planes.resize(n_tests * n_words);
  const i32* at = rows.data();
  for (i32 c = 0; c < n_classes_; ++c) {
    for (i32 done = 0, word = s.first[c]; done < s.totals[c]; done += 64, ++word) {
      const i32 count = std::min(64, s.totals[c] - done);
      for (i64 part = 0; part < table_.n_words(); ++part) {
        u64 block[64] = {};
        for (i32 r = 0; r < count; ++r) block[r] = table_.bits(at[r])[part];
        transpose(block);
        const i64 end = std::min<i64>(64, n_tests - 64 * part);
        for (i64 t = 0; t < end; ++t) s.planes[(64 * part + t) * n_words + word] = block[t];
      }
      at += count;
    }
  }
  s.passing.resize(n_tests * n_classes_);
  count_passing(s.planes.data(), s.first.data(), n_classes_, static_cast<i32>(n_tests),
                s.passing.data());
}

void Counts::glance(Rows rows, Glance& glance, Scratch& s) const {
  lay_out(rows, s);
  const i32 n_tests = static_cast<i32>(problem_.tests.size());
  glance.resize(n_tests);
  std::vector<i32> other(n_classes_);
  for (i32 t = 0; t < n_tests; ++t) {
    const i32* passing = &s.passing[static_cast<i64>(t) * n_classes_];
    double squares[2] = {0.0, 0.0};
    i32 n_left = 0;
    for (i32 c = 0; c < n_classes_; ++c) {
      other[c] = s.totals[c] - passing[c];
      n_left += passing[c];
      squares[0] += static_cast<double>(passing[c]) * passing[c];
      squares[1] += static_cast<double>(other[c]) * other[c];
    }
    const i32 n_right = static_cast<i32>(rows.size()) - n_left;
    glance.n_left[t] = n_left;
    glance.left[t] = errors(passing);
    glance.right[t] = errors(other.data());
    // Gini's index of both sides
    glance.rank[t] = -(squares[0] / std::max(n_left, 1) + squares[1] / std::max(n_right, 1));
  }
}

void Counts::pairs(Rows rows, Pairs& pairs, Scratch& s) const {
  const i32 n_tests = static_cast<i32>(problem_.tests.size());
  pairs.reset(n_tests);
  const Layout at{s.planes.data(), s.first.data(), s.totals.data(), s.passing.data(),
                  n_classes_,      n_tests,        problem_.unit};
  if (n_classes_ == 2)
    pair_two(at, pairs);
  else
    pair_many(at, pairs);
}

}  // namespace treewright::optimal
