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
#include "node_list.hpp"
#include "numbers.hpp"
#include "partition.hpp"
#include "problem.hpp"

namespace treewright {

// Asks Python for the split of a node: rows and weights in, a Split or none out.
struct NodeFacts {
  std::vector<i64> rows;
  std::vector<double> weights;  // empty: all one
  i32 depth;
  u64 path;  // for draws that depend on the node alone
};
struct PythonAnswer {
  bool is_split = false;
  Split split;
  std::vector<Surrogate> surrogates;
  i64 id = -1;  // of what the chooser said about the node, split or not
};
using AskPython = std::function<PythonAnswer(NodeFacts)>;

struct GrowOptions {
  Chooser* chooser = nullptr;     // or
  AskPython ask;                  // a Python chooser
  NumberCriterion numbers = NumberCriterion::squared;
  bool own_scale = false;         // a user's criterion: gains are its scores as they are
  std::function<void(double)> poll;  // from the calling thread: progress in [0, 1]; may throw
};

// All lists; list 0 holds the root. A record may stand for the root of another list.
struct Grown {
  std::deque<NodeList> lists;  // a deque, for other threads add to it
};

Grown grow(Problem& problem, const GrowOptions& options);

// The best candidate of every feature at a node that holds all rows.
std::vector<std::pair<Candidate, Split>> candidates(Problem& problem, const GrowOptions& options,
                                                    i32 primary, std::vector<Surrogate>* surrogates);

}  // namespace treewright
