#include "criteria/compiled.hpp"

#include "choose/exhaustive.hpp"
#include "choose/factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_compiled(bool classes) {
  if (classes) return std::make_unique<Exhaustive<Compiled<true>>>();
  return std::make_unique<Exhaustive<Compiled<false>>>();
}

}  // namespace treewright
