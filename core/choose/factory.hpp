// Choosers by criterion.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "choose/chooser.hpp"

namespace treewright {

// Scores n_cuts cuts: rows of `left` and `right` are stats as numbers (width each).
using BatchScore = std::function<void(const double* left, const double* right, i64 n_cuts,
                                      i32 width, double* out)>;

// The search of a criterion that is known by its name alone, or null: the rows of by_name.cpp.
std::unique_ptr<Chooser> make_by_name(std::string_view criterion);
std::unique_ptr<Chooser> make_intervals();
std::unique_ptr<Chooser> make_absolute();
std::unique_ptr<Chooser> make_compiled(bool classes);
std::unique_ptr<Chooser> make_quinlan(const QuinlanRules& rules);
std::unique_ptr<Chooser> make_user(BatchScore score);

}  // namespace treewright
