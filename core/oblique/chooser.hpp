// The linear test of a node: directions by some method, needless coefficients deleted, the others
// rounded, and only if it gains more than the best test of a single feature.
//
// Coefficients are scaled to a largest one of 1 and rounded to six digits, so that the test that is
// printed is the test that is made; its threshold is found again after that, with every row that
// has a gap in one of the terms at the node's mean of all of them, as it will be sent.
#pragma once

#include <functional>
#include <memory>

#include "choose/chooser.hpp"
#include "oblique/design.hpp"
#include "oblique/search.hpp"

namespace treewright::oblique {

enum class Method : u8 {
  sparse,    // random sums and differences of a few columns
  stepwise,  // one coefficient after another, from the test of a single feature and random starts
  given      // directions come from a function
};

// Directions for columns of mean 0 and spread 1, one after another.
using GiveDirections =
    std::function<std::vector<Direction>(const NodeView&, const std::vector<Part>&)>;

struct Rules {
  Method method = Method::sparse;
  NominalTerms terms = NominalTerms::target;
  i32 n_projections = 0;  // 0: two for each column, or for each feature drawn
  i32 n_restarts = 0, n_jumps = 0;
  double deletion = 0;
  GiveDirections directions;
};

std::unique_ptr<LinearSearch> make_linear(Rules rules);

}  // namespace treewright::oblique
