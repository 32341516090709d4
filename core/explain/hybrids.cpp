#include "explain/hybrids.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "base/simd.hpp"
#include "base/term.hpp"
#include "base/threads.hpp"

namespace treewright::explain {
namespace {

constexpr i32 kMostTabled = 10;            // features of a leaf that has a table
constexpr i64 kMostTable = i64{1} << 20;   // numbers in the tables of a tree
constexpr i64 kMostVisits = i64{1} << 21;  // of one pair of rows

// One row against one background row where tests may read several features or divide rows: features
// are decided one by one, as tests ask for them.
class Pair {
 public:
  Pair(const ShapTree& tree, const Shares& shares, double weight, const HybridSums& sums,
       double* to, double* pairs)
      : tree_(tree),
        shares_(shares),
        weight_(weight),
        sums_(sums),
        to_(to),
        pairs_(pairs),
        owner_(tree.router.n_categories.size(), kOpen) {}

  void run(HybridRow row, HybridRow other) {
    row_ = row;
    other_ = other;
    n_visits_ = 0;
    visit(0, weight_);
  }

 private:
  enum Owner : u8 { kOpen, kRow, kOther };

  // A hybrid as far as it is decided; one of the two for the rest.
  struct Mixed {
    const Pair* pair;
    Owner rest;
    double operator[](u32 f) const {
      const Owner owner = pair->owner_[f] == kOpen ? rest : pair->owner_[f];
      return owner == kRow ? pair->row_[f] : pair->other_[f];
    }
  };

  bool is_open(i32 f) const {
    if (owner_[f] != kOpen) return false;
    const double a = row_[f], b = other_[f];
    return a != b && !(a != a && b != b);
  }

  // The feature that must be decided before a test can be asked, or -1.
  i32 needed(const predict::Test& test) const {
    const Router& router = tree_.router;
    if (test.kind != predict::Test::linear) {
      if (!is_open(test.feature)) return -1;
      const bool same = predict::branch_of(router, test, Mixed{this, kRow}) ==
                        predict::branch_of(router, test, Mixed{this, kOther});
      return same ? -1 : test.feature;
    }
    double least = 0, most = 0, widest = -1, size = 0;
    i32 found = -1;
    for (i64 i = test.start; i < test.start + test.count; ++i) {
      const i32 f = router.term_feature[i];
      const i32 code = router.term_code[i];
      const double w = router.term_weight[i], a = w * term_value(Mixed{this, kRow}[f], code),
                   b = w * term_value(Mixed{this, kOther}[f], code);
      if (!is_open(f)) {
        if (a != a) return -1;  // a gap, whatever the others are
      } else if (a != a || b != b) {
        return f;
      } else if (std::abs(a - b) > widest) {
        widest = std::abs(a - b);
        found = f;
      }
      least += std::min(a, b);
      most += std::max(a, b);
      size += std::max(std::abs(a), std::abs(b));
    }
    const double room = 1e-9 * (size + std::abs(test.cut));  // for other orders of the sum
    return found < 0 || most + room < test.cut || least - room > test.cut ? -1 : found;
  }

  i32 needed_at(i32 node) const {
    const predict::HotNode& hot = tree_.router.nodes[node];
    if (hot.how() != predict::HotNode::special) {
      const i32 f = static_cast<i32>(hot.feature());
      return is_open(f) && !says_the_same(node) ? f : -1;
    }
    const predict::Special& special = tree_.router.specials[hot.payload];
    if (special.test.kind != predict::Test::linear && is_open(special.test.feature) &&
        tree_.may_divide() && !says_the_same(node)) {
      return special.test.feature;
    }
    i32 f = needed(special.test);
    bool is_gap = f < 0 && predict::branch_of(tree_.router, special.test, Mixed{this, kRow}) < 0;
    for (i32 s = special.surrogate_begin; is_gap && s < special.surrogate_end; ++s) {
      const predict::Test& test = tree_.router.surrogates[s];
      f = needed(test);
      is_gap = f < 0 && predict::branch_of(tree_.router, test, Mixed{this, kRow}) < 0;
    }
    return f;
  }

  bool says_the_same(i32 node) const {
    return tree_.ask(node, Mixed{this, kRow}) == tree_.ask(node, Mixed{this, kOther});
  }

