#include "grow/grow.hpp"

#include <algorithm>
#include <mutex>
#include <queue>
#include <utility>

#include "base/team.hpp"
#include "grow/ledger.hpp"
#include "grow/split_application.hpp"
#include "grow/split_search.hpp"

namespace treewright {
namespace {

// Smaller nodes are not worth another thread.
constexpr i64 kLentRows = 256;

// What is kept until it is known whether a split stays: entries of a node, and nodes.
constexpr i64 kKeptEntries = i64{1} << 18;
constexpr i64 kKeptNodes = 64;

// The order in which nodes are split.
class Grower {
 public:
  Grower(Problem& p, const GrowOptions& options) : p_(p), o_(options), growth_(p, options) {}

  Grown run() {
    Pending root = growth_.make_root();
    grown_.lists.push_back(growth_.new_list());
    NodeList& list = grown_.lists[0];
    if (o_.list) list.take_memory(*o_.list);
    list.add(1);
    std::copy(p_.total.begin(), p_.total.end(), list.stats_of(0));
    list[0].n_samples = static_cast<i32>(root.size());
    children_.describe(*root.block, root, list);
    small_ = growth_.store->small_subtrees(*root.block);
    if (is_terminal(p_, list, 0, 0)) {
      list.stop(0, why_terminal(p_, list, 0, 0));
    } else {
      if (p_.params.max_leaves > 0) {
        best_first(std::move(root), list);
      } else if (o_.ask) {
        by_levels(std::move(root), list);
      } else {
        depth_first(std::move(root), list);
      }
    }
    return std::move(grown_);
  }

  // Scores every feature at the root, with surrogates of `primary` if asked.
  std::vector<std::pair<Candidate, Split>> score_all(i32 primary, std::vector<Surrogate>* found) {
    Pending root = growth_.make_root();
    Scratch& scratch = growth_.buffers[0];
    Marker marker(p_, o_.chooser);
    std::vector<std::pair<Candidate, Split>> out;
    NodeView view = growth_.view_of(root, p_.total.data(), scratch);
    for (i32 f = 0; f < p_.n_features(); ++f) {
      Candidate c;
      c.feature = f;
      if (!p_.features[f].constant) c = o_.chooser->best(view, f, scratch);
      Split split;
      if (c.kind != CandidateKind::none) {
        marker.mark(view, c, split, scratch);
        split.gain = c.gain * growth_.gain_unit;
        if (f == primary && found && split.n_branches == 2) {
          *found = find_surrogates(view, f, *root.active, scratch.marked, {},
                                   [&](i64 n, OnIndex search) {
                                     for (i64 i = 0; i < n; ++i) search(i, scratch);
                                   });
        }
      }
      out.emplace_back(c, std::move(split));
    }
    return out;
  }

 private:
  // Chooses and applies; children that can be split again go to `children`.
  void split_node(Pending& node, NodeList& list, bool shared, Scratch& scratch,
                  std::vector<Pending>& children, FindLater* later = nullptr) {
    Chosen chosen;
    if (search_.choose(node, list, shared, scratch, chosen)) {
      application_.apply(node, chosen, list, shared, scratch, children, later);
    }
  }

  // A Python chooser is asked for all nodes of a level at once: its answer for a small node costs
  // more in calls than in work.
  void by_levels(Pending root, NodeList& list) {
    std::vector<Pending> level, next;
    level.push_back(std::move(root));
    while (!level.empty()) {
      std::vector<Chosen> chosen = ask_python(growth_, level, list);
      i64 finished = 0;
      for (std::size_t i = 0; i < level.size(); ++i) {
        finished += level[i].size();
        if (!chosen[i].external) {
          list.stop(level[i].record, Stop::chooser);
          continue;
        }
        application_.apply(level[i], chosen[i], list, false, growth_.buffers[0], next);
      }
      for (const Pending& node : next) finished -= node.size();
      growth_.poll(finished);
      level = std::exchange(next, {});
    }
  }

  void depth_first(Pending root, NodeList& list) {
    const int threads = o_.chooser->needs_gil() || o_.linear ? 1 : p_.params.n_threads;
    if (threads <= 1) {
      subtree(std::move(root), list, growth_.buffers[0], true);
      // under a price smaller branches came first, and a test leaves records behind
      grown_.in_order = p_.params.leaf_price < 0 && p_.params.max_p_value >= 1;
      return;
    }
    // Below this size a node is worth more to one thread than its features are to all.
    const i64 limit = std::max(6 * p_.n_rows / (5 * threads), kSharedWork / p_.n_features());
    std::vector<Pending> large, next;
    next.push_back(std::move(root));
    while (!next.empty()) {
      for (Pending& node : next) {
        if (node.size() > limit) {
          large.push_back(std::move(node));
        } else {
          lend(std::move(node), list);
        }
      }
      next.clear();
      if (large.empty()) break;
      Pending node = std::move(large.back());
      large.pop_back();
      split_node(node, list, true, growth_.buffers[0], next);
      growth_.poll(0);
    }
    queue_.run(
        threads,
        [&](Subtree task, int t) {
          subtree(std::move(task.root), *task.list, growth_.buffers[t], t == 0);
          task.list->shrink();
        },
        [&] { growth_.poll(0); });
  }

