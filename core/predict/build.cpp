// From the flat arrays of a tree to its Router. A tree may come from a damaged or hostile file,
// so everything that the walk relies on is checked here, in one linear pass.

#include <limits>
#include <stdexcept>
#include <string>

#include "predict/predict.hpp"

namespace treewright::predict {
namespace {

enum SplitKind : std::uint8_t { leaf = 0, breaks = 1, codes = 2, linear = 3 };

[[noreturn]] void fail(const std::string& what) {
  throw std::invalid_argument("A tree must have " + what + "; grow or load it again.");
}

void require(bool holds, const char* rule) {
  if (!holds) fail(rule);
}

void require_at(bool holds, const char* rule, std::int64_t i) {
  if (!holds) fail(std::string(rule) + ", but entry " + std::to_string(i) + " breaks this");
}

// offset has n + 1 ascending entries inside a pool.
void check_offsets(std::span<const std::int64_t> offset, std::size_t n, std::size_t pool) {
  require(offset.size() == n + 1 && offset[0] >= 0, "one offset per entry and one more");
  for (std::size_t i = 0; i < n; ++i)
    require_at(offset[i] <= offset[i + 1], "ascending offsets", static_cast<std::int64_t>(i));
  require(static_cast<std::uint64_t>(offset[n]) <= pool, "offsets that end inside their arrays");
  require(pool <= std::numeric_limits<std::int32_t>::max(), "fewer than 2^31 breaks and codes");
}

void check_lengths(const SplitArrays& splits) {
  const std::size_t n = splits.kind.size();
  require(splits.feature.size() == n && splits.closed.size() == n && splits.reversed.size() == n,
          "split arrays of one length");
  require(splits.codes.size() == splits.branches.size(), "one branch for each code");
  require(splits.term_feature.size() == splits.term_weight.size(), "one weight for each term");
  require(splits.term_feature.size() == splits.term_code.size(), "one code for each term");
  check_offsets(splits.break_offset, n, splits.breaks.size());
  check_offsets(splits.code_offset, n, splits.codes.size());
  check_offsets(splits.term_offset, n, splits.term_feature.size());
}

// Turns splits into tests, filling the pools of a router.
class Builder {
 public:
  Builder(Router& router, const TreeArrays& tree) : router_(router), tree_(tree) {
    check_shape();
    used_.resize(tree.n_categories.size());
    router_.n_categories.assign(tree.n_categories.begin(), tree.n_categories.end());
  }

  void build() {
    const auto n = static_cast<std::int32_t>(tree_.first_child.size());
    router_.nodes.resize(n);
    router_.parent.assign(n, -1);
    for (std::int32_t i = 0; i < n; ++i) check_children(i);
    for (std::int32_t i = 1; i < n; ++i)
      require_at(router_.parent[i] >= 0, "nodes that each have one parent", i);
    for (std::int32_t i = 0; i < n; ++i)
      if (tree_.n_children[i] > 0) add_inner(i);
    for (std::size_t f = 0; f < used_.size(); ++f)
      if (used_[f]) router_.used.push_back(static_cast<std::int32_t>(f));
    // A walk reads some feature even at a leaf, so there must be one.
    if (router_.used.empty()) router_.used.push_back(0);
    for (std::int32_t i = 0; i < n; ++i)
      if (tree_.n_children[i] == 0) add_leaf(i);
    measure();
  }

 private:
  void check_shape() const {
    const std::size_t n = tree_.first_child.size();
    const auto n_features = static_cast<std::int64_t>(tree_.n_categories.size());
    require(n >= 1 && n < std::numeric_limits<std::int32_t>::max(), "1 to 2^31 - 2 nodes");
    require(n_features >= 1 && n_features < max_features, "1 to 2^24 - 1 features");
    require(tree_.n_children.size() == n && tree_.gap.size() == n && tree_.weight.size() == n &&
                tree_.splits.kind.size() == n,
            "node arrays of one length");
    check_lengths(tree_.splits);
    check_lengths(tree_.surrogates);
    check_offsets(tree_.surrogate_offset, n, tree_.surrogates.kind.size());
    for (std::size_t i = 0; i < n; ++i)
      require_at(std::isfinite(tree_.weight[i]) && tree_.weight[i] >= 0,
                 "node weights that are finite and not negative", static_cast<std::int64_t>(i));
  }

  void check_children(std::int32_t i) {
    const std::int64_t first = tree_.first_child[i], count = tree_.n_children[i];
    const bool is_leaf = tree_.splits.kind[i] == leaf;
    require_at(is_leaf ? first == -1 && count == 0 : first >= 0 && count >= 1,
               "children at every split and none at a leaf", i);
    if (is_leaf) return;
    require_at(first > i && first + count <= router_.n_nodes(),
               "children after their parent and inside the arrays", i);
    for (std::int64_t child = first; child < first + count; ++child) {
      require_at(router_.parent[child] < 0, "nodes that each have one parent", child);
      router_.parent[child] = i;
    }
    require_at(tree_.gap[i] >= gap_stop && tree_.gap[i] < count,
               "defaults that are a branch, -1 or -2", i);
  }

