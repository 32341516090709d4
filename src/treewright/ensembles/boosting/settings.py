"""What the parameters of a booster come to: rates, sizes and the words of the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.ensembles.boosting.constraints import interaction_groups
from treewright.ensembles.boosting.material import Material
from treewright.ensembles.boosting.statistics import Statistics
from treewright.ensembles.boosting.stopping import AUTO_ROWS
from treewright.estimator.parameters import LARGEST
from treewright.estimator.recipe import monotonic_signs

__all__ = ["features_of_node", "growth", "most_leaves", "rate"]

# Chosen on data and folds that benchmarks/boosting_quality.py does not judge by; see the docs.
AUTO_L2, AUTO_FEATURES = 3.0, 0.5
AUTO_TOTAL, AUTO_TOTAL_MANY = 10.0, 20.0  # rounds × rate; from AUTO_ROWS on


def rate(booster: Any, n_rows: int) -> float:
    """What of each tree's values is added to the scores."""
    if booster.learning_rate == "auto":
        total = AUTO_TOTAL if n_rows < AUTO_ROWS else AUTO_TOTAL_MANY
        return float(min(0.5, total / booster.n_estimators))
    return float(booster.learning_rate)


def most_leaves(booster: Any, n_rows: int) -> int | None:
    """Most leaves of a tree; None for no limit."""
    if booster.max_leaf_nodes == "auto":
        return int(np.clip(round(n_rows**0.5 / 3.2), 8, 63))
    found: int | None = booster.max_leaf_nodes
    return found


def growth(booster: Any, learn: Material, statistics: Statistics | None) -> dict[str, Any]:
    """What a tree may be, in the core's words."""
    schema = learn.table.schema
    signs = list(monotonic_signs(booster.monotonic_cst, schema, learn.target) or ())
    groups = interaction_groups(booster.interaction_cst, schema)
    if statistics is not None:
        signs, groups = statistics.adapt(signs, groups)
    return {
        "growth": booster.growth,
        "max_leaves": min(most_leaves(booster, learn.table.n_rows) or 0, LARGEST),
        "max_depth": min(booster.max_depth or 0, LARGEST),
        "min_rows": min(booster.min_samples_leaf, LARGEST),
        "min_hessian": float(booster.min_child_weight),
        "l1": float(booster.l1_regularization),
        "l2": AUTO_L2 if booster.l2_regularization == "auto" else float(booster.l2_regularization),
        "min_gain": float(booster.min_gain),
        "max_step": 0.0,
        "nominal_smoothing": float(booster.categorical_smoothing),
        "nominal_l2": float(booster.categorical_l2),
        "nominal_max_groups": 0,
        "tree_share": float(booster.max_features_per_tree),
        "level_share": float(booster.max_features_per_level),
        "node_share": AUTO_FEATURES
        if booster.max_features == "auto"
        else float(booster.max_features),
        "monotonic": signs,
        "interactions": groups,
        "sampling": booster.sampling,
        "share": float(booster.subsample),
        "top_share": float(booster.subsample) / 2 if booster.sampling == "goss" else 0.0,
    }


def features_of_node(booster: Any, n_features: int) -> int:
    """Features that a node may be split by, of those of its level, of those of its tree."""
    each = AUTO_FEATURES if booster.max_features == "auto" else booster.max_features
    for share in (booster.max_features_per_tree, booster.max_features_per_level, each):
        n_features = max(1, int(float(share) * n_features + 0.5))
    return n_features
