#include "../criteria/error.hpp"

#include "exhaustive.hpp"
#include "factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_error() { return std::make_unique<Exhaustive<ClassError>>(); }

}  // namespace treewright
