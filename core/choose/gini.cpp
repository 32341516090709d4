#include "criteria/gini.hpp"

#include "choose/exhaustive.hpp"
#include "choose/factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_gini() { return std::make_unique<Exhaustive<Gini>>(); }

}  // namespace treewright
