// The rows of a small subtree of a forest, one bit each, and the cuts of its nodes.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "binned/bits.hpp"
#include "binned/class_scores.hpp"
#include "binned/short_scores.hpp"
#include "choose/by_row_search.hpp"
#include "choose/table_scan.hpp"

namespace treewright {

// A small subtree has up to 64 rows per word of its sets.
template <int Words>
class SmallNode {
 public:
  static constexpr i64 kMaxRows = 64 * Words;
  static_assert(kMaxRows <= kMaxShortRows);
  using Rows = Bits<Words>;

  explicit SmallNode(const Problem& p) : p_(p), is_short_(p.matrix->has_short_keys()) {
    // Between the two limits the growth loop sorts, or looks into bins where every cut counts.
    if (!is_short_ || p.tries_all_cuts) max_rows_ = std::min(kMaxRows, kMaxPairs);
    if (!is_short_) max_weight_ = 255;  // sums are bytes
  }

  bool takes(i64 n_rows, i64 weight) const { return n_rows <= max_rows_ && weight <= max_weight_; }

  // The categories of a feature at a node.
  struct Categories {
    RateOrder by_rate;
    u64 seen[4];  // bits of their codes
    Rows gaps;    // rows
  };

  // Reads the rows of a subtree; returns their bits.
  Rows load(const Block& block, const u32* ids, i64 n) {
    block_ = &block;
    n_all_ = n;
    if (is_short_) {
      sort_by_class(ids, n);
    } else {
      std::copy_n(ids, n, id_);
    }
    for (i64 i = 0; i < n; ++i) {
      const u32 id = id_[i];
      place_of_[i] = block.cells.key_place(id);
      label_[i] = static_cast<u8>(block.target.label[id]);
      count_[i] = block.target.count[id];
      token_[i] = token(count_[i], label_[i] > 0);
      class_token_[i] = u64{count_[i]} << label_[i] % 8 * 8;
    }
    bits_.resize(block.cells.bit_step * kMaxRows);
    is_read_.assign(block.cells.bit_step, 0);
    return Rows::first(n);
  }

  // Turns to a node.
  void enter(const Rows& rows, const i64* stats) {
    rows_ = rows;
    stats_ = stats;
    n_classes_ = 0;
    i64 left[kMaxByteClasses + 1];
    for (i32 k = 0; k < p_.targets.n_classes; ++k) {
      place_[k] = static_cast<u8>(n_classes_);
      left[n_classes_] = stats[k];
      if (is_short_) class_end_[n_classes_] = (rows & up_to_class_[k]).count();
      n_classes_ += stats[k] > 0;
    }
    n_ = 0;
    rows.each([&](int i) { row_[n_++] = static_cast<u8>(i); });
    totals_.set(left, n_classes_);
    top_ = -1;
    has_tokens_ = false;
  }

  // No split gains more than one that leaves pure children. (Of two classes; of more it cannot.)
  double most_gain() const {
    const std::vector<double>& weight = s_.pair_totals;
    return n_classes_ == 2 ? two_classes().gain(weight[0] * weight[1]) : kInf;
  }

  // The best cut of a feature that is kept by row and has no gaps.
  Cut best_cut(i32 slot) {
    if (block_->cells.is_bit(slot)) return bit_cut(slot);
    if (is_pair()) return pair_cut(key(0, slot), key(1, slot));
    if (is_short_) return short_cut(slot);
    if (!has_tokens_) make_tokens();
    PairCuts pairs(s_, n_, words_, top_);
    auto keys = [this, of_slot = block_->cells.key_data + slot](i64 i) {
      return of_slot[place_of_[row_[i]]];
    };
    if (n_classes_ == 2) {
      return pairs.best(keys, two_classes(), [&] {
        const TwoClassTotals totals{totals_.all, s_.pair_totals[1]};
        return score_packed(s_.sums.data(), n_, totals, s_.score.data());
      });
    }
    return pairs.best(keys, ClassGain(totals_), [&] {
      return score_class_bytes(s_.sums.data(), PairCuts::kStep, n_, totals_, s_.score.data());
    });
  }

