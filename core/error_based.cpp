#include "error_based.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "route.hpp"

namespace treewright {

double added_errors(double cases, double errors, const ErrorRules& r) {
  if (errors < 1e-6) return cases * (1 - std::exp(std::log(r.confidence) / cases));
  if (errors < 0.9999) {
    const double none = cases * (1 - std::exp(std::log(r.confidence) / cases));
    return none + errors * (added_errors(cases, 1.0, r) - none);
  }
  if (errors + 0.5 >= cases) return std::max(r.tail * (cases - errors), 0.0);
  const double c = r.z * r.z, e = errors + 0.5;
  const double limit =
      (e + c / 2 + std::sqrt(c * (e * (1 - e / cases) + c / 4))) / (cases + c);
  return cases * limit - errors;
}

std::vector<u8> collapsible(const std::vector<i32>& first_child,
                            const std::vector<i32>& n_children,
                            const std::vector<double>& errors, double epsilon) {
  std::vector<double> below = errors;
  std::vector<u8> mark(errors.size(), 0);
  for (std::size_t t = errors.size(); t-- > 0;) {
    if (!n_children[t]) continue;
    double sum = 0;
    for (i32 b = 0; b < n_children[t]; ++b) sum += below[first_child[t] + b];
    mark[t] = sum >= errors[t] - epsilon;
    below[t] = mark[t] ? errors[t] : sum;
  }
  return mark;
}

namespace {

struct Item {
  i32 row;
  i64 weight;  // scaled
};

struct Range {
  Item* items = nullptr;
  i64 n = 0;
};

// Entries of a node divided among its branches: gaps first, then branch by branch.
struct Division {
  Range gaps;
  std::vector<Range> known;
  std::vector<double> share;  // of the known weight
};

class Pruner {
 public:
  Pruner(const Prunable& tree, const ErrorRules& rules, const std::function<void()>& poll)
      : t_(tree), rules_(rules), poll_(poll) {
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
    i32 largest = 0;
    double most = -1;
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
    i64 total = 0, most = 0;
    for (i32 k = 0; k < t_.n_classes; ++k) {
      total += counts[k];
      most = std::max(most, counts[k]);
    }
    const double cases = static_cast<double>(total) * unit_;
    if (cases <= std::max(rules_.tolerance, 0.0)) return 0;
    const double errors = static_cast<double>(total - most) * unit_;
    return errors + added_errors(cases, errors, rules_);
  }

  // Sorts a range by the branches of a split, in place.
  Division divide(const Split& split, i32 n_branches, Range range) {
    const i64 n = range.n;
    branch_.resize(n);
    std::vector<i64> start(n_branches + 2, 0);
    for (i64 i = 0; i < n; ++i) {
      i32 b = branch_of(split, t_.columns, range.items[i].row);
      if (b == kNoBranch && split.gap_branch >= 0) b = split.gap_branch;
      branch_[i] = b + 1;  // a gap that goes every way: 0
      ++start[branch_[i] + 1];
    }
    for (i32 b = 0; b <= n_branches; ++b) start[b + 1] += start[b];
    sorted_.resize(n);
    std::vector<i64> at(start.begin(), start.end() - 1);
    for (i64 i = 0; i < n; ++i) sorted_[at[branch_[i]]++] = range.items[i];
    std::copy(sorted_.begin(), sorted_.begin() + n, range.items);
    Division out;
    out.gaps = {range.items, start[1]};
    std::vector<i64> weight(n_branches, 0);
    i64 total = 0;
    for (i32 b = 0; b < n_branches; ++b) {
      out.known.push_back({range.items + start[b + 1], start[b + 2] - start[b + 1]});
      for (i64 i = start[b + 1]; i < start[b + 2]; ++i) weight[b] += range.items[i].weight;
      total += weight[b];
    }
    for (i64 w : weight) {
      out.share.push_back(total ? static_cast<double>(w) / static_cast<double>(total)
                                : 1.0 / n_branches);
    }
    if (poll_ && (work_ += n) > 1000000) {
      work_ = 0;
      poll_();
    }
    return out;
  }

