#include "prune/error_based.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "prune/divide.hpp"

namespace treewright {

double added_errors(double cases, double errors, const ErrorRules& r) {
  if (errors < 1e-6) return cases * (1 - std::exp(std::log(r.confidence) / cases));
  if (errors < 0.9999) {
    const double none = cases * (1 - std::exp(std::log(r.confidence) / cases));
    return none + errors * (added_errors(cases, 1.0, r) - none);
  }
  if (errors + 0.5 >= cases) return std::max(r.tail * (cases - errors), r.least_tail);
  const double c = r.z * r.z, e = errors + 0.5;
  const double limit = (e + c / 2 + std::sqrt(c * (e * (1 - e / cases) + c / 4))) / (cases + c);
  return cases * limit - errors;
}

namespace {

class Pruner {
 public:
  Pruner(const Prunable& tree, const ErrorRules& rules, const std::function<void()>& poll,
         const Regrow& regrow)
      : t_(tree),
        rules_(rules),
        poll_(poll),
        regrow_(regrow),
        splits_(tree.splits),
        divider_(tree.columns) {
    const i64 n = static_cast<i64>(t_.first_child.size());
    nodes_.resize(n);
    for (i64 i = 0; i < n; ++i) {
      nodes_[i] = {static_cast<i32>(i), t_.first_child[i], t_.n_children[i], 0, 0};
    }
    counts_.assign(n * t_.n_classes, 0);
    scale_rows();
  }

  PrunedTree run() {
    prune({all_.data(), static_cast<i64>(all_.size())});
    return assemble();
  }

 private:
  struct Node {
    i32 source;
    i32 first_child, n_children;
    i64 n_samples;
    double errors;
  };

  // A node whose children are being pruned, one after another.
  struct Frame {
    i32 node;
    Range range;
    std::unique_ptr<std::vector<Item>> own;  // holds the range, if nobody else does
    Division division;
    i32 next = 0;  // child to prune next
    double below = 0;
    i32 largest = -1;
    double most = -1;
    bool may_regrow = true;
  };

  void scale_rows() {
    double sum = 0;
    for (i64 i = 0; i < t_.n_rows; ++i) sum += t_.weight ? t_.weight[i] : 1.0;
    int exponent = 0;
    std::frexp(std::max(sum, 1e-300), &exponent);
    const double scale = std::ldexp(1.0, std::clamp(60 - exponent, -900, 900));
    unit_ = 1 / scale;
    all_.resize(t_.n_rows);
    for (i64 i = 0; i < t_.n_rows; ++i) {
      const double w = t_.weight ? t_.weight[i] : 1.0;
      all_[i] = {static_cast<i32>(i), std::llrint(w * scale)};
    }
  }

  bool is_leaf(i32 node) const { return !nodes_[node].n_children; }
  i64* counts_of(i32 node) { return counts_.data() + static_cast<i64>(node) * t_.n_classes; }

  void count(Range range, i64* counts) const {
    std::fill_n(counts, t_.n_classes, 0);
    for (i64 i = 0; i < range.n; ++i) counts[t_.label[range.items[i].row]] += range.items[i].weight;
  }

  double leaf_errors(const i64* counts) const {
    const i64 total = std::accumulate(counts, counts + t_.n_classes, i64{0});
    const double cases = static_cast<double>(total) * unit_;
    if (cases <= std::max(rules_.tolerance, 0.0)) return 0;
    const i32 label = label_of(counts);
    const double errors = static_cast<double>(total - counts[label]) * unit_;
    return (errors + added_errors(cases, errors, rules_)) * price_of(label);
  }

  double price_of(i32 label) const { return rules_.price.empty() ? 1 : rules_.price[label]; }

  // The class that a leaf predicts, the first of equals.
  i32 label_of(const i64* counts) const {
    if (rules_.price.empty()) {
      return static_cast<i32>(std::max_element(counts, counts + t_.n_classes) - counts);
    }
    const i64 total = std::accumulate(counts, counts + t_.n_classes, i64{0});
    auto cost = [&](i32 k) { return static_cast<double>(total - counts[k]) * price_of(k); };
    i32 best = 0;
    for (i32 k = 1; k < t_.n_classes; ++k) {
      if (cost(k) < cost(best)) best = k;
    }
    return best;
  }

  Division divide(const Split& split, i32 n_branches, Range range) {
    if (poll_ && (work_ += range.n) > 1000000) {
      work_ = 0;
      poll_();
    }
    return divider_.divide(split, n_branches, range);
  }

  // Expected errors of a subtree if the entries of `range` were sent down it. No leaf makes fewer
  // than none, so once there are more than `enough` the rest need not be counted.
  double errors_below(i32 root, Range range, double enough) {
    struct Part {
      i32 node;
      Range range;
      std::shared_ptr<std::vector<Item>> own;
    };
    std::vector<Part> stack;
    stack.push_back({root, range, nullptr});
    std::vector<i64> counts(t_.n_classes);
    double sum = 0;
    while (!stack.empty() && sum <= enough) {
      Part part = std::move(stack.back());
      stack.pop_back();
      if (!part.range.n) continue;
      const Node& node = nodes_[part.node];
      if (!node.n_children) {
        count(part.range, counts.data());
        sum += leaf_errors(counts.data());
        continue;
      }
      const Division d = divide(splits_[node.source], node.n_children, part.range);
      for (i32 b = 0; b < node.n_children; ++b) {
        std::unique_ptr<std::vector<Item>> own;
        const Range child = d.branch(b, own);
        std::shared_ptr<std::vector<Item>> held = std::move(own);
        if (!held) held = part.own;
        stack.push_back({node.first_child + b, child, held});
      }
    }
    return sum;
  }

