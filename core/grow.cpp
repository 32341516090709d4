#include "grow.hpp"

#include <algorithm>
#include <atomic>
#include <queue>

#include "extract.hpp"
#include "route.hpp"
#include "split_builder.hpp"
#include "surrogate.hpp"
#include "threads.hpp"

namespace treewright {
namespace {

using Active = std::shared_ptr<const std::vector<i32>>;

// A node that is still to be split. It holds one of two kinds of block.
struct Pending {
  std::shared_ptr<Block<u16>> small;
  std::shared_ptr<Block<u32>> large;
  i64 begin = 0, end = 0;
  i64 record = 0;
  i32 depth = 0;
  u64 path = 0;
  double lower = -kInf, upper = kInf;
  Active active;  // features that still vary here

  i64 size() const { return end - begin; }
};

template <class Id>
std::shared_ptr<Block<Id>>& block_of(Pending& node) {
  if constexpr (sizeof(Id) == 2) {
    return node.small;
  } else {
    return node.large;
  }
}

// A split that was chosen but not carried out.
struct Chosen {
  Candidate candidate;
  Split split;     // complete for Python choosers; built from the candidate otherwise
  bool external = false;
  i64 python_id = -1;
};

// Work on one feature of a smaller node is not worth a thread.
constexpr i64 kSharedWork = 200000;

// A subtree of this size gets a block of its own, which fits the nearest caches.
constexpr i64 kTinyBlock = 1024;

class Grower {
 public:
  Grower(Problem& p, const GrowOptions& options) : p_(p), o_(options) {
    scratch_.resize(std::max(1, p.params.n_threads));
    last_poll_ = std::chrono::steady_clock::now();
  }

  Grown run() {
    Pending root = make_root();
    grown_.lists.push_back(new_list());
    NodeList& list = grown_.lists[0];
    list.add(1);
    std::copy(p_.total.begin(), p_.total.end(), list.stats_of(0));
    list[0].n_samples = p_.n_rows;
    describe(root, list);
    if (!is_terminal(list, 0)) {
      p_.params.max_leaves > 0 ? best_first(std::move(root), list)
                               : depth_first(std::move(root), list);
    }
    return std::move(grown_);
  }

  Pending make_root() {
    Pending root;
    root.end = p_.n_rows;
    root.path = child_path(p_.params.seed, 0);
    if (p_.n_rows <= kSmallBlock) {
      root.small = root_block<u16>(p_);
    } else {
      root.large = root_block<u32>(p_);
    }
    auto active = std::make_shared<std::vector<i32>>();
    for (i32 f = 0; f < p_.n_features() && p_.searchable; ++f) {
      if (!p_.features[f].constant) active->push_back(f);
    }
    root.active = active;
    gain_unit_ = unit_of_gain();
    return root;
  }

  // Scores every feature at the root, with surrogates of `primary` if asked.
  std::vector<std::pair<Candidate, Split>> score_all(i32 primary, std::vector<Surrogate>* found) {
    Pending root = make_root();
    std::vector<std::pair<Candidate, Split>> out;
    with_block(root, [&](auto id) {
      using Id = decltype(id);
      NodeView<Id> view = view_of<Id>(root, p_.total.data());
      for (i32 f = 0; f < p_.n_features(); ++f) {
        Candidate c;
        c.feature = f;
        if (!p_.features[f].constant) c = o_.chooser->best(view, f, scratch_[0]);
        Split split;
        if (c.kind != CandidateKind::none) {
          mark<Id>(view, c, split, scratch_[0]);
          split.gain = c.gain * gain_unit_;
          if (f == primary && found && split.n_branches == 2) {
            *found = find_surrogates(view, f, *root.active);
          }
        }
        out.emplace_back(c, std::move(split));
      }
    });
    return out;
  }

 private:
  template <class F>
  void with_block(Pending& node, F&& f) {
    node.small ? f(u16{}) : f(u32{});
  }

  double unit_of_gain() const {
    if (o_.own_scale) return 1;
    if (p_.is_classification()) {
      double total = 0;
      for (i32 k = 0; k < p_.targets.n_classes; ++k) {
        const double factor = p_.targets.split_factor.empty() ? 1 : p_.targets.split_factor[k];
        total += factor * static_cast<double>(p_.total[k]);
      }
      return 1 / total;
    }
    const double total = static_cast<double>(p_.total[0]) * p_.weight_unit;
    switch (o_.numbers) {
      case NumberCriterion::squared:
        return p_.y_unit * p_.y_unit / p_.weight_unit / total / p_.targets.n_outputs;
      case NumberCriterion::poisson:
        return p_.y_unit / total / p_.targets.n_outputs;
      default:
        return 1 / total / p_.targets.n_outputs;
    }
  }

