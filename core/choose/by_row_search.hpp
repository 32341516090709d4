// What the searches of features that are kept by row share: items, running sums, cuts.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/sort.hpp"
#include "binned/histogram.hpp"
#include "binned/row_matrix.hpp"
#include "binned/two_class_scores.hpp"
#include "choose/by_row.hpp"
#include "choose/cuts.hpp"
#include "choose/random.hpp"

namespace treewright {

// Items are sorted by key: key in the upper half, what the sums need in the lower.
inline u64 item_of(i32 key, u32 payload) {
  return (u64{static_cast<u32>(key) ^ 0x80000000u} << 32) | payload;
}
inline i32 item_key(u64 item) {
  return static_cast<i32>(static_cast<u32>(item >> 32) ^ 0x80000000u);
}
inline bool same_key(u64 a, u64 b) { return (a ^ b) >> 32 == 0; }

// The bins next to a cut behind bin `at`; count(b) rows are in bin b.
template <class Count>
void set_bins(Cut& cut, i64 at, Count&& count) {
  i64 below = at, above = at + 1;
  while (!count(below)) --below;
  while (!count(above)) ++above;
  cut.bin_below = static_cast<i32>(below);
  cut.bin_above = static_cast<i32>(above);
}

inline void write(const Cut& cut, i32 feature, Candidate& out) {
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
  TwoClasses(i64 all, i64 ones) : all_(all), ones_(ones) {}
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
  double scale() const { return 0; }

 private:
  i64 all_, ones_, w_ = 0, a_ = 0;
};

// What all searches of a node share.
struct Search {
  static constexpr i64 kChunk =
      256;  // rows whose bins are read together, so that they stay at hand

  const NodeView& node;
  const Problem& p;
  const RowMatrix& matrix;
  const RowCells& cells;
  RowScratch& s;
  i64 n, min_leaf;
  bool exact;
  i32 second = -1;  // of two classes the one that counts as 1; −1: classes as they are

  Search(const NodeView& view, Scratch& scratch)
      : node(view),
        p(view.problem),
        matrix(*p.matrix),
        cells(view.block.cells),
        s(scratch.by_row),
        n(view.size()),
        min_leaf(std::max<i64>(p.params.min_leaf, 1)),
        exact(p.tries_all_cuts) {}

  const u32* ids() const { return node.block.ids + node.begin; }
  auto keys_of(i32 slot) const {
    return [this, slot, id = ids()](i64 i) { return cells.key(id[i], slot); };
  }
  const RowFeature& feature(i32 f) const { return matrix.features[p.features[f].slot]; }

  u32 payload(u32 row) const {
    const TargetArrays& t = node.block.target;
    if (!t.label) return row;
    const u32 label = t.label[row];
    return (second < 0 ? label : label == static_cast<u32>(second)) << 8 | t.count[row];
  }

  // The node's items of one feature, sorted. False where nothing varies.
  bool sorted_items(i32 slot) {
    s.items.resize(n);
    const u32* id = ids();
    i32 low = kGapKey, high = std::numeric_limits<i32>::min();
    cells.with_keys(slot, [&](const auto& keys) {
      for (i64 i = 0; i < n; ++i) {
        const i32 key = keys[id[i]];
        low = std::min(low, key);
        high = std::max(high, key);
        s.items[i] = item_of(key, payload(id[i]));
      }
    });
    if (low == high) return false;
    if (!sort_by_bins(slot)) sort_items(s.items.data(), n, s.other);
    return true;
  }