  void visit(i32 node, double weight) {
    if (++n_visits_ > kMostVisits) {
      throw std::invalid_argument(
          "Exact values of tests on so many features take too long; grow the tree with fewer "
          "features in a test, or leave the background out.");
    }
    if (tree_.is_leaf(node)) return credit(node, weight);
    const i32 f = needed_at(node);
    if (f >= 0) {
      owner_[f] = kRow;
      of_row_.push_back(f);
      visit(node, weight);
      of_row_.pop_back();
      owner_[f] = kOther;
      of_other_.push_back(f);
      visit(node, weight);
      of_other_.pop_back();
      owner_[f] = kOpen;
      return;
    }
    const Said said = tree_.ask(node, Mixed{this, kRow});
    if (said.branch == gap_stop) return credit(node, weight);
    const i32 child = static_cast<i32>(tree_.router.nodes[node].child);
    if (said.branch >= 0) return visit(child + said.branch, weight);
    if (said.branch == kBothWays) {
      if (said.lower > 0) visit(child, weight * said.lower);
      if (said.lower < 1) visit(child + 1, weight * (1 - said.lower));
      return;
    }
    const predict::Special& special = tree_.router.specials[tree_.router.nodes[node].payload];
    for (i32 b = 0; b < special.n_children; ++b) {
      const double share = tree_.router.share[child + b];
      if (share > 0) visit(child + b, weight * share);
    }
  }

  void credit(i32 node, double weight) {
    const i32 p = static_cast<i32>(of_row_.size()), n = static_cast<i32>(of_other_.size());
    const double* value = tree_.values + i64{node} * tree_.width;
    auto add = [&](double* to, double part) {
      for (i32 k = 0; k < tree_.width; ++k) to[tree_.column + k] += part * weight * value[k];
    };
    for (const i32 f : of_row_) add(to_ + f * sums_.n_outputs, shares_.of_row(p, n));
    for (const i32 f : of_other_) add(to_ + f * sums_.n_outputs, shares_.of_background(p, n));
    if (!pairs_) return;
    auto add_pair = [&](i32 f, i32 g, double part) {
      add(pairs_ + (std::min(f, g) * sums_.n_features + std::max(f, g)) * sums_.n_outputs,
          part / 2);
    };
    for (i32 i = 0; i < p; ++i) {
      for (i32 j = 0; j < i; ++j) add_pair(of_row_[i], of_row_[j], shares_.both_row(p, n));
      for (i32 j = 0; j < n; ++j) add_pair(of_row_[i], of_other_[j], shares_.mixed(p, n));
    }
    for (i32 i = 0; i < n; ++i) {
      for (i32 j = 0; j < i; ++j)
        add_pair(of_other_[i], of_other_[j], shares_.both_background(p, n));
    }
  }