  template <class Id>
  NodeView<Id> view_of(Pending& node, const i64* stats) {
    NodeView<Id> view{p_, *block_of<Id>(node), node.begin, node.end, stats, {}, node.lower,
                      node.upper, node.path, node.depth};
    CriterionView& v = view.criterion;
    v.problem = &p_;
    v.n_classes = p_.targets.n_classes;
    v.n_outputs = p_.targets.n_outputs;
    v.factor = p_.targets.split_factor.empty() ? nullptr : p_.targets.split_factor.data();
    v.loss = p_.targets.criterion_loss.empty() ? nullptr : p_.targets.criterion_loss.data();
    if (!p_.is_classification()) {
      for (i32 o = 0; o < v.n_outputs; ++o) {
        const i64 w = std::max<i64>(stats[0], 1);
        const i64 centre = stats[1 + o] / w;
        v.centre.push_back(centre);
        v.rest.push_back(static_cast<double>(stats[1 + o] - centre * w) / static_cast<double>(w));
      }
    }
    return view;
  }

  NodeList new_list() const {
    // Two classes under monotonic constraints keep the clipped rate of the second.
    const i32 rates = p_.params.monotonic.empty() ? 0 : 1;
    return NodeList(p_.n_stats, p_.is_classification() ? rates : p_.targets.n_outputs);
  }

  void describe(Pending& node, NodeList& list) {
    NodeRecord& record = list[node.record];
    record.depth = node.depth;
    if (p_.is_classification() || !node.size()) return;
    with_block(node, [&](auto id) {
      using Id = decltype(id);
      record.impurity =
          describe_numbers(p_, o_.numbers, *block_of<Id>(node), node.begin, node.end,
                           list.stats_of(node.record), list.values_of(node.record));
    });
  }

  double risk_of(const NodeList& list, i64 at) const {
    const i64* stats = list.stats_of(at);
    if (!p_.is_classification()) {
      return list[at].impurity * static_cast<double>(stats[0]) / static_cast<double>(p_.total[0]);
    }
    const i32 k = p_.targets.n_classes;
    auto weight = [&](const i64* stats, i32 i) {
      return static_cast<double>(stats[i]) *
             (p_.targets.risk_factor.empty() ? 1 : p_.targets.risk_factor[i]);
    };
    double total = 0, best = kInf;
    for (i32 i = 0; i < k; ++i) total += weight(p_.total.data(), i);
    for (i32 j = 0; j < k; ++j) {
      double cost = 0;
      for (i32 i = 0; i < k; ++i) {
        const double loss = p_.targets.loss.empty() ? i != j : p_.targets.loss[i * k + j];
        cost += loss * weight(stats, i);
      }
      best = std::min(best, cost);
    }
    return best / total;
  }

  bool is_terminal(const NodeList& list, i64 at) const {
    const Params& q = p_.params;
    const NodeRecord& record = list[at];
    const i64* stats = list.stats_of(at);
    if (record.n_samples < q.min_split || record.n_samples < 2 * q.min_leaf ||
        record.depth >= q.max_depth) {
      return true;
    }
    if (p_.is_classification()) {
      i32 present = 0;
      for (i32 k = 0; k < p_.targets.n_classes; ++k) present += stats[k] != 0;
      if (present < 2) return true;
    } else if (!(record.impurity > 0)) {
      return true;
    }
    if (q.min_weight_leaf > 0 &&
        static_cast<double>(p_.weight_of(stats)) * p_.weight_unit <
            2 * q.min_weight_leaf) {
      return true;
    }
    return q.min_risk >= 0 && risk_of(list, at) <= q.min_risk * (1 + 1e-10);
  }

  void poll(i64 finished_rows) {
    if (!o_.poll) return;
    done_.fetch_add(finished_rows, std::memory_order_relaxed);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_poll_ < std::chrono::milliseconds(50)) return;
    last_poll_ = now;
    o_.poll(static_cast<double>(done_.load(std::memory_order_relaxed)) /
            static_cast<double>(p_.n_rows));
  }

  // ---- choosing ---------------------------------------------------------------------------

  // Features to look at: all active ones, or a draw that depends on the node's path alone.
  std::vector<i32> draw_features(const Pending& node) const {
    std::vector<i32> order = *node.active;
    if (p_.params.max_features <= 0 ||
        p_.params.max_features >= static_cast<i32>(order.size())) {
      return order;
    }
    Philox random(p_.params.seed, node.path);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
  }

