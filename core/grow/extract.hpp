// A block of its own for some instances of a node: to have them close together, or to give a child
// instances with weights of their own (fractional descent).
#pragma once

#include <memory>

#include "base/single.hpp"
#include "choose/chooser.hpp"
#include "data/problem.hpp"

namespace treewright {

// A share of a scaled weight.
inline i64 shared_weight(const Problem& p, i64 weight, double share) {
  if (share == 1.0) return weight;
  if (p.params.single_shares) return shared_single(weight, share);
  return std::llrint(static_cast<double>(weight) * share);
}

// `picked` are instances of `from` in ascending order; `share` (or null) multiplies their weights.
// `active` are the features that the new block needs.
inline std::shared_ptr<Block> extract(const Problem& p, const Block& from, i64 begin, i64 end,
                                      const std::vector<u32>& picked, const double* share,
                                      const std::vector<i32>& active, Scratch& scratch) {
  auto block = std::make_shared<Block>();
  const i64 n = static_cast<i64>(picked.size());
  block->n = n;
  auto& map = scratch.map;
  const bool sorted = !from.entries.empty();
  if (sorted && map.size() < static_cast<std::size_t>(from.n)) map.resize(from.n);
  for (i64 i = begin; sorted && i < end; ++i) map[from.ids[i]] = kGap;
  u32* source = block->allocate<u32>(n);
  block->ids = block->allocate<u32>(n);
  for (i64 i = 0; i < n; ++i) {
    if (sorted) map[picked[i]] = static_cast<u32>(i);
    source[i] = from.row(picked[i]);
    block->ids[i] = static_cast<u32>(i);
  }
  block->source = source;

  auto pick = [&](const auto* values, i64 width, bool scale) {
    using T = std::remove_cv_t<std::remove_reference_t<decltype(*values)>>;
    if (!values) return static_cast<T*>(nullptr);
    T* out = block->template allocate<T>(n * width);
    for (i64 i = 0; i < n; ++i) {
      for (i64 k = 0; k < width; ++k) {
        T v = values[static_cast<i64>(picked[i]) * width + k];
        if constexpr (std::is_same_v<T, i64>) {
          if (scale && share) v = shared_weight(p, v, share[i]);
        }
        out[i * width + k] = v;
      }
    }
    return out;
  };
  const i64 outputs = p.targets.n_outputs;
  const TargetArrays& t = from.target;
  if (p.is_classification()) {
    block->target.label = pick(t.label, 1, false);
  } else {
    block->target.wy = pick(t.wy, outputs, true);
    block->target.wy2 = pick(t.wy2, outputs, true);
    block->target.y = pick(t.y, outputs, false);
  }
  block->target.weight = pick(t.weight, 1, true);
  if (!share) block->target.count = pick(t.count, 1, false);

  block->entries.assign(from.entries.size(), nullptr);
  block->codes.assign(from.codes.size(), nullptr);
  for (i32 f : active) {
    const FeatureInfo& info = p.features[f];
    if (info.store == Store::coded) {
      with_code_type(info.code_bytes, [&](auto code) {
        using Code = decltype(code);
        const Code* values = reinterpret_cast<const Code*>(from.codes[info.slot]);
        Code* out = block->template allocate<Code>(n);
        for (i64 i = 0; i < n; ++i) out[i] = values[picked[i]];
        block->codes[info.slot] = reinterpret_cast<const u8*>(out);
      });
      continue;
    }
    if (info.store == Store::by_row) continue;  // see grow/gathered_block.hpp
    const Entry* in = from.entries[info.slot];
    Entry* out = block->allocate<Entry>(n);
    i64 count = 0;
    u32 previous = in[begin].rank;
    u32 rank = 0;
    bool first = true;
    for (i64 i = begin; i < end; ++i) {
      const u32 id = map[in[i].id];
      if (id == kGap) continue;
      if (in[i].rank == kGap) {
        out[count++] = {kGap, id};
        continue;
      }
      if (!first && in[i].rank != previous) ++rank;
      first = false;
      previous = in[i].rank;
      out[count++] = {rank, id};
    }
    block->entries[info.slot] = out;
  }
  return block;
}

}  // namespace treewright
