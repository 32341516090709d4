// Out-of-bag permutation importance: what each tree loses on the rows that it did not see when the
// values of a feature are shuffled among them (Breiman 2001).
//
// Only a row whose way reads the feature can lose, and only from the first node that reads it: such
// rows go on again from there. Twin: tests/twins/importance.py.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "forest/sample.hpp"
#include "predict/predict.hpp"

namespace treewright {

// Rows of numbers, NaN at a gap, one after the other.
template <class T>
struct RowBlock {
  const T* data = nullptr;
  std::ptrdiff_t step = 0;
  const T* row(i64 i) const { return data + i * step; }
};

// A tree and what its ends say.
struct AskedTree {
  std::shared_ptr<const predict::Router> router;
  const double* values = nullptr;  // one row for each end
  std::vector<i32> end;            // of a node; empty: every node is one
};

struct ImportanceProblem {
  i64 n_rows = 0, n_trees = 0;
  i32 n_features = 0;
  i32 width = 1;               // classes or outputs
  const i32* label = nullptr;  // classes; otherwise
  const double* y = nullptr;   // rows × width
  Sampling sampling;
  u64 seed = 0;
  std::function<AskedTree(i64)> tree;  // from any thread
  int n_threads = 1;
  std::function<void()> poll;  // from the calling thread; may throw
};

// Fills lost (trees × features) with the mean increase of the loss, which is 1 for a wrong label or
// the mean squared error over the outputs; NaN for a tree that saw all rows.
template <class T>
void oob_importance(const ImportanceProblem& problem, const RowBlock<T>& rows, double* lost);

extern template void oob_importance(const ImportanceProblem&, const RowBlock<float>&, double*);
extern template void oob_importance(const ImportanceProblem&, const RowBlock<double>&, double*);

// A random order of 0 … n − 1, for one tree and one feature.
void shuffle(u64 tree_key, i32 feature, std::vector<u32>& order, i64 n);

}  // namespace treewright
