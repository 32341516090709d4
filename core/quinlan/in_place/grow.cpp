#include "quinlan/in_place/grow.hpp"

#include <deque>
#include <mutex>

#include "grow/growth.hpp"
#include "quinlan/in_place/part.hpp"

namespace treewright {
namespace {

// Parts that wait are grown on all threads.
class InPlaceGrower {
 public:
  InPlaceGrower(Problem& p, const GrowOptions& options, const QuinlanRules& rules)
      : p_(prepared(p)), growth_(p, options), shared_(p, rules) {
    shared_.pick.prepare(p);
  }

  FlatTree run() {
    std::vector<i32> all(p_.n_rows);
    std::iota(all.begin(), all.end(), 0);
    const InPlacePart& root = *add_part(std::move(all), std::vector<char>(p_.n_features(), false));
    waiting_.run(
        p_.params.n_threads,
        [&](InPlacePart* part, int thread) {
          auto lend = [&](auto ids, const auto& used) { return add_part(std::move(ids), used); };
          auto poll = [&](i64 finished) {
            if (waiting_.is_stopped()) throw Interrupted();
            thread ? growth_.count_done(finished) : growth_.poll(finished);
          };
          try {
            InPlacePartGrower(shared_, *part, lend, poll).run();
          } catch (const Interrupted&) {  // the calling thread throws what it was interrupted by
          }
        },
        [&] { growth_.poll(0); });
    return put_together(root);
  }

 private:
  static Problem& prepared(Problem& p) {
    p.features.resize(p.n_features());
    p.total.assign(p.targets.n_classes, 0);
    for (i64 i = 0; i < p.n_rows; ++i) ++p.total[p.targets.label[i]];
    return p;
  }

  InPlacePart* add_part(std::vector<i32> ids, const std::vector<char>& used) {
    InPlacePart* part = nullptr;
    {
      std::lock_guard<std::mutex> guard(lock_);
      part = &parts_.emplace_back();
    }
    part->ids = std::move(ids);
    part->used = used;
    waiting_.push(part);
    return part;
  }

  // Nodes are numbered as if they had been grown one after the other, depth first.
  FlatTree put_together(const InPlacePart& root) {
    struct Place {
      const InPlacePart* part;
      i32 node, id;
    };
    const i32 classes = p_.targets.n_classes;
    i32 n = 1;
    for (const InPlacePart& part : parts_) n += static_cast<i32>(part.split_of.size()) - 1;
    FlatTree out;
    out.first_child.assign(n, -1);
    out.n_children.assign(n, 0);
    out.gap_branch.assign(n, kGapStop);
    out.n_gaps.assign(n, 0);
    out.n_samples.assign(n, 0);
    out.weight.assign(n, 0);
    out.impurity.assign(n, 0);
    out.gain.assign(n, 0);
    out.value.assign(static_cast<std::size_t>(n) * classes, 0);
    out.surrogate_offset.assign(n + 1, 0);
    out.stopped.assign(n, Stop::empty);
    if (p_.params.max_p_value < 1) out.p_value.assign(n, 0);
    std::vector<const Split*> splits(n, nullptr);
    std::vector<Place> stack{{&root, 0, 0}};
    i32 next = 1;
    while (!stack.empty()) {
      auto [part, node, id] = stack.back();
      stack.pop_back();
      if (part->goes_on[node]) {
        part = part->goes_on[node];
        node = 0;
      }
      const FlatTree& from = part->tree;
      out.n_samples[id] = from.n_samples[node];
      out.weight[id] = from.weight[node];
      out.stopped[id] = from.stopped[node];
      if (!out.p_value.empty()) out.p_value[id] = from.p_value[node];
      std::copy_n(from.value.begin() + static_cast<i64>(node) * classes, classes,
                  out.value.begin() + static_cast<i64>(id) * classes);
      if (part->split_of[node] < 0) continue;
      splits[id] = &part->splits[part->split_of[node]];
      out.gap_branch[id] = kGapFraction;
      out.n_gaps[id] = from.n_gaps[node];
      out.gain[id] = from.gain[node];
      out.first_child[id] = next;
      out.n_children[id] = from.n_children[node];
      next += from.n_children[node];
      for (i32 k = from.n_children[node]; k-- > 0;) {
        stack.push_back({part, from.first_child[node] + k, out.first_child[id] + k});
      }
    }
    const Split none;
    for (const Split* split : splits) out.splits.push(split ? *split : none);
    return out;
  }

  Problem& p_;
  Growth growth_;
  InPlaceShared shared_;
  std::mutex lock_;
  std::deque<InPlacePart> parts_;  // a deque, for other threads add to it
  TaskQueue<InPlacePart*> waiting_;
};

}  // namespace

bool has_fractions(const Problem& p, const QuinlanRules& rules) {
  const Targets& t = p.targets;
  if (!rules.single || rules.subset || p.params.gaps != GapPolicy::fractional) return false;
  if (p.params.max_features > 0) return false;  // a forest's draws; the program has none
  if (p.n_rows >= InPlacePartGrower::kExactSums) return false;  // its sums would stand still there
  if (t.weight && std::any_of(t.weight, t.weight + p.n_rows, [](double w) { return w != 1; })) {
    return false;
  }
  return std::any_of(p.columns.begin(), p.columns.end(),
                     [&](const Column& column) { return any_gap(column, p.n_rows); });
}

FlatTree grow_in_place(Problem& p, const GrowOptions& options, const QuinlanRules& rules) {
  return InPlaceGrower(p, options, rules).run();
}

}  // namespace treewright