  // Lets any thread grow a node, into a list of its own.
  void lend(Pending node, NodeList& list) {
    NodeList* own;
    i32 number;
    {
      std::lock_guard<std::mutex> guard(lists_lock_);
      number = static_cast<i32>(grown_.lists.size());
      own = &grown_.lists.emplace_back(growth_.new_list());
    }
    const i64 at = node.record;
    own->add(1);
    (*own)[0] = list[at];
    std::copy_n(list.stats_of(at), list.n_stats, own->stats_of(0));
    std::copy_n(list.values_of(at), list.n_values, own->values_of(0));
    list.let_stand_for(at, number);
    node.record = 0;
    queue_.push({std::move(node), own});
  }

  void subtree(Pending root, NodeList& list, Scratch& scratch, bool may_poll) {
    std::vector<Pending> stack, next;
    Ledger ledger(p_, list);
    const bool priced = ledger.is_open();
    // A copy of its own: threads that count references to the same list wait for each other.
    root.active = std::make_shared<const std::vector<i32>>(*root.active);
    stack.push_back(std::move(root));
    auto drop = [&](i64 count) {
      for (; count > 0; --count) {
        growth_.count_done(stack.back().size());
        stack.pop_back();
      }
    };
    auto report = [&](i64 finished) {
      if (may_poll) {
        growth_.poll(finished);
      } else {
        growth_.count_done(finished);
      }
    };
    while (!stack.empty() && !queue_.is_stopped()) {
      Pending node = std::move(stack.back());
      stack.pop_back();
      if (priced && !ledger.take(node.record)) {
        list.stop(node.record, Stop::price);
        growth_.count_done(node.size());
        drop(ledger.stays_leaf(node.record));
        continue;
      }
      if (small_ && small_->takes(node, list.stats_of(node.record))) {
        small_->grow(node, list);
        report(node.size());
        continue;
      }
      growth_.store->gather(node, scratch);
      const i64 before = node.size();
      FindLater later;
      const bool may_wait = priced && ledger.n_open() < kKeptNodes &&
                            before * std::max(p_.n_sorted, 1) <= kKeptEntries;
      split_node(node, list, false, scratch, next, may_wait ? &later : nullptr);
      // Under a price, small branches come first: they tell soonest whether the split pays.
      if (priced) {
        std::stable_sort(next.begin(), next.end(),
                         [](const Pending& a, const Pending& b) { return a.size() < b.size(); });
      }
      i64 open = 0;
      for (const Pending& child : next) open += child.size();
      i64 in_vain = 0;
      if (priced) {
        in_vain = list[node.record].inner < 0 ? ledger.stays_leaf(node.record)
                                              : ledger.open(node.record, next, std::move(later));
      }
      stack.insert(stack.end(), std::make_move_iterator(next.rbegin()),
                   std::make_move_iterator(next.rend()));
      next.clear();
      drop(in_vain);
      // The oldest node is the largest that another thread could take.
      if (stack.size() > 1 && queue_.is_hungry() && stack.front().size() >= kLentRows) {
        if (priced) ledger.lend();
        lend(std::move(stack.front()), list);
        stack.erase(stack.begin());
      }
      report(before - open);
    }
  }

  // Best first: the node whose split gains most is split next, up to max_leaves.
  void best_first(Pending root, NodeList& list) {
    Scratch& scratch = growth_.buffers[0];
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
      if (!search_.choose(item->node, list, true, scratch, item->chosen)) return;
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
      application_.apply(open[at]->node, open[at]->chosen, list, true, scratch, next);
      const bool is_split = list[open[at]->node.record].inner >= 0;
      open[at].reset();
      if (is_split) leaves += list.size() - before - 1;
      for (Pending& node : next) consider_node(std::move(node));
      next.clear();
      growth_.poll(0);
    }
    for (const auto& left : open) {
      if (left) list.stop(left->node.record, Stop::max_leaves);
    }
  }

  struct Subtree {
    Pending root;
    NodeList* list = nullptr;
  };

  Problem& p_;
  const GrowOptions& o_;
  Growth growth_;
  NodeTables tables_{growth_};
  Children children_{growth_};
  SplitSearch search_{growth_, tables_};
  SplitApplication application_{growth_, tables_, children_};
  std::unique_ptr<SmallSubtree> small_;
  Grown grown_;
  std::mutex lists_lock_;
  TaskQueue<Subtree> queue_;
};

}  // namespace

Grown grow(Problem& problem, const GrowOptions& options) {
  const Team team;
  return Grower(problem, options).run();
}

std::vector<std::pair<Candidate, Split>> candidates(Problem& problem, const GrowOptions& options,
                                                    i32 primary,
                                                    std::vector<Surrogate>* surrogates) {
  return Grower(problem, options).score_all(primary, surrogates);
}

}  // namespace treewright