  // Sorts the items of a middling node: to their bins, then within these. Items of one key keep any
  // order. False where a bin holds too many of them, or the node too few or many.
  bool sort_by_bins(i32 slot) {
    constexpr i64 kFew = 32, kMany = 1024, kCrowd = 24;
    if (n <= kFew || n > kMany) return false;
    const BinColumn bins = cells.bins_of(slot, n);
    const u32* id = ids();
    u16 place[kMostBins + 1] = {};
    for (i64 i = 0; i < n; ++i) ++place[bins(id[i])];
    u16 start = 0, most = 0;
    for (u16& at : place) {
      most = std::max(most, at);
      start += std::exchange(at, start);
    }
    if (most > kCrowd) return false;
    s.other.resize(n);
    for (i64 i = 0; i < n; ++i) s.other[place[bins(id[i])]++] = s.items[i];
    s.items.swap(s.other);
    u64* item = s.items.data();
    for (i64 i = 1; i < n; ++i) {
      const u64 moved = item[i];
      i64 j = i;
      for (; j > 0 && item[j - 1] >> 32 > moved >> 32; --j) item[j] = item[j - 1];
      item[j] = moved;
    }
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
    const RowFeature& f = matrix.features[slot];
    const u32* id = ids();
    s.keys.resize(n + kRoom);
    i32 low = kGapKey, high = std::numeric_limits<i32>::min();
    for (i64 i = 0; i < n; ++i) {
      const i32 key = s.keys[i] = matrix.key(cells, id[i], slot);
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

  // Of the k-th of m features, if it is binary, what the rows with its larger value hold:
  // add(sums, row) for each of them, `width` numbers from s.bit_sums[k * width] on. One pass for
  // all features; rows are listed first, for most have none of the values.
  template <class Add>
  void sum_bits(const i32* features, i32 m, i64 width, Add&& add) {
    s.bit_sums.assign(m * width, 0);
    for (i64 w = 0; w < cells.bit_step; ++w) {
      u64 mask = 0;
      i32 place[64];
      for (i32 k = 0; k < m; ++k) {
        const i32 slot = p.features[features[k]].slot;
        if (!cells.is_bit(slot)) continue;
        const BitColumn bits = cells.bits_of(slot);
        if (bits.data != cells.bit_data + w) continue;
        mask |= u64{1} << bits.shift;
        place[bits.shift] = k;
      }
      if (!mask) continue;
      const u64* words = cells.bit_data + w;
      const u32* id = ids();
      s.found.resize(n + 1);
      i64 count = 0;
      for (i64 i = 0; i < n; ++i) {
        s.found[count] = id[i];
        count += (words[id[i] * cells.bit_step] & mask) != 0;
      }
      for (i64 i = 0; i < count; ++i) {
        const u32 row = s.found[i];
        u64 left = words[row * cells.bit_step] & mask;
        do {
          add(s.bit_sums.data() + place[std::countr_zero(left)] * width, row);
        } while (left &= left - 1);
      }
    }
  }

  // The one cut of a binary feature; `sums` has what is on its left.
  template <class Sums>
  Cut bit_cut(i32 slot, const Sums& sums, i64 left, i64 right) const {
    Cut cut;
    cut.constant = !left || !right;
    if (left < min_leaf || right < min_leaf) return cut;
    BestRatio ratio(Sums::tie);
    ratio.numerator = -1;
    sums.offer(ratio, 0);
    cut = finish(ratio, sums, [&](i64) { return matrix.features[slot].bin_end[0]; });
    cut.bin_below = 0;
    cut.bin_above = 1;
    return cut;
  }

  // Calls add(rows, count) chunk by chunk.
  template <class Add>
  void each_chunk(Add&& add) const {
    const u32* id = ids();
    for (i64 start = 0; start < n; start += kChunk) add(id + start, std::min(kChunk, n - start));
  }
};

// Largest nodes that are compared by pairs, and most classes of which sums are kept in bytes.
constexpr i64 kMaxPairs = 96;
constexpr i64 kMaxByteClasses = 64;

// The best cuts of the features of a node of n rows, without a sort: what lies on the left of each
// row comes from comparing its key with all others. A row's class and count are in `words` tokens
// of s.tokens, those of all rows together.
class PairCuts {
 public:
  static constexpr i64 kStep = kMaxPairs + kRoom;

  // `top` is the best score of earlier features.
  PairCuts(RowScratch& scratch, i64 n, i64 words, double& top)
      : s(scratch), n(n), words_(words), top_(top) {
    s.keys.resize(kStep);
    s.sums.resize(words * kStep);
    s.score.resize(kMostBins + kRoom);
  }

  // key(i) is that of the i-th row; score() writes the scores of the sums in s.sums and returns the
  // largest.
  template <class Key, class Sums, class Score>
  Cut best(Key&& key, const Sums& sums, Score&& score) {
    for (i64 i = 0; i < n; ++i) s.keys[i] = key(i);
    for (i64 w = 0; w < words_; ++w) {
      i32* out = s.sums.data() + w * kStep;
      sums_by_pairs(s.keys.data(), s.tokens.data() + w * kStep, n, out);
      std::fill_n(out + n, 4, 0);
    }
    const double best = score();
    Cut cut;
    cut.constant = best < 0;
    cut.found = best >= 0;
    cut.gain = sums.gain(best);
    cut.scale = sums.scale();
    // One that an earlier feature beats anyway need not say where it lies.
    if (best >= top_) {
      top_ = best;
      cut.key = kGapKey;
      const double bar = best * (1 - Sums::tie);
      for (i64 i = 0; i < n; ++i) {
        cut.key = std::min(cut.key, s.score[i] >= bar ? s.keys[i] : kGapKey);
      }
    }
    return cut;
  }

 private:
  RowScratch& s;
  i64 n, words_;
  double& top_;
};

}  // namespace treewright
