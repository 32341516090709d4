// The compiled module.
#include "base/module.hpp"
#include "base/signals.hpp"

NB_MODULE(_core, m) {
#ifdef NDEBUG
  nanobind::set_leak_warnings(false);  // what a cache holds at exit is no news to a user
#endif
  m.def("end_calls", &treewright::end_calls);
  treewright::bind_error_based(m);
  treewright::bind_association(m);
  treewright::bind_blocks(m);
  treewright::bind_boost(m);
  treewright::bind_bottom_up(m);
  treewright::bind_explain(m);
  treewright::bind_flags(m);
  treewright::bind_forest(m);
  treewright::bind_forest_leaves(m);
  treewright::bind_forest_predictor(m);
  treewright::bind_grow(m);
  treewright::bind_importance(m);
  treewright::bind_lists(m);
  treewright::bind_mars(m);
  treewright::bind_merge(m);
  treewright::bind_node_counts(m);
  treewright::bind_optimal(m);
  treewright::bind_predict(m);
  treewright::bind_prune(m);
  treewright::bind_stream(m);
  treewright::bind_tables(m);
  treewright::bind_rule_choice(m);
  treewright::bind_rule_utility(m);
  treewright::bind_vote_choice(m);
  treewright::bind_rules(m);
  treewright::bind_soft(m);
  treewright::bind_text_codes(m);
  treewright::bind_tree_blocks(m);
}
