// Subtrees that give way to leaves by training errors alone: where they save none, and the weakest
// links of a whole tree.
#include <algorithm>
#include <cmath>
#include <limits>

#include "prune/error_based.hpp"

namespace treewright {

std::vector<u8> collapsible(const std::vector<i32>& first_child, const std::vector<i32>& n_children,
                            const std::vector<double>& errors, double epsilon) {
  std::vector<double> below = errors;
  std::vector<u8> mark(errors.size(), 0);
  for (std::size_t t = errors.size(); t-- > 0;) {
    if (!n_children[t]) continue;
    double sum = 0;
    for (i32 b = 0; b < n_children[t]; ++b) sum += below[first_child[t] + b];
    mark[t] = sum >= errors[t] - epsilon;
    below[t] = mark[t] ? errors[t] : sum;
  }
  return mark;
}

std::vector<u8> weakest_links(const std::vector<i32>& first_child,
                              const std::vector<i32>& n_children, const std::vector<double>& errors,
                              const std::vector<u8>& is_empty, double cases, double start) {
  const i64 n = static_cast<i64>(errors.size());
  std::vector<u8> cut(n, 0), inside(n);
  std::vector<double> below(n);
  std::vector<i64> leaves(n);
  double allowed = -1, spent = 0;
  const double slack = 1e-9;
  for (;;) {
    for (i64 t = n; t-- > 0;) {
      const bool leaf = !n_children[t] || cut[t];
      below[t] = leaf ? errors[t] : 0;
      leaves[t] = leaf ? !is_empty[t] : 0;
      for (i32 b = 0; !leaf && b < n_children[t]; ++b) {
        below[t] += below[first_child[t] + b];
        leaves[t] += leaves[first_child[t] + b];
      }
    }
    if (allowed < 0) allowed = std::sqrt(std::max(start * (1 - start / cases), 0.0));
    auto fits = [&](double added) { return spent + added <= allowed + slack; };
    auto link = [&](i64 t) {
      const double added = errors[t] - below[t];
      if (!n_children[t] || cut[t] || !fits(added)) {
        return std::numeric_limits<double>::infinity();
      }
      return added / static_cast<double>(std::max<i64>(leaves[t] - 1, 1));
    };
    double weakest = std::numeric_limits<double>::infinity();
    std::fill(inside.begin(), inside.end(), 0);
    for (i64 t = 0; t < n; ++t) {
      if (!inside[t]) weakest = std::min(weakest, link(t));
      for (i32 b = 0; b < n_children[t]; ++b) inside[first_child[t] + b] = inside[t] || cut[t];
    }
    if (weakest == std::numeric_limits<double>::infinity()) return cut;
    // The topmost of the weakest links, all or none; what lies below them goes with them.
    std::vector<i64> chosen;
    double added = 0;
    std::fill(inside.begin(), inside.end(), 0);
    for (i64 t = 0; t < n; ++t) {
      const bool go = !inside[t] && link(t) <= weakest + 1e-6;
      if (go) {
        chosen.push_back(t);
        added += errors[t] - below[t];
      }
      for (i32 b = 0; b < n_children[t]; ++b) {
        inside[first_child[t] + b] = inside[t] || go || cut[t];
      }
    }
    if (!fits(added)) return cut;
    spent += added;
    for (i64 t : chosen) cut[t] = 1;
  }
}

}  // namespace treewright
