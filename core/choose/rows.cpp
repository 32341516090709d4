#include "rows.hpp"

#include <algorithm>

#include "../forest/row_matrix.hpp"
#include "../simd.hpp"
#include "../sort.hpp"
#include "cuts.hpp"
#include "random.hpp"

namespace treewright {
namespace {

// Largest nodes that are compared by pairs, or sorted although bins would do.
constexpr i64 kMaxPairs = 96;
constexpr i64 kMaxSorted = 192;
constexpr i64 kRoom = 64;       // entries beyond the last that wide loops may touch
constexpr i64 kChunk = 256;     // rows whose bins are read together, so that they stay at hand

using Wide = i32 __attribute__((vector_size(32), aligned(4), may_alias));

// Sums for 8·V rows, each over all n.
template <int V>
__attribute__((always_inline)) inline void pair_block(const i32* keys, const i32* tokens, i64 n,
                                                      const i32* own, i32* sums) {
  Wide key[V], sum[V];
  for (int v = 0; v < V; ++v) {
    key[v] = *reinterpret_cast<const Wide*>(own + 8 * v);
    sum[v] = Wide{};
  }
  for (i64 j = 0; j < n; ++j) {
    const Wide other = Wide{} + keys[j], token = Wide{} + tokens[j];
    for (int v = 0; v < V; ++v) sum[v] += ~(other > key[v]) & token;
  }
  for (int v = 0; v < V; ++v) *reinterpret_cast<Wide*>(sums + 8 * v) = sum[v];
}

// Σ tokens of the rows with a key no larger than that of each row.
TREEWRIGHT_WIDE
void sums_by_pairs(const i32* keys, const i32* tokens, i64 n, i32* sums) {
  i64 i = 0;
  for (; n - i > 16; i += 32) pair_block<4>(keys, tokens, n, keys + i, sums + i);
  if (n - i > 8) {
    pair_block<2>(keys, tokens, n, keys + i, sums + i);
  } else if (n > i) {
    pair_block<1>(keys, tokens, n, keys + i, sums + i);
  }
}

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
using FourWords = i64 __attribute__((vector_size(32), aligned(8), may_alias));
using FourKeys = i32 __attribute__((vector_size(16), aligned(4), may_alias));

// Where the mask is set a, else b. (Conditional expressions of vectors become jumps.)
__attribute__((always_inline)) inline Four pick(FourWords mask, Four a, Four b) {
  return reinterpret_cast<Four>((reinterpret_cast<FourWords>(a) & mask) |
                                (reinterpret_cast<FourWords>(b) & ~mask));
}

// d² / (w (W − w)) with d = W a − w A, for a cut with weight w and a ones on its left; −1 where a side
// is empty. Products are exact up to W = 2²⁶.
struct TwoClassScore {
  double all, ones;

