// The registrars of the compiled module; each source file that binds functions has one.
#pragma once

#include <nanobind/nanobind.h>

namespace treewright {

void bind_error_based(nanobind::module_& m);
void bind_association(nanobind::module_& m);
void bind_blocks(nanobind::module_& m);
void bind_boost(nanobind::module_& m);
void bind_bottom_up(nanobind::module_& m);
void bind_explain(nanobind::module_& m);
void bind_flags(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_forest_leaves(nanobind::module_& m);
void bind_forest_predictor(nanobind::module_& m);
void bind_grow(nanobind::module_& m);
void bind_importance(nanobind::module_& m);
void bind_lists(nanobind::module_& m);
void bind_mars(nanobind::module_& m);
void bind_merge(nanobind::module_& m);
void bind_node_counts(nanobind::module_& m);
void bind_optimal(nanobind::module_& m);
void bind_predict(nanobind::module_& m);
void bind_prune(nanobind::module_& m);
void bind_stream(nanobind::module_& m);
void bind_tables(nanobind::module_& m);
void bind_rule_choice(nanobind::module_& m);
void bind_rule_utility(nanobind::module_& m);
void bind_rules(nanobind::module_& m);
void bind_soft(nanobind::module_& m);
void bind_text_codes(nanobind::module_& m);
void bind_tree_blocks(nanobind::module_& m);
void bind_vote_choice(nanobind::module_& m);

}  // namespace treewright
