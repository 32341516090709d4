// What is known of subproblems: sets of rows and the depth that is left for them.
#pragma once

#include <array>
#include <mutex>
#include <unordered_map>

#include "optimal/rows.hpp"

namespace treewright::optimal {

// The least cost, or a bound below it; the test of the best tree's root, −1 for a leaf.
struct Outcome {
  i64 lower = 0;
  i32 test = -1;
  bool is_exact = false;
};

class Cache {
 public:
  bool find(const Key& key, i32 depth, Outcome& outcome) {
    Shard& shard = shards_[key.low % kShards];
    std::lock_guard<std::mutex> guard(shard.lock);
    const auto found = shard.known.find({key, depth});
    if (found == shard.known.end()) return false;
    outcome = found->second;
    return true;
  }

  // Shallow subproblems are many and soon solved again: they are kept while there is room.
  void keep(const Key& key, i32 depth, const Outcome& outcome) {
    Shard& shard = shards_[key.low % kShards];
    std::lock_guard<std::mutex> guard(shard.lock);
    if (depth <= 2 && shard.known.size() >= kMost) return;
    Outcome& held = shard.known[{key, depth}];
    if (outcome.is_exact || (!held.is_exact && outcome.lower > held.lower)) held = outcome;
  }

 private:
  static constexpr int kShards = 64;
  static constexpr std::size_t kMost = 100'000;  // of each shard: about half a gigabyte in all

  struct Place {
    Key key;
    i32 depth;
    bool operator==(const Place&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Place& place) const {
      return place.key.high ^ (static_cast<u64>(place.depth) << 58);
    }
  };
  struct Shard {
    std::mutex lock;
    std::unordered_map<Place, Outcome, Hash> known;
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace treewright::optimal