  __attribute__((always_inline)) Four operator()(Four w, Four a) const {
    const Four d = all * a - w * ones, product = w * (all - w);
    return pick(product > 0.0, d * d / product, Four{} - 1.0);
  }
};

// Writes scores four at a time, the last of them beyond n, and returns the largest.
template <class At>
__attribute__((always_inline)) inline double best_score(i64 n, double* score, At&& at) {
  Four best = Four{} - 1.0;
  for (i64 i = 0; i < n; i += 4) {
    const Four here = *reinterpret_cast<Four*>(score + i) = at(i);
    best = pick(here > best, here, best);
  }
  return std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
}

// From packed sums ones << 16 | weight; those beyond n are 0.
TREEWRIGHT_WIDE
double score_pairs(const i32* sums, i64 n, TwoClassScore score_of, double* score) {
  return best_score(n, score, [&](i64 i) __attribute__((always_inline)) {
    const FourKeys packed = *reinterpret_cast<const FourKeys*>(sums + i);
    return score_of(__builtin_convertvector(packed & 0xFFFF, Four),
                    __builtin_convertvector(packed >> 16, Four));
  });
}

// From running weights and ones; those beyond n are 0.
TREEWRIGHT_WIDE
double score_bins(const i32* weight, const i32* ones, i64 n, TwoClassScore score_of, double* score) {
  return best_score(n, score, [&](i64 i) __attribute__((always_inline)) {
    return score_of(__builtin_convertvector(*reinterpret_cast<const FourKeys*>(weight + i), Four),
                    __builtin_convertvector(*reinterpret_cast<const FourKeys*>(ones + i), Four));
  });
}

// Items are sorted by key: key in the upper half, what the sums need in the lower.
u64 item_of(i32 key, u32 payload) {
  return (u64{static_cast<u32>(key) ^ 0x80000000u} << 32) | payload;
}
i32 item_key(u64 item) { return static_cast<i32>(static_cast<u32>(item >> 32) ^ 0x80000000u); }
bool same_key(u64 a, u64 b) { return (a ^ b) >> 32 == 0; }

struct Cut {
  bool found = false, constant = false;
  i32 key = 0;
  double gain = -kInf, scale = 0;
  double threshold = 0;  // of a random cut
  i32 bin_below = -1, bin_above = -1;
};

// The bins next to a cut behind bin `at`; count(b) rows are in bin b.
template <class Count>
void set_bins(Cut& cut, i64 at, Count&& count) {
  i64 below = at, above = at + 1;
  while (!count(below)) --below;
  while (!count(above)) ++above;
  cut.bin_below = static_cast<i32>(below);
  cut.bin_above = static_cast<i32>(above);
}

void write(const Cut& cut, i32 feature, Candidate& out) {
  out = Candidate{};
  out.feature = feature;
  out.constant = cut.constant;
  if (!cut.found) return;
  out.kind = CandidateKind::key_cut;
  out.gain = cut.gain;
  out.scale = cut.scale;
  out.cut = cut.key;
  out.threshold = cut.threshold;
  out.bin_below = cut.bin_below;
  out.bin_above = cut.bin_above;
}

// Running sums on the left of a cut. `add` takes one item's payload, `add_bin` a bin.

class TwoClasses {
 public:
  TwoClasses(const NodeView<u32>& node) : all_(node.stats[0] + node.stats[1]), ones_(node.stats[1]) {}
  static constexpr double tie = kTie;
  void set(i64 weight, i64 ones) {
    w_ = weight;
    a_ = ones;
  }
  void add(u32 payload) {
    const i64 c = payload & 255;
    w_ += c;
    a_ += (payload >> 8) * c;
  }
  template <class Ratio>
  void offer(Ratio& ratio, i64 at) const {
    const double d = static_cast<double>(all_ * a_ - w_ * ones_);
    ratio.offer(d * d, static_cast<double>(w_) * static_cast<double>(all_ - w_), at);
  }
  double gain(double score) const { return 2 * score / static_cast<double>(all_); }
  double score_of_gain(double gain) const { return gain * static_cast<double>(all_) / 2; }
  // Upper bound of the score of a cut inside a bin that holds `weight`, of it `ones`.
  double bound(i64 weight, i64 ones) const {
    return std::max(score(w_ + ones, a_ + ones), score(w_ + weight - ones, a_));
  }
  double scale() const { return 0; }

 private:
  double score(i64 w, i64 a) const {
    const double d = static_cast<double>(all_ * a - w * ones_);
    const double product = static_cast<double>(w) * static_cast<double>(all_ - w);
    return product > 0 ? d * d / product : -1;
  }
  i64 all_, ones_, w_ = 0, a_ = 0;
};

class ManyClasses {
 public:
  ManyClasses(const NodeView<u32>& node, Scratch& scratch)
      : n_(node.problem.targets.n_classes), left_(scratch.left), right_(scratch.right) {
    left_.assign(n_, 0);
    right_.assign(node.stats, node.stats + n_);
    for (i32 k = 0; k < n_; ++k) {
      all_ += right_[k];
      right_squares_ += right_[k] * right_[k];
    }
    base_ = static_cast<double>(right_squares_) / static_cast<double>(all_);
  }
  static constexpr double tie = 1e-14;
  void add(u32 payload) { move(payload >> 8, payload & 255); }
  void add_bin(const u32* counts) {
    for (i32 k = 0; k < n_; ++k) {
      if (counts[k]) move(k, counts[k]);
    }
  }
  template <class Ratio>
  void offer(Ratio& ratio, i64 at) const {
    const double l = static_cast<double>(w_), r = static_cast<double>(all_ - w_);
    ratio.offer(static_cast<double>(left_squares_) * r + static_cast<double>(right_squares_) * l,
                l * r, at);
  }
  double gain(double score) const { return score - base_; }
  double scale() const { return static_cast<double>(all_); }

