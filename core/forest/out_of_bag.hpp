// What the trees that did not see a row say of it: summed in the order of the trees.
#pragma once

#include <vector>

#include "binned/row_matrix.hpp"
#include "data/problem.hpp"
#include "forest/compact.hpp"

namespace treewright {

enum class OutOfBagKind : u8 { none, probability, vote, value };

// The answer of one tree: the rows that it did not see, and their leaves.
struct OutOfBagRows {
  std::vector<u32> rows, leaf;
  std::vector<double> leaf_values;  // leaves × width
};

class OutOfBag {
 public:
  OutOfBagKind kind = OutOfBagKind::none;
  std::vector<double> total;   // rows × width; may hold the sums of earlier trees
  std::vector<i32> n_trees;    // trees that did not see each row
  std::vector<double> errors;  // of the forest of the first 1, 2, … trees

  // Once, with sums of earlier trees in place or empty.
  void begin(const Problem& p);
  // Sends the rows with a count of 0 down a tree; from any thread.
  OutOfBagRows ask(const Problem& p, const CompactTree& tree, const std::vector<i32>& counts) const;
  // Adds an answer; in the order of the trees.
  void add(const Problem& p, const OutOfBagRows& answer);

 private:
  bool is_wrong(const Problem& p, i64 row) const;
  double number_error(const Problem& p) const;

  i32 width_ = 0;
  std::vector<u8> wrong_;
  i64 n_known_ = 0, n_wrong_ = 0;
};

}  // namespace treewright
