// The criteria that have a name: a new one is a header in criteria/, a row here, and one in
// treewright.criteria.CRITERIA.
#include "choose/exhaustive.hpp"
#include "choose/factory.hpp"
#include "criteria/entropy.hpp"
#include "criteria/error.hpp"
#include "criteria/gini.hpp"
#include "criteria/poisson.hpp"
#include "criteria/squared.hpp"

namespace treewright {
namespace {

template <class C>
std::unique_ptr<Chooser> exhaustive() {
  return std::make_unique<Exhaustive<C>>();
}

struct Row {
  std::string_view name;
  std::unique_ptr<Chooser> (*make)();
};

constexpr Row kCriteria[] = {
    {"gini", exhaustive<Gini>},
    {"generalized_gini", exhaustive<GeneralizedGini>},
    {"entropy", exhaustive<Entropy>},
    {"error", exhaustive<ClassError>},
    {"squared_error", exhaustive<SquaredError>},
    {"poisson", exhaustive<Poisson>},
    {"absolute_error", make_absolute},
};

}  // namespace

std::unique_ptr<Chooser> make_by_name(std::string_view criterion) {
  for (const Row& row : kCriteria) {
    if (row.name == criterion) return row.make();
  }
  return {};
}

}  // namespace treewright
