#include "explain/path_shares.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/callable.hpp"
#include "base/simd.hpp"

namespace treewright::explain {
namespace {

constexpr i32 kMostGroups = 20;  // different linear tests on a path; twice the work for each

// Four lanes side by side.
using Vec = double __attribute__((vector_size(32), aligned(8), may_alias));
constexpr i32 kVecs = kLanes / 4;

// What the edge loop works on, all of it by lane.
struct Levels {
  double *one, *branch, *lower, *product, *inverse, *slope, *sum;
  i32* at;
  i32 n_points, width;
  const double *points, *weights;

  double* ones(i32 depth) const { return one + depth * kLanes; }
  double* branches(i32 depth) const { return branch + depth * kLanes; }
  double* lowers(i32 depth) const { return lower + depth * kLanes; }
  double* of(double* what, i32 depth) const { return what + i64{depth} * n_points * kLanes; }
  double* sums(i32 depth) const { return sum + i64{depth} * n_points * width * kLanes; }
};

[[gnu::noinline]] void ask_each(const ShapTree& tree, i32 node, const double* rows, double* branch,
                                double* lower) {
  for (i32 l = 0; l < kLanes; ++l) {
    const Said said = tree.ask(node, PieceRow{rows + l});
    branch[l] = said.branch;
    lower[l] = said.lower;
  }
}

__attribute__((always_inline)) inline const Vec* vecs(const double* at) {
  return reinterpret_cast<const Vec*>(at);
}
__attribute__((always_inline)) inline Vec* vecs(double* at) { return reinterpret_cast<Vec*>(at); }

__attribute__((always_inline)) inline void ask_cut(const predict::HotNode& hot, const double* rows,
                                                   double* branch) {
  const Vec cut = Vec{} + std::bit_cast<double>(hot.payload), gap = Vec{} + hot.how();
  const Vec zero{}, one = zero + 1.0;
  const Vec* x = vecs(rows + i64{hot.feature()} * max_piece);
  for (i32 i = 0; i < kVecs; ++i) {
    const Vec side = x[i] > cut ? one : zero;
    vecs(branch)[i] = x[i] != x[i] ? gap : side;
  }
}

__attribute__((always_inline)) inline void find_ones(const Edge& edge, const Levels& v,
                                                     bool divides) {
  const double* branch = v.branches(edge.depth - 1);
  double* ones = v.ones(edge.depth);
  if (divides) {
    const double* lower = v.lowers(edge.depth - 1);
    for (i32 l = 0; l < kLanes; ++l) {
      ones[l] = ShapTree::one(edge, {static_cast<i32>(branch[l]), lower[l]});
    }
  } else {
    const Vec zero{}, one = zero + 1.0, own = zero + static_cast<double>(edge.branch);
    for (i32 i = 0; i < kVecs; ++i) vecs(ones)[i] = vecs(branch)[i] == own ? one : zero;
  }
  if (!edge.before) return;
  const Vec* before = vecs(v.ones(edge.before));
  for (i32 i = 0; i < kVecs; ++i) vecs(ones)[i] *= before[i];
}

// The products of an edge's end from those above it.
__attribute__((always_inline)) inline void enter(const Edge& edge, const Levels& v, bool divides) {
  const Vec* one = vecs(v.ones(edge.depth));
  const Vec zero{}, share = zero + edge.share;
  for (i32 q = 0; q < v.n_points; ++q) {
    const double t = v.points[q], left = edge.share * (1 - t);
    const Vec rest = zero + left, step = zero + t;
    const Vec* above = vecs(v.of(v.product, edge.depth - 1) + q * kLanes);
    Vec* product = vecs(v.of(v.product, edge.depth) + q * kLanes);
    Vec* inverse = vecs(v.of(v.inverse, edge.depth) + q * kLanes);
    Vec* slope = vecs(v.of(v.slope, edge.depth) + q * kLanes);
    // mostly `one` is 0 or 1, so there are two inverses
    const Vec if_zero = zero + (left > 0 ? 1 / left : 0.0), if_one = zero + 1 / (left + t);
    for (i32 i = 0; i < kVecs; ++i) {
      const Vec factor = rest + step * one[i];
      if (divides) {
        inverse[i] = factor > zero ? 1.0 / factor : zero;
      } else {
        inverse[i] = one[i] != zero ? if_one : if_zero;
      }
      slope[i] = (one[i] - share) * inverse[i];
      product[i] = above[i] * factor;
    }
    if (!edge.before) continue;
    const Vec* undo = vecs(v.of(v.inverse, edge.before) + q * kLanes);
    for (i32 i = 0; i < kVecs; ++i) product[i] *= undo[i];
  }
}

// Leaves an edge: its feature gets its part of the sum below, which goes on to the edge above.
__attribute__((always_inline)) inline void leave(const Edge& edge, const Levels& v, double* phi) {
  for (i32 k = 0; k < v.width; ++k) {
    Vec total[kVecs] = {};
    for (i32 q = 0; q < v.n_points; ++q) {
      const i64 place = (i64{q} * v.width + k) * kLanes;
      const Vec* sum = vecs(v.sums(edge.depth) + place);
      Vec* up = vecs(v.sums(edge.depth - 1) + place);
      const Vec* slope = vecs(v.of(v.slope, edge.depth) + q * kLanes);
      const Vec w = Vec{} + v.weights[q];
      if (edge.before) {  // which had counted what is below for the same feature
        const Vec* old = vecs(v.of(v.slope, edge.before) + q * kLanes);
        for (i32 i = 0; i < kVecs; ++i) total[i] += w * (slope[i] - old[i]) * sum[i];
      } else {
        for (i32 i = 0; i < kVecs; ++i) total[i] += w * slope[i] * sum[i];
      }
      for (i32 i = 0; i < kVecs; ++i) up[i] += sum[i];
    }
    Vec* to = vecs(phi + i64{k} * max_piece);
    for (i32 i = 0; i < kVecs; ++i) to[i] += total[i];
  }
}

__attribute__((always_inline)) inline void arrive(const ShapTree& tree, const Edge& edge,
                                                  const Levels& v) {
  Vec* sum = vecs(v.sums(edge.depth));
  if (!edge.is_end) {
    for (i64 i = 0; i < i64{v.n_points} * v.width * kVecs; ++i) sum[i] = Vec{};
    return;
  }
  const double* value = tree.values + i64{edge.node} * v.width;
  for (i32 q = 0; q < v.n_points; ++q) {
    const Vec* product = vecs(v.of(v.product, edge.depth) + q * kLanes);
    for (i32 k = 0; k < v.width; ++k, sum += kVecs) {
      for (i32 i = 0; i < kVecs; ++i) sum[i] = product[i] * value[k];
    }
  }
}

// Walks all edges; phi is where the first of the rows has its sum of feature 0.
TREEWRIGHT_VECTORS void walk_edges(const ShapTree& tree, const Levels& v, const double* rows,
                                   bool divides, double* phi, i64 feature_step,
                                   Callable<void(const Edge&)> at_end) {
  const Edge* edges = tree.edges.data();
  const i32 n = static_cast<i32>(tree.edges.size());
  i32 depth = 0;
  for (i32 i = 0; i <= n; ++i) {
    const i32 up_to = i < n ? std::max(edges[i].depth, 1) : 1;
    for (; depth >= up_to; --depth) {
      const Edge& left = edges[v.at[depth]];
      leave(left, v, phi + left.feature * feature_step);
    }
    if (i == n) break;
    const Edge& edge = edges[i];
    depth = edge.depth;
    v.at[depth] = i;
    if (depth) {
      find_ones(edge, v, divides);
      enter(edge, v, divides);
    }
    arrive(tree, edge, v);
    if (edge.is_end) {
      at_end(edge);
      continue;
    }
    const predict::HotNode& hot = tree.router.nodes[edge.node];
    if (hot.how() < predict::HotNode::mask_gap_left && !divides) {
      ask_cut(hot, rows, v.branches(depth));
    } else {
      ask_each(tree, edge.node, rows, v.branches(depth), v.lowers(depth));
    }
  }
}

// Features that a row's way through a node depends on.
std::vector<i32> features_read(const ShapTree& tree, i32 node, PieceRow row) {
  const predict::HotNode& hot = tree.router.nodes[node];
  if (hot.how() != predict::HotNode::special) return {static_cast<i32>(hot.feature())};
  const Router& router = tree.router;
  const predict::Special& special = router.specials[hot.payload];
  std::vector<i32> read;
  auto note = [&](const predict::Test& test) {
    if (test.kind != predict::Test::linear) {
      read.push_back(test.feature);
    } else {
      const auto* terms = router.term_feature.data() + test.start;
      read.insert(read.end(), terms, terms + test.count);
    }
    return predict::branch_of(router, test, row) < 0;
  };
  bool is_open = note(special.test);
  for (i32 s = special.surrogate_begin; is_open && s < special.surrogate_end; ++s) {
    is_open = note(router.surrogates[s]);
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return read;
}

// Tests of the same features on one path, taken together.
struct Group {
  std::vector<i32> features;
  double one, zero;
};

void multiply(std::vector<Group>& groups, const std::vector<i32>& features, double one,
              double zero) {
  for (Group& group : groups) {
    if (group.features != features) continue;
    group.one *= one;
    group.zero *= zero;
    return;
  }
  groups.push_back({features, one, zero});
}

// A leaf's products: every group of several features is either known, which all of its features
// must be, or not. take(coefficient, factors) is called for each choice.
template <class Take>
void each_choice(const std::vector<Group>& groups, Take&& take) {
  std::vector<const Group*> several;
  for (const Group& group : groups) {
    if (group.features.size() > 1) several.push_back(&group);
  }
  if (static_cast<i32>(several.size()) > kMostGroups) {
    throw std::invalid_argument(
        "Exact path-dependent values need at most 20 different tests of several features on one "
        "path; pass a background, or grow a tree of less depth.");
  }
  std::vector<Factor> factors;
  for (u64 choice = 0; choice < u64{1} << several.size(); ++choice) {
    double coefficient = 1;
    factors.clear();
    for (std::size_t g = 0; g < several.size() && coefficient != 0; ++g) {
      const Group& group = *several[g];
      if (!(choice >> g & 1)) {
        coefficient *= group.zero;
        continue;
      }
      coefficient *= group.one - group.zero;
      for (const i32 f : group.features) {
        auto is_f = [f](const Factor& factor) { return factor.feature == f; };
        if (std::none_of(factors.begin(), factors.end(), is_f)) factors.push_back({f, 1.0, 0.0});
      }
    }
    if (coefficient == 0) continue;
    for (const Group& group : groups) {
      if (group.features.size() > 1) continue;
      auto is_f = [&](const Factor& factor) { return factor.feature == group.features[0]; };
      const auto found = std::find_if(factors.begin(), factors.end(), is_f);
      if (found == factors.end()) {
        factors.push_back({group.features[0], group.one, group.zero});
      } else {
        found->one *= group.one;  // must be known, so nothing is left without it
      }
    }
    take(coefficient, factors);
  }
}

}  // namespace

void PathWorker::add(const ShapTree& tree, const double* piece, i32 first, i32 count,
                     const PathSums& sums) {
  bool any_together = false;
  for (i32 l = 0; l < kLanes; ++l) {
    const PieceRow row{piece + first + l};
    bool is_alone = tree.has_linear;
    if (l < count && tree.has_surrogates && !is_alone) {
      for (const Edge& edge : tree.edges) {
        if (!edge.is_end && tree.reads_several(edge.node, row)) {
          is_alone = true;
          break;
        }
      }
    }
    start_[l] = l < count && !is_alone;
    any_together |= start_[l] != 0;
    if (l < count && is_alone) add_alone(tree, piece, first + l, sums);
  }
  if (any_together) add_together(tree, piece, first, sums);
}

void PathWorker::add_together(const ShapTree& tree, const double* piece, i32 first,
                              const PathSums& sums) {
  const Rule& rule = rules_.of(tree.n_distinct);
  const i64 n = tree.depth + 1, points = rule.size();
  auto at_least = [](auto& what, i64 size) {
    if (static_cast<i64>(what.size()) < size) what.resize(size);
  };
  for (auto* what : {&one_, &branch_, &lower_}) at_least(*what, n * kLanes);
  for (auto* what : {&product_, &inverse_, &slope_}) at_least(*what, n * points * kLanes);
  at_least(sum_, n * points * tree.width * kLanes);
  at_least(at_, n);
  hidden_.assign(n, 0);
  const Levels levels{one_.data(),     branch_.data(), lower_.data(),  product_.data(),
                      inverse_.data(), slope_.data(),  sum_.data(),    at_.data(),
                      rule.size(),     tree.width,     rule.at.data(), rule.weight.data()};
  for (i32 q = 0; q < rule.size(); ++q) std::copy_n(start_, kLanes, &product_[q * kLanes]);
  const double* rows = piece + first;
  double* phi = sums.values + i64{tree.column} * max_piece + first;
  walk_edges(tree, levels, rows, tree.may_divide(), phi, sums.n_outputs * max_piece,
             [&](const Edge& end) {
               if (sums.pairs) add_pairs(tree, end, first, sums);
             });
}

void PathWorker::add_pairs(const ShapTree& tree, const Edge& end, i32 first, const PathSums& sums) {
  const Rule& rule = rules_.of(tree.n_distinct);
  const i32 points = rule.size();
  std::fill_n(hidden_.begin(), end.depth + 1, 0);
  for (i32 h = 1; h <= end.depth; ++h) hidden_[tree.edges[at_[h]].before] = 1;
  const double* value = tree.values + i64{end.node} * tree.width;
  auto of = [&](const std::vector<double>& what, i32 depth, i32 q) {
    return what.data() + (i64{depth} * points + q) * kLanes;
  };
  for (i32 i = 1; i <= end.depth; ++i) {
    if (hidden_[i]) continue;
    for (i32 j = i + 1; j <= end.depth; ++j) {
      if (hidden_[j]) continue;
      double total[kLanes] = {};
      for (i32 q = 0; q < points; ++q) {
        const double *p = of(product_, end.depth, q), *a = of(slope_, i, q), *b = of(slope_, j, q);
        const double w = rule.weight[q] / 2;
        for (i32 l = 0; l < kLanes; ++l) total[l] += w * p[l] * a[l] * b[l];
      }
      i64 f = tree.edges[at_[i]].feature, g = tree.edges[at_[j]].feature;
      if (f > g) std::swap(f, g);
      for (i32 l = 0; l < kLanes; ++l) {
        if (start_[l] == 0) continue;
        double* to = sums.pairs +
                     (((first + l) * sums.n_features + f) * sums.n_features + g) * sums.n_outputs +
                     tree.column;
        for (i32 k = 0; k < tree.width; ++k) to[k] += total[l] * value[k];
      }
    }
  }
}

void PathWorker::add_alone(const ShapTree& tree, const double* piece, i32 row,
                           const PathSums& sums) {
  struct Open {
    std::vector<i32> features;
    double one, zero;
  };
  const PieceRow x{piece + row};
  std::vector<Open> path;
  std::vector<Said> said(tree.depth + 1);
  std::vector<std::vector<i32>> read(tree.depth + 1);
  std::vector<Group> groups;
  const i64 n_features = sums.n_features;
  for (i32 i = 0; i < static_cast<i32>(tree.edges.size());) {
    const Edge& edge = tree.edges[i];
    path.resize(edge.depth);
    if (edge.depth) {
      const double one = ShapTree::one(edge, said[edge.depth - 1]);
      if (one == 0 && edge.own == 0) {  // nothing comes here
        i = edge.next;
        continue;
      }
      path.back() = {read[edge.depth - 1], one, edge.own};
    }
    ++i;
    if (!edge.is_end) {
      said[edge.depth] = tree.ask(edge.node, x);
      read[edge.depth] = features_read(tree, edge.node, x);
      continue;
    }
    groups.clear();
    for (const Open& open : path) multiply(groups, open.features, open.one, open.zero);
    const double* value = tree.values + i64{edge.node} * tree.width;
    each_choice(groups, [&](double coefficient, const std::vector<Factor>& factors) {
      play(
          factors, rules_, sums.pairs != nullptr,
          [&](i32 f, double part) {
            double* to =
                sums.values + (factors[f].feature * sums.n_outputs + tree.column) * max_piece + row;
            for (i32 k = 0; k < tree.width; ++k) {
              to[i64{k} * max_piece] += coefficient * part * value[k];
            }
          },
          [&](i32 a, i32 b, double part) {
            const auto [f, g] = std::minmax(factors[a].feature, factors[b].feature);
            double* to = sums.pairs + ((row * n_features + f) * n_features + g) * sums.n_outputs +
                         tree.column;
            for (i32 k = 0; k < tree.width; ++k) to[k] += coefficient * part * value[k];
          });
    });
  }
}

}  // namespace treewright::explain