  // Entries of one branch: a part of the range, or a copy where gaps come in with their share.
  Range branch_range(const Division& d, i32 b, std::unique_ptr<std::vector<Item>>& own) const {
    if (!d.gaps.n || !(d.share[b] > 0)) return d.known[b];
    own = std::make_unique<std::vector<Item>>();
    own->reserve(d.gaps.n + d.known[b].n);
    for (i64 i = 0; i < d.gaps.n; ++i) {
      const Item& gap = d.gaps.items[i];
      own->push_back({gap.row, std::llrint(static_cast<double>(gap.weight) * d.share[b])});
    }
    own->insert(own->end(), d.known[b].items, d.known[b].items + d.known[b].n);
    return {own->data(), static_cast<i64>(own->size())};
  }

  // Expected errors of a subtree if the entries of `range` were sent down it.
  double errors_below(i32 root, Range range) {
    struct Part {
      i32 node;
      Range range;
      std::shared_ptr<std::vector<Item>> own;
    };
    std::vector<Part> stack;
    stack.push_back({root, range, nullptr});
    std::vector<i64> counts(t_.n_classes);
    double sum = 0;
    while (!stack.empty()) {
      Part part = std::move(stack.back());
      stack.pop_back();
      if (!part.range.n) continue;
      const Node& node = nodes_[part.node];
      if (!node.n_children) {
        count(part.range, counts.data());
        sum += leaf_errors(counts.data());
        continue;
      }
      const Division d = divide(t_.splits[node.source], node.n_children, part.range);
      for (i32 b = 0; b < node.n_children; ++b) {
        std::unique_ptr<std::vector<Item>> own;
        const Range child = branch_range(d, b, own);
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
    if (!frame.range.n && rules_.prune) node.n_children = 0;
    if (node.n_children) {
      frame.division = divide(t_.splits[node.source], node.n_children, frame.range);
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
        child.range = branch_range(frame.division, frame.next++, child.own);
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
    i64 weight = 0;
    for (i32 k = 0; k < t_.n_classes; ++k) weight += counts_of(child)[k];
    const double w = static_cast<double>(weight) * unit_;
    if (w >= parent.most - rules_.tolerance) {
      parent.most = w;
      parent.largest = child;
    }
  }

  // Leaf, raised branch or subtree; false if the node was changed and has to be pruned again.
  bool decide(Frame& frame) {
    Node& node = nodes_[frame.node];
    const double leaf = leaf_errors(counts_of(frame.node));
    node.errors = leaf;
    if (!node.n_children) return true;
    node.errors = frame.below;
    if (!rules_.prune) return true;
    const double branch =
        rules_.raise ? errors_below(frame.largest, frame.range) : std::numeric_limits<double>::max();
    auto no_worse = [&](double a, double b) { return a <= b + 0.1 + rules_.tolerance; };
    if (no_worse(leaf, branch) && no_worse(leaf, frame.below)) {
      node.n_children = 0;
      node.errors = leaf;
      return true;
    }
    if (no_worse(branch, frame.below)) {
      const Node& raised = nodes_[frame.largest];
      node.source = raised.source;
      node.first_child = raised.first_child;
      node.n_children = raised.n_children;
      open(frame);
      return false;
    }
    return true;
  }

  PrunedTree assemble() {
    PrunedTree out;
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
    return out;
  }

  const Prunable& t_;
  const ErrorRules& rules_;
  const std::function<void()>& poll_;
  double unit_ = 1;
  std::vector<Node> nodes_;
  std::vector<i64> counts_;
  std::vector<Item> all_, sorted_;
  std::vector<i32> branch_;
  i64 work_ = 0;
};

}  // namespace

PrunedTree prune_by_errors(const Prunable& tree, const ErrorRules& rules,
                           const std::function<void()>& poll) {
  return Pruner(tree, rules, poll).run();
}

}  // namespace treewright
