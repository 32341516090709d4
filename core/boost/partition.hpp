// Rows of a node to its two children, in place and in their order.
#pragma once

#include <vector>

#include "base/threads.hpp"
#include "binned/bins.hpp"
#include "boost/params.hpp"

namespace treewright::boost {

class RowPartition {
 public:
  void reserve(i64 n) {
    if (static_cast<i64>(left_.size()) < n) left_.resize(n), right_.resize(n);
  }

  // Rows [0, n) become those of the left child, then those of the right one; how many go left.
  i64 run(const u8* byte_of_row, const BinSplit& split, u32* rows, i64 n, int n_threads) {
    u8 goes_left[256];
    for (i32 b = 0; b < 256; ++b) goes_left[b] = split.left_bytes.has(b);
    const i64 n_blocks = (n + kBlock - 1) / kBlock;
    if (n_threads == 1 || n_blocks < 2) {
      const i64 n_left = divide(byte_of_row, goes_left, rows, 0, n, rows, right_.data());
      std::copy_n(right_.data(), n - n_left, rows + n_left);
      return n_left;
    }
    count_.assign(n_blocks + 1, 0);
    parallel_for(n_blocks, n_threads, [&](i64 block, int) {
      const i64 first = block * kBlock, last = std::min(n, first + kBlock);
      count_[block + 1] = divide(byte_of_row, goes_left, rows, first, last, left_.data() + first,
                                 right_.data() + first);
    });
    for (i64 block = 0; block < n_blocks; ++block) count_[block + 1] += count_[block];
    const i64 n_left = count_[n_blocks];
    parallel_for(n_blocks, n_threads, [&](i64 block, int) {
      const i64 first = block * kBlock, last = std::min(n, first + kBlock);
      const i64 own = count_[block + 1] - count_[block];
      std::copy_n(left_.data() + first, own, rows + count_[block]);
      std::copy_n(right_.data() + first, last - first - own, rows + n_left + first - count_[block]);
    });
    return n_left;
  }

 private:
  static constexpr i64 kBlock = 16384;

  // Without a jump per row; `left` may be where the rows are read.
  static i64 divide(const u8* byte_of_row, const u8* goes_left, const u32* rows, i64 first,
                    i64 last, u32* left, u32* right) {
    i64 n_left = 0, n_right = 0;
    for (i64 i = first; i < last; ++i) {
      const u32 row = rows[i];
      const u8 is_left = goes_left[byte_of_row[row]];
      left[n_left] = row;
      right[n_right] = row;
      n_left += is_left;
      n_right += 1 - is_left;
    }
    return n_left;
  }

  std::vector<u32> left_, right_;
  std::vector<i64> count_;
};

}  // namespace treewright::boost
