// What the growth loop asks of the way in which ordered columns are kept.
//
// Two ways: in order, which splits keep up (most learners), or unsorted and row by row, as keys,
// bins and bits that all trees of a forest share (binned/row_matrix.hpp). Nominal columns are codes
// in both. The loop knows this interface alone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "choose/chooser.hpp"
#include "grow/node_list.hpp"
#include "grow/pending.hpp"
#include "grow/small_subtree.hpp"

namespace treewright {

class Growth;

class NodeStore {
 public:
  virtual ~NodeStore() = default;
  // The best split of a node among those of some features. `found` has the candidates of earlier
  // calls for the same node, where the winner depends on all of them.
  virtual Candidate search(Pending& node, NodeView& view, std::span<const i32> features,
                           bool shared, std::vector<Candidate>& found, Scratch& scratch) = 0;
  // Gives a node a block of its own where its rows then lie so much closer that it pays.
  virtual void gather(Pending& node, Scratch& scratch) const = 0;
  // Leaves out features that do not vary at a new node, unless its search finds that out.
  virtual void drop_constants(Pending& node) const = 0;
  // What grows small subtrees without the loop, if anything does.
  virtual std::unique_ptr<SmallSubtree> small_subtrees(const Block& /*root*/) const { return {}; }
};

std::unique_ptr<NodeStore> make_store(Growth& growth);

}  // namespace treewright
