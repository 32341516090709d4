// Bundles of features that exclude each other (Ke et al. 2017).
//
// Of one-hot columns a row has one away from 0. Such features share a stored column of bytes: byte
// 0 stands for 0 in all of them, and every feature owns the next free bytes for its other bins.
// Only features that never meet away from 0 are put together, so that nothing is lost.
//
// Twin: tests/twins/bundles.py.
#pragma once

#include <vector>

#include "binned/bins.hpp"

namespace treewright {

// Edges of columns that are 0 in all rows not listed. `weight` null: rows weigh one.
std::vector<double> sparse_edges(const SparseColumns& columns, i32 feature, const double* weight,
                                 double total_weight, i32 max_bins);

// Where the bins of each feature are stored: each goes into the first column that has bytes left
// and no row in common with it.
std::vector<Stored> bundle(const std::vector<BinMap>& maps, const SparseColumns& columns);

}  // namespace treewright
