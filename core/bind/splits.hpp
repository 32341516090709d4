// The splits of a Python tree, read into records.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "grow/node_list.hpp"

namespace treewright {

template <class T>
using Flat =
    nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
inline std::vector<T> copy(const nanobind::dict& d, const char* key) {
  const auto a = nanobind::cast<Flat<T>>(d[key]);
  return std::vector<T>(a.data(), a.data() + a.shape(0));
}

// Splits with the way of their gaps.
inline std::vector<Split> with_gaps(const FlatSplits& flat, const std::vector<i32>& gap_branch) {
  std::vector<Split> splits;
  splits.reserve(gap_branch.size());
  for (std::size_t i = 0; i < gap_branch.size(); ++i) {
    splits.push_back(flat[static_cast<i64>(i)]);
    splits.back().gap_branch = gap_branch[i];
  }
  return splits;
}

inline std::vector<u8> copy_flags(const nanobind::dict& d, const char* key) {
  const auto a = nanobind::cast<Flat<bool>>(d[key]);
  return std::vector<u8>(a.data(), a.data() + a.shape(0));
}

// The arrays of the Python Splits.
inline FlatSplits read_splits(const nanobind::dict& d) {
  FlatSplits s;
  s.kind = copy<u8>(d, "kind");
  s.closed = copy_flags(d, "closed");
  s.reversed = copy_flags(d, "reversed");
  s.feature = copy<i32>(d, "feature");
  s.break_offset = copy<i64>(d, "break_offset");
  s.code_offset = copy<i64>(d, "code_offset");
  s.term_offset = copy<i64>(d, "term_offset");
  s.breaks = copy<double>(d, "breaks");
  s.term_weight = copy<double>(d, "term_weight");
  s.codes = copy<i32>(d, "codes");
  s.branches = copy<i32>(d, "branches");
  s.term_feature = copy<i32>(d, "term_feature");
  s.term_code = copy<i32>(d, "term_code");
  return s;
}

}  // namespace treewright
