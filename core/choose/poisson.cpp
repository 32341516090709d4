#include "criteria/poisson.hpp"

#include "choose/exhaustive.hpp"
#include "choose/factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_poisson() { return std::make_unique<Exhaustive<Poisson>>(); }

}  // namespace treewright
