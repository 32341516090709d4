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

__all__ = ["features_of_node", "growths", "length", "most_leaves", "tree_words"]

# Chosen on data and folds that benchmarks/boosting_quality.py does not judge by; see the docs.
AUTO_L2, AUTO_FEATURES = 3.0, 0.5
AUTO_ROUNDS = 300
AUTO_TOTAL, AUTO_TOTAL_MANY = 10.0, 20.0  # rounds × rate; from AUTO_ROWS on
AUTO_MOST, AUTO_RATE = 800, 0.05  # below AUTO_ROWS, where rows that no tree sees end the fit

AUTO_DEEPER = 1500  # rows from which symmetric trees have 64 leaves instead of 32


def length(booster: Any, n_rows: int, is_judged: bool) -> tuple[int, float]:
    """Most rounds, and what of each tree's values is added to the scores."""
    n, rate = booster.n_estimators, booster.learning_rate
    goes_far = n == "auto" and is_judged and n_rows < AUTO_ROWS
    if n == "auto":
        n = AUTO_MOST if goes_far else AUTO_ROUNDS
    if rate == "auto":
        total = AUTO_TOTAL if n_rows < AUTO_ROWS else AUTO_TOTAL_MANY
        rate = AUTO_RATE if goes_far else min(0.5, total / n)
    return int(n), float(rate)


def growths(booster: Any) -> tuple[str, ...]:
    """The growths that may be chosen; the first where nothing chooses."""
    if booster.growth != "auto":
        return (booster.growth,)
    return ("leaf",) if booster.tree_method == "exact" else ("leaf", "symmetric")


def most_leaves(booster: Any, growth: str, n_rows: int) -> int | None:
    """Most leaves of a tree; None for no limit."""
    if booster.max_leaf_nodes == "auto":
        if booster.growth == "auto" and growth == "symmetric":
            return 32 if n_rows < AUTO_DEEPER else 64
        return int(np.clip(round(n_rows**0.5 / 3.2), 8, 63))
    found: int | None = booster.max_leaf_nodes
    return found


def tree_words(
    booster: Any, growth: str, learn: Material, statistics: Statistics | None
) -> dict[str, Any]:
    """What a tree may be, in the core's words."""
    if booster.tree_method == "exact":
        return {}
    schema = learn.table.schema
    signs = list(monotonic_signs(booster.monotonic_cst, schema, learn.target) or ())
    groups = interaction_groups(booster.interaction_cst, schema)
    if statistics is not None:
        signs, groups = statistics.adapt(signs, groups)
    return {
        "growth": growth,
        "max_leaves": min(most_leaves(booster, growth, learn.table.n_rows) or 0, LARGEST),
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