  template <class Id>
  bool choose(Pending& node, const NodeList& list, bool shared, Scratch& scratch, Chosen& chosen) {
    if (o_.ask) return ask_python<Id>(node, chosen);
    const NodeView<Id> view = view_of<Id>(node, list.stats_of(node.record));
    std::vector<i32> order = draw_features(node);
    const i32 n = static_cast<i32>(order.size());
    const i32 wanted = p_.params.max_features > 0 ? std::min(p_.params.max_features, n) : n;
    if (wanted < n) std::sort(order.begin(), order.begin() + wanted);
    std::vector<Candidate> found(n);
    if (shared && !o_.chooser->needs_gil() && node.size() * wanted >= kSharedWork) {
      parallel_for(wanted, p_.params.n_threads,
                   [&](i64 i, int t) { found[i] = o_.chooser->best(view, order[i], scratch_[t]); },
                   [&] { poll(0); });
    } else {
      for (i32 i = 0; i < wanted; ++i) found[i] = o_.chooser->best(view, order[i], scratch);
    }
    Candidate best;
    for (i32 i = 0; i < wanted; ++i) {
      if (found[i].beats(best)) best = found[i];
    }
    // A draw without any admissible split goes on until there is one.
    for (i32 i = wanted; i < n && best.kind == CandidateKind::none; ++i) {
      best = o_.chooser->best(view, order[i], scratch);
    }
    if (best.kind == CandidateKind::none) return false;
    const double noise = 1e-15 * best.scale * 8;
    if (best.gain <= noise) {
      if (!p_.params.zero_gain || best.gain < -noise) return false;
      best.gain = 0;
    }
    if (best.gain * gain_unit_ < p_.params.min_gain) return false;
    chosen.candidate = best;
    return true;
  }

  template <class Id>
  bool ask_python(Pending& node, Chosen& chosen) {
    const Block<Id>& block = *block_of<Id>(node);
    NodeFacts facts;
    facts.depth = node.depth;
    for (i64 i = node.begin; i < node.end; ++i) facts.rows.push_back(block.row(block.ids[i]));
    if (!p_.unit) {
      for (i64 i = node.begin; i < node.end; ++i) {
        facts.weights.push_back(static_cast<double>(block.target.weight[block.ids[i]]) *
                                p_.weight_unit);
      }
    }
    chosen.external = true;
    return o_.ask(facts, chosen.split, chosen.python_id);
  }

  // ---- carrying out a split ---------------------------------------------------------------

  // Builds the Split of a candidate and marks the branch of every instance that it decides.
  template <class Id>
  void mark(const NodeView<Id>& view, const Candidate& c, Split& split, Scratch& scratch) {
    Block<Id>& block = view.block;
    split.feature = c.feature;
    split.closed = p_.params.closed;
    split.n_branches = 2;
    const FeatureInfo& info = p_.features[c.feature];
    if (info.store == Store::sorted) {
      const Entry<Id>* e = block.entries[info.slot] + view.begin;
      const i64 n = view.size(), known = count_known(e, n);
      scratch.is_wide = false;
      const i64 cut = c.kind == CandidateKind::only_gaps ? known : c.cut;
      for (i64 i = 0; i < cut; ++i) block.side[e[i].id] = 0;
      for (i64 i = cut; i < known; ++i) block.side[e[i].id] = 1;
      for (i64 i = known; i < n; ++i) block.side[e[i].id] = kUndecided;
      split.kind = SplitKind::breaks;
      split.breaks.assign(1, c.kind == CandidateKind::only_gaps ? kInf
                             : p_.params.random_cut
                                 ? c.threshold
                                 : sorted_break(view, c.feature, e[cut - 1], e[cut]));
      if (c.kind == CandidateKind::only_gaps) split.closed = true;
      return;
    }
    mark_groups(view, c, split, scratch);
  }