  // The rows above a cut, and the keys next to it.
  Rows rows_above(i32 slot, i32 last, NextToCut& next) {
    if (block_->cells.is_bit(slot)) {
      const std::vector<i32>& ends = p_.matrix->features[slot].bin_end;
      next = {ends[0], ends[1]};
      return rows_ & bit_column(slot);
    }
    const RowCells& cells = block_->cells;
    return is_short_ ? rows_above(cells.short_data + slot, last, next)
                     : rows_above(cells.key_data + slot, last, next);
  }

  // The best cut of a nominal feature with codes of one byte, where there are two classes.
  void best_categories(const FeatureInfo& info, Categories& found, Candidate& best) {
    const u8* code = block_->codes[info.slot];
    found.by_rate.n = 0;
    found.gaps = {};
    std::fill_n(found.seen, 4, 0);
    i32 in_gaps = 0;
    for (i64 i = 0; i < n_; ++i) {
      const u32 r = row_[i], c = code[id_[r]];
      if (c < info.n_codes) {
        found.seen[c / 64] |= u64{1} << c % 64;
        in_code_[c] += token_[r];
      } else {
        found.gaps.add(r);
        in_gaps += token_[r];
      }
    }
    each_code(found, [&](u32 c) {
      const i32 here = std::exchange(in_code_[c], 0);
      found.by_rate.add(c, zeros_of(here), ones_of(here));
    });
    const i64 gap[2] = {zeros_of(in_gaps), ones_of(in_gaps)};
    cut_by_rate(found.by_rate, stats_, gap, p_.params.gaps == GapPolicy::learned, 1, best);
  }

  template <class F>
  static void each_code(const Categories& categories, F&& f) {
    for (u32 w = 0; w < 4; ++w) each_bit(categories.seen[w], [&](u32 bit) { f(64 * w + bit); });
  }

  // The rows whose code has branch 1; gaps are not among them.
  Rows rows_of(const FeatureInfo& info, const u8* branch) const {
    const u8* code = block_->codes[info.slot];
    Rows right;
    for (i64 i = 0; i < n_; ++i) {
      const u32 r = row_[i], c = code[id_[r]];
      right.add(r, c < info.n_codes && branch[c]);
    }
    return right;
  }

  // What some rows of the node are together.
  struct Sum {
    i32 n = 0, weight = 0;
    i32 stats[kMaxByteClasses];
  };
  Sum sum_of(const Rows& rows) const {
    Sum sum;
    sum.n = rows.count();
    add_classes(rows, sum.stats);
    for (i32 k = 0; k < p_.n_stats; ++k) sum.weight += sum.stats[k];
    return sum;
  }
  i32 size() const { return static_cast<i32>(n_); }
  i32 weight() const { return static_cast<i32>(totals_.all); }

 private:
  template <class Key>
  Rows rows_above(const Key* keys, i32 last, NextToCut& next) const {
    Rows above;
    for (i64 i = 0; i < n_; ++i) {
      const i32 here = keys[place_of_[row_[i]]];
      above.add(row_[i], here > last);
      next.see(here, here > last);
    }
    return above;
  }

  // What some rows weigh, by class. Sums of few classes and little weight are the bytes of one
  // word: to add to the same number again and again takes longer.
  void add_classes(const Rows& rows, i32* weight) const {
    if (p_.n_stats <= 8 && totals_.all <= 255) {
      u64 sum = 0;
      rows.each([&](int i) { sum += class_token_[i]; });
      for (i32 k = 0; k < p_.n_stats; ++k) weight[k] = static_cast<u8>(sum >> 8 * k);
    } else {
      std::fill_n(weight, p_.n_stats, 0);
      rows.each([&](int i) { weight[label_[i]] += count_[i]; });
    }
  }

  // The instances of the subtree, those of each class together.
  void sort_by_class(const u32* ids, i64 n) {
    u8 end[kMaxByteClasses + 1] = {};
    for (i64 i = 0; i < n; ++i) ++end[block_->target.label[ids[i]] + 1];
    for (i32 k = 0; k < p_.targets.n_classes; ++k) {
      end[k + 1] = static_cast<u8>(end[k + 1] + end[k]);
      up_to_class_[k] = Rows::first(end[k + 1]);
    }
    for (i64 i = 0; i < n; ++i) id_[end[block_->target.label[ids[i]]]++] = ids[i];
  }

