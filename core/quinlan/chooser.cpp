#include "quinlan/chooser.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_quinlan(const QuinlanRules& rules) {
  if (rules.single) return std::make_unique<Quinlan<FloatSide>>(rules);
  return std::make_unique<Quinlan<ExactSide>>(rules);
}

}  // namespace treewright
