// Asking a Python chooser for the splits of nodes.
#pragma once

#include <span>
#include <vector>

#include "grow/growth.hpp"
#include "grow/mark.hpp"

namespace treewright {

inline void add_facts(const Problem& p, const Block& block, const Pending& node,
                      LevelFacts& facts) {
  for (i64 i = node.begin; i < node.end; ++i) facts.rows.push_back(block.row(block.ids[i]));
  for (i64 i = node.begin; i < node.end && !p.unit; ++i) {
    facts.weights.push_back(static_cast<double>(block.target.weight[block.ids[i]]) * p.weight_unit);
  }
}

// What the chooser says of nodes of one depth; not `external`: no split. The nodes' records keep
// the numbers under which the chooser was asked for them.
inline std::vector<Chosen> ask_python(Growth& growth, std::span<Pending> nodes, NodeList& list) {
  LevelFacts facts;
  facts.depth = nodes[0].depth;
  i64 n = 0;
  for (const Pending& node : nodes) n += node.size();
  facts.rows.reserve(n);
  for (Pending& node : nodes) {
    add_facts(growth.p, *node.block, node, facts);
    facts.start.push_back(static_cast<i64>(facts.rows.size()));
    facts.path.push_back(node.path);
    list.set_python_id(node.record, growth.n_asked++);
  }
  std::vector<Chosen> chosen(nodes.size());
  std::vector<PythonAnswer> answers = growth.options.ask(std::move(facts));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    chosen[i].external = answers[i].is_split;
    chosen[i].split = std::move(answers[i].split);
    chosen[i].surrogates = std::move(answers[i].surrogates);
  }
  return chosen;
}

}  // namespace treewright