  // Counts a node's entries; a leaf is done, an inner node divides them among its children.
  void open(Frame& frame) {
    Node& node = nodes_[frame.node];
    count(frame.range, counts_of(frame.node));
    node.n_samples = frame.range.n;
    frame.next = 0;
    frame.below = 0;
    frame.most = -1;
    frame.largest = -1;
    if (!frame.range.n && rules_.prune) node.n_children = 0;
    if (node.n_children) {
      frame.division = divide(splits_[node.source], node.n_children, frame.range);
    }
  }

  // Bottom-up without recursion: a tree may be as deep as it has rows.
  void prune(Range everything) {
    std::vector<Frame> stack(1);
    stack[0].node = 0;
    stack[0].range = everything;
    open(stack[0]);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      Node& node = nodes_[frame.node];
      if (frame.next < node.n_children) {
        Frame child;
        child.node = node.first_child + frame.next;
        child.may_regrow = frame.may_regrow;
        child.range = frame.division.branch(frame.next++, child.own);
        open(child);
        stack.push_back(std::move(child));
        continue;
      }
      if (!decide(frame)) continue;  // raised: its new children are to be pruned
      const i32 done = frame.node;
      stack.pop_back();
      if (!stack.empty()) take(stack.back(), done);
    }
  }

  // Adds a finished child to its parent.
  void take(Frame& parent, i32 child) {
    parent.below += nodes_[child].errors;
    const double w = weight_of(child);
    if (rules_.c50 ? !is_leaf(child) && w > parent.most : w >= parent.most - rules_.tolerance) {
      parent.most = w;
      parent.largest = child;
    }
  }

  // Notes what takes the place of the subtree at a frame's node.
  void note(const Frame& frame, bool raised, double after) {
    i64 leaves = 0;
    std::vector<i32> stack{frame.node};
    while (!stack.empty()) {
      const Node& node = nodes_[stack.back()];
      stack.pop_back();
      leaves += !node.n_children;
      for (i32 b = 0; b < node.n_children; ++b) stack.push_back(node.first_child + b);
    }
    cuts_.push_back(
        {frame.node, raised, frame.range.n, weight_of(frame.node), frame.below, after, leaves});
  }

  double weight_of(i32 node) {
    const i64* counts = counts_of(node);
    return static_cast<double>(std::accumulate(counts, counts + t_.n_classes, i64{0})) * unit_;
  }

  bool may_raise(const Frame& frame) {
    if (!rules_.raise || frame.largest < 0) return false;
    if (!rules_.c50) return true;
    const Split& own = splits_[nodes_[frame.node].source];
    const Split& other = splits_[nodes_[frame.largest].source];
    const bool same_cut = own.kind == SplitKind::breaks && other.kind == SplitKind::breaks &&
                          own.feature == other.feature &&
                          t_.columns[own.feature].type != ColumnType::code;
    return !same_cut && frame.most >= 0.1 * weight_of(frame.node);
  }

  // Expected errors of the children, light leaves of one class taken together.
  double pooled_errors(const Frame& frame) {
    const Node& node = nodes_[frame.node];
    if (node.n_children < 3) return frame.below;
    double sum = 0;
    std::vector<i64> pool;
    for (i32 k = 0; k < t_.n_classes; ++k) {
      pool.assign(t_.n_classes, 0);
      bool any = false;
      for (i32 b = 0; b < node.n_children; ++b) {
        const i32 child = node.first_child + b;
        if (!is_light(child) || label_of(counts_of(child)) != k) continue;
        for (i32 j = 0; j < t_.n_classes; ++j) pool[j] += counts_of(child)[j];
        any = true;
      }
      if (any) sum += leaf_errors(pool.data());
    }
    for (i32 b = 0; b < node.n_children; ++b) {
      if (!is_light(node.first_child + b)) sum += nodes_[node.first_child + b].errors;
    }
    return sum;
  }

  bool is_light(i32 node) {
    const double w = weight_of(node);
    return is_leaf(node) && w > 0 && w < rules_.min_items;
  }

  // Whether a node of these entries would be a leaf whatever its tests: too light, or pure.
  bool is_done(Range range) const {
    std::vector<i64> counts(t_.n_classes);
    count(range, counts.data());
    const i64 total = std::accumulate(counts.begin(), counts.end(), i64{0});
    const i64 most = *std::max_element(counts.begin(), counts.end());
    return static_cast<double>(total) * unit_ < 2 * rules_.min_items || most == total;
  }

