#include "grow/small_subtree.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "grow/children.hpp"
#include "grow/small_node.hpp"
#include "grow/split_builder.hpp"
#include "grow/stopping.hpp"

namespace treewright {
namespace {

struct SubtreeRoot {
  const Block* block;
  const u32* ids;  // instances of the block
  i64 n_rows;
  const u64* constant;  // bits of the features that do not vary
  i32 n_varying;
  u64 path;
  i64 record;
  i32 depth;
};

// Subtrees of up to 64 rows per word.
template <int Words>
class RowsAsBits {
 public:
  using Node = SmallNode<Words>;
  using Rows = typename Node::Rows;

  RowsAsBits(const Problem& p, double gain_unit)
      : p_(p),
        gain_unit_(gain_unit),
        node_(p),
        n_words_(FeatureBits::n_words(p.n_features())),
        feature_(p.n_features()) {}

  bool takes(i64 n_rows, i64 weight) const { return node_.takes(n_rows, weight); }

  // The subtree of a node with some rows of a block.
  void grow(const SubtreeRoot& root, NodeList& list) {
    constant_.assign(root.constant, root.constant + n_words_);
    const Rows rows = node_.load(*root.block, root.ids, root.n_rows);
    stack_.push_back({rows, root.path, root.record, root.depth, 0, root.n_varying});
    while (!stack_.empty()) {
      const Open open = stack_.back();
      stack_.pop_back();
      constant_.resize(open.constant + n_words_);  // those that wait have bits made before
      node_.enter(open.rows, list.stats_of(open.record));
      if (choose(open)) apply(open, list);
    }
  }

 private:
  struct Open {
    Rows rows;
    u64 path;
    i64 record;
    i32 depth;
    i64 constant;  // its bits of features that do not vary
    i32 n_varying;
  };

  bool choose(const Open& open) {
    const u64* constant = constant_.data() + open.constant;
    const i32 n = p_.n_features(), drawn = p_.params.max_features;
    const bool draws = drawn > 0 && drawn < n;
    i32 n_varying = 0;
    if (draws) {
      draw_.start(n, p_.params.seed, open.path);
      n_varying = draw_.next(drawn, constant, feature_.data());
    } else {
      for (i32 f = 0; f < n; ++f) {
        feature_[n_varying] = f;
        n_varying += !FeatureBits::has(constant, f);
      }
    }
    best_ = {};
    found_constant_.clear();
    // One that leaves pure children ends the search: without that exact forests take 1.07 times as
    // long.
    const double enough = node_.most_gain();
    for (i32 i = 0; i < n_varying && best_.gain < enough; ++i) score(feature_[i]);
    while (draws && p_.params.redraw && best_.kind == CandidateKind::none && !draw_.is_over()) {
      const i32 f = draw_.next();
      if (!FeatureBits::has(constant, f)) score(f);
    }
    return worth_of(p_.params, gain_unit_, best_) == Stop::is_split;
  }

  void score(i32 f) {
    const FeatureInfo& info = p_.features[f];
    Candidate found;
    if (info.store == Store::by_row) {
      const Cut cut = node_.best_cut(info.slot);
      if (cut.constant) found_constant_.push_back(f);
      if (!cut.found) return;
      write(cut, f, found);
    } else {
      found.feature = f;
      node_.best_categories(info, *seen_, found);
    }
    if (!found.beats(best_)) return;
    best_ = found;
    if (info.store == Store::coded) std::swap(seen_, best_seen_);
  }

  void apply(const Open& open, NodeList& list) {
    Rows right, gaps;
    split_.feature = best_.feature;
    split_.closed = p_.params.closed;
    split_.n_branches = 2;
    split_.gain = best_.gain * gain_unit_;
    const FeatureInfo& info = p_.features[best_.feature];
    if (info.store == Store::by_row) {
      right = cut_rows(info.slot);
    } else {
      right = cut_categories(info);
      gaps = best_seen_->gaps;
    }
    typename Node::Sum on_right = node_.sum_of(right);
    const typename Node::Sum in_gaps = node_.sum_of(gaps);
    // Gaps go where they gain most, or where most weight goes.
    const bool is_heavier = 2 * on_right.weight > node_.weight() - in_gaps.weight;
    split_.gap_branch = best_.learned_gaps ? !best_.gaps_left : is_heavier;
    list.set_split(open.record, split_, in_gaps.n);
    const i64 first = Children::add_children(list, open.record, 2);
    const i64* all = list.stats_of(open.record);
    i64* stats = list.stats_of(first);
    for (i32 k = 0; k < p_.n_stats; ++k) {
      if (split_.gap_branch) on_right.stats[k] += in_gaps.stats[k];
      stats[p_.n_stats + k] = on_right.stats[k];
      stats[k] = all[k] - on_right.stats[k];
    }
    if (split_.gap_branch) {
      right = right | gaps;
      on_right.n += in_gaps.n;
    }
    const Rows rows[2] = {open.rows.without(right), right};
    const i32 n[2] = {node_.size() - on_right.n, on_right.n};
    bool has_bits = false;
    for (int b = 1; b >= 0; --b) {
      list[first + b].n_samples = n[b];
      if (is_terminal(p_, list, first + b, open.depth + 1)) continue;
      if (!has_bits) mark_constants(open);
      has_bits = true;
      if (!n_varying_below_) continue;
      stack_.push_back({rows[b], child_path(open.path, b), first + b, open.depth + 1,
                        constant_below_, n_varying_below_});
    }
  }