  template <class Id>
  void mark_groups(const NodeView<Id>& view, const Candidate& c, Split& split,
                   Scratch& scratch) {
    Block<Id>& block = view.block;
    build_groups(view, c.feature, scratch);
    Groups& g = scratch.groups;
    const i32 n = g.size();
    const Column& column = p_.columns[c.feature];
    const FeatureInfo& info = p_.features[c.feature];
    std::vector<i32> branch(n, 1);
    if (c.kind == CandidateKind::multiway) {
      split.n_branches = n;
      for (i32 i = 0; i < n; ++i) branch[i] = i;
    } else if (c.kind == CandidateKind::subset_mask) {
      for (i32 i = 0; i < n; ++i) branch[i] = !((c.mask >> i) & 1);
    } else if (c.kind == CandidateKind::only_gaps) {
      branch.assign(n, 0);
    } else {
      if (!column.ordered) o_.chooser->order_groups(view.criterion, p_, g);
      for (i32 i = 0; i < c.cut; ++i) branch[g.order[i]] = 0;
    }
    if (column.ordered && !column.multiway) {
      split.kind = SplitKind::breaks;
      if (c.kind == CandidateKind::only_gaps) {
        split.breaks.assign(1, kInf);
        split.closed = true;
      } else {
        split.breaks.assign(1, p_.params.random_cut
                                   ? c.threshold
                                   : coded_break(p_, c.feature, g.code[c.cut - 1], g.code[c.cut]));
      }
    } else {
      split.kind = SplitKind::codes;
      for (i32 i = 0; i < n; ++i) {
        split.codes.push_back(static_cast<i32>(g.code[i]));
        split.branches.push_back(branch[i]);
      }
    }
    std::vector<i32> of_code;
    const bool dense = info.n_codes <= 4096;
    if (dense) {
      of_code.assign(info.n_codes, 0);
      for (i32 i = 0; i < n; ++i) of_code[g.code[i]] = branch[i];
    }
    const bool wide = scratch.is_wide = split.n_branches > kMaxNarrowBranches;
    if (wide) scratch.wide.assign(block.n, -1);
    with_code_type(info.code_bytes, [&](auto code) {
      for (i64 i = view.begin; i < view.end; ++i) {
        const Id id = block.ids[i];
        const u32 value = read_code<decltype(code)>(block.codes[info.slot], id);
        i32 b = -1;
        if (value != kGap<u32>) {
          b = dense ? of_code[value]
                    : branch[std::lower_bound(g.code.begin(), g.code.end(), value) - g.code.begin()];
        }
        if (wide) {
          scratch.wide[id] = b;
        } else {
          block.side[id] = b < 0 ? kUndecided : static_cast<u8>(b);
        }
      }
    });
  }

  template <class Id>
  void mark_external(const NodeView<Id>& view, const Split& split, Scratch& scratch) {
    const bool wide = scratch.is_wide = split.n_branches > kMaxNarrowBranches;
    if (wide) scratch.wide.assign(view.block.n, -1);
    for (i64 i = view.begin; i < view.end; ++i) {
      const Id id = view.block.ids[i];
      const i32 b = branch_of(split, p_.columns, view.block.row(id));
      if (wide) {
        scratch.wide[id] = b;
      } else {
        view.block.side[id] = b == kNoBranch ? kUndecided : static_cast<u8>(b);
      }
    }
  }

  // Where the gaps of a node go, once the known instances are marked.
  struct GapDecision {
    i64 count = 0;
    bool fractional = false;
    bool some_stay = false;
    std::vector<Surrogate> surrogates;
  };

  template <class Id>
  GapDecision decide_gaps(const NodeView<Id>& view, const Chosen& chosen, Split& split,
                          const std::vector<i32>& active, Scratch& scratch) {
    GapDecision decision;
    Block<Id>& block = view.block;
    const bool wide = scratch.is_wide;
    auto undecided = [&](Id id) {
      return wide ? scratch.wide[id] < 0 : block.side[id] == kUndecided;
    };
    auto assign = [&](Id id, i32 b) {
      if (wide) {
        scratch.wide[id] = b;
      } else {
        block.side[id] = static_cast<u8>(b);
      }
    };
    std::vector<double> weight(split.n_branches, 0);
    i64 gaps = 0;
    for (i64 i = view.begin; i < view.end; ++i) {
      const Id id = block.ids[i];
      if (undecided(id)) {
        ++gaps;
      } else {
        weight[wide ? scratch.wide[id] : block.side[id]] += instance_weight(block.target, id);
      }
    }
    decision.count = gaps;
    i32 heaviest = 0;
    for (i32 b = 1; b < split.n_branches; ++b) {
      if (weight[b] > weight[heaviest]) heaviest = b;
    }
    const GapPolicy policy = p_.params.gaps;
    if (chosen.external && split.gap_branch >= 0) {
      heaviest = split.gap_branch;  // the chooser knows better
    }
    split.gap_branch = heaviest;
    if (policy == GapPolicy::surrogate) {
      if (split.n_branches == 2 && p_.params.max_surrogates > 0 && !chosen.external) {
        decision.surrogates = find_surrogates(view, split.feature, active);
      }
      const bool tie = split.n_branches == 2 && weight[0] == weight[1];
      if (p_.params.surrogate_stop || tie) split.gap_branch = kGapStop;
    } else if (policy == GapPolicy::fractional) {
      split.gap_branch = kGapFraction;
      decision.fractional = gaps > 0;
      return decision;
    } else if (policy == GapPolicy::own_branch && gaps && !chosen.external) {
      split.gap_branch = split.n_branches++;
      split.own_gap_branch = true;
    } else if (policy == GapPolicy::learned && chosen.candidate.learned_gaps) {
      split.gap_branch = chosen.candidate.kind == CandidateKind::multiway
                             ? static_cast<i32>(chosen.candidate.cut)
                             : !chosen.candidate.gaps_left;
    }
    if (!gaps) return decision;
    for (i64 i = view.begin; i < view.end; ++i) {
      const Id id = block.ids[i];
      if (!undecided(id)) continue;
      i32 b = kNoBranch;
      for (const Surrogate& s : decision.surrogates) {
        b = branch_of(s.split, p_.columns, block.row(id));
        if (b != kNoBranch) break;
      }
      if (b == kNoBranch) b = split.gap_branch;
      if (b == kGapStop) {
        decision.some_stay = true;
        b = wide ? split.n_branches : kStays;
      }
      assign(id, b);
    }
    return decision;
  }

