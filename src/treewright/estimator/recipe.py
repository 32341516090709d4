"""From an estimator's parameters to the recipe of its tree."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema, Target
from treewright.errors import ParameterError
from treewright.estimator.cost_complexity import leaf_price
from treewright.tree.growing.recipe import FIELDS, Recipe
from treewright.tree.growing.stopping import (
    features_per_node,
    most_exhaustive,
    samples_to_leaf,
    samples_to_split,
)

if TYPE_CHECKING:
    from treewright.estimator.training import Training

__all__ = ["make_recipe", "monotonic_signs"]

Floats = NDArray[np.float64]


def make_recipe(estimator: Any, training: Training) -> Recipe:
    """The recipe that the parameters of CART describe.

    Parameters
    ----------
    estimator
        Whose parameters are read; those with the name of a field become that field.
    training
        The data that shares of rows and weight refer to.
    """
    n_rows = training.n_rows
    leaf = samples_to_leaf(estimator.min_samples_leaf, n_rows)
    given = set(estimator._get_param_names()).intersection(FIELDS)
    read = {
        "criterion": _checked(estimator.criterion),
        "min_samples_split": samples_to_split(estimator.min_samples_split, leaf, n_rows),
        "min_samples_leaf": leaf,
        "min_weight_leaf": estimator.min_weight_fraction_leaf * training.total_weight,
        "min_gain": estimator.min_impurity_decrease,
        "leaf_price": leaf_price(estimator, training),
        "zero_gain": estimator.cp is None,  # rpart never makes such a split, scikit-learn does
        "surrogate_errors": estimator.cp is not None,
        "max_features": features_per_node(estimator.max_features, len(training.table.schema)),
        "monotonic": _monotonic(estimator, training.table.schema, training.target),
    }
    if "max_exhaustive" in given:
        n_classes = len(training.target.classes)
        read["max_exhaustive"] = most_exhaustive(estimator.max_exhaustive, n_rows, n_classes)
    return Recipe(**{name: getattr(estimator, name) for name in given} | read)


def _checked(criterion: Any) -> Any:
    """The user's own Python function with its answers looked at; all else as it is."""
    if isinstance(criterion, str) or hasattr(criterion, "address"):
        return criterion

    def gains(left: Floats, right: Floats) -> Floats:
        answer = criterion(left, right)
        try:
            scores = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            scores = np.empty((0, 0))
        if scores.shape != (len(left),):
            raise ParameterError(
                f"criterion must return one number for each of the {len(left)} cuts, "
                f"got {_shape(answer)}; the rows of its arguments are the cuts."
            )
        return np.ascontiguousarray(scores)

    return gains


def _shape(answer: Any) -> str:
    shape = getattr(answer, "shape", None)
    return type(answer).__name__ if shape is None else f"an array of shape {shape}"


def _monotonic(estimator: Any, schema: Schema, target: Target) -> tuple[int, ...] | None:
    signs = monotonic_signs(estimator.monotonic_cst, schema, target)
    if signs is not None and not isinstance(estimator.criterion, str):
        raise ParameterError(
            "monotonic_cst needs a criterion of treewright's own, got a function; "
            'name one, such as "gini" or "squared_error".'
        )
    return signs


def monotonic_signs(given: Any, schema: Schema, target: Target) -> tuple[int, ...] | None:
    """Signs in column order, None without any."""
    if given is None:
        return None
    signs = _signs_by_name(given, schema) if isinstance(given, Mapping) else list(given)
    if len(signs) != len(schema):
        raise ParameterError(
            f"monotonic_cst must hold one sign for each of the {len(schema)} features, "
            f"got {len(signs)}; pass a dict to name only those that are constrained."
        )
    if any(sign not in (-1, 0, 1) for sign in signs):
        raise ParameterError(
            f"monotonic_cst must hold -1, 0 and 1 only, got {reprlib.repr(given)}."
        )
    if not np.any(signs):
        return None
    _check_monotonic_target(target)
    for sign, feature in zip(signs, schema.features, strict=True):
        if sign and feature.kind == "nominal":
            raise ParameterError(
                f"monotonic_cst needs ordered values, but {feature.name!r} is nominal; "
                "declare its order with ordinal_features, or set its sign to 0."
            )
    if len(target.classes) == 1:  # its rate is one everywhere
        return None
    return tuple(int(sign) for sign in signs)


def _signs_by_name(given: Mapping[Any, Any], schema: Schema) -> list[Any]:
    names = schema.names
    for name in given:
        if name not in names:
            raise ParameterError(
                f"monotonic_cst must name features of the data, got {name!r}; "
                f"the first are {', '.join(map(repr, names[:5]))}."
            )
    return [given.get(name, 0) for name in names]


def _check_monotonic_target(target: Target) -> None:
    if target.n_outputs > 1:
        raise ParameterError(
            "Monotonicity constraints are not supported with multiple outputs, "
            f"got {target.n_outputs}; fit one estimator per output."
        )
    if len(target.classes) > 2:
        raise ParameterError(
            "Monotonicity constraints are not supported with multiclass classification, "
            f"got {len(target.classes)} classes; fit one class against the rest."
        )
