// Choosers by criterion; one source file each, so that they compile side by side.
#pragma once

#include <functional>
#include <memory>

#include "choose/chooser.hpp"

namespace treewright {

// Scores n_cuts cuts: rows of `left` and `right` are stats as numbers (width each).
using BatchScore = std::function<void(const double* left, const double* right, i64 n_cuts,
                                      i32 width, double* out)>;

std::unique_ptr<Chooser> make_gini();
std::unique_ptr<Chooser> make_generalized_gini();
std::unique_ptr<Chooser> make_entropy();
std::unique_ptr<Chooser> make_intervals();
std::unique_ptr<Chooser> make_error();
std::unique_ptr<Chooser> make_squared();
std::unique_ptr<Chooser> make_poisson();
std::unique_ptr<Chooser> make_absolute();
std::unique_ptr<Chooser> make_compiled(bool classes);
std::unique_ptr<Chooser> make_quinlan(const QuinlanRules& rules);
std::unique_ptr<Chooser> make_user(BatchScore score);

}  // namespace treewright
