// The best tree of a depth, with proof.
#pragma once

#include "base/callable.hpp"
#include "optimal/problem.hpp"

namespace treewright::optimal {

// poll(share done) is called now and then by the calling thread; what it throws ends the search
// and is kept in the answer, beside the best tree so far.
Found find_best(Problem problem, const Settings& settings, Callable<void(double)> poll);

}  // namespace treewright::optimal
