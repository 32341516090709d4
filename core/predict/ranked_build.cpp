// From the tests of a forest to ranks and trees of bytes.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "predict/cut_node.hpp"
#include "predict/ranked_trees.hpp"

namespace treewright {

class RankedBuilder {
 public:
  RankedBuilder(const ForestTests& forest, RankedTrees& out) : f_(forest), out_(out) {}

  bool build() {
    const i64 n_trees = std::ssize(f_.offset) - 1;
    if (std::ssize(f_.feature) >= n_trees * RankedTrees::kMostLeaves) return false;
    feature_.resize(f_.n_categories.size());
    for (i64 i = 0; i < std::ssize(f_.feature); ++i) {
      if (!see(i)) return false;
    }
    for (i64 f = 0; f < std::ssize(feature_); ++f) {
      if (!number_values(static_cast<i32>(f))) return false;
    }
    for (i64 t = 0, inner = 0; t < n_trees; ++t) {
      if (!make_tree(f_.offset[t], f_.offset[t + 1] - f_.offset[t], inner)) return false;
    }
    make_places();
    return true;
  }

 private:
  struct Feature {
    std::vector<double> cuts;
    std::vector<i32> codes;                    // that some test lists
    i32 low = -1, high = -1, categories = -1;  // places
  };

  double cut_of(i64 i) const {
    const double cut = f_.breaks[f_.break_offset[i]];
    return f_.closed[i] ? cut : std::nextafter(cut, -kInf);
  }
  std::span<const i32> codes_of(i64 i) const {
    return f_.codes.subspan(f_.code_offset[i], f_.code_offset[i + 1] - f_.code_offset[i]);
  }
  bool is_cut(i64 i) const { return f_.kind[i] == static_cast<u8>(treewright::SplitKind::breaks); }

  // Notes what a test asks; false if it is of another kind.
  bool see(i64 i) {
    if (f_.gap_branch[i] > 1) return false;
    Feature& feature = feature_[f_.feature[i]];
    const i32 n_categories = f_.n_categories[f_.feature[i]];
    if (is_cut(i)) {
      if (f_.break_offset[i + 1] - f_.break_offset[i] != 1 || !(cut_of(i) > -kInf)) return false;
      feature.cuts.push_back(cut_of(i));
      return true;
    }
    if (f_.kind[i] != static_cast<u8>(treewright::SplitKind::codes)) return false;
    const auto codes = codes_of(i), branches = f_.branches.subspan(f_.code_offset[i], codes.size());
    for (std::size_t k = 0; k < codes.size(); ++k) {
      if (codes[k] < 0 || codes[k] >= n_categories || (k && codes[k] <= codes[k - 1])) return false;
      if (branches[k] < 0 || branches[k] > 1) return false;
      feature.codes.push_back(codes[k]);
    }
    return n_categories >= 0;
  }