  void use(std::int32_t feature, std::int64_t i) {
    require_at(feature >= 0 && static_cast<std::size_t>(feature) < used_.size(),
               "features that the schema has", i);
    used_[feature] = true;
  }

  Test make_test(const SplitArrays& splits, std::int64_t i, std::int32_t n_children) {
    Test test{};
    test.reversed = splits.reversed[i] != 0;
    const std::int64_t n_breaks = splits.break_offset[i + 1] - splits.break_offset[i];
    require_at(!test.reversed || (n_breaks == 1 && splits.kind[i] != codes),
               "reversed splits that have one break", i);
    switch (splits.kind[i]) {
      case breaks:
        add_breaks(test, splits, i, n_children);
        break;
      case codes:
        add_codes(test, splits, i, n_children);
        break;
      case linear:
        require_at(n_breaks == 1, "linear splits with one break", i);
        add_breaks(test, splits, i, n_children);
        add_terms(test, splits, i);
        return test;
      default:
        require_at(false, "splits of a known kind", i);
    }
    test.feature = splits.feature[i];
    use(test.feature, i);
    return test;
  }

  void add_breaks(Test& test, const SplitArrays& splits, std::int64_t i, std::int32_t n_children) {
    const std::int64_t begin = splits.break_offset[i], end = splits.break_offset[i + 1];
    require_at(begin < end && end - begin < n_children, "one more branch than breaks", i);
    test.count = static_cast<std::int32_t>(end - begin);
    test.kind = test.count == 1 ? Test::one_cut : Test::cuts;
    test.start = static_cast<std::int64_t>(router_.cuts.size());
    for (std::int64_t j = begin; j < end; ++j) {
      const double at = splits.breaks[j];
      require_at(at > -INFINITY && (j == begin || at > splits.breaks[j - 1]),
                 "breaks that ascend from above -inf", i);
      test.cut = splits.closed[i] ? at : std::nextafter(at, -INFINITY);
      if (test.kind == Test::cuts) router_.cuts.push_back(test.cut);
    }
  }

  void add_terms(Test& test, const SplitArrays& splits, std::int64_t i) {
    const std::int64_t begin = splits.term_offset[i], end = splits.term_offset[i + 1];
    require_at(begin < end, "linear splits with terms", i);
    test.kind = Test::linear;
    test.count = static_cast<std::int32_t>(end - begin);
    test.start = static_cast<std::int64_t>(router_.term_feature.size());
    for (std::int64_t j = begin; j < end; ++j) {
      use(splits.term_feature[j], i);
      require_at(std::isfinite(splits.term_weight[j]), "finite weights of terms", i);
      router_.term_feature.push_back(splits.term_feature[j]);
      router_.term_weight.push_back(splits.term_weight[j]);
      router_.term_code.push_back(splits.term_code[j]);
    }
  }

  void add_codes(Test& test, const SplitArrays& splits, std::int64_t i, std::int32_t n_children) {
    const std::int64_t begin = splits.code_offset[i], count = splits.code_offset[i + 1] - begin;
    const auto listed = splits.codes.subspan(begin, count);
    const auto branches = splits.branches.subspan(begin, count);
    use(splits.feature[i], i);
    require_at(tree_.n_categories[splits.feature[i]] >= 0, "codes of features with categories", i);
    bool is_binary = true;
    for (std::int64_t j = 0; j < count; ++j) {
      require_at(listed[j] >= 0 && listed[j] < tree_.n_categories[splits.feature[i]] &&
                     (j == 0 || listed[j] > listed[j - 1]),
                 "codes that ascend and belong to the feature's categories", i);
      require_at(branches[j] >= 0 && branches[j] < n_children, "codes that lead to a branch", i);
      is_binary = is_binary && branches[j] <= 1;
    }
    const std::int64_t n_words = count ? listed[count - 1] / 64 + 1 : 0;
    // Bits while they take no more room than the list would, or fit in a cache line.
    if (is_binary && 16 * n_words <= std::max<std::int64_t>(64, 8 * count)) {
      add_bits(test, listed, branches, n_words);
      return;
    }
    test.kind = listed[count - 1] - listed[0] + 1 == count ? Test::dense : Test::list;
    test.count = static_cast<std::int32_t>(count);
    test.start = static_cast<std::int64_t>(router_.codes.size());
    router_.codes.insert(router_.codes.end(), listed.begin(), listed.end());
    router_.branches.insert(router_.branches.end(), branches.begin(), branches.end());
  }

