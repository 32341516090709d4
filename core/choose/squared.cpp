#include "criteria/squared.hpp"

#include "choose/exhaustive.hpp"
#include "choose/factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_squared() { return std::make_unique<Exhaustive<SquaredError>>(); }

}  // namespace treewright
