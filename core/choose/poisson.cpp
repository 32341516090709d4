#include "../criteria/poisson.hpp"

#include "exhaustive.hpp"
#include "factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_poisson() { return std::make_unique<Exhaustive<Poisson>>(); }

}  // namespace treewright
