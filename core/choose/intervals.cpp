#include "choose/intervals.hpp"

#include "choose/factory.hpp"

namespace treewright {

std::unique_ptr<Chooser> make_intervals() { return std::make_unique<Intervals>(); }

}  // namespace treewright
