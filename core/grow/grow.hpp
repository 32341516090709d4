// The growth loop for exact trees.
//
// Large nodes are split one after another with the features shared among threads; once nodes are
// small enough, whole subtrees are handed out. Every sum is an integer and every draw depends on
// the node's path, so the tree is the same for any number of threads.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "choose/chooser.hpp"
#include "data/numbers.hpp"
#include "data/partition.hpp"
#include "data/problem.hpp"
#include "grow/node_list.hpp"

namespace treewright {

// Asks Python for the splits of the nodes of a level: rows and weights in, Splits or none out.
struct LevelFacts {
  std::vector<i64> rows;        // of one node after the other
  std::vector<double> weights;  // empty: all one
  std::vector<i64> start{0};    // where each node's rows start; the end last
  i32 depth = 0;
  std::vector<u64> path;  // of each node, for draws that depend on it alone
};
struct PythonAnswer {
  bool is_split = false;
  Split split;
  std::vector<Surrogate> surrogates;
};
using AskPython = std::function<std::vector<PythonAnswer>(LevelFacts)>;

// Not to be copied: what `ask` and `poll` hold belongs to Python, and growing has released the GIL.
struct GrowOptions {
  GrowOptions() = default;
  GrowOptions(const GrowOptions&) = delete;
  GrowOptions& operator=(const GrowOptions&) = delete;

  Chooser* chooser = nullptr;      // or
  AskPython ask;                   // a Python chooser
  LinearSearch* linear = nullptr;  // sums of features compete with what the chooser finds
  NumberCriterion numbers = NumberCriterion::squared;
  bool own_scale = false;       // a user's criterion: gains are its scores as they are
  std::shared_ptr<Block> root;  // a forest's: made before, with root_size instances
  i64 root_size = 0;
  NodeList* list = nullptr;  // whose memory is used again; it comes back as the first of Grown
  std::function<void(double)> poll;  // from the calling thread: progress in [0, 1]; may throw
};

// All lists; list 0 holds the root. A record may stand for the root of another list.
struct Grown {
  std::deque<NodeList> lists;  // a deque, for other threads add to it
  bool in_order = false;       // one list, whose records are in the order of Tree already
};

Grown grow(Problem& problem, const GrowOptions& options);

// The best candidate of every feature at a node that holds all rows.
std::vector<std::pair<Candidate, Split>> candidates(Problem& problem, const GrowOptions& options,
                                                    i32 primary,
                                                    std::vector<Surrogate>* surrogates);

}  // namespace treewright
