#include "choose/by_row.hpp"

#include <utility>

#include "binned/class_scores.hpp"
#include "choose/by_row_search.hpp"

namespace treewright {
namespace {

// Largest nodes that are sorted although bins would do.
constexpr i64 kMaxSorted = 192;

class ManyClasses {
 public:
  ManyClasses(const NodeView& node, Scratch& scratch)
      : n_(node.problem.targets.n_classes), left_(scratch.left), right_(scratch.right) {
    left_.assign(n_, 0);
    right_.assign(node.stats, node.stats + n_);
    for (i32 k = 0; k < n_; ++k) {
      all_ += right_[k];
      right_squares_ += right_[k] * right_[k];
    }
    base_ = static_cast<double>(right_squares_) / static_cast<double>(all_);
  }
  static constexpr double tie = ClassGain::tie;
  void add(u32 payload) { move(payload >> 8, payload & 255); }
  // What a bin holds of each class: the weight in the lower half.
  void add_bin(const u64* counts) {
    for (i32 k = 0; k < n_; ++k) {
      const u32 weight = static_cast<u32>(counts[k]);
      if (weight) move(k, weight);
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
  Numbers(const NodeView& node)
      : wy_(node.block.target.wy),
        count_(node.block.target.count),
        all_(node.stats[0]),
        centre_(node.criterion.centre[0]),
        rest_(node.criterion.rest[0]) {}
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

// Two classes come here too where leaves must have several rows.
struct ManyClassSearch : Search {
  Scratch& scratch;
  i64 width;
  ManyClassSearch(const NodeView& view, Scratch& all_scratch)
      : Search(view, all_scratch), scratch(all_scratch), width(p.targets.n_classes) {}

  void run(const i32* features, i32 m, Candidate* out) {
    const TargetArrays& t = node.block.target;
    sum_bits(features, m, width,
             [&](u64* sums, u32 row) { sums[t.label[row]] += (u64{1} << 32) + t.count[row]; });
    const ClassTotals totals(node.stats, width, s.totals), few = make_tokens();
    const ClassGain whole(totals);
    double top = -1;
    PairCuts pairs(s, n, few.step() / 4, top);
    each(
        features, m, out,
        [&](i32 slot, i32 k) { return by_bit(slot, s.bit_sums.data() + k * width); },
        [&](i32 slot) { return by_bins(slot, totals, whole); },
        [&](i32 slot) {
          if (!few.step()) return scan_items(slot, ManyClasses(node, scratch));
          return pairs.best(keys_of(slot), whole, [&] {
            return score_class_bytes(s.sums.data(), PairCuts::kStep, n, few, s.score.data());
          });
        });
  }

  // Tokens of the rows of a small node, a byte for each class that is left there, and the totals of
  // these; none where sums do not fit a byte.
  ClassTotals make_tokens() {
    i64 left[kMaxByteClasses], count = 0, all = 0;
    i32 place[kMaxByteClasses];
    const bool is_small = n <= kMaxPairs && min_leaf <= 1 && width <= kMaxByteClasses;
    for (i64 k = 0; is_small && k < width; ++k) {
      place[k] = static_cast<i32>(count);
      left[count] = node.stats[k];
      count += node.stats[k] > 0;
      all += node.stats[k];
    }
    if (all > 255) count = 0;
    const ClassTotals totals(left, count, s.pair_totals);
    s.tokens.assign(totals.step() / 4 * PairCuts::kStep, 0);
    const TargetArrays& t = node.block.target;
    const u32* id = ids();
    for (i64 i = 0; count && i < n; ++i) {
      const i32 k = place[t.label[id[i]]];
      s.tokens[k / 4 * PairCuts::kStep + i] = i32{t.count[id[i]]} << k % 4 * 8;
    }
    return totals;
  }

  // A bit, or by bins where that is exact enough and not slower, else sorted.
  template <class Bit, class Bins, class Sorted>
  void each(const i32* features, i32 m, Candidate* out, Bit&& bit, Bins&& bins, Sorted&& sorted) {
    for (i32 k = 0; k < m; ++k) {
      const RowFeature& f = feature(features[k]);
      const i32 slot = p.features[features[k]].slot;
      if (f.is_binary) {
        write(bit(slot, k), features[k], out[k]);
        continue;
      }
      const bool count = f.bins_are_values ? n > f.n_bins() : n > kMaxSorted && !exact;
      Cut cut = count ? bins(slot) : sorted(slot);
      if (count && cut.constant && !f.bins_are_values) cut = sorted(slot);  // all in one bin
      write(cut, features[k], out[k]);
    }
  }

  Cut by_bins(i32 slot, const ClassTotals& totals, const ClassGain& whole) {
    const RowFeature& f = matrix.features[slot];
    const TargetArrays& t = node.block.target;
    const BinColumn bins = cells.bins_of(slot, n);
    const i64 n_bins = f.n_bins(), step = totals.step();
    const u32* id = ids();
    s.counts.assign((n_bins + kMoreBins) * step, 0);
    add_column(
        id, n, [&](u32 row) { return bins(row) * step + t.label[row]; },
        [&](i64 i) { return t.count[id[i]]; }, s.counts.data());
    s.score.resize(kMostBins + kRoom);
    double best = score_class_bins(s.counts.data(), n_bins, totals, s.bin_sums, s.score.data());
    Cut cut;
    cut.constant = best < 0;
    if (min_leaf > 1) best = without_small(bins, n_bins);
    cut.found = best >= 0;
    if (!cut.found) return cut;
    cut.gain = whole.gain(best);
    cut.scale = whole.scale();
    const double bar = best * (1 - ClassGain::tie);
    i64 at = 0;
    while (s.score[at] < bar) ++at;
    cut.key = f.bin_end[at];
    set_bins(cut, at, [&](i64 b) {
      const u32* here = s.counts.data() + b * step;
      return std::any_of(here, here + step, [](u32 weight) { return weight; });
    });
    return cut;
  }

  // The best score where both sides have rows enough; no others are left.
  double without_small(const BinColumn& bins, i64 n_bins) {
    s.found.assign(kMostBins + 1, 0);
    const u32* id = ids();
    for (i64 i = 0; i < n; ++i) ++s.found[bins(id[i])];
    i64 left = 0;
    double best = -1;
    for (i64 b = 0; b < n_bins; ++b) {
      left += s.found[b];
      if (left < min_leaf || n - left < min_leaf) s.score[b] = -1;
      best = std::max(best, s.score[b]);
    }
    return best;
  }

  // From rows and weight of each class on the right.
  Cut by_bit(i32 slot, const u64* right) {
    s.table.resize(width);
    i64 rows_right = 0;
    for (i64 k = 0; k < width; ++k) {
      s.table[k] = static_cast<u64>(node.stats[k]) - (right[k] & 0xFFFFFFFFu);
      rows_right += static_cast<i64>(right[k] >> 32);
    }
    ManyClasses sums(node, scratch);
    sums.add_bin(s.table.data());
    return bit_cut(slot, sums, n - rows_right, rows_right);
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

struct NumberSearch : ManyClassSearch {
  using ManyClassSearch::ManyClassSearch;

  void run(const i32* features, i32 m, Candidate* out) {
    const TargetArrays& t = node.block.target;
    sum_bits(features, m, 2, [&](u64* sums, u32 row) {
      sums[0] += static_cast<u64>(t.wy[row]);
      sums[1] += (u64{1} << 32) + t.count[row];
    });
    each(
        features, m, out, [&](i32 slot, i32 k) { return by_bit(slot, s.bit_sums.data() + 2 * k); },
        [&](i32 slot) { return by_bins(slot); },
        [&](i32 slot) { return scan_items(slot, Numbers(node)); });
  }

  Cut by_bit(i32 slot, const u64* right) {
    Numbers sums(node);
    sums.add_bin(node.stats[1] - static_cast<i64>(right[0]),
                 node.stats[0] - static_cast<i64>(right[1] & 0xFFFFFFFFu));
    const i64 rows_right = static_cast<i64>(right[1] >> 32);
    return bit_cut(slot, sums, n - rows_right, rows_right);
  }

  Cut by_bins(i32 slot) {
    const RowFeature& f = matrix.features[slot];
    const TargetArrays& t = node.block.target;
    const i64 n_bins = f.n_bins();
    s.number_sums.assign(n_bins + 1, {});
    const NumberSum* bin = s.number_sums.data();
    const u32* id = ids();
    add_column(
        id, n, cells.bins_of(slot, n),
        [&](i64 i) { return NumberSum{t.wy[id[i]], t.count[id[i]], 1}; }, s.number_sums.data());
    s.counts.resize(n_bins);
    for (i64 b = 0; b < n_bins; ++b) s.counts[b] = bin[b].rows;
    Numbers sums(node);
    return scan(f, s.counts.data(), sums, [&](i64 b) { sums.add_bin(bin[b].sum, bin[b].weight); });
  }
};

}  // namespace

void search_classes(const NodeView& node, const i32* features, i32 n, Scratch& scratch,
                    Candidate* out) {
  if (node.problem.params.random_cut) {
    Search search(node, scratch);
    for (i32 k = 0; k < n; ++k) {
      const Cut cut = node.criterion.n_classes == 2
                          ? search.random_cut(features[k], TwoClasses(node.stats[0] + node.stats[1],
                                                                      node.stats[1]))
                          : search.random_cut(features[k], ManyClasses(node, scratch));
      write(cut, features[k], out[k]);
    }
    return;
  }
  i32 count = 0, last[2] = {0, 1};
  for (i32 k = 0; k < node.criterion.n_classes; ++k) {
    if (!node.stats[k]) continue;
    last[0] = std::exchange(last[1], k);
    ++count;
  }
  if (count == 2 && node.problem.params.min_leaf <= 1) {
    search_two_classes(node, last[0], last[1], features, n, scratch, out);
  } else {
    ManyClassSearch(node, scratch).run(features, n, out);
  }
}

void search_numbers(const NodeView& node, const i32* features, i32 n, Scratch& scratch,
                    Candidate* out) {
  NumberSearch search(node, scratch);
  for (i32 k = 0; node.problem.params.random_cut && k < n; ++k) {
    write(search.random_cut(features[k], Numbers(node)), features[k], out[k]);
  }
  if (!node.problem.params.random_cut) search.run(features, n, out);
}

}  // namespace treewright