 private:
  void move(u32 k, i64 c) {
    left_squares_ += c * (2 * left_[k] + c);
    right_squares_ -= c * (2 * right_[k] - c);
    left_[k] += c;
    right_[k] -= c;
    w_ += c;
  }
  i32 n_;
  std::vector<i64>&left_, &right_;
  i64 all_ = 0, w_ = 0, left_squares_ = 0, right_squares_ = 0;
  double base_ = 0;
};

class Numbers {
 public:
  Numbers(const NodeView<u32>& node)
      : wy_(node.block.target.wy), count_(node.block.target.count), all_(node.stats[0]),
        centre_(node.criterion.centre[0]), rest_(node.criterion.rest[0]) {}
  static constexpr double tie = kTie;
  void add(u32 row) { add_bin(wy_[row], count_[row]); }
  void add_bin(i64 wy, i64 count) {
    w_ += count;
    sum_ += wy - count * centre_;
  }
  template <class Ratio>
  void offer(Ratio& ratio, i64 at) const {
    const double w = static_cast<double>(w_);
    const double c = static_cast<double>(sum_) - w * rest_;
    ratio.offer(c * c, w * static_cast<double>(all_ - w_), at);
  }
  double gain(double score) const { return score * static_cast<double>(all_); }
  double scale() const { return 0; }

 private:
  const i64* wy_;
  const u8* count_;
  i64 all_, centre_;
  double rest_;
  i64 w_ = 0, sum_ = 0;
};

// What all searches of a node share.
struct Search {
  const NodeView<u32>& node;
  const Problem& p;
  const RowMatrix& rows;
  const RowCells& cells;
  RowScratch& s;
  i64 n, min_leaf;
  bool exact;

  Search(const NodeView<u32>& view, Scratch& scratch)
      : node(view), p(view.problem), rows(*p.rows), cells(view.block.rows), s(scratch.rows), n(view.size()),
        min_leaf(std::max<i64>(p.params.min_leaf, 1)), exact(p.exact_rows) {}

  const u32* ids() const { return node.block.ids + node.begin; }
  const RowFeature& feature(i32 f) const { return rows.features[p.features[f].slot]; }

  u32 payload(u32 row) const {
    const TargetArrays& t = node.block.target;
    return t.label ? static_cast<u32>(t.label[row]) << 8 | t.count[row] : row;
  }

  // The node's items of one feature, sorted. False where nothing varies.
  bool sorted_items(i32 slot) {
    s.items.resize(n);
    const u32* id = ids();
    i32 low = kGapKey, high = std::numeric_limits<i32>::min();
    for (i64 i = 0; i < n; ++i) {
      const i32 key = cells.keys(id[i])[slot];
      low = std::min(low, key);
      high = std::max(high, key);
      s.items[i] = item_of(key, payload(id[i]));
    }
    if (low == high) return false;
    sort_items(s.items.data(), n, s.other);
    return true;
  }

  // Every cut of a sorted feature.
  template <class Sums>
  Cut scan_items(i32 slot, Sums sums) {
    Cut cut;
    if (!sorted_items(slot)) {
      cut.constant = true;
      return cut;
    }
    BestRatio ratio(Sums::tie);
    ratio.numerator = -1;
    const u64* item = s.items.data();
    for (i64 i = 0; i + min_leaf < n; ++i) {
      sums.add(static_cast<u32>(item[i]));
      if (i + 1 < min_leaf || same_key(item[i], item[i + 1])) continue;
      sums.offer(ratio, i);
    }
    return finish(ratio, sums, [&](i64 at) { return item_key(item[at]); });
  }

