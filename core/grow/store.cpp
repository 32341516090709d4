#include "grow/store.hpp"

#include <algorithm>

#include "binned/row_matrix.hpp"
#include "grow/extract.hpp"
#include "grow/gathered_block.hpp"
#include "grow/growth.hpp"

namespace treewright {
namespace {

// Subtrees of these sizes get a block of their own, which lies closer together and then fits the
// nearest caches.
constexpr i64 kLocalBlock = 65536;
constexpr i64 kTinyBlock = 1024;

// What both have in common.
class AnyStore : public NodeStore {
 public:
  explicit AnyStore(Growth& growth) : g_(growth), p_(growth.p), o_(growth.options) {}

 protected:
  Candidate winner_of(const std::vector<Candidate>& found) const {
    Candidate best;
    if (o_.chooser->picks()) {
      const i64 winner = o_.chooser->pick(found);
      return winner < 0 ? best : found[winner];
    }
    const Candidate* winner = &best;
    for (const Candidate& candidate : found) {
      if (candidate.beats(*winner)) winner = &candidate;
    }
    return *winner;
  }

  Growth& g_;
  const Problem& p_;
  const GrowOptions& o_;
};

class SortedStore : public AnyStore {
 public:
  using AnyStore::AnyStore;

  Candidate search(Pending& node, NodeView& view, std::span<const i32> features, bool shared,
                   std::vector<Candidate>& found, Scratch& scratch) override {
    const i64 n = std::ssize(features), before = std::ssize(found);
    const bool in_parallel = shared && !o_.chooser->needs_gil() && node.size() * n >= kSharedWork;
    if (in_parallel || o_.chooser->picks()) {
      found.resize(before + n);
      g_.for_each(n, node.size(), in_parallel, scratch, [&](i64 i, Scratch& s) {
        found[before + i] = o_.chooser->best(view, features[i], s);
      });
      return winner_of(found);
    }
    Candidate best;
    for (i64 i = 0; i < n; ++i) {
      const Candidate candidate = o_.chooser->best(view, features[i], scratch);
      if (candidate.beats(best)) best = candidate;
      view.to_beat = std::max(0.0, best.gain);
    }
    return best;
  }

  void gather(Pending& node, Scratch& scratch) const override {
    const i64 size = node.size(), all = node.block->n;
    if ((size <= kLocalBlock && all > kLocalBlock) ||
        (size <= kTinyBlock && all > 4 * kTinyBlock)) {
      localize(node, scratch);
    }
  }

  // A feature that no longer varies at a node varies nowhere below it. The search sees that too,
  // so looking now and then is enough, unless features are drawn.
  void drop_constants(Pending& node) const override {
    if (p_.params.max_features <= 0 && node.depth % 4) return;
    const Block& block = *node.block;
    std::vector<i32> left;
    for (i32 f : *node.active) {
      const FeatureInfo& info = p_.features[f];
      if (info.store == Store::sorted) {
        const Entry* e = block.entries[info.slot];
        if (e[node.begin].rank == e[node.end - 1].rank) continue;
      }
      left.push_back(f);
    }
    if (left.size() < node.active->size()) {
      node.active = std::make_shared<const std::vector<i32>>(std::move(left));
    }
  }

 private:
  // Gives a subtree a block of its own: what it gathers lies closer together.
  void localize(Pending& node, Scratch& scratch) const {
    const Block& from = *node.block;
    const std::vector<u32> picked(from.ids + node.begin, from.ids + node.end);
    auto block = extract(p_, from, node.begin, node.end, picked, nullptr, *node.active, scratch);
    // Nobody else reads the node's part of the old block, which stays for its other nodes.
    for (Entry* entries : from.entries) {
      if (entries) drop_pages(entries + node.begin, entries + node.end);
    }
    node.block = std::move(block);
    node.begin = 0;
    node.end = static_cast<i64>(picked.size());
  }
};

class RowStore : public AnyStore {
 public:
  using AnyStore::AnyStore;

  // Features without gaps are searched together. Those that do not vary are not looked at again
  // below the node.
  Candidate search(Pending& node, NodeView& view, std::span<const i32> features, bool /*shared*/,
                   std::vector<Candidate>&, Scratch& scratch) override {
    const i32 n = static_cast<i32>(features.size());
    std::vector<i32>& gapless = scratch.gapless;
    gapless.clear();
    for (i32 i = 0; i < n; ++i) {
      const FeatureInfo& info = p_.features[features[i]];
      if (info.store == Store::by_row && !info.has_gaps) gapless.push_back(features[i]);
    }
    i32 done = 0;
    const i32 m = static_cast<i32>(gapless.size());
    scratch.of_gapless.resize(m);
    if (m && o_.chooser->best_by_row(view, gapless.data(), m, scratch, scratch.of_gapless.data())) {
      done = m;
    }
    if (done < n) {
      scratch.found.resize(n);
      for (i32 i = 0, next = 0; i < n; ++i) {
        scratch.found[i] = next < done && gapless[next] == features[i]
                               ? scratch.of_gapless[next++]
                               : o_.chooser->best(view, features[i], scratch);
      }
    }
    const std::vector<Candidate>& found = done < n ? scratch.found : scratch.of_gapless;
    drop_found_constants(node, found, scratch);
    return winner_of(found);
  }

  void gather(Pending& node, Scratch& scratch) const override {
    gather_rows(p_, node.block, node.begin, node.end, *node.active, scratch);
  }

  void drop_constants(Pending&) const override {}  // the search does

  std::unique_ptr<SmallSubtree> small_subtrees(const Block& root) const override {
    if (!o_.chooser || o_.linear) return {};
    return treewright::small_subtrees(p_, root, *o_.chooser, g_.gain_unit);
  }

 private:
  static void drop_found_constants(Pending& node, const std::vector<Candidate>& found,
                                   Scratch& scratch) {
    std::vector<i32>& constant = scratch.gapless;
    constant.clear();
    for (const Candidate& c : found) {
      if (c.constant) constant.push_back(c.feature);
    }
    if (constant.empty()) return;
    // Both lists in the order of columns, so that one pass over them is enough.
    std::sort(constant.begin(), constant.end());
    auto left = std::make_shared<std::vector<i32>>(node.active->size());
    const auto end = std::set_difference(node.active->begin(), node.active->end(), constant.begin(),
                                         constant.end(), left->begin());
    left->erase(end, left->end());
    node.active = std::move(left);
  }
};

}  // namespace

std::unique_ptr<NodeStore> make_store(Growth& growth) {
  if (growth.p.matrix) return std::make_unique<RowStore>(growth);
  return std::make_unique<SortedStore>(growth);
}

}  // namespace treewright
