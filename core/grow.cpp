#include "grow.hpp"

#include <algorithm>
#include <queue>

#include "node_splitter.hpp"

namespace treewright {
namespace {

// A subtree of this size gets a block of its own, which fits the nearest caches.
constexpr i64 kTinyBlock = 1024;

// The order in which nodes are split.
class Grower : private NodeSplitter {
 public:
  using NodeSplitter::NodeSplitter;

  Grown run() {
    Pending root = make_root();
    grown_.lists.push_back(new_list());
    NodeList& list = grown_.lists[0];
    list.add(1);
    std::copy(p_.total.begin(), p_.total.end(), list.stats_of(0));
    list[0].n_samples = static_cast<i32>(root.size());
    with_block(root, [&](auto id) { describe(*block_of<decltype(id)>(root), root, list); });
    if (!is_terminal(p_, list, 0, 0)) {
      p_.params.max_leaves > 0 ? best_first(std::move(root), list)
                               : depth_first(std::move(root), list);
    }
    return std::move(grown_);
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
          marker_.mark(view, c, split, scratch_[0]);
          split.gain = c.gain * gain_unit_;
          if (f == primary && found && split.n_branches == 2) {
            *found = find_surrogates(view, f, *root.active, scratch_[0].marked, {},
                                     [&](i64 n, auto&& search) {
                                       for (i64 i = 0; i < n; ++i) search(i, scratch_[0]);
                                     });
          }
        }
        out.emplace_back(c, std::move(split));
      }
    });
    return out;
  }

 private:

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
      list.let_stand_for(at, static_cast<i32>(base + i));
      nodes[i].record = 0;
    }
    parallel_for(static_cast<i64>(nodes.size()), threads, [&](i64 i, int t) {
      subtree(std::move(nodes[i]), lists[i], scratch_[t], t == 0);
      lists[i].shrink();
    });
    for (NodeList& l : lists) grown_.lists.push_back(std::move(l));
  }

  void subtree(Pending root, NodeList& list, Scratch& scratch, bool may_poll) {
    std::vector<Pending> stack, next;
    stack.push_back(std::move(root));
    while (!stack.empty()) {
      Pending node = std::move(stack.back());
      stack.pop_back();
      if (!o_.ask && !p_.rows) {
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

  Grown grown_;
};

}  // namespace

Grown grow(Problem& problem, const GrowOptions& options) { return Grower(problem, options).run(); }

std::vector<std::pair<Candidate, Split>> candidates(Problem& problem, const GrowOptions& options,
                                                    i32 primary,
                                                    std::vector<Surrogate>* surrogates) {
  return Grower(problem, options).score_all(primary, surrogates);
}

}  // namespace treewright