  // Grows what lies below the test of a frame's node again, from the rows that come down now.
  void grow_again(Frame& frame) {
    const i32 at = frame.node, n = nodes_[at].n_children;
    Division d = divide(splits_[nodes_[at].source], n, frame.range);
    const i32 first = static_cast<i32>(nodes_.size());
    std::vector<Regrown> grown;
    for (i32 b = 0; b < n; ++b) {
      std::unique_ptr<std::vector<Item>> own;
      const Range range = d.branch(b, own);
      std::vector<i32> rows(range.n);
      std::vector<double> weights(range.n);
      for (i64 i = 0; i < range.n; ++i) {
        rows[i] = range.items[i].row;
        weights[i] = static_cast<double>(range.items[i].weight) * unit_;
        if (!rules_.factor.empty()) weights[i] *= rules_.factor[t_.label[rows[i]]];
      }
      grown.push_back(is_done(range) ? Regrown{} : regrow_(rows, weights));
      nodes_.push_back({nodes_[at].source, -1, 0, 0, 0});
    }
    for (i32 b = 0; b < n; ++b) append(grown[b], first + b);
    counts_.resize(nodes_.size() * t_.n_classes, 0);
    nodes_[at].first_child = first;
    frame.may_regrow = false;
  }

  // Adds a grown tree, its root at node `root`.
  void append(Regrown& tree, i32 root) {
    const i32 sources = static_cast<i32>(splits_.size()),
              base = static_cast<i32>(nodes_.size()) - 1;
    const i32 n = static_cast<i32>(tree.splits.size());
    for (i32 i = 0; i < n; ++i) {
      const i32 child = tree.n_children[i] ? base + tree.first_child[i] : -1;
      const Node node{sources + i, child, tree.n_children[i], 0, 0};
      if (i) {
        nodes_.push_back(node);
      } else {
        nodes_[root] = node;
      }
      splits_.push_back(std::move(tree.splits[i]));
    }
  }

  // Leaf, raised branch or subtree; false if the node was changed and has to be pruned again.
  bool decide(Frame& frame) {
    Node& node = nodes_[frame.node];
    const double leaf = leaf_errors(counts_of(frame.node));
    node.errors = leaf;
    if (!node.n_children) return true;
    if (rules_.c50) frame.below = pooled_errors(frame);
    node.errors = frame.below;
    if (!rules_.prune) return true;
    auto no_worse = [&](double a, double b) { return a <= b + 0.1 + rules_.tolerance; };
    // A branch with more errors than this is not raised, and is no reason against a leaf that is no
    // worse than the subtree.
    const double enough = frame.below + 0.1 + rules_.tolerance;
    const double branch = may_raise(frame) ? errors_below(frame.largest, frame.range, enough)
                                           : std::numeric_limits<double>::max();
    if (no_worse(leaf, branch) && no_worse(leaf, frame.below)) {
      note(frame, false, leaf);
      node.n_children = 0;
      node.errors = leaf;
      return true;
    }
    if (no_worse(branch, frame.below)) {
      note(frame, true, branch);
      const Node& raised = nodes_[frame.largest];
      node.source = raised.source;
      node.first_child = raised.first_child;
      node.n_children = raised.n_children;
      if (regrow_ && frame.may_regrow && frame.most < 0.95 * weight_of(frame.node)) {
        grow_again(frame);
      }
      open(frame);
      return false;
    }
    return true;
  }

  PrunedTree assemble() {
    PrunedTree out;
    out.cuts = std::move(cuts_);
    std::vector<i32> order{0}, stack{0};
    auto emit = [&](i32 old) {
      const Node& node = nodes_[old];
      out.source.push_back(node.source);
      out.first_child.push_back(-1);
      out.n_children.push_back(node.n_children);
      out.n_samples.push_back(node.n_samples);
      out.errors.push_back(node.errors);
      for (i32 k = 0; k < t_.n_classes; ++k) {
        out.value.push_back(static_cast<double>(counts_of(old)[k]) * unit_);
      }
    };
    emit(0);
    while (!stack.empty()) {
      const i32 id = stack.back();
      stack.pop_back();
      const Node& node = nodes_[order[id]];
      if (!node.n_children) continue;
      const i32 first = static_cast<i32>(order.size());
      out.first_child[id] = first;
      for (i32 b = 0; b < node.n_children; ++b) {
        order.push_back(node.first_child + b);
        emit(node.first_child + b);
      }
      for (i32 b = node.n_children; b-- > 0;) stack.push_back(first + b);
    }
    out.place = std::move(order);
    return out;
  }

  const Prunable& t_;
  const ErrorRules& rules_;
  const std::function<void()>& poll_;
  const Regrow& regrow_;
  std::vector<Split> splits_;
  Divider divider_;
  double unit_ = 1;
  std::vector<Node> nodes_;
  std::vector<i64> counts_;
  std::vector<Item> all_;
  std::vector<NodeCut> cuts_;
  i64 work_ = 0;
};

}  // namespace

PrunedTree prune_by_errors(const Prunable& tree, const ErrorRules& rules,
                           const std::function<void()>& poll, const Regrow& regrow) {
  return Pruner(tree, rules, poll, regrow).run();
}

}  // namespace treewright
