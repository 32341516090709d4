#include "../criteria/squared.hpp"

#include "exhaustive.hpp"
#include "factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_squared() { return std::make_unique<Exhaustive<SquaredError>>(); }

}  // namespace treewright
