// Which features a node may be split by: those drawn for its tree, its level and itself, and those
// that may act together with the features above it.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "base/philox.hpp"
#include "boost/params.hpp"

namespace treewright::boost {

// A share of the features, at least one, in ascending order.
inline std::vector<i32> draw_features(std::span<const i32> from, double share, u64 key,
                                      u64 stream) {
  std::vector<i32> drawn(from.begin(), from.end());
  const i64 n = static_cast<i64>(drawn.size());
  const i64 wanted = std::clamp<i64>(std::llround(share * static_cast<double>(n)), 1, n);
  if (wanted == n) return drawn;
  Philox random(key, stream);
  for (i64 i = 0; i < wanted; ++i) {
    std::swap(drawn[i], drawn[i + static_cast<i64>(random.below(static_cast<u64>(n - i)))]);
  }
  drawn.resize(wanted);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

class FeatureChoice {
 public:
  // Streams of their own, apart from paths of nodes.
  static constexpr u64 kTreeStream = 0x7472656500000000ULL, kLevelStream = 0x6c6576656c000000ULL;

  FeatureChoice(const GrowParams& params, i32 n_features, u64 tree_key)
      : p_(params), key_(tree_key), all_(n_features) {
    std::iota(all_.begin(), all_.end(), 0);
    all_ = draw_features(all_, p_.tree_share, key_, kTreeStream);
  }

  const std::vector<i32>& of_tree() const { return all_; }

  std::vector<i32> of_node(i32 depth, u64 path, std::span<const i32> above) const {
    std::vector<i32> features = draw_features(all_, p_.level_share, key_, kLevelStream + depth);
    if (!p_.interactions.empty()) {
      std::erase_if(features, [&](i32 f) { return !may_join(f, above); });
      if (features.empty()) return features;
    }
    return draw_features(features, p_.node_share, key_, path);
  }

 private:
  // Whether one group has the feature and all of those above; a feature of no group is alone.
  bool may_join(i32 feature, std::span<const i32> above) const {
    for (const std::vector<i32>& group : p_.interactions) {
      auto has = [&](i32 f) { return std::find(group.begin(), group.end(), f) != group.end(); };
      if (has(feature) && std::all_of(above.begin(), above.end(), has)) return true;
    }
    return std::all_of(above.begin(), above.end(), [&](i32 f) { return f == feature; }) &&
           !in_any(feature);
  }
  bool in_any(i32 feature) const {
    for (const std::vector<i32>& group : p_.interactions) {
      if (std::find(group.begin(), group.end(), feature) != group.end()) return true;
    }
    return false;
  }

  const GrowParams& p_;
  u64 key_;
  std::vector<i32> all_;
};

}  // namespace treewright::boost
