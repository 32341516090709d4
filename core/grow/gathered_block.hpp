// Blocks of their own for the subtrees of a forest.
//
// The rows of a node lie scattered over the table, so that every access to one misses the cache. A
// subtree of some thousand rows gets a copy of their bins, bits and targets, and one whose keys fit
// the nearest cache a copy of these too.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "grow/extract.hpp"

namespace treewright {

// Copies of cells in pieces of 16 bytes, the last perhaps beyond them: both have room there, and
// what is beyond is written again. cell(i) tells where the i-th is; looks ahead, as they lie
// anywhere. kPieces is 0 for any number.
template <int kPieces, class Cell>
inline void copy_cells(Cell&& cell, i64 n, i64 bytes, char* to) {
  constexpr i64 kPiece = 16, kAhead = 16;
  const i64 copied = kPieces ? kPieces * kPiece : bytes;
  for (i64 i = 0; i < n; ++i, to += bytes) {
    const char* ahead = cell(std::min(i + kAhead, n - 1));
    for (i64 byte = 0; byte < copied; byte += 64) __builtin_prefetch(ahead + byte);
    __builtin_prefetch(ahead + bytes - 1);
    const char* from = cell(i);
    for (i64 byte = 0; byte < copied; byte += kPiece) std::memcpy(to + byte, from + byte, kPiece);
  }
}

constexpr i64 kGatheredRows = 8192;          // rows
constexpr i64 kGatheredKeys = i64{1} << 15;  // bytes
constexpr i64 kGatheredShortKeys =
    5 * kGatheredKeys;  // of which a row has so few that they come with its bins
constexpr i64 kCloseTable = i64{1}
                            << 19;  // bytes of bins and codes that are close enough as they are

// The instances `begin` … `end` of a block, with their keys or without.
inline std::shared_ptr<Block> gathered_block(const Problem& p, const Block& from, i64 begin,
                                             i64 end, const std::vector<i32>& active,
                                             bool with_keys, Scratch& scratch) {
  const std::vector<u32> picked(from.ids + begin, from.ids + end);
  const i64 n = end - begin;
  auto block = extract(p, from, begin, end, picked, nullptr, active, scratch);

  auto pick_cells = [&](auto&& cell, i64 step) {
    using T = std::remove_cv_t<std::remove_reference_t<decltype(*cell(0))>>;
    T* out = block->template allocate<T>(n * step);
    const i64 bytes = step * static_cast<i64>(sizeof(T));
    auto at = [&](i64 i) { return reinterpret_cast<const char*>(cell(picked[i])); };
    char* to = reinterpret_cast<char*>(out);
    bytes <= 16   ? copy_cells<1>(at, n, bytes, to)
    : bytes <= 32 ? copy_cells<2>(at, n, bytes, to)
                  : copy_cells<0>(at, n, bytes, to);
    return out;
  };
  const RowCells& cells = from.cells;
  block->cells = cells;
  block->cells.bin_columns = nullptr;
  block->cells.key_row = block->source;
  block->cells.bin_data = pick_cells([&](i64 id) { return cells.bins(id); }, cells.bin_step);
  if (cells.bit_step) {
    block->cells.bit_data =
        pick_cells([&](i64 id) { return cells.bit_data + id * cells.bit_step; }, cells.bit_step);
  }
  if (with_keys) {
    if (cells.short_data) {
      block->cells.short_data =
          pick_cells([&](i64 id) { return cells.short_keys(id); }, cells.key_step);
    } else {
      block->cells.key_data = pick_cells([&](i64 id) { return cells.keys(id); }, cells.key_step);
    }
    block->cells.key_row = nullptr;
  }
  return block;
}

// Gives a node that is small enough a block of its own, unless it has one.
inline void gather_rows(const Problem& p, std::shared_ptr<Block>& block, i64& begin, i64& end,
                        const std::vector<i32>& active, Scratch& scratch) {
  const i64 n = end - begin;
  if (n > kGatheredRows || block->n <= 2 * n) return;
  const bool has_bins = block->source, has_keys = has_bins && !block->cells.key_row;
  const RowCells& cells = block->cells;
  const bool with_keys =
      n * cells.key_bytes() <= (cells.short_data ? kGatheredShortKeys : kGatheredKeys);
  if (has_keys || (has_bins && !with_keys)) return;
  const i64 per_row = block->cells.bin_step + static_cast<i64>(block->codes.size());
  if (!with_keys && block->n * per_row <= kCloseTable) return;
  block = gathered_block(p, *block, begin, end, active, with_keys, scratch);
  begin = 0;
  end = n;
}

}  // namespace treewright
