#include "choose/by_row_search.hpp"

namespace treewright {
namespace {

struct TwoClassSearch : Search {
  static constexpr i64 kStep = kMostBins + kRoom;
  i64 all, ones;
  std::vector<i32>& running = s.tokens;
  std::vector<Cut>& cuts = s.cuts;
  std::vector<Candidate>& of_keyed;

  TwoClassSearch(const NodeView& view, i32 class_0, i32 class_1, Scratch& scratch)
      : Search(view, scratch),
        all(view.stats[class_0] + view.stats[class_1]),
        ones(view.stats[class_1]),
        of_keyed(scratch.of_keyed) {
    second = class_1;
  }

  bool is_one(u32 row) const { return node.block.target.label[row] == second; }
  // Zeros in the lower half, ones in the upper.
  u64 token(u32 row) const { return u64{node.block.target.count[row]} << (is_one(row) * 32); }

  void run(const i32* features, i32 m, Candidate* out) {
    if (!cells.bit_step) return search(features, m, out);
    sum_bits(features, m, 1, [&](u64* sum, u32 row) { *sum += token(row); });
    s.keyed.clear();
    for (i32 k = 0; k < m; ++k) {
      const i32 slot = p.features[features[k]].slot;
      if (!cells.is_bit(slot)) {
        s.keyed.push_back(features[k]);
        continue;
      }
      const i64 right_ones = s.bit_sums[k] >> 32;
      const i64 right = static_cast<i64>(s.bit_sums[k] & 0xFFFFFFFFu) + right_ones;
      TwoClasses sums(all, ones);
      sums.set(all - right, ones - right_ones);
      write(bit_cut(slot, sums, all - right, right), features[k], out[k]);
    }
    const i32 n_keyed = static_cast<i32>(s.keyed.size());
    if (!n_keyed) return;
    of_keyed.resize(n_keyed);
    search(s.keyed.data(), n_keyed, of_keyed.data());
    for (i32 k = 0, next = 0; next < n_keyed; ++k) {
      if (features[k] == s.keyed[next]) out[k] = of_keyed[next++];
    }
  }

  void search(const i32* features, i32 m, Candidate* out) {
    n <= kMaxPairs&& all < 32768 ? pairs(features, m, out) : by_bins(features, m, out);
  }

  void pairs(const i32* features, i32 m, Candidate* out) {
    const u32* id = ids();
    const TargetArrays& t = node.block.target;
    s.tokens.resize(kMaxPairs + kRoom);
    for (i64 i = 0; i < n; ++i) {
      const i32 c = t.count[id[i]];
      s.tokens[i] = c | (is_one(id[i]) ? c << 16 : 0);
    }
    double top = -1;
    PairCuts cuts_of(s, n, 1, top);
    for (i32 k = 0; k < m; ++k) {
      const i32 slot = p.features[features[k]].slot;
      const Cut cut = cuts_of.best(keys_of(slot), TwoClasses(all, ones), [&] {
        return score_packed(s.sums.data(), n, totals(), s.score.data());
      });
      write(cut, features[k], out[k]);
    }
  }

  void by_bins(const i32* features, i32 m, Candidate* out) {
    constexpr i64 kSize = kMostBins + 1;
    s.table.assign(m * kSize, 0);
    u64 tokens[kChunk];
    each_chunk([&](const u32* id, i64 count) {
      for (i64 i = 0; i < count; ++i) tokens[i] = token(id[i]);
      for (i32 k = 0; k < m; ++k) {
        add_column(
            id, count, cells.bins_of(p.features[features[k]].slot, n),
            [&](i64 i) { return tokens[i]; }, s.table.data() + k * kSize);
      }
    });
    running.resize(m * 2 * kStep);
    s.score.resize(kStep);
    cuts.assign(m, {});
    double bar = -1;
    for (i32 k = 0; k < m; ++k) {
      cuts[k] = scan_bins(k, feature(features[k]));
      if (cuts[k].found) bar = std::max(bar, score_of(cuts[k]));
    }
    for (i32 k = 0; k < m; ++k) {
      const RowFeature& f = feature(features[k]);
      if (f.bins_are_values) {
        // nothing to be seen inside
      } else if (exact) {
        look_inside(k, p.features[features[k]].slot, bar, cuts[k]);
        if (cuts[k].found) bar = std::max(bar, score_of(cuts[k]));
      } else if (!cuts[k].found) {  // all in one bin
        cuts[k] = scan_items(p.features[features[k]].slot, TwoClasses(all, ones));
      }
      write(cuts[k], features[k], out[k]);
    }
  }

  TwoClassTotals totals() const { return {static_cast<double>(all), static_cast<double>(ones)}; }
  double score_of(const Cut& cut) const { return cut.gain * static_cast<double>(all) / 2; }
  void set_score(Cut& cut, double score) const { cut.gain = 2 * score / static_cast<double>(all); }

