#include "criteria/entropy.hpp"

#include "choose/exhaustive.hpp"
#include "choose/factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_entropy() { return std::make_unique<Exhaustive<Entropy>>(); }

}  // namespace treewright
