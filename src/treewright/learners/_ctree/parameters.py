"""The parameters of CTree: what they mean, and what does not go together."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from treewright.errors import DataError, ParameterError
from treewright.estimator.parameters import Parameter, options
from treewright.estimator.training import Training

__all__ = ["OWN", "check_resampling", "check_surrogates", "n_surrogates", "read_scores"]

USUAL_SURROGATES = 5
"""Surrogates kept where their number is not given, as in rpart."""

MOST_REPEATED = 10_000_000
"""Largest sum of weights that permutations take: each unit of weight is a row of its own there."""

OWN = {
    "alpha": Parameter(
        [Interval(Real, 0.0, 1.0, closed="right")],
        "float",
        "Largest adjusted p-value of a feature that is split, exclusive; partykit's "
        "mincriterion is 1 - alpha. 1.0 splits as long as the other limits allow.",
    ),
    "test_statistic": Parameter(
        options("quadratic", "maximum"),
        '{"quadratic", "maximum"}',
        "Form of the statistics, for choosing the feature and the split: the quadratic form, "
        "which is chi-squared, or the largest standardised component.",
    ),
    "adjust": Parameter(
        [*options("bonferroni", "monte_carlo", "univariate"), None],
        '{"bonferroni", "monte_carlo", "univariate"}',
        'P-values: "bonferroni" adjusts the asymptotic ones for the number of features tested, '
        'by 1 - (1 - p)^n as partykit does; "univariate" takes them as they are; "monte_carlo" '
        "counts permutations, without adjustment. None computes no p-values: the largest "
        "statistic wins, and must exceed 1 - alpha.",
    ),
    "n_resamples": Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        'Permutations drawn at a node (only with ``adjust="monte_carlo"``).',
    ),
    "min_samples_split": Parameter(
        [Interval(Integral, 2, None, closed="left")],
        "int",
        "Weight a node needs before it is tested: the number of rows, where they have no "
        "weights. Weights count repeated rows; if they sum to less than the number of rows they "
        "are scaled up to it.",
    ),
    "min_samples_leaf": Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        "Weight that both sides of a split need, among the rows whose value is known.",
    ),
    "min_prob": Parameter(
        [Interval(Real, 0.0, 0.5, closed="both")],
        "float",
        "Share of the node's weight that both sides of a split need.",
    ),
    "split_try": Parameter(
        [Interval(Integral, 1, None, closed="left")],
        "int",
        "Significant features that are tried, best first, where one has no admissible split.",
    ),
    "nominal_split": Parameter(
        options("subset", "multiway"),
        '{"subset", "multiway"}',
        'Split of a nominal feature: "subset" makes two branches, "multiway" one branch per '
        "category seen at the node; those that are too small for a leaf share the last branch.",
    ),
    "max_features": Parameter(
        [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="right"),
            *options("sqrt", "log2"),
            None,
        ],
        'int, float or {"sqrt", "log2"}',
        "Features drawn at each node to be tested (partykit's mtry): a count, a share, the "
        "square root or the logarithm of their number, or None for all.",
    ),
    "max_exhaustive": Parameter(
        [Interval(Integral, 2, 20, closed="both")],
        "int",
        "Most categories of a nominal feature at a node for which every partition is tried; "
        "above it categories are ordered by their mean response, or its first principal "
        "component, and cut there.",
    ),
    "missing": Parameter(
        options("majority", "surrogate", "fractional"),
        '{"majority", "surrogate", "fractional"}',
        "Where a row with a gap in the split feature goes; it takes no part in the test of that "
        'feature. "majority" goes with most rows; "surrogate" asks the splits of other features '
        'that agree best with the chosen one, then goes with most rows; "fractional" goes down '
        "both branches with a share of the weight, the average of what partykit draws.",
    ),
    "max_surrogates": Parameter(
        [Interval(Integral, 0, None, closed="left"), None],
        "int",
        'Surrogate splits kept at each node (only with ``missing="surrogate"``); None for 5.',
    ),
    "class_scores": Parameter(
        ["array-like", dict, None],
        "array-like or dict",
        "Scores of classes that have an order, such as 1, 2, 3, in the order of ``classes_`` or "
        "by class: tests then look for a trend. None takes classes without an order.",
    ),
    "random_state": Parameter(
        ["random_state"],
        "int or RandomState",
        "Seed of drawn features, permutations and shuffled folds.",
    ),
}


def check_resampling(estimator: Any, training: Training) -> None:
    """Permutations are of rows: refuse fractions of them."""
    if estimator.adjust != "monte_carlo":
        return
    if estimator.missing == "fractional":
        raise ParameterError(
            'adjust="monte_carlo" permutes whole rows, but missing="fractional" divides those '
            'with gaps; use missing="majority".'
        )
    weights = training.sample_weight
    if weights is not None and np.any(weights % 1):
        raise DataError(
            'adjust="monte_carlo" repeats rows by their weights, which must then be multiples of '
            'the smallest, got others in sample_weight or class_weight; use adjust="bonferroni".'
        )
    if weights is not None and weights.sum() > MOST_REPEATED:
        raise DataError(
            'adjust="monte_carlo" repeats rows by their weights, which may add up to at most '
            f"{MOST_REPEATED:,} times the smallest, got {weights.sum():,.0f}; "
            'use adjust="bonferroni".'
        )


def n_surrogates(estimator: Any) -> int:
    """Surrogate splits kept at each node."""
    if estimator.max_surrogates is None:
        return USUAL_SURROGATES if estimator.missing == "surrogate" else 0
    return int(estimator.max_surrogates)


def check_surrogates(estimator: Any) -> None:
    wanted = estimator.max_surrogates
    if wanted is None or (estimator.missing == "surrogate") == (wanted > 0):
        return
    if estimator.missing == "surrogate":
        raise ParameterError(
            'missing="surrogate" needs surrogate splits, got max_surrogates=0; '
            "set it to 3, for instance, or to None."
        )
    raise ParameterError(
        f'max_surrogates belongs to missing="surrogate", got {estimator.max_surrogates} with '
        f'missing="{estimator.missing}"; drop one of them.'
    )


def read_scores(given: Any, classes: list[Any]) -> NDArray[np.float64]:
    """One finite number per class."""
    if isinstance(given, Mapping):
        if set(given) != set(classes):
            odd = sorted(map(repr, set(given) ^ set(classes)))[0]
            raise ParameterError(
                f"class_scores must have one score for each class of y, but {odd} is in one of "
                "them only; name all classes."
            )
        given = [given[label] for label in classes]
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        scores = np.empty(0)
    if scores.shape != (len(classes),) or not np.isfinite(scores).all():
        raise ParameterError(
            f"class_scores must hold a finite number for each of the {len(classes)} classes, "
            f"got {reprlib.repr(given)}; list them in the order of classes_."
        )
    return scores