  template <class Sums, class Key>
  Cut finish(const BestRatio& ratio, const Sums& sums, Key&& key) const {
    Cut cut;
    if (ratio.cut < 0) return cut;
    cut.found = true;
    cut.gain = sums.gain(ratio.numerator / ratio.denominator);
    cut.scale = sums.scale();
    cut.key = key(ratio.cut);
    return cut;
  }

  // One cut at a random place between the least and the largest value (Geurts et al. 2006).
  template <class Sums>
  Cut random_cut(i32 number, Sums sums) {
    Cut cut;
    const i32 slot = p.features[number].slot;
    const RowFeature& f = rows.features[slot];
    const u32* id = ids();
    s.keys.resize(n + kRoom);
    i32 low = kGapKey, high = std::numeric_limits<i32>::min();
    for (i64 i = 0; i < n; ++i) {
      const i32 key = s.keys[i] = cells.keys(id[i])[slot];
      low = std::min(low, key);
      high = std::max(high, key);
    }
    cut.constant = low == high;
    if (cut.constant) return cut;
    cut.threshold = random_between(node, number, f.value(low), f.value(high));
    const i32 last = f.last_left(cut.threshold, p.params.closed);
    i64 left = 0;
    for (i64 i = 0; i < n; ++i) {
      if (s.keys[i] > last) continue;
      sums.add(payload(id[i]));
      ++left;
    }
    if (left < min_leaf || n - left < min_leaf) return cut;
    BestRatio ratio(Sums::tie);
    ratio.numerator = -1;
    sums.offer(ratio, 0);
    const double threshold = cut.threshold;
    cut = finish(ratio, sums, [&](i64) { return last; });
    cut.threshold = threshold;
    return cut;
  }

  // Calls add(rows, count) chunk by chunk.
  template <class Add>
  void each_chunk(Add&& add) const {
    const u32* id = ids();
    const bool scattered = !node.block.source && !cells.is_dense(n);
    for (i64 start = 0; start < n; start += kChunk) {
      const i64 ahead = scattered ? std::min(start + 2 * kChunk, n) : 0;
      for (i64 i = start + kChunk; i < ahead; ++i) __builtin_prefetch(cells.bins(id[i]));
      add(id + start, std::min(kChunk, n - start));
    }
  }
};

// ---- two classes ----

struct TwoClassSearch : Search {
  using Search::Search;
  i64 all, ones;

  TwoClassSearch(const NodeView<u32>& view, Scratch& scratch)
      : Search(view, scratch), all(view.stats[0] + view.stats[1]), ones(view.stats[1]) {}

  void run(const i32* features, i32 m, Candidate* out) {
    n <= kMaxPairs && all < 32768 ? pairs(features, m, out) : by_bins(features, m, out);
  }

  void pairs(const i32* features, i32 m, Candidate* out) {
    const u32* id = ids();
    const TargetArrays& t = node.block.target;
    s.keys.resize(kMaxPairs + kRoom);
    s.tokens.resize(kMaxPairs + kRoom);
    s.sums.resize(kMaxPairs + kRoom);
    s.score.resize(kMaxBins + kRoom);
    for (i64 i = 0; i < n; ++i) {
      const i32 c = t.count[id[i]];
      s.tokens[i] = c | (t.label[id[i]] ? c << 16 : 0);
    }
    double top = -1;
    for (i32 k = 0; k < m; ++k) {
      const i32 slot = p.features[features[k]].slot;
      for (i64 i = 0; i < n; ++i) s.keys[i] = cells.keys(id[i])[slot];
      sums_by_pairs(s.keys.data(), s.tokens.data(), n, s.sums.data());
      std::fill_n(s.sums.data() + n, 4, 0);
      const double best = score_pairs(s.sums.data(), n, score_of(), s.score.data());
      Cut cut;
      cut.constant = best < 0;
      cut.found = best >= 0;
      cut.gain = 2 * best / static_cast<double>(all);
      // One that an earlier feature beats anyway need not say where it lies.
      if (best >= top) {
        top = best;
        cut.key = kGapKey;
        const double bar = best * (1 - kTie);
        for (i64 i = 0; i < n; ++i) {
          cut.key = std::min(cut.key, s.score[i] >= bar ? s.keys[i] : kGapKey);
        }
      }
      write(cut, features[k], out[k]);
    }
  }

