// A random draw of features at a node.
//
// It is made of all features of the table, as in scikit-learn, randomForest and ranger: one that
// cannot be tested at the node counts as drawn. So the draw depends on the node's path alone, not
// on what is known of its features.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "base/philox.hpp"
#include "base/types.hpp"

namespace treewright {

// Features, a bit each.
class FeatureBits {
 public:
  static i64 n_words(i64 n) { return (n + 63) / 64; }
  static bool has(const u64* words, i32 f) { return words[f / 64] >> f % 64 & 1; }
  static void add(u64* words, i32 f) { words[f / 64] |= u64{1} << f % 64; }

  // All of n but those in the list, which is in the order of columns.
  void set_others(i64 n, const std::vector<i32>& list) {
    words_.resize(n_words(n));
    auto f = list.begin();
    for (i64 end = 64; u64& word : words_) {
      u64 others = ~u64{0};  // not in memory, where each bit would wait for the last
      for (; f != list.end() && *f < end; ++f) others ^= u64{1} << *f % 64;
      word = others;
      end += 64;
    }
  }
  const u64* words() const { return words_.data(); }

 private:
  std::vector<u64> words_;
};

class FeatureDraw {
 public:
  // Begins the draw of another node, of n features.
  void start(i32 n, u64 seed, u64 path) {
    put_back();
    if (static_cast<i32>(feature_.size()) != n) {
      feature_.resize(n);
      from_.resize(n);
      std::iota(feature_.begin(), feature_.end(), 0);
    }
    random_ = Philox(seed, path);
    spent_ = kMostSpent;
  }

  bool is_over() const { return n_drawn_ == static_cast<i32>(feature_.size()); }

  i32 next() {
    const i32 at = n_drawn_++;
    const i32 from = at + static_cast<i32>(below(static_cast<u32>(feature_.size()) - at));
    from_[at] = from;
    std::swap(feature_[at], feature_[from]);
    return feature_[at];
  }

  // Draws some and writes those that are not in `constant`; returns how many. Without a jump, which
  // would be a guess.
  i32 next(i32 count, const u64* constant, i32* out) {
    i32 n = 0;
    for (i32 i = 0; i < count; ++i) {
      const i32 f = out[n] = next();
      n += !FeatureBits::has(constant, f);
    }
    return n;
  }

 private:
  // Several draws take their parts of the same 64 bits, for random numbers would take longer than
  // all else at a small node. A feature's chance is wrong by less than 2^-31 of it.
  static constexpr u64 kMostSpent = u64{1} << 32;
  u64 below(u32 bound) {
    spent_ *= bound;
    if (spent_ > kMostSpent) {
      word_ = random_.next();
      spent_ = bound;
    }
    const unsigned __int128 product = static_cast<unsigned __int128>(word_) * bound;
    word_ = static_cast<u64>(product);
    return static_cast<u64>(product >> 64);
  }

  // Back to the order of columns, which takes less time than to write it again.
  void put_back() {
    for (; n_drawn_ > 0; --n_drawn_)
      std::swap(feature_[n_drawn_ - 1], feature_[from_[n_drawn_ - 1]]);
  }

  std::vector<i32> feature_, from_;  // drawn ones first, and where each was
  i32 n_drawn_ = 0;
  Philox random_{0, 0};
  u64 word_ = 0, spent_ = 0;  // bits that are left, and what they could have told apart before
};

}  // namespace treewright
