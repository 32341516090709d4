// One node: choosing its split, carrying it out, describing its children.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "extract.hpp"
#include "grow.hpp"
#include "mark.hpp"
#include "threads.hpp"

namespace treewright {

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

// Work on one feature of a smaller node is not worth a thread.
constexpr i64 kSharedWork = 200000;

class NodeSplitter {
 public:
  NodeSplitter(Problem& p, const GrowOptions& options)
      : p_(p), o_(options), marker_(p, options.chooser) {
    scratch_.resize(std::max(1, p.params.n_threads));
    last_poll_ = std::chrono::steady_clock::now();
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
    if (!p_.is_classification()) centre_on(v, stats);
    return view;
  }

  NodeList new_list() const {
    // Two classes under monotonic constraints keep the clipped rate of the second.
    const i32 rates = p_.params.monotonic.empty() ? 0 : 1;
    return NodeList(p_.n_stats, p_.is_classification() ? rates : p_.targets.n_outputs);
  }

  template <class Id>
  void describe(const Block<Id>& block, const Pending& node, NodeList& list) {
    NodeRecord& record = list[node.record];
    record.depth = node.depth;
    if (p_.is_classification() || !node.size()) return;
    record.impurity = describe_numbers(p_, o_.numbers, block, node.begin, node.end,
                                       list.stats_of(node.record), list.values_of(node.record));
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
  bool choose(Pending& node, NodeList& list, bool shared, Scratch& scratch, Chosen& chosen) {
    if (o_.ask) return ask_python<Id>(node, list, chosen);
    const NodeView<Id> view = view_of<Id>(node, list.stats_of(node.record));
    std::vector<i32> order = draw_features(node);
    const i32 n = static_cast<i32>(order.size());
    const i32 wanted = p_.params.max_features > 0 ? std::min(p_.params.max_features, n) : n;
    if (wanted < n) std::sort(order.begin(), order.begin() + wanted);
    Candidate best;
    if (shared && !o_.chooser->needs_gil() && node.size() * wanted >= kSharedWork) {
      std::vector<Candidate> found(n);
      parallel_for(wanted, p_.params.n_threads,
                   [&](i64 i, int t) { found[i] = o_.chooser->best(view, order[i], scratch_[t]); },
                   [&] { poll(0); });
      for (const Candidate& candidate : found) {
        if (candidate.beats(best)) best = candidate;
      }
    } else {
      // No split gains more than all impurity there is; one that does ends the search.
      const double enough = most_gain(view, list[node.record]) * (1 - 1e-13);
      for (i32 i = 0; i < wanted && best.gain < enough; ++i) {
        const Candidate candidate = o_.chooser->best(view, order[i], scratch);
        if (candidate.beats(best)) best = candidate;
      }
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

  // The gain of a split into pure children. Only small nodes have a chance to find one.
  template <class Id>
  double most_gain(const NodeView<Id>& view, const NodeRecord& record) const {
    if (view.size() > 64) return kInf;
    if (p_.is_classification()) return o_.chooser->most_gain(view.stats, view.criterion);
    if (o_.own_scale) return kInf;
    const double share = static_cast<double>(view.stats[0]) / static_cast<double>(p_.total[0]);
    return record.impurity * share / gain_unit_;
  }

  template <class Id>
  bool ask_python(Pending& node, NodeList& list, Chosen& chosen) {
    const Block<Id>& block = *block_of<Id>(node);
    NodeFacts facts;
    facts.depth = node.depth;
    facts.path = node.path;
    facts.rows.reserve(node.size());
    for (i64 i = node.begin; i < node.end; ++i) facts.rows.push_back(block.row(block.ids[i]));
    if (!p_.unit) {
      for (i64 i = node.begin; i < node.end; ++i) {
        facts.weights.push_back(static_cast<double>(block.target.weight[block.ids[i]]) *
                                p_.weight_unit);
      }
    }
    PythonAnswer answer = o_.ask(std::move(facts));
    list[node.record].python_id = static_cast<i32>(answer.id);
    chosen.external = true;
    chosen.split = std::move(answer.split);
    chosen.surrogates = std::move(answer.surrogates);
    return answer.is_split;
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
      marker_.mark_external(view, split, scratch);
    } else {
      marker_.mark(view, chosen.candidate, split, scratch);
      split.gain = chosen.candidate.gain * gain_unit_;
    }
    Marker::GapDecision gaps = marker_.decide_gaps(view, chosen, split, *node.active, scratch);
    list[node.record].n_gaps = static_cast<i32>(gaps.count);
    list.set_split(node.record, split, gaps.surrogates);
    if (gaps.fractional) {
      apply_fractional<Id>(node, split, list, scratch, children);
    } else {
      apply_plain<Id>(node, split, gaps.some_stay, list, shared, scratch, children);
    }
  }

  // A child without instances yet. Most become leaves and never need a block.
  static Pending child_of(const Pending& node, i64 record, i32 branch) {
    Pending kid;
    kid.record = record;
    kid.depth = node.depth + 1;
    kid.path = child_path(node.path, branch);
    kid.lower = node.lower;
    kid.upper = node.upper;
    return kid;
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
      Pending& kid = kids[b] = child_of(node, first + b, b);
      kid.begin = begin;
      kid.end = begin += sizes[b];
      list[kid.record].n_samples = kid.size();
      i64* stats = list.stats_of(kid.record);
      with_target_kind(p_, [&](auto classes, auto unit) {
        for (i64 i = kid.begin; i < kid.end; ++i) {
          add_instance<classes.value, unit.value>(p_, block.target, block.ids[i], stats);
        }
      });
      describe(block, kid, list);
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
      block_of<Id>(kids[b]) = block_of<Id>(node);
      kids[b].active = node.active;
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
      Pending& kid = kids[b] = child_of(node, first + b, b);
      kid.active = node.active;
      block_of<Id>(kid) = extract<Id>(p_, block, node.begin, node.end, picked, share.data(),
                                      *node.active, scratch);
      kid.begin = 0;
      kid.end = static_cast<i64>(picked.size());
      list[kid.record].n_samples = kid.size();
      for (i64 i = 0; i < kid.end; ++i) {
        add_any(p_, block_of<Id>(kid)->target, i, list.stats_of(kid.record));
      }
      describe(*block_of<Id>(kid), kid, list);
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

 protected:
  Problem& p_;
  const GrowOptions& o_;
  Marker marker_;
  std::vector<Scratch> scratch_;
  std::atomic<i64> done_{0};
  std::chrono::steady_clock::time_point last_poll_;
  double gain_unit_ = 1;
};

}  // namespace treewright