  void by_bins(const i32* features, i32 m, Candidate* out) {
    const TargetArrays& t = node.block.target;
    s.table.assign(static_cast<std::size_t>(m) * (kMaxBins + 1), 0);
    u64 token[kChunk];
    each_chunk([&](const u32* id, i64 count) {
      for (i64 i = 0; i < count; ++i) token[i] = u64{t.count[id[i]]} << (t.label[id[i]] * 32);
      for (i32 k = 0; k < m; ++k) {
        u64* table = s.table.data() + k * (kMaxBins + 1);
        const BinColumn bins = cells.bins_of(p.features[features[k]].slot, n);
        for (i64 i = 0; i < count; ++i) table[bins[id[i]]] += token[i];
      }
    });
    double bar = -1;
    for (i32 k = 0; k < m; ++k) {
      const u64* table = s.table.data() + k * (kMaxBins + 1);
      const RowFeature& f = feature(features[k]);
      Cut cut = scan_bins(table, f);
      if (f.bins_are_values) {
        // nothing to be seen inside
      } else if (exact) {
        look_inside(table, features[k], cut, bar);
      } else if (!cut.found) {  // all in one bin
        cut = scan_items(p.features[features[k]].slot, TwoClasses(node));
      }
      if (cut.found) bar = std::max(bar, cut.gain * static_cast<double>(all) / 2);
      write(cut, features[k], out[k]);
    }
  }

  TwoClassScore score_of() const {
    return {static_cast<double>(all), static_cast<double>(ones)};
  }

  Cut scan_bins(const u64* table, const RowFeature& f) {
    const i64 n_bins = f.n_bins();
    s.sums.resize(kMaxBins + kRoom);
    s.tokens.resize(kMaxBins + kRoom);
    s.score.resize(kMaxBins + kRoom);
    u64 sum = 0;
    i32 *w = s.sums.data(), *a = s.tokens.data();
    for (i64 b = 0; b < n_bins; ++b) {
      sum += table[b];
      a[b] = static_cast<i32>(sum >> 32);
      w[b] = static_cast<i32>(sum) + a[b];
    }
    std::fill_n(w + n_bins, 4, 0);
    std::fill_n(a + n_bins, 4, 0);
    const double best = score_bins(w, a, n_bins, score_of(), s.score.data());
    Cut cut;
    cut.constant = best < 0;  // all in one bin
    cut.found = best >= 0;
    if (!cut.found) return cut;
    cut.gain = 2 * best / static_cast<double>(all);
    const double bar = best * (1 - kTie);
    i64 b = 0;
    while (s.score[b] < bar) ++b;
    cut.key = f.bin_end[b];
    set_bins(cut, b, [&](i64 at) { return table[at]; });
    return cut;
  }

