// Tables of coded features that are kept per node: a child's are counted or subtracted.
#pragma once

#include <span>
#include <vector>

#include "binned/histogram.hpp"
#include "choose/groups.hpp"
#include "grow/growth.hpp"

namespace treewright {

class NodeTables {
 public:
  explicit NodeTables(Growth& growth) : g_(growth), p_(growth.p) {}

  // Whether tables of all coded features are smaller than what they are made from. A draw of
  // features looks at too few of them.
  bool pay(i64 size) const {
    const i64 cells = p_.table_rows * table_width(p_);
    return p_.n_tabled > 0 && p_.params.max_features <= 0 && cells <= size * p_.n_tabled;
  }

  std::vector<i64> make(const Block& block, const Pending& node, const std::vector<i32>& active,
                        bool shared, Scratch& scratch) {
    const i32 width = table_width(p_);
    std::vector<i64> tables(static_cast<std::size_t>(p_.table_rows) * width);
    g_.for_each(
        static_cast<i64>(active.size()), node.size(), shared, scratch, [&](i64 i, Scratch&) {
          const FeatureInfo& info = p_.features[active[i]];
          if (info.table < 0) return;
          fill_table(p_, block, node.begin, node.end, info, tables.data() + info.table * width);
        });
    return tables;
  }

  // Tables of two children, from those of their parent.
  void share(Pending& node, std::span<Pending> kids, bool shared, Scratch& scratch) {
    const int small = counted_sibling(kids[0].size(), kids[1].size());
    kids[small].tables = make(*node.block, kids[small], *node.active, shared, scratch);
    kids[!small].tables = std::move(node.tables);
    subtract(kids[small].tables.data(), std::ssize(kids[small].tables), kids[!small].tables.data());
  }

 private:
  Growth& g_;
  const Problem& p_;
};

}  // namespace treewright