  // The key of the i-th row of the node.
  i32 key(i64 i, i32 slot) const {
    const i64 at = place_of_[row_[i]] + slot;
    return block_->cells.short_data ? block_->cells.short_data[at] : block_->cells.key_data[at];
  }

  // A row's count in one half, and in the other if it is of the second class.
  static i32 token(i32 count, bool is_second) { return count | count * is_second << 16; }
  static i32 ones_of(i32 tokens) { return tokens >> 16; }
  static i32 zeros_of(i32 tokens) { return (tokens & 0xFFFF) - ones_of(tokens); }

  // Two rows, of different classes: any cut that parts them is as good as can be.
  bool is_pair() const { return n_ == 2; }
  Cut pair_cut(i32 a, i32 b) const {
    Cut cut;
    cut.constant = a == b;
    cut.found = a != b;
    cut.key = std::min(a, b);
    cut.gain = most_gain();
    return cut;
  }

  static constexpr i64 kFew = 16;  // rows whose bits are not worth turning

  TwoClasses two_classes() const {
    return {static_cast<i64>(totals_.all), static_cast<i64>(s_.pair_totals[1])};
  }

  // The rows of the subtree that have the larger value of a binary feature.
  Rows bit_column(i32 slot) {
    const RowCells& cells = block_->cells;
    const i64 bit = slot - cells.key_step, w = bit / 64;
    u64* words = bits_.data() + w * kMaxRows;
    const i64 n_words = n_all_ > kFew ? (n_all_ + 63) / 64 * 64 : 0;  // to be turned
    if (!is_read_[w]) {
      for (i64 i = 0; i < n_all_; ++i) words[i] = cells.bit_data[id_[i] * cells.bit_step + w];
      for (i64 i = n_all_; i < n_words; ++i) words[i] = 0;
      for (i64 i = 0; i < n_words; i += 64) transpose_bits(words + i);
      is_read_[w] = 1;
    }
    Rows column;
    for (i64 i = 0; i < n_words; i += 64) column.word[i / 64] = words[i + bit % 64];
    for (i64 i = 0; !n_words && i < n_all_; ++i) column.word[0] |= (words[i] >> bit % 64 & 1) << i;
    return column;
  }

  Cut bit_cut(i32 slot) {
    const Rows right = rows_ & bit_column(slot);
    Cut cut;
    cut.constant = right.empty() || right == rows_;
    if (cut.constant) return cut;
    // What the side with fewer rows holds.
    const bool is_left = 2 * right.count() > n_;
    i32 of_class[kMaxByteClasses], held[kMaxByteClasses], weight = 0;
    add_classes(is_left ? rows_.without(right) : right, of_class);
    for (i32 k = 0; k < p_.n_stats; ++k) {
      weight += of_class[k];
      // Those that are not left weigh nothing, and the place of a later one is the same.
      held[place_[k]] = of_class[k];
    }
    const double w = weight, rest = totals_.all - w;
    cut.found = true;
    cut.key = p_.matrix->features[slot].bin_end[0];
    if (n_classes_ == 2) {
      const double d = totals_.all * held[1] - w * s_.pair_totals[1];
      cut.gain = two_classes().gain(d * d / (w * rest));
      return cut;
    }
    double squares = 0, others = 0;
    for (i32 k = 0; k < n_classes_; ++k) {
      const double here = held[k], other = s_.pair_totals[k] - here;
      squares += here * here;
      others += other * other;
    }
    const ClassGain whole(totals_);
    cut.gain = whole.gain((squares * rest + others * w) / (w * rest));
    cut.scale = whole.scale();
    return cut;
  }

