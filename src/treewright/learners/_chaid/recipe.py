"""From the parameters of a CHAID estimator to the recipe of its tree."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.errors import ParameterError
from treewright.estimator.training import threads
from treewright.learners._chaid.bins import code_features
from treewright.learners._chaid.chooser import (
    Chooser,
    MergeRules,
    SizeRules,
    class_counter,
    number_counter,
)
from treewright.tree.growing.recipe import Recipe

if TYPE_CHECKING:
    from treewright.estimator.training import Training

__all__ = ["chaid_recipe"]

DEFAULT_ALPHA = 0.05


def chaid_recipe(estimator: Any, training: Training) -> Recipe:
    """The recipe of a CHAID estimator."""
    _check(estimator)
    weight = training.sample_weight
    features = code_features(training.table, estimator.n_bins, weight)
    n_classes = len(training.target.classes)
    if n_classes:
        measure, scores = _class_measure(estimator, training)
        counter = class_counter(features, training.y, n_classes, weight, measure, scores)
    else:
        counter = number_counter(features, training.y, weight)
    chooser = Chooser(
        features=features,
        counter=counter,
        rules=MergeRules(
            alpha_merge=estimator.alpha_merge,
            alpha_resplit=estimator.alpha_resplit,
            exhaustive=estimator.exhaustive,
            adjust=estimator.adjust,
        ),
        sizes=SizeRules(
            split=_weight(estimator.min_samples_split, training),
            leaf=_weight(estimator.min_samples_leaf, training),
            share=estimator.min_prob,
        ),
        alpha_split=estimator.alpha_split,
        n_threads=threads(estimator.n_jobs),
    )
    return Recipe(
        criterion="gini" if n_classes else "squared_error",
        missing="majority",
        max_depth=estimator.max_depth,
        choose=chooser,
    )


def _weight(given: float, training: Training) -> float:
    """A weight, or a share of all weight."""
    is_share = not isinstance(given, Integral) and given < 1
    return float(given) * training.total_weight if is_share else float(given)


def _class_measure(estimator: Any, training: Training) -> tuple[str, tuple[float, ...]]:
    """The test, and the scores of the classes if they have an order."""
    scores = _scores(estimator.class_order, training)
    return (estimator.statistic, ()) if scores is None else ("row_effects", scores)


def _scores(given: Any, training: Training) -> tuple[float, ...] | None:
    """Ranks of the classes, in the order of ``classes_``, if the target is ordinal."""
    classes = training.target.classes
    if given is None:
        return None
    if isinstance(given, str):
        if training.class_order is None:
            return None
        order = list(training.class_order)
    else:
        order = np.asarray(given, dtype=object).tolist()
    rank = {value: k for k, value in enumerate(v for v in order if v in classes)}
    if len(rank) < len(classes):
        left_out = next(value for value in classes if value not in rank)
        raise ParameterError(
            f"class_order must list every class of y, got {order!r} without {left_out!r}; "
            "add it, or set class_order=None."
        )
    return tuple(float(rank[value]) for value in classes)


def _check(estimator: Any) -> None:
    """Refuse parameters that contradict each other."""
    resplit, merge = estimator.alpha_resplit, estimator.alpha_merge
    if estimator.exhaustive and (resplit is not None or merge != DEFAULT_ALPHA):
        name = "alpha_merge" if resplit is None else "alpha_resplit"
        raise ParameterError(
            f"{name} must be left at its default with exhaustive=True, which merges down to two "
            f"groups and takes the best grouping, got {getattr(estimator, name)!r}."
        )
    if resplit is not None and resplit >= merge:
        raise ParameterError(
            f"alpha_resplit must be below alpha_merge ({merge!r}), or merged categories would "
            f"part and merge for ever, got {resplit!r}."
        )
