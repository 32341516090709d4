"""The parameters of MARS, each described once."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, Options, StrOptions

from treewright.estimator.parameters import Parameter

__all__ = ["MARS_PARAMETERS"]

_COUNT = Interval(Integral, 1, None, closed="left")
_ANY_INT = Interval(Integral, None, None, closed="neither")
_NOT_NEGATIVE: list[Any] = [Interval(Real, 0.0, None, closed="left")]

MARS_PARAMETERS: dict[str, Parameter] = {
    "degree": Parameter([_COUNT], "int", "Most predictors in a term; 1 makes an additive model."),
    "penalty": Parameter(
        [*_NOT_NEGATIVE, Options(Real, {-1}), None],
        "float",
        "Price of a knot in the generalised cross-validation. None is 2, or 3 if degree is above "
        "1; -1 makes terms free.",
    ),
    "max_terms": Parameter(
        [_COUNT, None],
        "int",
        "Places for terms in the forward pass, of which each step takes two. None is "
        "min(200, max(20, 2 p)) + 1 for p predictors.",
    ),
    "thresh": Parameter(
        [Interval(Real, 0.0, 1.0, closed="left")],
        "float",
        "The forward pass ends when a step raises R² by less than this, or R² comes this close "
        "to 1.",
    ),
    "minspan": Parameter(
        [_ANY_INT],
        "int",
        "Rows between knots. 0 is Friedman's formula; a negative number asks for at most so many "
        "evenly spaced knots per predictor.",
    ),
    "endspan": Parameter(
        [Interval(Integral, 0, None, closed="left")],
        "int",
        "Rows before the first and after the last knot; 0 is Friedman's formula.",
    ),
    "adjust_endspan": Parameter(
        _NOT_NEGATIVE,
        "float",
        "Terms of several predictors keep endspan times (1 + this) rows at either end.",
    ),
    "fast_k": Parameter(
        [Interval(Integral, 0, None, closed="left")],
        "int",
        "Parents tried at each step, those that promise most; 0 tries all.",
    ),
    "fast_beta": Parameter(
        _NOT_NEGATIVE,
        "float",
        "How fast parents that were not tried come to the front again.",
    ),
    "auto_linear": Parameter(
        ["boolean"],
        "bool",
        "A predictor whose best knot is its least value enters as itself, without a knot.",
    ),
    "linear_features": Parameter(
        ["array-like", None],
        "array-like of str or int",
        "Features that enter without knots, by name or position.",
    ),
    "allowed": Parameter(
        [callable, "array-like", None],
        "callable or list of pairs",
        "Pairs of features, by name or position, that never meet in a term; or a function of a "
        "feature's name and the tuple of names already in the term that says whether it may join "
        "(with an empty tuple: whether it may stand alone).",
    ),
    "pruning": Parameter(
        [StrOptions({"gcv", "cv"}), None],
        '{"gcv", "cv"}',
        "How many terms stay: those of least generalised cross-validation, of least error in "
        "cross-validation, or all.",
    ),
    "cv": Parameter(
        ["cv_object"],
        "int, splitter or iterable of splits",
        'Folds of ``pruning="cv"``; None is 10, shuffled.',
    ),
    "random_state": Parameter(
        ["random_state"], "int or RandomState", "Seed of shuffled folds; nothing else is drawn."
    ),
}