  // Exact: cuts inside the bins that may hold a better one than the best of this feature and of
  // those before it.
  void look_inside(const u64* table, i32 feature_number, Cut& cut, double bar) {
    const i32 slot = p.features[feature_number].slot;
    const RowFeature& f = rows.features[slot];
    const i64 n_bins = f.n_bins();
    TwoClasses sums(node);
    const double own = cut.found ? cut.gain * static_cast<double>(all) / 2 : -1;
    const double least = std::max(own, bar) * (1 - 2 * kTie);
    i64 start[kMaxBins + 1];
    bool any = false;
    i64 w = 0, a = 0, room = 0;
    for (i64 b = 0; b < n_bins; ++b) {
      const i64 ones_here = static_cast<i64>(table[b] >> 32);
      const i64 here = ones_here + static_cast<i64>(table[b] & 0xFFFFFFFFu);
      sums.set(w, a);
      start[b] = -1;
      if (here > 1 && sums.bound(here, ones_here) >= least) {
        start[b] = room;
        room += here;
        any = true;
      }
      w += here;
      a += ones_here;
    }
    if (!any) return;
    s.items.resize(room);
    i64 end[kMaxBins + 1];
    std::copy_n(start, n_bins, end);
    const u32* id = ids();
    for (i64 i = 0; i < n; ++i) {
      const u8 b = cells.bins(id[i])[slot];
      if (start[b] < 0) continue;
      s.items[end[b]++] = item_of(cells.keys(id[i])[slot], payload(id[i]));
    }
    BestRatio ratio(kTie);
    ratio.numerator = -1;
    i32 key = 0;
    i64 key_bin = 0;
    bool inside = false;
    w = a = 0;
    for (i64 b = 0; b < n_bins; ++b) {
      const i64 ones_here = static_cast<i64>(table[b] >> 32);
      const i64 here = ones_here + static_cast<i64>(table[b] & 0xFFFFFFFFu);
      if (start[b] >= 0) {
        u64* item = s.items.data() + start[b];
        const i64 count = end[b] - start[b];
        sort_items(item, count, s.other);
        sums.set(w, a);
        for (i64 i = 0; i + 1 < count; ++i) {
          sums.add(static_cast<u32>(item[i]));
          if (same_key(item[i], item[i + 1])) continue;
          const i64 before = ratio.cut;
          sums.offer(ratio, start[b] + i);
          if (ratio.cut == before) continue;
          key = item_key(item[i]);
          key_bin = b;
          inside = true;
        }
      }
      w += here;
      a += ones_here;
      if (!here || w == all) continue;
      const i64 before = ratio.cut;
      sums.set(w, a);
      sums.offer(ratio, room + b);
      if (ratio.cut == before) continue;
      key = f.bin_end[b];
      key_bin = b;
      inside = false;
    }
    cut.constant = ratio.cut < 0;
    cut.found = ratio.cut >= 0;
    cut.key = key;
    if (!cut.found) return;
    cut.gain = sums.gain(ratio.numerator / ratio.denominator);
    if (inside) {
      cut.bin_below = cut.bin_above = static_cast<i32>(key_bin);
    } else {
      set_bins(cut, key_bin, [&](i64 b) { return table[b]; });
    }
  }
};

// ---- many classes ----

// Two classes come here too where leaves must have several rows.
struct ManyClassSearch : Search {
  Scratch& scratch;
  ManyClassSearch(const NodeView<u32>& view, Scratch& all_scratch)
      : Search(view, all_scratch), scratch(all_scratch) {}

  void run(const i32* features, i32 m, Candidate* out) {
    each(features, m, out, [&](i32 slot) { return by_bins(slot); },
         [&](i32 slot) { return scan_items(slot, ManyClasses(node, scratch)); });
  }

  // By bins where that is exact enough and not slower, else sorted.
  template <class Bins, class Sorted>
  void each(const i32* features, i32 m, Candidate* out, Bins&& bins, Sorted&& sorted) {
    for (i32 k = 0; k < m; ++k) {
      const RowFeature& f = feature(features[k]);
      const i32 slot = p.features[features[k]].slot;
      const bool count = f.bins_are_values ? n > f.n_bins() : n > kMaxSorted && !exact;
      Cut cut = count ? bins(slot) : sorted(slot);
      if (count && cut.constant && !f.bins_are_values) cut = sorted(slot);  // all in one bin
      write(cut, features[k], out[k]);
    }
  }