  // By keys of 16 bits. Of two classes, the growth loop goes by bins where there are more rows than
  // it compares by pairs.
  Cut short_cut(i32 slot) {
    if (!has_tokens_) {
      for (i64 i = 0; i < n_; ++i) short_count_[i] = count_[row_[i]];
      s_.score.resize(kMaxRows + kRoom);
      has_tokens_ = true;
    }
    const RowCells& cells = block_->cells;
    if (n_ > kMaxPairs && n_classes_ == 2) {
      for (i64 i = 0; i < n_; ++i) short_key_[i] = cells.bins(id_[row_[i]])[slot];
      Cut cut = scored_cut();
      cut.key = p_.matrix->features[slot].bin_end[cut.key];
      if (cut.found) return cut;
    }
    for (i64 i = 0; i < n_; ++i) short_key_[i] = cells.short_data[place_of_[row_[i]] + slot];
    return scored_cut();
  }

  // The best of the cuts behind each key of short_key_.
  Cut scored_cut() {
    const ShortRows rows{short_key_, short_count_, n_, class_end_};
    double* score = s_.score.data();
    if (n_classes_ == 2) {
      const double best = score_short_pairs(rows, {totals_.all, s_.pair_totals[1]}, score);
      return best_of_scores(best, two_classes());
    }
    return best_of_scores(score_short_classes(rows, n_classes_, totals_, score),
                          ClassGain(totals_));
  }

  template <class Sums>
  Cut best_of_scores(double best, const Sums& sums) {
    Cut cut;
    cut.constant = best < 0;
    cut.found = best >= 0;
    cut.gain = sums.gain(best);
    cut.scale = sums.scale();
    // One that an earlier feature beats anyway need not say where it lies.
    if (best < top_ || !cut.found) return cut;
    top_ = best;
    const double bar = best * (1 - Sums::tie);
    constexpr i32 kBeyond = 1 << 17;  // all keys
    i32 least = kBeyond;
    for (i64 i = 0; i < n_; ++i) {
      least = std::min(least, short_key_[i] + (s_.score[i] < bar) * kBeyond);
    }
    cut.key = least;
    return cut;
  }

  // Class and count of each row: two halves, or a byte of one of several words per class.
  void make_tokens() {
    has_tokens_ = true;
    words_ = n_classes_ == 2 ? 1 : totals_.step() / 4;
    s_.tokens.resize(words_ * PairCuts::kStep);
    for (i64 w = 0; n_classes_ > 2 && w < words_; ++w) {
      std::fill_n(s_.tokens.data() + w * PairCuts::kStep, n_, 0);
    }
    for (i64 i = 0; i < n_; ++i) {
      const i32 count = count_[row_[i]], k = place_[label_[row_[i]]];
      if (p_.targets.n_classes == 2) {
        s_.tokens[i] = token_[row_[i]];
      } else if (n_classes_ == 2) {
        s_.tokens[i] = token(count, k > 0);
      } else {
        s_.tokens[k / 4 * PairCuts::kStep + i] = count << k % 4 * 8;
      }
    }
  }

  const Problem& p_;
  bool is_short_;  // the keys
  i64 max_rows_ = kMaxRows, max_weight_ = kMaxShortWeight;
  const Block* block_ = nullptr;
  // The subtree's rows.
  i64 n_all_ = 0;
  u32 id_[kMaxRows];
  i64 place_of_[kMaxRows];  // of their keys
  u8 label_[kMaxRows], count_[kMaxRows];
  i32 token_[kMaxRows];                // of two classes
  u64 class_token_[kMaxRows];          // of few classes, a byte for each
  Rows up_to_class_[kMaxByteClasses];  // rows are sorted by class where keys are short
  std::vector<u64> bits_;              // words of rows, or of features
  std::vector<u8> is_read_;
  // Of the node that was entered last.
  Rows rows_;
  const i64* stats_ = nullptr;
  i64 n_ = 0, words_ = 0;
  u8 row_[kMaxRows], place_[kMaxByteClasses];  // in the order of classes; those that are left
  i32 class_end_[kMaxByteClasses + 1];
  i16 short_key_[kMaxRows + kRoom], short_count_[kMaxRows];
  i32 n_classes_ = 0;
  RowScratch s_;
  ClassTotals totals_{s_.pair_totals};
  double top_ = -1;
  bool has_tokens_ = false;
  i32 in_code_[256] = {};  // tokens
};

}  // namespace treewright