  void add_bits(Test& test, std::span<const std::int32_t> listed,
                std::span<const std::int32_t> branches, std::int64_t n_words) {
    test.kind = Test::bitset;
    test.count = static_cast<std::int32_t>(n_words);
    test.start = static_cast<std::int64_t>(router_.words.size());
    router_.words.resize(router_.words.size() + 2 * n_words);
    std::uint64_t* seen = router_.words.data() + test.start;
    for (std::size_t j = 0; j < listed.size(); ++j) {
      const std::int32_t word = listed[j] / 64, bit = listed[j] % 64;
      seen[word] |= std::uint64_t{1} << bit;
      seen[word + n_words] |= static_cast<std::uint64_t>(branches[j]) << bit;
    }
  }

  void add_leaf(std::int32_t i) {
    const auto never_above = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    router_.nodes[i] = hot(never_above, i, router_.used.front(), 0);
  }

  static HotNode hot(std::uint64_t payload, std::int32_t child, std::int32_t feature,
                     std::uint32_t how) {
    return {payload, static_cast<std::uint32_t>(child),
            static_cast<std::uint32_t>(feature) << 8 | how};
  }

  void add_inner(std::int32_t i) {
    const std::int64_t begin = tree_.surrogate_offset[i], end = tree_.surrogate_offset[i + 1];
    const std::int32_t n_children = tree_.n_children[i];
    const Special special{make_test(tree_.splits, i, n_children),
                          tree_.first_child[i],
                          n_children,
                          tree_.gap[i],
                          static_cast<std::int32_t>(router_.surrogates.size()),
                          static_cast<std::int32_t>(router_.surrogates.size() + end - begin)};
    for (std::int64_t s = begin; s < end; ++s)
      router_.surrogates.push_back(make_test(tree_.surrogates, s, n_children));
    if (begin == end && make_hot(i, special)) return;
    router_.is_plain = false;
    router_.nodes[i] = hot(router_.specials.size(), special.first_child, 0, HotNode::special);
    router_.specials.push_back(special);
    if (special.gap == gap_fraction) add_shares(special);
  }

  // Whether the node fits into a HotNode, which it then becomes.
  bool make_hot(std::int32_t i, const Special& special) {
    const Test& test = special.test;
    if (test.kind == Test::one_cut && !test.reversed && special.gap >= 0 && special.gap <= 3) {
      router_.nodes[i] = hot(std::bit_cast<std::uint64_t>(test.cut), special.first_child,
                             test.feature, static_cast<std::uint32_t>(special.gap));
      return true;
    }
    if (test.kind != Test::bitset || test.count > 1 || special.gap < 0 || special.gap > 1)
      return false;
    // Codes not seen here are gaps, so one word says it all.
    const std::uint64_t seen = test.count ? router_.words[test.start] : 0;
    const std::uint64_t right = test.count ? router_.words[test.start + 1] : 0;
    router_.words.resize(test.start);
    router_.nodes[i] = hot(right | (special.gap ? ~seen : 0), special.first_child, test.feature,
                           HotNode::mask_gap_left + static_cast<std::uint32_t>(special.gap));
    router_.is_plain = false;
    return true;
  }

  void add_shares(const Special& special) {
    router_.share.resize(router_.nodes.size());
    double total = 0;
    for (std::int32_t b = 0; b < special.n_children; ++b)
      total += tree_.weight[special.first_child + b];
    const bool is_usable = total > 0 && std::isfinite(total);
    for (std::int32_t b = 0; b < special.n_children; ++b) {
      const std::int32_t child = special.first_child + b;
      router_.share[child] = is_usable ? tree_.weight[child] / total : 1.0 / special.n_children;
    }
  }

  // Path lengths, and how much one row may cost, so that pieces of work stay short.
  void measure() {
    const std::int32_t n = router_.n_nodes();
    std::vector<std::int32_t> depth(n, 1);
    std::vector<double> work(n, 1);
    double most = 0, all = 0;
    for (std::int32_t i = 0; i < n; ++i) {
      if (router_.nodes[i].how() == HotNode::special) {
        const Special& special = router_.specials[router_.nodes[i].payload];
        work[i] += special.test.kind == Test::linear ? special.test.count : 4;
        for (std::int32_t s = special.surrogate_begin; s < special.surrogate_end; ++s)
          work[i] += router_.surrogates[s].kind == Test::linear ? router_.surrogates[s].count : 4;
      }
      all += work[i];
      if (i > 0) {
        depth[i] = depth[router_.parent[i]] + 1;
        work[i] += work[router_.parent[i]];
      }
      most = std::max(most, work[i]);
      router_.max_path = std::max(router_.max_path, depth[i]);
    }
    router_.work_per_row = router_.divides() ? all : most;
  }

  Router& router_;
  const TreeArrays& tree_;
  std::vector<bool> used_;
};

}  // namespace

Router::Router(const TreeArrays& tree) { Builder(*this, tree).build(); }

}  // namespace treewright::predict
