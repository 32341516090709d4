// Where rows go in a tree: the compact form of a tree that prediction walks.
//
// Every node has a 16-byte HotNode. Most nodes are decided by it alone: one break on a number, or
// two branches over categories with codes below 64. All else (several breaks, many categories,
// several branches, linear tests, surrogates, gaps that divide or stop) is a Special. Leaves are
// hot nodes that lead to themselves, so a walk needs no test for them.
//
// Breaks are stored so that the test is always x <= cut: "x < b" is "x <= the double below b".
// A gap is a NaN; codes that are gaps or out of range are read as NaN too.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/term.hpp"

namespace treewright::predict {

constexpr std::int32_t gap_fraction = -1;
constexpr std::int32_t gap_stop = -2;
constexpr std::int32_t unknown = -1;  // the branch of a gap

// One split per entry, as in treewright.tree.split.Splits.
struct SplitArrays {
  std::span<const std::uint8_t> kind;
  std::span<const std::int32_t> feature;
  std::span<const std::uint8_t> closed;
  std::span<const std::uint8_t> reversed;
  std::span<const std::int64_t> break_offset;
  std::span<const double> breaks;
  std::span<const std::int64_t> code_offset;
  std::span<const std::int32_t> codes;
  std::span<const std::int32_t> branches;
  std::span<const std::int64_t> term_offset;
  std::span<const std::int32_t> term_feature;
  std::span<const double> term_weight;
  std::span<const std::int32_t> term_code;
};

// As in treewright.tree.tree.Tree; n_categories is -1 for continuous features.
struct TreeArrays {
  std::span<const std::int32_t> n_categories;
  std::span<const std::int32_t> first_child;
  std::span<const std::int32_t> n_children;
  std::span<const std::int32_t> gap;
  std::span<const double> weight;
  std::span<const std::int64_t> surrogate_offset;
  SplitArrays splits;
  SplitArrays surrogates;
};

struct HotNode {
  // Values of `how`: up to 3 it is the branch of a gap at a single break.
  enum How : std::uint32_t { mask_gap_left = 4, mask_gap_right = 5, special = 6 };

  std::uint64_t payload;  // the cut as a double; bit c: code c goes right; index of the Special
  std::uint32_t child;    // branch b leads to child + b
  std::uint32_t bits;     // feature << 8 | how

  std::uint32_t how() const { return bits & 255; }
  std::uint32_t feature() const { return bits >> 8; }
};
static_assert(sizeof(HotNode) == 16);
constexpr std::int64_t max_features = std::int64_t{1} << 24;

struct Test {
  enum Kind : std::uint8_t { one_cut, cuts, bitset, dense, list, linear };

  Kind kind;
  bool reversed;
  std::int32_t feature;
  std::int32_t count;  // cuts, words per set, codes, or terms
  std::int64_t start;  // where they begin in their pool
  double cut;          // of one_cut and linear
};

struct Special {
  Test test;
  std::int32_t first_child;
  std::int32_t n_children;
  std::int32_t gap;  // branch, gap_fraction or gap_stop
  std::int32_t surrogate_begin, surrogate_end;
};

struct Router {
  std::vector<HotNode> nodes;
  std::vector<Special> specials;
  std::vector<Test> surrogates;
  std::vector<double> cuts;
  std::vector<std::uint64_t> words;  // of a bitset: count words "seen", count words "right"
  std::vector<std::int32_t> codes, branches;
  std::vector<std::int32_t> term_feature, term_code;
  std::vector<double> term_weight;
  std::vector<std::int32_t> parent;
  std::vector<double> share;  // of a divided parent's weight; empty if no gap divides
  std::vector<std::int32_t> n_categories;
  std::vector<std::int32_t> used;  // features that some test reads, ascending
  std::int32_t max_path = 1;       // nodes on the longest path
  double work_per_row = 1;         // upper bound of the steps one row can need
  bool is_plain = true;            // every node is a leaf or decided by one cut

  explicit Router(const TreeArrays& tree);  // throws std::invalid_argument on a malformed tree

