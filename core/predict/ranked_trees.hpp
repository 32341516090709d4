// Small trees whose rows are bytes.
//
// A number becomes its rank: how many of the cuts that the forest makes in its feature lie below
// it. A category becomes its number among those that tests of its feature list. Then a test is a
// comparison of bytes, or a bit of a set, and 32 rows are tested at once. All tests of a tree are
// made, on its rows' way or not: for trees of some dozens of leaves that is less work than a walk.
//
// Gaps are known by their bytes. A feature has up to two places in a row, one where gaps have the
// lowest rank and one where they have the highest; a test reads the one that sends gaps its way.
// Categories take two places, a byte and a bit of the sets that tests look into.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "predict/input.hpp"

namespace treewright {

// What the trees of a forest test, as ForestModel keeps it.
struct ForestTests {
  std::span<const i32> n_categories;
  std::span<const i64> offset;       // nodes of each tree
  std::span<const i32> first_child;  // −1 at a leaf
  std::span<const i32> n_children;
  std::span<const i32> feature, gap_branch;  // of inner nodes, as all that follows
  std::span<const u8> kind, closed;
  std::span<const i64> break_offset, code_offset;
  std::span<const double> breaks;
  std::span<const i32> codes, branches;
};

// A test, and what it does to a row. Rows carry the number of a leaf, first of all that of the
// leftmost one; tests come parents first. Where `at` is the leftmost leaf below a test, rows that
// have it and are sent to the right get the leftmost leaf there, which differs from it by `change`.
struct RankTest {
  i32 place;
  i32 set;  // of categories that go left, −1: ranks below `cut` go left
  u8 cut, at, change;

  bool is_like(const RankTest& o) const { return place == o.place && set == o.set && cut == o.cut; }
};

struct RankedTree {
  std::vector<RankTest> tests;
  u8 first_leaf = 0;  // the leftmost
  // Few tests that many nodes share, as those of a level: their answers, the first one the highest
  // bit, are the number of a leaf, or tell it by this table.
  bool is_indexed = false;
  std::vector<u8> leaf_of_answers;
};

// Where the cells of a feature go.
struct RankedFeature {
  struct CodePlace {
    i32 place;
    std::vector<u8> byte_of_code;  // that of gaps comes last
  };
  i32 feature = -1;
  std::vector<double> cuts;  // ascending; those of numbers are followed by infinities
  std::vector<float> float_cuts;
  u32 first_step = 0;               // of the search for a rank
  i32 low = -1, high = -1;          // places of numbers
  std::vector<CodePlace> of_codes;  // places of codes
};

class RankedTrees {
 public:
  static constexpr i64 kRows = 256;  // of a block
  static constexpr u8 kTurn = 0x80;  // turned in ranks, which are compared as signed bytes
  static constexpr i64 kMostLeaves = 256, kMostCuts = 255, kMostCategories = 255;

  // Null if the trees are not small, or have tests of another kind.
  static std::unique_ptr<RankedTrees> make(const ForestTests& forest);

  i64 n_bytes() const { return n_places_ * kRows; }  // of a block's rows

  // The bytes of up to kRows rows; whether no value is infinite.
  bool gather(const predict::Input& input, i64 start, i64 count, u8* bytes) const;

  // Numbers of the leaves where rows of a block end, with room for kRows.
  void find_leaves(i64 tree, const u8* bytes, i64 count, u8* leaf) const;

 private:
  friend class RankedBuilder;
  RankedTrees() = default;

  struct Set {
    u8 bits[32];
  };

  i64 n_places_ = 0;
  std::vector<RankedTree> trees_;
  std::vector<RankedFeature> features_;
  std::vector<i32> place_of_feature_;  // in features_, −1 for those that are not tested
  std::vector<Set> sets_;
};

}  // namespace treewright
