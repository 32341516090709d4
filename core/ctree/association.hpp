// Tests of independence between a response and features (Strasser and Weber 1999), and the split
// of a feature that such a test finds best (Hothorn, Hornik and Zeileis 2006).
//
// Both sides enter as numbers: a continuous or ordinal feature as itself (p = 1), a nominal one as
// indicators of its categories (p of them); the response likewise, as q numbers h or as q classes.
// The linear statistic of a set of rows with weights w is T = Σ w g(x) h(y)'. Given the response
// values but not who has which, its mean is Σ w g E' and its covariance V ⊗ C, with E and V the
// mean and covariance of h, n the sum of weights and C = (n Σ w g g' − (Σ w g)(Σ w g)') / (n − 1).
// M is T minus its mean. For indicators the pseudo-inverses have a closed form on the range of M:
// V⁺ becomes diag(1 / E), C⁺ becomes (n − 1) / n diag(1 / n_j).
//
// A row with a gap in a feature takes no part in the test of that feature.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "base/types.hpp"

namespace treewright {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// What is explained, over the rows of the table.
struct TestedResponse {
  const i32* label = nullptr;  // classes 0 … width − 1, or
  const double* h = nullptr;   // numbers, rows × width
  i32 width = 0;
};

// A node: rows of the table, each with a weight (null: all one).
struct RowSet {
  const i64* rows = nullptr;
  const double* weights = nullptr;
  i64 n = 0;

  double weight(i64 i) const { return weights ? weights[i] : 1.0; }
};

struct Association {
  double quadratic = kNoNumber, maximum = kNoNumber;  // NaN: nothing to test
  i32 rank = 0;                                       // of V ⊗ C: degrees of freedom
  // Where asked for:
  std::vector<double> level_weight;  // nominal: weight of each category seen
  std::vector<double> covariance;    // V, width × width
};

enum class Form : u8 { quadratic, maximum };

// The two sides of a split: x <= value, or branch of each code seen.
struct BinarySplit {
  bool found = false;
  double statistic = kNoNumber;
  double value = 0;
  std::vector<i32> codes, branches;
};

using Poll = std::function<void()>;

// Nodes are tested and split in one go: most are small, and threads share them.

// The tests of every node: those of node i are of the `width` features from features[i · width] on.
std::vector<Association> associate(const std::vector<Column>& columns,
                                   const TestedResponse& response, const std::vector<RowSet>& nodes,
                                   const std::vector<i32>& features, i64 width,
                                   bool with_covariance, int n_threads, const Poll& poll);

// The split of features[i] at every node i.
std::vector<BinarySplit> best_binary_splits(const std::vector<Column>& columns,
                                            const TestedResponse& response,
                                            const std::vector<RowSet>& nodes,
                                            const std::vector<i32>& features, Form form,
                                            const std::vector<double>& least_weight,
                                            i32 max_exhaustive, int n_threads, const Poll& poll);

// How many of n_resamples permutations of the response reach each feature's statistic. Weights are
// whole numbers. The draws depend on `key` and `stream` alone and see values in sorted order, so
// that neither threads nor the order of rows matter.
std::vector<i64> count_extreme(const std::vector<Column>& columns, const TestedResponse& response,
                               const RowSet& set, const std::vector<i32>& features, Form form,
                               i64 n_resamples, u64 key, u64 stream, int n_threads,
                               const Poll& poll);

}  // namespace treewright