  // Of the k-th feature: what is in each bin, and weight and ones before it.
  const u64* table(i32 k) const { return s.table.data() + k * (kMostBins + 1); }
  i32* weight_before(i32 k) { return running.data() + 2 * k * kStep; }
  i32* ones_before(i32 k) { return running.data() + (2 * k + 1) * kStep; }

  // The best of the cuts between bins.
  Cut scan_bins(i32 k, const RowFeature& f) {
    const i64 n_bins = f.n_bins();
    i32 *w = weight_before(k), *a = ones_before(k);
    w[0] = a[0] = 0;
    u64 sum = 0;
    for (i64 b = 0; b < n_bins; ++b) {
      sum += table(k)[b];
      a[b + 1] = static_cast<i32>(sum >> 32);
      w[b + 1] = static_cast<i32>(sum) + a[b + 1];
    }
    std::fill_n(w + n_bins + 1, 4, 0);
    std::fill_n(a + n_bins + 1, 4, 0);
    const double best = score_running(w + 1, a + 1, n_bins, totals(), s.score.data());
    Cut cut;
    cut.constant = best < 0;  // all in one bin
    cut.found = best >= 0;
    if (!cut.found) return cut;
    set_score(cut, best);
    const double bar = best * (1 - kTie);
    i64 b = 0;
    while (s.score[b] < bar) ++b;
    cut.key = f.bin_end[b];
    set_bins(cut, b, [&](i64 at) { return table(k)[at]; });
    return cut;
  }

  // Exact: the cuts inside the bins that may hold one no worse than `bar`. Keeps the better of the
  // best of them and `cut`, of equal ones the first.
  void look_inside(i32 k, i32 slot, double bar, Cut& cut) {
    const i64 n_bins = matrix.features[slot].n_bins();
    const i32 *w = weight_before(k), *a = ones_before(k);
    const double least = bar * (1 - 2 * kTie);
    if (bound_bins(w, a, n_bins, totals(), s.score.data()) < least) return;
    i32 place[kMostBins + 1], chosen[kMostBins + 1];
    i64 n_chosen = 0, room = 0;
    for (i64 b = 0; b < n_bins; ++b) {
      const i32 here = w[b + 1] - w[b];
      const bool look = s.score[b] >= least && here > 1;
      place[b] = look ? static_cast<i32>(room) : -1;
      chosen[n_chosen] = static_cast<i32>(b);
      n_chosen += look;
      room += look ? here : 0;
    }
    gather_items(slot, room, place);
    TwoClasses sums(all, ones);
    BestRatio ratio(kTie);
    ratio.numerator = -1;
    Cut inside;
    i64 begin = 0;
    for (i64 i = 0; i < n_chosen; ++i) {
      const i32 b = chosen[i];
      u64* item = s.items.data() + begin;
      const i64 count = place[b] - begin;
      begin += w[b + 1] - w[b];
      sort_items(item, count, s.other);
      sums.set(w[b], a[b]);
      for (i64 j = 0; j + 1 < count; ++j) {
        sums.add(static_cast<u32>(item[j]));
        if (same_key(item[j], item[j + 1])) continue;
        const i64 before = ratio.cut;
        sums.offer(ratio, item - s.items.data() + j);
        if (ratio.cut == before) continue;
        inside.key = item_key(item[j]);
        inside.bin_below = inside.bin_above = b;
      }
    }
    if (ratio.cut < 0) return;
    inside.found = true;
    const double score = ratio.numerator / ratio.denominator;
    set_score(inside, score);
    const double own = cut.found ? score_of(cut) : -1;
    const bool tie = score >= own * (1 - kTie) && inside.key < cut.key;
    if (!cut.found || score > own * (1 + kTie) || tie) cut = inside;
  }

  // The items of the bins that have a place, from there on; place[b] is then the end of bin b. Rows
  // come first, so that their keys, which lie anywhere, can be fetched ahead.
  void gather_items(i32 slot, i64 room, i32* place) {
    s.items.resize(room);
    s.found.resize(n);
    const u32* id = ids();
    const BinColumn bins = cells.bins_of(slot, n);
    i64 count = 0;
    for (i64 i = 0; i < n; ++i) {
      s.found[count] = id[i];
      count += place[bins(id[i])] >= 0;
    }
    cells.with_keys(slot, [&](const auto& keys) {
      for (i64 i = 0; i < count; ++i) {
        __builtin_prefetch(keys.at(s.found[std::min(i + 24, count - 1)]));
        const u32 row = s.found[i];
        s.items[place[bins(row)]++] = item_of(keys[row], payload(row));
      }
    });
  }
};

}  // namespace

void search_two_classes(const NodeView& node, i32 first, i32 second, const i32* features, i32 n,
                        Scratch& scratch, Candidate* out) {
  TwoClassSearch(node, first, second, scratch).run(features, n, out);
}

}  // namespace treewright
