// The columns of which a node's linear tests are made.
//
// A continuous feature is a column as it came. A nominal one becomes numbers per category: an
// indicator of each, or one column by the target's means (choose/order.hpp). Either way the node's
// most frequent category counts 0, and so does a category that the node has not seen.
#pragma once

#include <span>
#include <vector>

#include "base/term.hpp"
#include "choose/chooser.hpp"

namespace treewright::oblique {

enum class NominalTerms : u8 { none, target, indicators };

// A column of the design.
struct Part {
  i32 feature = -1;
  std::vector<i32> codes;      // categories that count something; empty for a number
  std::vector<double> values;  // what they count
  // Made when they are needed:
  std::vector<double> column;  // mean 0 and spread 1; gaps 0
  double mean = 0, spread = 0;
  bool is_made = false;

  bool is_number() const { return codes.empty(); }
};

class Design {
 public:
  // Columns of some features, those that vary.
  Design(const NodeView& node, NominalTerms terms, std::span<const i32> features, Scratch& scratch);

  std::vector<Part> parts;

  i32 n_features() const;
  // Whether more than `count` rows differ in some column.
  bool has_distinct_rows(i64 count) const;
  // Fills a part's column; a spread of 0 says that it is of no use.
  void make(Part& part) const;
  // What categories or values of rows are times a weight for each of the part's terms; gaps NaN.
  std::vector<double> weighed(const Part& part, const std::vector<double>& weights) const;

 private:
  void add_number(i32 feature);
  void add_nominal(i32 feature, NominalTerms terms, Scratch& scratch);
  u64 hash(i64 i) const;
  i64 row(i64 i) const { return node_.block.row(node_.block.ids[node_.begin + i]); }

  const NodeView& node_;
  const std::vector<Column>& columns_;
  i64 n_;
};

}  // namespace treewright::oblique