  // Splits a node: marks, decides gaps, makes the children's records and moves the instances.
  // Children that can be split again are appended to `children`.
  template <class Id>
  void apply(Pending& node, Chosen& chosen, NodeList& list, bool shared, Scratch& scratch,
             std::vector<Pending>& children) {
    const NodeView<Id> view = view_of<Id>(node, list.stats_of(node.record));
    Split split;
    if (chosen.external) {
      split = std::move(chosen.split);
      list[node.record].python_id = static_cast<i32>(chosen.python_id);
      mark_external(view, split, scratch);
    } else {
      mark(view, chosen.candidate, split, scratch);
      split.gain = chosen.candidate.gain * gain_unit_;
    }
    GapDecision gaps = decide_gaps(view, chosen, split, *node.active, scratch);
    list[node.record].n_gaps = static_cast<i32>(gaps.count);
    list.set_split(node.record, split, gaps.surrogates);
    if (gaps.fractional) {
      apply_fractional<Id>(node, split, list, scratch, children);
    } else {
      apply_plain<Id>(node, split, gaps.some_stay, list, shared, scratch, children);
    }
  }

  static i64 add_children(NodeList& list, i64 parent, i32 count) {
    const i64 first = list.add(count);
    list[parent].first_child = static_cast<i32>(first);
    // An empty branch keeps its parent's numbers.
    for (i64 i = first; i < first + count; ++i) {
      std::copy_n(list.values_of(parent), list.n_values, list.values_of(i));
    }
    return first;
  }

  // Bounds of the children of a split on a constrained feature, or below one.
  void bound(const Pending& node, const Split& split, const NodeList& list, i64 first,
             std::vector<Pending>& kids) const {
    if (p_.params.monotonic.empty() || split.kind != SplitKind::breaks) return;
    const i32 direction = p_.params.monotonic[split.feature];
    if (!direction || kids.size() != 2) return;
    auto middle = [&](i64 i) {
      if (o_.numbers == NumberCriterion::absolute && !p_.is_classification()) {
        return list.values_of(i)[0];
      }
      if (p_.is_classification()) return rate(list, i);
      return static_cast<double>(list.stats_of(i)[1]) / static_cast<double>(list.stats_of(i)[0]);
    };
    const double mid = (middle(first) + middle(first + 1)) / 2;
    Pending& low = kids[direction > 0 ? 0 : 1];
    Pending& high = kids[direction > 0 ? 1 : 0];
    low.upper = std::min(low.upper, mid);
    high.lower = std::max(high.lower, mid);
  }

  // Below a constrained split, values are clipped to its bounds: splits on other features stay
  // free, and the tree is monotonic all the same (as scikit-learn does).
  void clip(const Pending& node, NodeList& list) const {
    if (p_.params.monotonic.empty() || (node.lower == -kInf && node.upper == kInf)) return;
    double* value = list.values_of(node.record);
    if (!p_.is_classification()) {
      const double unit =
          o_.numbers == NumberCriterion::absolute ? 1.0 : p_.y_unit / p_.weight_unit;
      value[0] = std::clamp(value[0], node.lower * unit, node.upper * unit);
    } else if (node.size()) {
      value[0] = std::clamp(rate(list, node.record), node.lower, node.upper);
    }
  }