  Cut by_bins(i32 slot) {
    const RowFeature& f = rows.features[slot];
    const TargetArrays& t = node.block.target;
    const i32 width = p.targets.n_classes;
    const i64 n_bins = f.n_bins();
    s.counts.assign(static_cast<std::size_t>(n_bins) * (width + 1), 0);
    u32* row_count = s.counts.data() + n_bins * width;
    const u32* id = ids();
    for (i64 i = 0; i < n; ++i) {
      const u8 b = cells.bins(id[i])[slot];
      s.counts[b * width + t.label[id[i]]] += t.count[id[i]];
      ++row_count[b];
    }
    ManyClasses sums(node, scratch);
    return scan(f, row_count, sums, [&](i64 b) { sums.add_bin(s.counts.data() + b * width); });
  }

  template <class Sums, class Add>
  Cut scan(const RowFeature& f, const u32* row_count, Sums& sums, Add&& add) {
    BestRatio ratio(Sums::tie);
    ratio.numerator = -1;
    i64 left = 0;
    for (i64 b = 0; b + 1 < static_cast<i64>(f.n_bins()); ++b) {
      if (!row_count[b]) continue;
      left += row_count[b];
      add(b);
      if (left == n) break;
      if (left >= min_leaf && n - left >= min_leaf) sums.offer(ratio, b);
    }
    Cut cut = finish(ratio, sums, [&](i64 at) { return f.bin_end[at]; });
    cut.constant = left == 0 || (left == n && ratio.cut < 0);
    if (cut.found) set_bins(cut, ratio.cut, [&](i64 b) { return row_count[b]; });
    return cut;
  }
};

// ---- numbers ----

struct NumberSearch : ManyClassSearch {
  using ManyClassSearch::ManyClassSearch;

  void run(const i32* features, i32 m, Candidate* out) {
    each(features, m, out, [&](i32 slot) { return by_bins(slot); },
         [&](i32 slot) { return scan_items(slot, Numbers(node)); });
  }

  Cut by_bins(i32 slot) {
    const RowFeature& f = rows.features[slot];
    const TargetArrays& t = node.block.target;
    const i64 n_bins = f.n_bins();
    struct Bin {
      i64 sum;
      u32 weight, rows;
    };
    static_assert(sizeof(Bin) == 2 * sizeof(u64));
    s.table.assign(2 * (n_bins + 1), 0);
    Bin* bin = reinterpret_cast<Bin*>(s.table.data());
    const u32* id = ids();
    for (i64 i = 0; i < n; ++i) {
      Bin& b = bin[cells.bins(id[i])[slot]];
      b.sum += t.wy[id[i]];
      b.weight += t.count[id[i]];
      ++b.rows;
    }
    s.counts.resize(n_bins);
    for (i64 b = 0; b < n_bins; ++b) s.counts[b] = bin[b].rows;
    Numbers sums(node);
    return scan(f, s.counts.data(), sums, [&](i64 b) { sums.add_bin(bin[b].sum, bin[b].weight); });
  }
};

}  // namespace

void search_classes(const NodeView<u32>& node, const i32* features, i32 n, Scratch& scratch,
                    Candidate* out) {
  if (node.problem.params.random_cut) {
    Search search(node, scratch);
    for (i32 k = 0; k < n; ++k) {
      const Cut cut = node.criterion.n_classes == 2
                          ? search.random_cut(features[k], TwoClasses(node))
                          : search.random_cut(features[k], ManyClasses(node, scratch));
      write(cut, features[k], out[k]);
    }
  } else if (node.criterion.n_classes == 2 && node.problem.params.min_leaf <= 1) {
    TwoClassSearch(node, scratch).run(features, n, out);
  } else {
    ManyClassSearch(node, scratch).run(features, n, out);
  }
}

void search_numbers(const NodeView<u32>& node, const i32* features, i32 n, Scratch& scratch,
                    Candidate* out) {
  NumberSearch search(node, scratch);
  for (i32 k = 0; node.problem.params.random_cut && k < n; ++k) {
    write(search.random_cut(features[k], Numbers(node)), features[k], out[k]);
  }
  if (!node.problem.params.random_cut) search.run(features, n, out);
}

}  // namespace treewright
