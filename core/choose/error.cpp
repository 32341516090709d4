#include "criteria/error.hpp"

#include "choose/exhaustive.hpp"
#include "choose/factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_error() { return std::make_unique<Exhaustive<ClassError>>(); }

}  // namespace treewright
