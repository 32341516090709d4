// Radix sort of float keys, least significant digit first.
//
// A float becomes an unsigned key of the same order. A double is sorted by its upper 32 bits in
// three passes; the rare runs of equal upper halves are then put in order by the whole value, the
// only time that values are read again (each costs a cache miss).
#include "base/sort.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/ordered.hpp"

namespace treewright {
namespace {

// The first 32 bits decide most comparisons.
u32 ordered_key(float x) { return ordered(x); }
u32 ordered_key(double x) { return static_cast<u32>(ordered(x) >> 32); }

constexpr int kDigit = 11;
constexpr u32 kBuckets = 1u << kDigit;

// Sorts the first n items by key, stable. All three histograms come from one pass; a digit that
// all keys share costs nothing.
void radix_sort(SortBuffers& b, u32 n) {
  b.counts.assign(3 * kBuckets, 0);
  for (u32 i = 0; i < n; ++i) {
    const u32 key = b.items[i].rank;
    ++b.counts[key & (kBuckets - 1)];
    ++b.counts[kBuckets + ((key >> kDigit) & (kBuckets - 1))];
    ++b.counts[2 * kBuckets + (key >> (2 * kDigit))];
  }
  for (int pass = 0; pass < 3; ++pass) {
    u32* count = b.counts.data() + pass * kBuckets;
    const int shift = pass * kDigit;
    if (count[(b.items[0].rank >> shift) & (kBuckets - 1)] == n) continue;
    u32 total = 0;
    for (u32 k = 0; k < kBuckets; ++k) {
      const u32 c = count[k];
      count[k] = total;
      total += c;
    }
    const RankedRow* from = b.items.data();
    RankedRow* to = b.other.data();
    for (u32 i = 0; i < n; ++i) to[count[(from[i].rank >> shift) & (kBuckets - 1)]++] = from[i];
    std::swap(b.items, b.other);
  }
}

template <class Float>
Ranking rank_floats(const Column& column, i64 n_rows, SortBuffers& b) {
  const u32 n = static_cast<u32>(n_rows);
  auto value = [&](u32 row) {
    Float x;
    std::memcpy(&x, static_cast<const char*>(column.data) + row * column.stride, sizeof x);
    return x;
  };
  // Both must hold n items, because the sort swaps them.
  if (b.items.size() < n) b.items.resize(n);
  if (b.other.size() < n) b.other.resize(n);
  std::vector<u32> gaps;
  u32 known = 0;
  for (u32 i = 0; i < n; ++i) {
    const Float x = value(i);
    if (std::isnan(x)) {
      gaps.push_back(i);
    } else {
      b.items[known++] = {ordered_key(x), i};
    }
  }
  if (known > 256) {
    radix_sort(b, known);
  } else {
    std::sort(b.items.begin(), b.items.begin() + known, [](const RankedRow& x, const RankedRow& y) {
      return x.rank != y.rank ? x.rank < y.rank : x.row < y.row;
    });
  }
  RankedRow* items = b.items.data();
  u32 rank = 0;
  for (u32 i = 0; i < known;) {
    u32 j = i + 1;
    while (j < known && items[j].rank == items[i].rank) ++j;
    if (sizeof(Float) == 4 || j == i + 1) {
      for (; i < j; ++i) items[i].rank = rank;
      ++rank;
      continue;
    }
    auto less = [&](const RankedRow& x, const RankedRow& y) { return value(x.row) < value(y.row); };
    if (!std::is_sorted(items + i, items + j, less)) std::stable_sort(items + i, items + j, less);
    for (Float previous = value(items[i].row); i < j; ++i) {
      const Float x = value(items[i].row);
      rank += x != previous;
      previous = x;
      items[i].rank = rank;
    }
    ++rank;
  }
  for (std::size_t g = 0; g < gaps.size(); ++g) items[known + g] = {~u32{0}, gaps[g]};
  return {known, rank};
}

}  // namespace

Ranking rank_column(const Column& column, i64 n_rows, SortBuffers& buffers) {
  return column.type == ColumnType::f32 ? rank_floats<float>(column, n_rows, buffers)
                                        : rank_floats<double>(column, n_rows, buffers);
}

namespace {

// By the 32 bits of the key, three passes; a digit that all share costs nothing.
void radix_items(u64* items, i64 n, std::vector<u64>& other) {
  if (static_cast<i64>(other.size()) < n) other.resize(n);
  std::vector<u32> count(3 * kBuckets, 0);
  for (i64 i = 0; i < n; ++i) {
    const u32 key = static_cast<u32>(items[i] >> 32);
    ++count[key & (kBuckets - 1)];
    ++count[kBuckets + (key >> kDigit & (kBuckets - 1))];
    ++count[2 * kBuckets + (key >> 2 * kDigit)];
  }
  u64* from = items;
  u64* to = other.data();
  for (int pass = 0; pass < 3; ++pass) {
    u32* at = count.data() + pass * kBuckets;
    const int shift = 32 + pass * kDigit;
    if (at[from[0] >> shift & (kBuckets - 1)] == n) continue;
    u32 total = 0;
    for (u32 k = 0; k < kBuckets; ++k) {
      const u32 c = at[k];
      at[k] = total;
      total += c;
    }
    for (i64 i = 0; i < n; ++i) to[at[from[i] >> shift & (kBuckets - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy_n(from, n, items);
}

}  // namespace

void sort_items(u64* items, i64 n, std::vector<u64>& other) {
  if (n > 2000) {
    radix_items(items, n, other);
  } else if (n > 24) {
    std::sort(items, items + n);
  } else {
    for (i64 i = 1; i < n; ++i) {
      const u64 item = items[i];
      i64 j = i;
      for (; j > 0 && items[j - 1] > item; --j) items[j] = items[j - 1];
      items[j] = item;
    }
  }
}

}  // namespace treewright