  // Rate of the second class under the criterion's factors.
  double rate(const NodeList& list, i64 at) const {
    CriterionView v;
    v.factor = p_.targets.split_factor.empty() ? nullptr : p_.targets.split_factor.data();
    const double x1 = class_weight(v, list.stats_of(at), 1);
    return x1 / (class_weight(v, list.stats_of(at), 0) + x1);
  }

  template <class Id>
  void apply_plain(Pending& node, const Split& split, bool some_stay, NodeList& list, bool shared,
                   Scratch& scratch, std::vector<Pending>& children) {
    Block<Id>& block = *block_of<Id>(node);
    const i64 n = node.size();
    Branches branches;
    branches.n = split.n_branches;
    branches.some_stay = some_stay;
    branches.narrow = block.side;
    if (scratch.is_wide) branches.wide = scratch.wide.data();
    std::vector<i64> sizes(split.n_branches + 1, 0);
    Id* ids = block.ids + node.begin;
    for (i64 i = 0; i < n; ++i) ++sizes[branches.of(ids[i])];
    const bool two = split.n_branches == 2 && !some_stay;
    if (two) {
      partition_two(ids, n, block.side, true, true, scratch.bytes);
    } else {
      partition_many(ids, n, branches, sizes, scratch.bytes);
    }
    const i64 first = add_children(list, node.record, split.n_branches);
    std::vector<Pending> kids(split.n_branches);
    i64 begin = node.begin;
    for (i32 b = 0; b < split.n_branches; ++b) {
      Pending& kid = kids[b];
      kid = node;
      kid.begin = begin;
      kid.end = begin += sizes[b];
      kid.record = first + b;
      kid.depth = node.depth + 1;
      kid.path = child_path(node.path, b);
      list[kid.record].n_samples = kid.size();
      i64* stats = list.stats_of(kid.record);
      with_target_kind(p_, [&](auto classes, auto unit) {
        for (i64 i = kid.begin; i < kid.end; ++i) {
          add_instance<classes.value, unit.value>(p_, block.target, block.ids[i], stats);
        }
      });
      describe(kid, list);
    }
    bound(node, split, list, first, kids);
    for (const Pending& kid : kids) clip(kid, list);
    std::vector<bool> keep(split.n_branches);
    bool any = false;
    for (i32 b = 0; b < split.n_branches; ++b) {
      keep[b] = kids[b].size() > 0 && !is_terminal(list, first + b);
      any = any || keep[b];
    }
    if (!any) return;
    move_entries<Id>(node, split, branches, sizes, keep, two, shared, scratch);
    for (i32 b = 0; b < split.n_branches; ++b) {
      if (!keep[b]) continue;
      drop_constants<Id>(kids[b]);
      if (!o_.ask && kids[b].active->empty()) continue;
      children.push_back(std::move(kids[b]));
    }
  }

  template <class Id>
  void move_entries(Pending& node, const Split& split, const Branches& branches,
                    const std::vector<i64>& sizes, const std::vector<bool>& keep, bool two,
                    bool shared, Scratch& scratch) {
    Block<Id>& block = *block_of<Id>(node);
    const i64 n = node.size();
    std::vector<i32> move;
    for (i32 f : *node.active) {
      // The split feature is in order already unless gaps or a reversal moved something.
      const bool ordered = f == split.feature && two && !p_.features[f].has_gaps;
      if (p_.features[f].store == Store::sorted && !ordered) move.push_back(f);
    }
    auto one = [&](i32 f, Scratch& s) {
      Entry<Id>* entries = block.entries[p_.features[f].slot] + node.begin;
      if (two) {
        partition_two(entries, n, block.side, keep[0], keep[1], s.bytes);
      } else {
        partition_many(entries, n, branches, sizes, s.bytes);
      }
    };
    if (shared && n * static_cast<i64>(move.size()) >= kSharedWork) {
      parallel_for(static_cast<i64>(move.size()), p_.params.n_threads,
                   [&](i64 i, int t) { one(move[i], scratch_[t]); }, [&] { poll(0); });
    } else {
      for (i32 f : move) one(f, scratch);
    }
  }