  const ShapTree& tree_;
  const Shares& shares_;
  const double weight_;
  const HybridSums& sums_;
  double *to_, *pairs_;
  HybridRow row_{}, other_{};
  std::vector<Owner> owner_;
  std::vector<i32> of_row_, of_other_;
  i64 n_visits_ = 0;
};

// The features of a path's places that a row satisfies, from those above an edge.
u64 mask_below(const Edge& edge, u64 above, bool is_satisfied) {
  const u64 bit = u64{1} << edge.place;
  if (!edge.before) return is_satisfied ? above | bit : above;
  return is_satisfied ? above : above & ~bit;
}

// Adds to each place what its feature gets from all background rows that can come along, and
// returns what each feature of theirs gets. Bits are counted by one instruction where there is one.
TREEWRIGHT_VECTORS double sum_alive(const u64* masks, const u64* alive, i64 n_words, u64 mask,
                                    const double* up, const double* down, double* part) {
  double of_theirs = 0;
  for (i64 w = 0; w < n_words; ++w) {
    for (u64 left = alive[w]; left; left &= left - 1) {
      const u64 ours = mask & ~masks[w * 64 + std::countr_zero(left)];
      const i32 p = std::popcount(ours);
      of_theirs += down[p];
      for (u64 bits = ours; bits; bits &= bits - 1) part[std::countr_zero(bits)] += up[p];
    }
  }
  return of_theirs;
}

}  // namespace

Background::Background(const ShapTree& tree, const Rows& background, const Shares& shares,
                       i64 n_rows, int n_threads, Callable<void()> poll)
    : tree_(tree), background_(background), shares_(shares) {
  if (tree.has_linear || tree.n_distinct > 64 || !walk_background()) return;
  is_simple_ = true;
  i64 size = 0;
  for (const Leaf& leaf : leaves_) {
    const auto d = static_cast<i64>(leaf.features.size());
    size += d > kMostTabled ? kMostTable : (i64{1} << d) * d;
  }
  is_tabled_ = size < kMostTable && i64{1} << tree.n_distinct <= 2 * n_rows;
  if (!is_tabled_) return;
  parallel_for(
      static_cast<i64>(leaves_.size()), n_threads, [&](i64 i, int) { make_table(leaves_[i]); },
      poll);
}

// The masks of all background rows; false if one of them divides or needs a surrogate.
bool Background::walk_background() {
  const i64 n = background_.count, n_edges = static_cast<i64>(tree_.edges.size());
  n_words_ = (n + 63) / 64;
  leaf_of_.assign(n_edges, -1);
  satisfied_.assign(n_edges * n_words_, 0);
  std::vector<std::vector<u64>> mask(tree_.depth + 1, std::vector<u64>(n, 0));
  std::vector<std::vector<i32>> branch(tree_.depth + 1, std::vector<i32>(n));
  std::vector<i32> features(tree_.depth + 1), n_places(tree_.depth + 1, 0);
  for (i64 i = 0; i < n_edges; ++i) {
    const Edge& edge = tree_.edges[i];
    if (edge.depth) {
      features[edge.place] = edge.feature;
      n_places[edge.depth] = n_places[edge.depth - 1] + !edge.before;
      const auto& above = mask[edge.depth - 1];
      for (i64 b = 0; b < n; ++b) {
        const u64 own = mask_below(edge, above[b], branch[edge.depth - 1][b] == edge.branch);
        mask[edge.depth][b] = own;
        satisfied_[i * n_words_ + b / 64] |= (own >> edge.place & 1) << (b % 64);
      }
    }
    if (edge.is_end) {
      leaf_of_[i] = static_cast<i32>(leaves_.size());
      const auto end = features.begin() + n_places[edge.depth];
      leaves_.push_back({{features.begin(), end}, mask[edge.depth], {}});
      continue;
    }
    for (i64 b = 0; b < n; ++b) {
      const HybridRow row{background_.data + b, background_.step};
      const Said said = tree_.ask(edge.node, row);
      if (said.branch < 0 || tree_.reads_several(edge.node, row)) return false;
      branch[edge.depth][b] = said.branch;
    }
  }
  return true;
}

// By mask a of a row: background rows of mask m can take its place where a misses a feature, so all
// features outside of m must be the row's.
void Background::make_table(Leaf& leaf) const {
  const i32 d = static_cast<i32>(leaf.features.size());
  const u64 all = (u64{1} << d) - 1;
  leaf.table.assign(static_cast<std::size_t>((all + 1) * d), 0.0);
  std::vector<i64> count(all + 1, 0);
  for (const u64 mask : leaf.masks) ++count[mask];
  for (u64 m = 0; m <= all; ++m) {
    if (!count[m]) continue;
    const double weight = static_cast<double>(count[m]) / static_cast<double>(background_.count);
    const i32 p = d - std::popcount(m);
    for (u64 s = m;; s = (s - 1) & m) {  // what of m the row satisfies as well
      const u64 a = (all & ~m) | s, theirs = m & ~s;
      const i32 n = std::popcount(theirs);
      const double up = p ? weight * shares_.of_row(p, n) : 0;
      const double down = n ? weight * shares_.of_background(p, n) : 0;
      double* to = leaf.table.data() + a * d;
      for (i32 i = 0; i < d; ++i) {
        const u64 bit = u64{1} << i;
        to[i] += m & bit ? (theirs & bit ? down : 0.0) : up;
      }
      if (!s) break;
    }
  }
}

// The branches that a row takes at all nodes; false if it divides or needs a surrogate somewhere.
bool Background::is_simple(HybridRow row, std::vector<i32>& branch) const {
  branch.resize(tree_.router.n_nodes());
  for (const Edge& edge : tree_.edges) {
    if (edge.is_end) continue;
    const Said said = tree_.ask(edge.node, row);
    if (said.branch < 0) return false;
    if (tree_.has_surrogates && tree_.reads_several(edge.node, row)) return false;
    branch[edge.node] = said.branch;
  }
  return true;
}

void Background::add(HybridRow row, i64 number, const HybridSums& sums) const {
  thread_local std::vector<i32> branch;
  double* to = sums.values + number * sums.n_features * sums.n_outputs;
  if (is_simple_ && !sums.pairs && is_simple(row, branch)) {
    return is_tabled_ ? add_tabled(branch, to, sums) : add_walked(branch, to, sums);
  }
  double* pairs = !sums.pairs
                      ? nullptr
                      : sums.pairs + number * sums.n_features * sums.n_features * sums.n_outputs;
  Pair pair(tree_, shares_, 1.0 / static_cast<double>(background_.count), sums, to, pairs);
  for (i64 b = 0; b < background_.count; ++b) {
    pair.run(row, HybridRow{background_.data + b, background_.step});
  }
}

void Background::add_tabled(const std::vector<i32>& branch, double* to,
                            const HybridSums& sums) const {
  thread_local std::vector<u64> mask;
  thread_local std::vector<i32> node;
  mask.resize(tree_.depth + 1);
  node.resize(tree_.depth + 1);
  const i64 n_edges = static_cast<i64>(tree_.edges.size());
  for (i64 i = 0; i < n_edges; ++i) {
    const Edge& edge = tree_.edges[i];
    mask[edge.depth] = 0;
    if (edge.depth) {
      const bool is_satisfied = branch[node[edge.depth - 1]] == edge.branch;
      mask[edge.depth] = mask_below(edge, mask[edge.depth - 1], is_satisfied);
    }
    node[edge.depth] = edge.node;
    if (!edge.is_end) continue;
    const Leaf& leaf = leaves_[leaf_of_[i]];
    const i32 d = static_cast<i32>(leaf.features.size());
    const double* part = leaf.table.data() + mask[edge.depth] * d;
    const double* value = tree_.values + i64{edge.node} * tree_.width;
    for (i32 f = 0; f < d; ++f) {
      double* at = to + leaf.features[f] * sums.n_outputs + tree_.column;
      for (i32 k = 0; k < tree_.width; ++k) at[k] += part[f] * value[k];
    }
  }
}

void Background::add_walked(const std::vector<i32>& branch, double* to,
                            const HybridSums& sums) const {
  thread_local std::vector<u64> mask, alive;
  thread_local std::vector<i32> node;
  mask.resize(tree_.depth + 1);
  node.resize(tree_.depth + 1);
  alive.resize((tree_.depth + 1) * n_words_);
  std::fill_n(alive.begin(), n_words_, ~u64{0});
  if (background_.count % 64) alive[n_words_ - 1] = (u64{1} << background_.count % 64) - 1;
  const i64 n_edges = static_cast<i64>(tree_.edges.size());
  mask[0] = 0;
  for (i64 i = 0; i < n_edges;) {
    const Edge& edge = tree_.edges[i];
    u64* here = alive.data() + edge.depth * n_words_;
    if (edge.depth) {
      const bool is_satisfied = branch[node[edge.depth - 1]] == edge.branch;
      mask[edge.depth] = mask_below(edge, mask[edge.depth - 1], is_satisfied);
      // what the row does not satisfy must come from the background
      const bool is_theirs = !(mask[edge.depth] >> edge.place & 1);
      const u64 *above = here - n_words_, *may = satisfied_.data() + i * n_words_;
      u64 any = 0;
      for (i64 w = 0; w < n_words_; ++w) any |= here[w] = is_theirs ? above[w] & may[w] : above[w];
      if (!any) {
        i = edge.next;
        continue;
      }
    }
    node[edge.depth] = edge.node;
    if (edge.is_end) add_leaf(leaves_[leaf_of_[i]], edge, mask[edge.depth], here, to, sums);
    ++i;
  }
}

void Background::add_leaf(const Leaf& leaf, const Edge& edge, u64 mask, const u64* alive,
                          double* to, const HybridSums& sums) const {
  const i32 d = static_cast<i32>(leaf.features.size());
  const u64 all = d == 64 ? ~u64{0} : (u64{1} << d) - 1, theirs = all & ~mask;
  const i32 n = std::popcount(theirs), most = d - n;
  double up[65] = {}, down[65] = {};  // by the number of features that must be the row's
  for (i32 p = 0; p <= most; ++p) {
    if (p) up[p] = shares_.of_row(p, n);
    if (n) down[p] = shares_.of_background(p, n);
  }
  double part[64] = {};
  const double of_theirs = sum_alive(leaf.masks.data(), alive, n_words_, mask, up, down, part);
  const double weight = 1.0 / static_cast<double>(background_.count);
  const double* value = tree_.values + i64{edge.node} * tree_.width;
  for (i32 f = 0; f < d; ++f) {
    const double own = weight * (theirs >> f & 1 ? of_theirs : part[f]);
    double* at = to + leaf.features[f] * sums.n_outputs + tree_.column;
    for (i32 k = 0; k < tree_.width; ++k) at[k] += own * value[k];
  }
}

}  // namespace treewright::explain