  template <class T>
  static void make_unique(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  // Whether the values that tests of a feature tell apart have numbers of one byte.
  bool number_values(i32 f) {
    make_unique(feature_[f].cuts);
    make_unique(feature_[f].codes);
    return std::ssize(feature_[f].cuts) <= RankedTrees::kMostCuts &&
           std::ssize(feature_[f].codes) <= RankedTrees::kMostCategories;
  }

  i32 take_places(i32& place, i32 n) {
    if (place < 0) {
      place = static_cast<i32>(out_.n_places_);
      out_.n_places_ += n;
    }
    return place;
  }

  RankTest make_test(i64 i) {
    Feature& feature = feature_[f_.feature[i]];
    RankTest test{0, -1, 0, 0, 0};
    if (is_cut(i)) {
      const auto at = std::lower_bound(feature.cuts.begin(), feature.cuts.end(), cut_of(i));
      test.place = take_places(f_.gap_branch[i] ? feature.high : feature.low, 1);
      test.cut = static_cast<u8>(at - feature.cuts.begin() + 1) ^ RankedTrees::kTurn;
      return test;
    }
    test.place = take_places(feature.categories, 2);
    // Gaps, and codes that this test does not list, go one way.
    RankedTrees::Set left{};
    std::fill(std::begin(left.bits), std::end(left.bits), f_.gap_branch[i] ? 0 : 255);
    const auto codes = codes_of(i);
    for (std::size_t k = 0; k < codes.size(); ++k) {
      const auto at = std::lower_bound(feature.codes.begin(), feature.codes.end(), codes[k]) -
                      feature.codes.begin();
      const u8 bit = static_cast<u8>(1 << at % 8);
      left.bits[at / 8] = f_.branches[f_.code_offset[i] + static_cast<i64>(k)]
                              ? left.bits[at / 8] & ~bit
                              : left.bits[at / 8] | bit;
    }
    const auto [found, is_new] = set_of_.try_emplace(std::to_array(left.bits), out_.sets_.size());
    if (is_new) out_.sets_.push_back(left);
    test.set = static_cast<i32>(found->second);
    return test;
  }

  bool make_tree(i64 start, i64 n, i64& inner) {
    const auto first = f_.first_child.subspan(start, n);
    if ((n + 1) / 2 > RankedTrees::kMostLeaves) return false;
    std::vector<u8> leaf(n, 0);  // the leftmost below each node
    u8 leaves = 0;
    for (i64 i = 0; i < n; ++i) {
      if (first[i] < 0) leaf[i] = leaves++;
    }
    for (i64 i = n; i-- > 0;) {
      if (first[i] >= 0) leaf[i] = leaf[first[i]];
    }
    RankedTree tree;
    tree.first_leaf = leaf[0];
    std::vector<i32> test_of(n, -1);
    for (i64 i = 0; i < n; ++i) {
      if (first[i] < 0) continue;
      if (f_.n_children[start + i] != 2) return false;
      RankTest test = make_test(inner++);
      test.at = leaf[i];
      test.change = leaf[i] ^ leaf[first[i] + 1];
      test_of[i] = static_cast<i32>(tree.tests.size());
      tree.tests.push_back(test);
    }
    make_index(first, leaf, test_of, tree);
    out_.trees_.push_back(std::move(tree));
    return true;
  }

  // Where nodes share few tests, each of these is made once.
  static void make_index(std::span<const i32> first, const std::vector<u8>& leaf,
                         std::vector<i32>& test_of, RankedTree& tree) {
    std::vector<RankTest> distinct;
    for (i32& t : test_of) {
      if (t < 0) continue;
      const RankTest& test = tree.tests[t];
      const auto found = std::find_if(distinct.begin(), distinct.end(),
                                      [&](const RankTest& o) { return o.is_like(test); });
      t = static_cast<i32>(found - distinct.begin());
      if (found == distinct.end()) distinct.push_back(test);
      if (distinct.size() > 8) return;
    }
    const i64 n = std::ssize(distinct);
    std::vector<u8> leaf_of(std::size_t{1} << n);
    bool is_same = true;
    for (u32 answers = 0; answers < leaf_of.size(); ++answers) {
      i64 node = 0;
      while (first[node] >= 0) node = first[node] + (answers >> (n - 1 - test_of[node]) & 1);
      leaf_of[answers] = leaf[node];
      is_same = is_same && leaf[node] == answers;
    }
    // Looking a row's leaf up costs as much as some tests.
    constexpr i64 kLookUp = 16;
    if (n + (is_same ? 0 : kLookUp) >= std::ssize(tree.tests)) return;
    for (i64 t = 0; t < n; ++t) distinct[t].change = static_cast<u8>(1 << (n - 1 - t));
    tree.tests = std::move(distinct);
    tree.is_indexed = true;
    tree.first_leaf = 0;
    if (!is_same) tree.leaf_of_answers = std::move(leaf_of);
  }

  void make_places() {
    out_.place_of_feature_.assign(feature_.size(), -1);
    for (i32 f = 0; f < static_cast<i32>(feature_.size()); ++f) {
      Feature& from = feature_[f];
      if (from.low < 0 && from.high < 0 && from.categories < 0) continue;
      RankedFeature to;
      to.feature = f;
      if (f_.n_categories[f] < 0) {
        to.low = from.low;
        to.high = from.high;
        to.first_step = std::bit_floor(static_cast<u32>(from.cuts.size()));
        const std::size_t room = 2 * to.first_step;
        to.cuts = from.cuts;
        to.cuts.resize(room, kInf);
        for (const double cut : to.cuts) round_down(cut, to.float_cuts.emplace_back());
      } else {
        place_codes(f, from, to);
      }
      out_.place_of_feature_[f] = static_cast<i32>(out_.features_.size());
      out_.features_.push_back(std::move(to));
    }
  }

  void place_codes(i32 f, const Feature& from, RankedFeature& to) const {
    const i32 n = f_.n_categories[f];
    auto add = [&](i32 place, u8 of_gap, auto&& of_code) {
      if (place < 0) return;
      std::vector<u8> byte(n + 1, of_gap);
      for (i32 code = 0; code < n; ++code) byte[code] = of_code(code);
      to.of_codes.push_back({place, std::move(byte)});
    };
    auto rank = [&](i32 code) {
      const auto at = std::lower_bound(from.cuts.begin(), from.cuts.end(), double(code));
      return static_cast<u8>(at - from.cuts.begin()) ^ RankedTrees::kTurn;
    };
    add(from.low, 0 ^ RankedTrees::kTurn, rank);
    add(from.high, 255 ^ RankedTrees::kTurn, rank);
    if (from.categories < 0) return;
    const auto n_listed = static_cast<i32>(from.codes.size());
    auto number = [&](i32 code) {
      const auto at = std::lower_bound(from.codes.begin(), from.codes.end(), code);
      return at != from.codes.end() && *at == code ? static_cast<i32>(at - from.codes.begin())
                                                   : n_listed;
    };
    add(from.categories, static_cast<u8>(n_listed / 8),
        [&](i32 code) { return static_cast<u8>(number(code) / 8); });
    add(from.categories + 1, static_cast<u8>(1 << n_listed % 8),
        [&](i32 code) { return static_cast<u8>(1 << number(code) % 8); });
  }

  const ForestTests& f_;
  RankedTrees& out_;
  std::vector<Feature> feature_;
  std::map<std::array<u8, 32>, std::size_t> set_of_;
};

std::unique_ptr<RankedTrees> RankedTrees::make(const ForestTests& forest) {
  std::unique_ptr<RankedTrees> made(new RankedTrees);
  return RankedBuilder(forest, *made).build() ? std::move(made) : nullptr;
}

}  // namespace treewright