  // A feature that no longer varies at a node varies nowhere below it.
  template <class Id>
  void drop_constants(Pending& node) {
    const Block<Id>& block = *block_of<Id>(node);
    std::vector<i32> left;
    for (i32 f : *node.active) {
      const FeatureInfo& info = p_.features[f];
      if (info.store == Store::sorted) {
        const Entry<Id>* e = block.entries[info.slot];
        if (e[node.begin].rank == e[node.end - 1].rank) continue;
      }
      left.push_back(f);
    }
    if (left.size() < node.active->size()) {
      node.active = std::make_shared<const std::vector<i32>>(std::move(left));
    }
  }

  // Gaps go down every branch with the branch's share of the known weight.
  template <class Id>
  void apply_fractional(Pending& node, const Split& split, NodeList& list, Scratch& scratch,
                        std::vector<Pending>& children) {
    Block<Id>& block = *block_of<Id>(node);
    const bool wide = scratch.is_wide;
    std::vector<double> weight(split.n_branches, 0);
    double total = 0;
    for (i64 i = node.begin; i < node.end; ++i) {
      const Id id = block.ids[i];
      const i32 b = wide ? scratch.wide[id] : block.side[id] == kUndecided ? -1 : block.side[id];
      if (b < 0) continue;
      weight[b] += instance_weight(block.target, id);
      total += instance_weight(block.target, id);
    }
    const i64 first = add_children(list, node.record, split.n_branches);
    std::vector<Pending> kids(split.n_branches);
    for (i32 b = 0; b < split.n_branches; ++b) {
      std::vector<Id> picked;
      std::vector<double> share;
      for (i64 i = node.begin; i < node.end; ++i) {
        const Id id = block.ids[i];
        const i32 own = wide ? scratch.wide[id] : block.side[id] == kUndecided ? -1 : block.side[id];
        if (own >= 0 && own != b) continue;
        picked.push_back(id);
        share.push_back(own < 0 ? weight[b] / total : 1.0);
      }
      Pending& kid = kids[b];
      kid = node;
      block_of<Id>(kid) = extract<Id>(p_, block, node.begin, node.end, picked, share.data(),
                                      *node.active, scratch);
      kid.begin = 0;
      kid.end = static_cast<i64>(picked.size());
      kid.record = first + b;
      kid.depth = node.depth + 1;
      kid.path = child_path(node.path, b);
      list[kid.record].n_samples = kid.size();
      for (i64 i = 0; i < kid.end; ++i) {
        add_any(p_, block_of<Id>(kid)->target, i, list.stats_of(kid.record));
      }
      describe(kid, list);
    }
    bound(node, split, list, first, kids);
    for (const Pending& kid : kids) clip(kid, list);
    for (i32 b = 0; b < split.n_branches; ++b) {
      if (!kids[b].size() || is_terminal(list, first + b)) continue;
      drop_constants<Id>(kids[b]);
      if (!o_.ask && kids[b].active->empty()) continue;
      children.push_back(std::move(kids[b]));
    }
  }

  // ---- growth order -----------------------------------------------------------------------

  // Chooses and applies; children that can be split again go to `children`.
  void split_node(Pending& node, NodeList& list, bool shared, Scratch& scratch,
                  std::vector<Pending>& children) {
    with_block(node, [&](auto id) {
      using Id = decltype(id);
      Chosen chosen;
      if (choose<Id>(node, list, shared, scratch, chosen)) {
        apply<Id>(node, chosen, list, shared, scratch, children);
      }
    });
  }

  void depth_first(Pending root, NodeList& list) {
    const int threads = o_.ask || (o_.chooser && o_.chooser->needs_gil()) ? 1 : p_.params.n_threads;
    std::vector<Pending> large, small;
    const i64 limit = threads > 1 ? std::max<i64>(p_.n_rows / (8 * threads), 2048) : 0;
    auto sort_out = [&](std::vector<Pending>& from) {
      for (Pending& node : from) {
        const bool hand_out = threads > 1 ? node.size() <= limit : true;
        (hand_out ? small : large).push_back(std::move(node));
      }
      from.clear();
    };
    std::vector<Pending> next;
    next.push_back(std::move(root));
    sort_out(next);
    while (!large.empty()) {
      Pending node = std::move(large.back());
      large.pop_back();
      split_node(node, list, true, scratch_[0], next);
      sort_out(next);
      poll(0);
    }
    hand_out(small, list, threads);
  }

