#include "error_based.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "route.hpp"

namespace treewright {

double added_errors(double cases, double errors, const ErrorRules& r) {
  if (errors < 1e-6) return cases * (1 - std::exp(std::log(r.confidence) / cases));
  if (errors < 0.9999) {
    const double none = cases * (1 - std::exp(std::log(r.confidence) / cases));
    return none + errors * (added_errors(cases, 1.0, r) - none);
  }
  if (errors + 0.5 >= cases) return std::max(r.tail * (cases - errors), r.least_tail);
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

std::vector<u8> weakest_links(const std::vector<i32>& first_child,
                              const std::vector<i32>& n_children,
                              const std::vector<double>& errors, const std::vector<u8>& is_empty,
                              double cases) {
  const i64 n = static_cast<i64>(errors.size());
  std::vector<u8> cut(n, 0), inside(n);
  std::vector<double> below(n);
  std::vector<i64> leaves(n);
  double allowed = -1, spent = 0;
  const double slack = 1e-9;
  for (;;) {
    for (i64 t = n; t-- > 0;) {
      const bool leaf = !n_children[t] || cut[t];
      below[t] = leaf ? errors[t] : 0;
      leaves[t] = leaf ? !is_empty[t] : 0;
      for (i32 b = 0; !leaf && b < n_children[t]; ++b) {
        below[t] += below[first_child[t] + b];
        leaves[t] += leaves[first_child[t] + b];
      }
    }
    if (allowed < 0) allowed = std::sqrt(std::max(below[0] * (1 - below[0] / cases), 0.0));
    auto link = [&](i64 t) {
      const double added = errors[t] - below[t];
      if (!n_children[t] || cut[t] || added > allowed + slack) {
        return std::numeric_limits<double>::infinity();
      }
      return added / static_cast<double>(std::max<i64>(leaves[t] - 1, 1));
    };
    double weakest = std::numeric_limits<double>::infinity();
    std::fill(inside.begin(), inside.end(), 0);
    for (i64 t = 0; t < n; ++t) {
      if (!inside[t]) weakest = std::min(weakest, link(t));
      for (i32 b = 0; b < n_children[t]; ++b) inside[first_child[t] + b] = inside[t] || cut[t];
    }
    if (weakest == std::numeric_limits<double>::infinity()) return cut;
    // The topmost of the weakest links; what lies below them goes with them.
    std::vector<i64> chosen;
    double added = 0;
    for (i64 t = 0; t < n; ++t) {
      const bool go = !inside[t] && link(t) <= weakest + 1e-6;
      if (go) {
        chosen.push_back(t);
        added += errors[t] - below[t];
      }
      for (i32 b = 0; b < n_children[t]; ++b) {
        inside[first_child[t] + b] = inside[t] || go || cut[t];
      }
    }
    if (spent + added > allowed + slack) return cut;
    spent += added;
    for (i64 t : chosen) cut[t] = 1;
  }
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
  Pruner(const Prunable& tree, const ErrorRules& rules, const std::function<void()>& poll,
         const Regrow& regrow)
      : t_(tree), rules_(rules), poll_(poll), regrow_(regrow), splits_(tree.splits) {
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
      const Division d = divide(splits_[node.source], node.n_children, part.range);
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
    const double w = weight_of(child);
    if (rules_.c50 ? !is_leaf(child) && w > parent.most : w >= parent.most - rules_.tolerance) {
      parent.most = w;
      parent.largest = child;
    }
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
        if (!is_light(child) || label_of(child) != k) continue;
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

  i32 label_of(i32 node) {
    const i64* counts = counts_of(node);
    return static_cast<i32>(std::max_element(counts, counts + t_.n_classes) - counts);
  }

  // Grows what lies below the test of a frame's node again, from the rows that come down now.
  void grow_again(Frame& frame) {
    const i32 at = frame.node, n = nodes_[at].n_children;
    Division d = divide(splits_[nodes_[at].source], n, frame.range);
    const i32 first = static_cast<i32>(nodes_.size());
    std::vector<Regrown> grown;
    for (i32 b = 0; b < n; ++b) {
      std::unique_ptr<std::vector<Item>> own;
      const Range range = branch_range(d, b, own);
      std::vector<i32> rows(range.n);
      std::vector<double> weights(range.n);
      for (i64 i = 0; i < range.n; ++i) {
        rows[i] = range.items[i].row;
        weights[i] = static_cast<double>(range.items[i].weight) * unit_;
      }
      grown.push_back(range.n ? regrow_(rows, weights) : Regrown{});
      nodes_.push_back({nodes_[at].source, -1, 0, 0, 0});
    }
    for (i32 b = 0; b < n; ++b) append(grown[b], first + b);
    counts_.resize(nodes_.size() * t_.n_classes, 0);
    nodes_[at].first_child = first;
    frame.may_regrow = false;
  }

  // Adds a grown tree, its root at node `root`.
  void append(Regrown& tree, i32 root) {
    const i32 sources = static_cast<i32>(splits_.size()), base = static_cast<i32>(nodes_.size()) - 1;
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
    const double branch = may_raise(frame) ? errors_below(frame.largest, frame.range)
                                           : std::numeric_limits<double>::max();
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
  const Regrow& regrow_;
  std::vector<Split> splits_;
  double unit_ = 1;
  std::vector<Node> nodes_;
  std::vector<i64> counts_;
  std::vector<Item> all_, sorted_;
  std::vector<i32> branch_;
  i64 work_ = 0;
};

}  // namespace

PrunedTree prune_by_errors(const Prunable& tree, const ErrorRules& rules,
                           const std::function<void()>& poll, const Regrow& regrow) {
  return Pruner(tree, rules, poll, regrow).run();
}

}  // namespace treewright
