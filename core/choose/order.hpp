// The order in which a nominal feature's categories are cut.
//
// Two classes, or one number: by rate or mean, which contains the best subset for every convex
// criterion (Breiman et al. 1984, theorem 4.5; Fisher 1958). More classes or outputs: by the first
// principal component of the categories' class proportions (Coppersmith, Hong & Hosking 1999), a
// good heuristic.
#pragma once

#include <algorithm>
#include <vector>

#include "choose/chooser.hpp"

namespace treewright {

// A stable sort; of the few categories that most nodes have, without memory of its own.
template <class Less>
void sort_few(std::vector<i32>& items, Less&& less) {
  if (items.size() > 32) {
    std::stable_sort(items.begin(), items.end(), less);
    return;
  }
  for (std::size_t i = 1; i < items.size(); ++i) {
    const i32 item = items[i];
    std::size_t at = i;
    for (; at > 0 && less(item, items[at - 1]); --at) items[at] = items[at - 1];
    items[at] = item;
  }
}

void order_by_profile(const CriterionView& v, const Problem& p, Groups& g);

// Whether ordering by rate or mean is known to hold the best subset.
inline bool order_is_optimal(const Problem& p) {
  return p.is_classification() ? p.targets.n_classes <= 2 : p.targets.n_outputs == 1;
}

}  // namespace treewright