  // Completes the split of a feature that is kept by row; the rows on its right.
  Rows cut_rows(i32 slot) {
    NextToCut next;
    const Rows right = node_.rows_above(slot, static_cast<i32>(best_.cut), next);
    split_.kind = SplitKind::breaks;
    split_.codes.clear();
    split_.branches.clear();
    split_.breaks.assign(1, key_break(p_, best_.feature, next));
    return right;
  }

  // The same of categories.
  Rows cut_categories(const FeatureInfo& info) {
    split_.kind = SplitKind::codes;
    split_.breaks.clear();
    split_.codes.clear();
    split_.branches.clear();
    const bool only_gaps = best_.kind == CandidateKind::only_gaps;
    Node::each_code(*best_seen_, [&](u32 c) { branch_[c] = !only_gaps; });
    for (i64 i = 0; !only_gaps && i < best_.cut; ++i)
      branch_[best_seen_->by_rate.order[i].code] = 0;
    Node::each_code(*best_seen_, [&](u32 c) {
      split_.codes.push_back(static_cast<i32>(c));
      split_.branches.push_back(branch_[c]);
    });
    return node_.rows_of(info, branch_);
  }

  // The bits of the children: what does not vary at a node does not vary below it.
  void mark_constants(const Open& open) {
    constant_below_ = open.constant;
    n_varying_below_ = open.n_varying - static_cast<i32>(found_constant_.size());
    if (found_constant_.empty()) return;
    constant_below_ = static_cast<i64>(constant_.size());
    constant_.resize(constant_below_ + n_words_);
    std::copy_n(constant_.data() + open.constant, n_words_, constant_.data() + constant_below_);
    for (const i32 f : found_constant_) FeatureBits::add(constant_.data() + constant_below_, f);
  }

  const Problem& p_;
  double gain_unit_;
  Node node_;
  std::vector<Open> stack_;
  i64 n_words_;
  std::vector<i32> feature_;  // those to be scored
  FeatureDraw draw_;
  std::vector<u64> constant_;        // bits of the nodes that wait
  std::vector<i32> found_constant_;  // at the node
  i64 constant_below_ = 0;
  i32 n_varying_below_ = 0;
  Candidate best_;
  Split split_;
  typename Node::Categories categories_[2], *seen_ = categories_, *best_seen_ = categories_ + 1;
  u8 branch_[256] = {};
};

template <int Words>
class Subtrees : public SmallSubtree {
 public:
  Subtrees(const Problem& p, double gain_unit) : p_(p), trees_(p, gain_unit) {}

  bool takes(const Pending& node, const i64* stats) const override {
    return trees_.takes(node.size(), p_.weight_of(stats));
  }
  void grow(const Pending& root, NodeList& list) override {
    constant_.set_others(p_.n_features(), *root.active);
    trees_.grow({root.block.get(), root.block->ids + root.begin, root.size(), constant_.words(),
                 static_cast<i32>(root.active->size()), root.path, root.record, root.depth},
                list);
  }

 private:
  const Problem& p_;
  RowsAsBits<Words> trees_;
  FeatureBits constant_;
};

// Whether the searches that a small node needs are there.
bool can_grow(const Problem& p, const Block& root, const Chooser& chooser) {
  const Params& q = p.params;
  if (!p.is_classification() || !chooser.is_gini() || !root.target.count) return false;
  if (!p.targets.split_factor.empty() || p.targets.n_classes > kMaxByteClasses) return false;
  if (q.min_leaf > 1 || q.min_weight_leaf > 0 || q.leaf_price >= 0 || !q.monotonic.empty())
    return false;
  if (q.random_cut || q.once || q.max_p_value < 1) return false;
  if (q.gaps != GapPolicy::learned && q.gaps != GapPolicy::majority) return false;
  for (i32 f = 0; f < p.n_features(); ++f) {
    const FeatureInfo& info = p.features[f];
    if (info.store == Store::by_row ? info.has_gaps
                                    : p.targets.n_classes != 2 || info.code_bytes != 1 ||
                                          p.columns[f].multiway || p.columns[f].ordered) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::unique_ptr<SmallSubtree> small_subtrees(const Problem& p, const Block& root,
                                             const Chooser& chooser, double gain_unit) {
  if (!can_grow(p, root, chooser)) return nullptr;
  if (SmallNode<3>(p).takes(kMaxShortRows, 0)) return std::make_unique<Subtrees<3>>(p, gain_unit);
  return std::make_unique<Subtrees<2>>(p, gain_unit);
}

}  // namespace treewright
