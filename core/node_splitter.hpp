// One node: choosing its split, carrying it out, describing its children.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "extract.hpp"
#include "grow.hpp"
#include "kept_node.hpp"
#include "mark.hpp"
#include "stopping.hpp"
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
  std::vector<i64> tables;  // of its coded features (groups.hpp), where they pay

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

// Finds the surrogates of a split, once it is known that it stays.
using FindLater = std::function<void()>;

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
    if (o_.root) {
      root.large = o_.root;
      root.end = o_.root_size;
    } else if (p_.n_rows <= kSmallBlock) {
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
    if (o_.chooser) o_.chooser->prepare(p_);
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
  NodeView<Id> view_of(Pending& node, const i64* stats, Scratch& scratch) {
    Block<Id>& block = *block_of<Id>(node);
    if (scratch.side.size() < static_cast<std::size_t>(block.n)) scratch.side.resize(block.n);
    NodeView<Id> view{p_, block, node.begin, node.end, stats, {}, node.lower, node.upper,
                      node.path, node.depth, node.tables.empty() ? nullptr : node.tables.data()};
    view.side = scratch.side.data();
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
    if (p_.is_classification() || !node.size()) return;
    record.impurity = describe_numbers(p_, o_.numbers, block, node.begin, node.end,
                                       list.stats_of(node.record), list.values_of(node.record));
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


  bool draws(const Pending& node) const {
    return p_.params.max_features > 0 &&
           p_.params.max_features < static_cast<i32>(node.active->size());
  }

  // Brings feature `at` of a draw to its place; the draw depends on the node's path alone.
  static void draw_feature(std::vector<i32>& order, std::size_t at, Philox& random) {
    std::swap(order[at], order[at + random.below32(static_cast<u32>(order.size() - at))]);
  }

  template <class Id>
  bool choose(Pending& node, NodeList& list, bool shared, Scratch& scratch, Chosen& chosen) {
    if (o_.ask) return ask_python<Id>(node, list, chosen);
    if (node.tables.empty() && tables_pay(node.size())) {
      node.tables = make_tables(*block_of<Id>(node), node, *node.active, shared, scratch);
    }
    NodeView<Id> view = view_of<Id>(node, list.stats_of(node.record), scratch);
    const i32 n = static_cast<i32>(node.active->size());
    const i32 wanted = draws(node) ? p_.params.max_features : n;
    // Of equal splits the feature that was drawn first wins. In column order the first columns would
    // have every tie of a small node, and their importances would grow with it.
    Philox random(p_.params.seed, node.path);
    if (wanted < n) {
      scratch.order = *node.active;
      for (i32 i = 0; i < wanted; ++i) draw_feature(scratch.order, i, random);
    }
    const std::vector<i32>& order = wanted < n ? scratch.order : *node.active;
    Candidate best;
    const bool in_parallel =
        shared && !o_.chooser->needs_gil() && node.size() * wanted >= kSharedWork;
    if (p_.rows) {
      best = best_of_rows(node, view, order.data(), wanted, scratch);
    } else if (in_parallel || o_.chooser->picks()) {
      std::vector<Candidate> found(n);
      for_each(wanted, node.size(), in_parallel, scratch, [&](i64 i, Scratch& s) {
        found[i] = o_.chooser->best(view, order[i], s);
      });
      best = winner_of(found);
    } else {
      // No split gains more than all impurity there is; one that does ends the search.
      const double enough = most_gain(view, list[node.record]) * (1 - 1e-13);
      for (i32 i = 0; i < wanted && best.gain < enough; ++i) {
        const Candidate candidate = o_.chooser->best(view, order[i], scratch);
        if (candidate.beats(best)) best = candidate;
        view.to_beat = std::max(0.0, best.gain);
      }
    }
    // A draw without any admissible split goes on until there is one, unless that makes a leaf.
    const i32 most = p_.params.redraw ? n : wanted;
    for (i32 i = wanted; i < most && best.kind == CandidateKind::none && !o_.chooser->picks();
         ++i) {
      draw_feature(scratch.order, i, random);
      best = p_.rows ? best_of_rows(node, view, order.data() + i, 1, scratch)
                     : o_.chooser->best(view, order[i], scratch);
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

  // The best of some features where ordered ones are kept by row. Those that do not vary are not
  // drawn again below the node.
  template <class Id>
  Candidate best_of_rows(Pending& node, const NodeView<Id>& view, const i32* features, i32 n,
                         Scratch& scratch) {
    std::vector<Candidate>& found = scratch.found;
    std::vector<i32>& plain = scratch.plain;
    found.assign(n, {});
    plain.clear();
    for (i32 i = 0; i < n; ++i) {
      const FeatureInfo& info = p_.features[features[i]];
      if (info.store == Store::rows && !info.has_gaps) plain.push_back(features[i]);
    }
    i32 done = 0;
    if constexpr (sizeof(Id) == 4) {
      const i32 m = static_cast<i32>(plain.size());
      scratch.of_plain.resize(m);
      if (m && o_.chooser->best_of_rows(view, plain.data(), m, scratch, scratch.of_plain.data())) {
        done = m;
      }
    }
    bool constants = false;
    i32 next = 0;
    for (i32 i = 0; i < n; ++i) {
      if (next < done && plain[next] == features[i]) {
        found[i] = scratch.of_plain[next++];
      } else {
        found[i] = o_.chooser->best(view, features[i], scratch);
      }
      constants |= found[i].constant;
    }
    if (constants && p_.params.redraw) {
      auto left = std::make_shared<std::vector<i32>>(*node.active);
      for (const Candidate& c : found) {
        if (c.constant) std::erase(*left, c.feature);
      }
      node.active = left;
    }
    return winner_of(found);
  }

  Candidate winner_of(const std::vector<Candidate>& found) const {
    Candidate best;
    if (o_.chooser->picks()) {
      const i64 winner = o_.chooser->pick(found);
      return winner < 0 ? best : found[winner];
    }
    for (const Candidate& candidate : found) {
      if (candidate.beats(best)) best = candidate;
    }
    return best;
  }

  // The gain of a split into pure children. Only small nodes have a chance to find one.
  template <class Id>
  double most_gain(const NodeView<Id>& view, const NodeRecord& record) const {
    if (view.size() > 64) return kInf;
    if (p_.is_classification()) return o_.chooser->most_gain(view.stats, view.criterion);
    if (o_.own_scale) return kInf;
    if (o_.numbers == NumberCriterion::squared && p_.unit && p_.targets.n_outputs == 1) {
      // From the integers that gains are made of: the impurity of the numbers themselves differs
      // from theirs by more than a tie.
      double squares = 0;
      for (i64 i = view.begin; i < view.end; ++i) {
        const i64 whole = view.block.target.wy[view.block.ids[i]] - view.criterion.centre[0];
        const double centred = static_cast<double>(whole) - view.criterion.rest[0];
        squares += centred * centred;
      }
      return squares;
    }
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
    list.set_python_id(node.record, answer.id);
    chosen.external = true;
    chosen.split = std::move(answer.split);
    chosen.surrogates = std::move(answer.surrogates);
    return answer.is_split;
  }

  // Calls work(i, scratch) for every i below n; on all threads where the node may use them and its
  // instances are worth it.
  template <class Work>
  void for_each(i64 n, i64 instances, bool shared, Scratch& scratch, Work&& work) {
    if (shared && n * instances >= kSharedWork) {
      parallel_for(n, p_.params.n_threads, [&](i64 i, int t) { work(i, scratch_[t]); },
                   [&] { poll(0); });
    } else {
      for (i64 i = 0; i < n; ++i) work(i, scratch);
    }
  }

  // Splits a node: marks, decides gaps, makes the children's records and moves the instances.
  // Children that can be split again are appended to `children`. With `later`, surrogates that
  // nothing waits for are left to it.
  template <class Id>
  void apply(Pending& node, Chosen& chosen, NodeList& list, bool shared, Scratch& scratch,
             std::vector<Pending>& children, FindLater* later = nullptr) {
    const NodeView<Id> view = view_of<Id>(node, list.stats_of(node.record), scratch);
    Split split;
    if (chosen.external) {
      split = std::move(chosen.split);
      marker_.mark_external(view, split, scratch);
    } else {
      marker_.mark(view, chosen.candidate, split, scratch);
      split.gain = chosen.candidate.gain * gain_unit_;
    }
    auto each = [&](i64 n, auto&& work) { for_each(n, node.size(), shared, scratch, work); };
    Marker::GapDecision gaps =
        marker_.decide_gaps(view, chosen, split, *node.active, later, scratch, each);
    list.set_split(node.record, split, gaps.count);
    list.set_surrogates(node.record, gaps.surrogates);
    if (gaps.fractional) {
      apply_fractional<Id>(node, split, list, scratch, children);
    } else {
      apply_plain<Id>(node, split, gaps, list, shared, scratch, children, later);
    }
  }

  // Whether tables of all coded features are smaller than what they are made from. A draw of
  // features looks at too few of them.
  bool tables_pay(i64 size) const {
    const i64 cells = p_.table_rows * table_width(p_);
    return p_.n_tabled > 0 && p_.params.max_features <= 0 && cells <= size * p_.n_tabled;
  }

  template <class Id>
  std::vector<i64> make_tables(const Block<Id>& block, const Pending& node,
                               const std::vector<i32>& active, bool shared, Scratch& scratch) {
    const i32 width = table_width(p_);
    std::vector<i64> tables(static_cast<std::size_t>(p_.table_rows) * width);
    for_each(static_cast<i64>(active.size()), node.size(), shared, scratch,
             [&](i64 i, Scratch& s) {
               const FeatureInfo& info = p_.features[active[i]];
               if (info.table < 0) return;
               fill_table(p_, block, node.begin, node.end, info, tables.data() + info.table * width,
                          s);
             });
    return tables;
  }

  // Tables of two children: those of the smaller are counted, the rest of the parent's are the
  // larger's. Sums are integers, so this is exact.
  template <class Id>
  void share_tables(Pending& node, std::vector<Pending>& kids, bool shared, Scratch& scratch) {
    const int small = kids[0].size() <= kids[1].size() ? 0 : 1;
    kids[small].tables =
        make_tables(*block_of<Id>(node), kids[small], *node.active, shared, scratch);
    kids[!small].tables = std::move(node.tables);
    const i64* counted = kids[small].tables.data();
    i64* rest = kids[!small].tables.data();
    for (std::size_t i = 0; i < kids[small].tables.size(); ++i) rest[i] -= counted[i];
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
    list.inner_of(parent).first_child = static_cast<i32>(first);
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
  void apply_plain(Pending& node, const Split& split, const Marker::GapDecision& gaps,
                   NodeList& list, bool shared, Scratch& scratch, std::vector<Pending>& children,
                   FindLater* later) {
    Block<Id>& block = *block_of<Id>(node);
    const i64 n = node.size();
    Branches branches;
    branches.n = split.n_branches;
    branches.some_stay = gaps.some_stay;
    branches.narrow = scratch.side.data();
    if (scratch.is_wide) branches.wide = scratch.wide.data();
    Id* ids = block.ids + node.begin;
    std::vector<i64> sizes(split.n_branches + 1, 0);
    if (gaps.count) {
      for (i64 i = 0; i < n; ++i) ++sizes[branches.of(ids[i])];
    } else {
      std::copy(scratch.marked.count.begin(), scratch.marked.count.end(), sizes.begin());
    }
    const bool two = split.n_branches == 2 && !gaps.some_stay;
    if (two) {
      partition_two(ids, n, branches.narrow, true, true, scratch.bytes);
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
      list[kid.record].n_samples = static_cast<i32>(kid.size());
    }
    add_stats(block, node, kids, gaps.some_stay, list);
    for (const Pending& kid : kids) describe(block, kid, list);
    bound(node, split, list, first, kids);
    for (const Pending& kid : kids) clip(kid, list);
    std::vector<bool> keep(split.n_branches);
    bool any = false, tables = gaps.surrogates_later && !later;
    for (i32 b = 0; b < split.n_branches; ++b) {
      keep[b] = kids[b].size() > 0 && !is_terminal(p_, list, first + b, node.depth + 1);
      any = any || keep[b];
      tables = tables || (keep[b] && tables_pay(kids[b].size()));
    }
    if (two && tables && !node.tables.empty()) share_tables<Id>(node, kids, shared, scratch);
    if (gaps.surrogates_later && later) {
      *later = keep_for_later<Id>(node, split, kids, list, scratch);
    } else if (gaps.surrogates_later) {
      find_now<Id>(node, split, kids, list, shared, scratch);
    }
    if (!any) return;
    move_entries<Id>(node, split, branches, sizes, keep, two, shared, scratch);
    const Active below = active_below(node, split.feature);
    for (i32 b = 0; b < split.n_branches; ++b) {
      if (!keep[b]) continue;
      block_of<Id>(kids[b]) = block_of<Id>(node);
      kids[b].active = below;
      if (!tables_pay(kids[b].size())) kids[b].tables = {};
      drop_constants<Id>(kids[b]);
      if (!o_.ask && kids[b].active->empty()) continue;
      children.push_back(std::move(kids[b]));
    }
  }

  // Stats of the children; the largest one's are what the others leave of the parent's.
  template <class Id>
  void add_stats(const Block<Id>& block, const Pending& node, const std::vector<Pending>& kids,
                 bool some_stay, NodeList& list) const {
    std::size_t rest = kids.size();
    if (!some_stay) {
      rest = std::max_element(kids.begin(), kids.end(), [](const Pending& a, const Pending& b) {
               return a.size() < b.size();
             }) - kids.begin();
      std::copy_n(list.stats_of(node.record), p_.n_stats, list.stats_of(kids[rest].record));
    }
    for (std::size_t b = 0; b < kids.size(); ++b) {
      if (b == rest) continue;
      i64* stats = list.stats_of(kids[b].record);
      with_target_kind(p_, [&](auto classes, auto unit) {
        for (i64 i = kids[b].begin; i < kids[b].end; ++i) {
          add_instance<classes.value, unit.value>(p_, block.target, block.ids[i], stats);
        }
      });
      if (some_stay) continue;
      i64* left = list.stats_of(kids[rest].record);
      for (i32 k = 0; k < p_.n_stats; ++k) left[k] -= stats[k];
    }
  }

  // Surrogates of a split that decided every instance, from the tables of its children.
  template <class Id>
  void find_now(Pending& node, const Split& split, const std::vector<Pending>& kids,
                  NodeList& list, bool shared, Scratch& scratch) {
    const NodeView<Id> view = view_of<Id>(node, list.stats_of(node.record), scratch);
    list.set_surrogates(
        node.record,
        find_surrogates(view, split.feature, *node.active, scratch.marked,
                        {kids[0].tables.data(), kids[1].tables.data()},
                        [&](i64 n, auto&& work) { for_each(n, node.size(), shared, scratch, work); }));
  }

  template <class Id>
  FindLater keep_for_later(Pending& node, const Split& split, const std::vector<Pending>& kids,
                           NodeList& list, Scratch& scratch) {
    auto kept = std::make_shared<KeptNode<Id>>(
        view_of<Id>(node, list.stats_of(node.record), scratch), block_of<Id>(node), node.active,
        scratch.marked, kids[0].tables, kids[1].tables);
    return [this, kept, record = node.record, primary = split.feature, &list, &scratch] {
      list.set_surrogates(record, kept->surrogates(p_, list.stats_of(record), primary, scratch));
    };
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
    for_each(static_cast<i64>(move.size()), n, shared, scratch, [&](i64 i, Scratch& s) {
      Entry<Id>* entries = block.entries[p_.features[move[i]].slot] + node.begin;
      if (two) {
        partition_two(entries, n, branches.narrow, keep[0], keep[1], s.bytes);
      } else {
        partition_many(entries, n, branches, sizes, s.bytes);
      }
    });
  }

  // Features that may be tested below a split.
  Active active_below(const Pending& node, i32 tested) const {
    if (!p_.params.once) return node.active;
    auto left = std::make_shared<std::vector<i32>>(*node.active);
    std::erase(*left, tested);
    return left;
  }

  // A feature that no longer varies at a node varies nowhere below it. The search sees that too,
  // so looking now and then is enough, unless features are drawn.
  template <class Id>
  void drop_constants(Pending& node) {
    if (p_.rows || !p_.params.redraw || (p_.params.max_features <= 0 && node.depth % 4)) return;
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

  // Instances of one child under fractional descent, and the share of their weight that it takes.
  template <class Id>
  struct Part {
    std::vector<Id> ids;
    std::vector<double> share;
  };

  // Gaps go down every branch with the branch's share of the known weight.
  template <class Id>
  std::vector<Part<Id>> share_out(const Pending& node, const Block<Id>& block, i32 n_branches,
                                  const i64* stats, const Scratch& scratch) const {
    const bool wide = scratch.is_wide;
    auto branch = [&](Id id) {
      return wide ? scratch.wide[id] : scratch.side[id] == kUndecided ? -1 : scratch.side[id];
    };
    std::vector<double> share(n_branches, 0);
    double total = 0;
    for (i64 i = node.begin; i < node.end; ++i) {
      const Id id = block.ids[i];
      const i32 b = branch(id);
      if (b < 0) continue;
      share[b] += instance_weight(block.target, id);
      total += instance_weight(block.target, id);
    }
    if (p_.params.single_shares) {
      const i64 gaps = p_.weight_of(stats) - std::llrint(total);
      total = known_single(stats, p_.n_stats, gaps).known;
      for (double& s : share) s = static_cast<float>(s) / static_cast<float>(total);
      total = 1;
    }
    std::vector<Part<Id>> parts(n_branches);
    auto send = [&](i32 b, Id id, double s) {
      parts[b].ids.push_back(id);
      parts[b].share.push_back(s);
    };
    for (i64 i = node.begin; i < node.end; ++i) {
      const Id id = block.ids[i];
      const i32 own = branch(id);
      if (own >= 0) send(own, id, 1.0);
      for (i32 b = 0; own < 0 && b < n_branches; ++b) {
        if (share[b] > 0) send(b, id, share[b] / total);
      }
    }
    return parts;
  }

  // Only children that are split again need a block of their own.
  template <class Id>
  void apply_fractional(Pending& node, const Split& split, NodeList& list, Scratch& scratch,
                        std::vector<Pending>& children) {
    Block<Id>& block = *block_of<Id>(node);
    const std::vector<Part<Id>> parts =
        share_out(node, block, split.n_branches, list.stats_of(node.record), scratch);
    const i64 first = add_children(list, node.record, split.n_branches);
    const Active below = active_below(node, split.feature);
    std::vector<Pending> kids(split.n_branches);
    for (i32 b = 0; b < split.n_branches; ++b) {
      Pending& kid = kids[b] = child_of(node, first + b, b);
      kid.active = below;
      kid.end = static_cast<i64>(parts[b].ids.size());
      list[kid.record].n_samples = static_cast<i32>(kid.size());
      if (!kid.size()) continue;
      i64* stats = list.stats_of(kid.record);
      if (p_.is_classification()) {
        for (i64 i = 0; i < kid.end; ++i) {
          const Id id = parts[b].ids[i];
          stats[block.target.label[id]] +=
              shared_weight(p_, block.target.weight[id], parts[b].share[i]);
        }
        if (is_terminal(p_, list, kid.record, kid.depth)) continue;
      }
      block_of<Id>(kid) = extract<Id>(p_, block, node.begin, node.end, parts[b].ids,
                                      parts[b].share.data(), *node.active, scratch);
      if (p_.is_classification()) continue;
      for (i64 i = 0; i < kid.end; ++i) add_any(p_, block_of<Id>(kid)->target, i, stats);
      describe(*block_of<Id>(kid), kid, list);
    }
    bound(node, split, list, first, kids);
    for (const Pending& kid : kids) clip(kid, list);
    for (i32 b = 0; b < split.n_branches; ++b) {
      if (!block_of<Id>(kids[b]) || is_terminal(p_, list, first + b, node.depth + 1)) continue;
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
