#include "small_subtree.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "../children.hpp"
#include "../split_builder.hpp"
#include "../stopping.hpp"
#include "small_node.hpp"

namespace treewright {
namespace {

struct SubtreeRoot {
  const Block* block;
  const u32* ids;  // instances of the block
  i64 n_rows;
  const i32* features;
  i32 n_features;
  u64 path;
  i64 record;
  i32 depth;
};

// Stands where nothing is below.
struct Nothing {
  Nothing(const Problem&, double) {}
  void grow(const SubtreeRoot&, NodeList&) {}
};

// Subtrees of up to 64 rows per word.
template <int Words>
class RowsAsBits {
 public:
  using Node = SmallNode<Words>;
  using Rows = typename Node::Rows;

  RowsAsBits(const Problem& p, double gain_unit)
      : p_(p), gain_unit_(gain_unit), node_(p), is_constant_(p.n_features(), 0), below_(p, gain_unit) {}

  bool takes(i64 n_rows, i64 weight) const { return node_.takes(n_rows, weight); }

  // The subtree of a node with some rows of a block and a list of features that may vary.
  void grow(const SubtreeRoot& root, NodeList& list) {
    if (Words > 1 && root.n_rows <= kNextRows) return below_.grow(root, list);
    active_.assign(root.features, root.features + root.n_features);
    const Rows rows = node_.load(*root.block, root.ids, root.n_rows);
    stack_.push_back({rows, root.path, root.record, root.depth, 0, root.n_features});
    while (!stack_.empty()) {
      const Open open = stack_.back();
      stack_.pop_back();
      active_.resize(open.first + open.n_active);  // those that wait have lists made before
      if (Words > 1 && open.rows.count() <= kNextRows) {
        u32 ids[kNextRows];
        i64 n = 0;
        open.rows.each([&](int i) { ids[n++] = node_.id(i); });
        below_.grow({root.block, ids, n, active_.data() + open.first, open.n_active, open.path,
                     open.record, open.depth}, list);
        continue;
      }
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
    i32 first, n_active;  // its list of features that may vary
  };

  bool choose(const Open& open) {
    i32* feature = active_.data() + open.first;
    const i32 n = open.n_active;
    const bool draws = p_.params.max_features > 0 && p_.params.max_features < n;
    const i32 wanted = draws ? p_.params.max_features : n, most = p_.params.redraw ? n : wanted;
    const double enough = node_.most_gain();
    Philox random(p_.params.seed, open.path);
    best_ = {};
    constant_.clear();
    drawn_.clear();
    for (i32 i = 0; i < most && best_.gain < enough; ++i) {
      if (i >= wanted && best_.kind != CandidateKind::none) break;
      if (draws) {
        const i32 other = i + static_cast<i32>(random.below32(static_cast<u32>(n - i)));
        std::swap(feature[i], feature[other]);
        drawn_.push_back(other);
      }
      score(feature[i]);
    }
    // Back to the order of columns.
    for (std::size_t i = drawn_.size(); i-- > 0;) std::swap(feature[i], feature[drawn_[i]]);
    return is_worth_it(p_.params, gain_unit_, best_);
  }

  void score(i32 f) {
    const FeatureInfo& info = p_.features[f];
    Candidate found;
    if (info.store == Store::rows) {
      const Cut cut = node_.best_cut(info.slot);
      if (cut.constant) constant_.push_back(f);
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
    if (info.store == Store::rows) {
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
    bool has_list = false;
    for (int b = 1; b >= 0; --b) {
      list[first + b].n_samples = n[b];
      if (is_terminal(p_, list, first + b, open.depth + 1)) continue;
      if (!has_list) make_list(open);
      has_list = true;
      if (!n_below_) continue;
      stack_.push_back({rows[b], child_path(open.path, b), first + b, open.depth + 1, first_below_,
                        n_below_});
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
    for (i64 i = 0; !only_gaps && i < best_.cut; ++i) branch_[best_seen_->by_rate.order[i].code] = 0;
    Node::each_code(*best_seen_, [&](u32 c) {
      split_.codes.push_back(static_cast<i32>(c));
      split_.branches.push_back(branch_[c]);
    });
    return node_.rows_of(info, branch_);
  }

  // The features of the children: those that do not vary are not drawn again below the node.
  void make_list(const Open& open) {
    first_below_ = open.first;
    n_below_ = open.n_active;
    if (constant_.empty() || !p_.params.redraw) return;
    for (const i32 f : constant_) is_constant_[f] = 1;
    first_below_ = static_cast<i32>(active_.size());
    active_.resize(first_below_ + open.n_active);
    const i32* from = active_.data() + open.first;
    i32* to = active_.data() + first_below_;
    i32 n = 0;  // not the member, which the list might overlap for all the compiler knows
    for (i32 i = 0; i < open.n_active; ++i) {
      to[n] = from[i];
      n += !is_constant_[from[i]];
    }
    n_below_ = n;
    active_.resize(first_below_ + n_below_);
    for (const i32 f : constant_) is_constant_[f] = 0;
  }

  const Problem& p_;
  double gain_unit_;
  Node node_;
  std::vector<Open> stack_;
  std::vector<i32> active_, constant_, drawn_;
  std::vector<u8> is_constant_;
  i32 first_below_ = 0, n_below_ = 0;
  Candidate best_;
  Split split_;
  typename Node::Categories categories_[2], *seen_ = categories_, *best_seen_ = categories_ + 1;
  u8 branch_[256] = {};
  // Of nodes for which fewer words are enough: most of them, and one word takes half of the time.
  static constexpr i64 kNextRows = 64;
  std::conditional_t<(Words > 1), RowsAsBits<1>, Nothing> below_;
};

template <int Words>
class Subtrees : public SmallSubtree {
 public:
  Subtrees(const Problem& p, double gain_unit) : p_(p), trees_(p, gain_unit) {}

  bool takes(const Pending& node, const i64* stats) const override {
    return trees_.takes(node.size(), p_.weight_of(stats));
  }
  void grow(const Pending& root, NodeList& list) override {
    const std::vector<i32>& active = *root.active;
    trees_.grow({root.block.get(), root.block->ids + root.begin, root.size(), active.data(),
                 static_cast<i32>(active.size()), root.path, root.record, root.depth}, list);
  }

 private:
  const Problem& p_;
  RowsAsBits<Words> trees_;
};

// Whether the searches that a small node needs are there.
bool can_grow(const Problem& p, const Block& root, const Chooser& chooser) {
  const Params& q = p.params;
  if (!p.rows || !p.is_classification() || !chooser.is_gini() || !root.target.count) return false;
  if (!p.targets.split_factor.empty() || p.targets.n_classes > kMaxByteClasses) return false;
  if (q.min_leaf > 1 || q.min_weight_leaf > 0 || q.leaf_price >= 0 || !q.monotonic.empty()) return false;
  if (q.random_cut || q.once) return false;
  if (q.gaps != GapPolicy::learned && q.gaps != GapPolicy::majority) return false;
  for (i32 f = 0; f < p.n_features(); ++f) {
    const FeatureInfo& info = p.features[f];
    if (info.store == Store::rows ? info.has_gaps
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