  // Grows whole subtrees, the largest first, each into a list of its own.
  void hand_out(std::vector<Pending>& nodes, NodeList& list, int threads) {
    if (threads <= 1 || nodes.size() < 2) {
      for (Pending& node : nodes) {
        subtree(std::move(node), list, scratch_[0], true);
      }
      return;
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const Pending& a, const Pending& b) { return a.size() > b.size(); });
    const std::size_t base = grown_.lists.size();
    std::vector<NodeList> lists(nodes.size(), new_list());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const i64 at = nodes[i].record;
      lists[i].add(1);
      lists[i][0] = list[at];
      std::copy_n(list.stats_of(at), list.n_stats, lists[i].stats_of(0));
      std::copy_n(list.values_of(at), list.n_values, lists[i].values_of(0));
      list[at].child_list = static_cast<i32>(base + i);
      nodes[i].record = 0;
    }
    parallel_for(static_cast<i64>(nodes.size()), threads, [&](i64 i, int t) {
      subtree(std::move(nodes[i]), lists[i], scratch_[t], t == 0);
    });
    for (NodeList& l : lists) grown_.lists.push_back(std::move(l));
  }

  void subtree(Pending root, NodeList& list, Scratch& scratch, bool may_poll) {
    std::vector<Pending> stack, next;
    stack.push_back(std::move(root));
    while (!stack.empty()) {
      Pending node = std::move(stack.back());
      stack.pop_back();
      if (!o_.ask) {
        if (node.large && node.size() <= kSmallBlock) {
          localize(node, *node.large, scratch);
        } else if (node.small && node.size() <= kTinyBlock && node.small->n > 4 * kTinyBlock) {
          localize(node, *node.small, scratch);
        }
      }
      const i64 before = node.size();
      split_node(node, list, false, scratch, next);
      i64 open = 0;
      for (auto it = next.rbegin(); it != next.rend(); ++it) {
        open += it->size();
        stack.push_back(std::move(*it));
      }
      next.clear();
      if (may_poll) {
        poll(before - open);
      } else {
        done_.fetch_add(before - open, std::memory_order_relaxed);
      }
    }
  }

  // Gives a subtree a block of its own with 16-bit ids: what it gathers lies closer together.
  template <class Id>
  void localize(Pending& node, const Block<Id>& from, Scratch& scratch) {
    const std::vector<Id> picked(from.ids + node.begin, from.ids + node.end);
    node.small = extract<u16>(p_, from, node.begin, node.end, picked, nullptr, *node.active, scratch);
    node.large.reset();
    node.begin = 0;
    node.end = static_cast<i64>(picked.size());
  }

  // Best first: the node whose split gains most is split next, up to max_leaves.
  void best_first(Pending root, NodeList& list) {
    struct Open {
      Pending node;
      Chosen chosen;
    };
    std::vector<std::unique_ptr<Open>> open;
    auto later = [&](std::size_t a, std::size_t b) {
      const double ga = open[a]->chosen.candidate.gain, gb = open[b]->chosen.candidate.gain;
      return ga != gb ? ga < gb : open[a]->node.record > open[b]->node.record;
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> queue(later);
    auto consider_node = [&](Pending node) {
      auto item = std::make_unique<Open>();
      item->node = std::move(node);
      bool found = false;
      with_block(item->node, [&](auto id) {
        found = choose<decltype(id)>(item->node, list, true, scratch_[0], item->chosen);
      });
      if (!found) return;
      if (item->chosen.external) item->chosen.candidate.gain = item->chosen.split.gain;
      open.push_back(std::move(item));
      queue.push(open.size() - 1);
    };
    consider_node(std::move(root));
    i64 leaves = 1;
    std::vector<Pending> next;
    while (!queue.empty() && leaves < p_.params.max_leaves) {
      const std::size_t at = queue.top();
      queue.pop();
      const i64 before = list.size();
      with_block(open[at]->node, [&](auto id) {
        apply<decltype(id)>(open[at]->node, open[at]->chosen, list, true, scratch_[0], next);
      });
      open[at].reset();
      leaves += list.size() - before - 1;
      for (Pending& node : next) consider_node(std::move(node));
      next.clear();
      poll(0);
    }
  }

  Problem& p_;
  const GrowOptions& o_;
  Grown grown_;
  std::vector<Scratch> scratch_;
  std::atomic<i64> done_{0};
  std::chrono::steady_clock::time_point last_poll_;
  double gain_unit_ = 1;
};

}  // namespace

Grown grow(Problem& problem, const GrowOptions& options) { return Grower(problem, options).run(); }

std::vector<std::pair<Candidate, Split>> candidates(Problem& problem, const GrowOptions& options,
                                                    i32 primary,
                                                    std::vector<Surrogate>* surrogates) {
  return Grower(problem, options).score_all(primary, surrogates);
}

}  // namespace treewright