  std::int32_t n_nodes() const { return static_cast<std::int32_t>(nodes.size()); }
  bool divides() const { return !share.empty(); }
};

constexpr std::int32_t max_piece = 128;  // rows that walk together

// A row of numbers, NaN at a gap. The step from feature to feature is known to the compiler: 1
// where the user's block is read, max_piece where columns were gathered piece by piece.
template <class T, std::ptrdiff_t step>
struct Row {
  const T* data;
  double operator[](std::uint32_t f) const { return data[f * step]; }
};

template <class T, std::ptrdiff_t step>
struct Block {
  const T* data;
  std::ptrdiff_t row_step;
  Row<T, step> operator[](std::int64_t i) const { return {data + i * row_step}; }
};

inline std::uint32_t step_cut(const HotNode& node, double x) {
  // No branch here: which way a row goes is what a processor cannot foresee.
  const auto above = static_cast<std::uint32_t>(x > std::bit_cast<double>(node.payload));
  const auto is_gap = static_cast<std::uint32_t>(x != x);
  return node.child + (above | (node.how() & (0u - is_gap)));  // a gap is not above
}

inline std::uint32_t step_mask(const HotNode& node, double x) {
  const std::uint32_t code = x < 64 ? static_cast<std::uint32_t>(x) : 64;  // NaN: 64
  const std::uint32_t gap = node.how() - HotNode::mask_gap_left;
  return node.child + (code < 64 ? static_cast<std::uint32_t>(node.payload >> code & 1) : gap);
}

inline std::int32_t find_code(const Router& router, const Test& test, std::int32_t code) {
  const std::int32_t* codes = router.codes.data() + test.start;
  std::int64_t i = static_cast<std::int64_t>(code) - codes[0];
  if (test.kind == Test::list) {
    i = std::lower_bound(codes, codes + test.count, code) - codes;
    if (i < test.count && codes[i] != code) return unknown;
  }
  if (i < 0 || i >= test.count) return unknown;
  return router.branches[test.start + i];
}

inline std::int32_t find_bit(const Router& router, const Test& test, std::int32_t code) {
  const std::int32_t word = code / 64;
  if (word >= test.count) return unknown;
  const std::uint64_t* seen = router.words.data() + test.start + word;
  if (!(seen[0] >> (code % 64) & 1)) return unknown;
  return static_cast<std::int32_t>(seen[test.count] >> (code % 64) & 1);
}

// The branch a test gives, or unknown.
template <class Row>
std::int32_t branch_of(const Router& router, const Test& test, Row row) {
  double x;
  if (test.kind == Test::linear) {
    x = 0;
    for (std::int64_t i = test.start; i < test.start + test.count; ++i)
      x += router.term_weight[i] * term_value(row[router.term_feature[i]], router.term_code[i]);
  } else {
    x = row[test.feature];
  }
  if (x != x) return unknown;
  switch (test.kind) {
    case Test::one_cut:
    case Test::linear:
      return (x > test.cut) != test.reversed;
    case Test::cuts: {
      const double* cuts = router.cuts.data() + test.start;
      return static_cast<std::int32_t>(std::lower_bound(cuts, cuts + test.count, x) - cuts);
    }
    case Test::bitset:
      return find_bit(router, test, static_cast<std::int32_t>(x));
    default:
      return find_code(router, test, static_cast<std::int32_t>(x));
  }
}

// The next node; the node itself where the row ends; ~node where it divides.
template <class Row>
std::int32_t step_special(const Router& router, std::int32_t node, Row row) {
  const Special& special = router.specials[router.nodes[node].payload];
  std::int32_t branch = branch_of(router, special.test, row);
  for (std::int32_t s = special.surrogate_begin; branch < 0 && s < special.surrogate_end; ++s)
    branch = branch_of(router, router.surrogates[s], row);
  if (branch < 0) branch = special.gap;
  if (branch == gap_stop) return node;
  if (branch == gap_fraction) return ~node;
  return special.first_child + branch;
}

template <class Row>
std::int32_t step(const Router& router, std::int32_t i, Row row) {
  const HotNode& node = router.nodes[i];
  if (node.how() == HotNode::special) return step_special(router, i, row);
  const double x = row[node.feature()];
  const bool is_cut = node.how() < HotNode::mask_gap_left;
  return static_cast<std::int32_t>(is_cut ? step_cut(node, x) : step_mask(node, x));
}

constexpr std::int32_t n_lanes = 8;  // rows whose steps are interleaved, to hide latency
constexpr std::int32_t n_steps = 4;  // steps between two looks at who has ended

// Sends rows 0 … count - 1 on from where they stand to where they end: a node, or ~node where the
// row divides. The rows still on their way take some steps, n_lanes rows in turns; then those that
// did not move are left out.
template <bool plain, class Block>
void walk_on(const Router& router, const Block& block, std::int32_t count, std::int32_t* end) {
  std::int32_t active[max_piece + n_lanes];
  for (std::int32_t i = 0; i < count; ++i) active[i] = i;
  const HotNode* nodes = router.nodes.data();
  while (count > 0) {
    std::fill_n(active + count, n_lanes, active[count - 1]);  // lanes beyond the last row
    std::int32_t kept = 0;
    for (std::int32_t j = 0; j < count; j += n_lanes) {
      std::uint32_t node[n_lanes], before[n_lanes];
      decltype(block[0]) row[n_lanes];
      for (int lane = 0; lane < n_lanes; ++lane) {
        row[lane] = block[active[j + lane]];
        before[lane] = node[lane] = static_cast<std::uint32_t>(end[active[j + lane]]);
      }
      for (int s = 0; s < n_steps; ++s) {
        for (int lane = 0; lane < n_lanes; ++lane) {
          if constexpr (plain) {
            const HotNode& at = nodes[node[lane]];
            node[lane] = step_cut(at, row[lane][at.feature()]);
          } else if (static_cast<std::int32_t>(node[lane]) >= 0) {
            node[lane] = static_cast<std::uint32_t>(
                step(router, static_cast<std::int32_t>(node[lane]), row[lane]));
          }
        }
      }
      for (int lane = 0; lane < n_lanes; ++lane) {
        const std::int32_t i = active[j + lane], at = static_cast<std::int32_t>(node[lane]);
        end[i] = at;
        active[kept] = i;
        kept += at > static_cast<std::int32_t>(before[lane]) && j + lane < count;
      }
    }
    count = kept;
  }
}

// The same from the root.
template <bool plain, class Block>
void walk(const Router& router, const Block& block, std::int32_t count, std::int32_t* end) {
  std::fill_n(end, count, 0);
  walk_on<plain>(router, block, count, end);
}

// The ends of a divided row and their shares, depth first in branch order.
struct Division {
  struct Part {
    std::int32_t node;
    double share;
  };
  std::vector<Part> ends;
  std::vector<std::int32_t> visited;
  std::vector<Part> stack;

  template <class Row>
  void descend(const Router& router, std::int32_t start, Row row) {
    ends.clear();
    visited.clear();
    stack.assign(1, {start, 1.0});
    while (!stack.empty()) {
      const Part part = stack.back();
      stack.pop_back();
      visited.push_back(part.node);
      const std::int32_t next = step(router, part.node, row);
      if (next == part.node) {
        ends.push_back(part);
      } else if (next >= 0) {
        stack.push_back({next, part.share});
      } else {
        const Special& special = router.specials[router.nodes[part.node].payload];
        for (std::int32_t b = special.n_children; b-- > 0;) {
          const std::int32_t child = special.first_child + b;
          const double share = part.share * router.share[child];
          if (share > 0) stack.push_back({child, share});
        }
      }
    }
  }

  // The end with the largest share, the first id among equals.
  std::int32_t heaviest() const {
    Part best = ends.front();
    for (const Part& part : ends)
      if (part.share > best.share || (part.share == best.share && part.node < best.node))
        best = part;
    return best.node;
  }
};

}  // namespace treewright::predict
