"""Priors and costs made into factors on class weights; class weights made into row weights.

The one idea: a prior or a loss acts on a tree only through numbers that multiply the weight
of each class, so that counts stay whole and one search serves all.

With N_i the weight of class i in training, N their sum, π_i its prior and L_i = Σ_j L(i, j):

- probabilities, labels and risks use π_i · N / N_i (one, when the priors are the data's own);
- splits use π'_i · N / N_i with altered priors π'_i ∝ π_i · L_i, or the first factor and
  Σ L(i, j) p_i p_j in place of Gini's index (generalised Gini).

Altered priors are exact for two classes. ``class_weight`` is different: it is the weight of
a row, as in scikit-learn, and counts wherever weights do (leaf sizes, gains, impurities).

Reference: Breiman, Friedman, Olshen and Stone (1984), sections 4.4 and 4.5.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.tree.growing.recipe import ClassCosts

__all__ = ["class_costs", "class_weights", "expected_cost_labels", "root_risk"]

Floats = NDArray[np.float64]


def class_costs(
    classes: Sequence[Any],
    totals: Floats,
    *,
    priors: Any = None,
    costs: Any = None,
    cost_method: str = "altered_priors",
) -> ClassCosts | None:
    """Factors for splits and probabilities, or None where all of them are one.

    Parameters
    ----------
    classes
        The classes, in the order of the codes.
    totals
        Training weight of each class.
    priors, costs, cost_method
        As the estimators take them.
    """
    if priors is None and costs is None:
        return None
    probability = np.ones(len(classes))
    if priors is not None:
        # A class without weight (a fold may lack one) has no rows for its prior to act on.
        np.divide(
            _prior_shares(priors, classes) * totals.sum(),
            totals,
            out=probability,
            where=totals > 0,
        )
    loss = None if costs is None else _loss_matrix(costs, classes)
    generalized = loss is not None and cost_method == "generalized_gini"
    split = probability
    if loss is not None and not generalized:
        split = _altered(probability, totals, loss.sum(axis=1))
    return ClassCosts(split, probability, loss, generalized)


def class_weights(class_weight: Any, classes: Sequence[Any], totals: Floats) -> Floats:
    """Weight of a row of each class; ``totals`` are the weights without it."""
    if isinstance(class_weight, str):
        return np.asarray(totals.sum() / (len(classes) * totals))
    weights = _by_class(class_weight, classes, "class_weight", default=1.0)
    if not np.all(np.isfinite(weights)) or np.any(weights <= 0):
        raise ParameterError(
            f"class_weight must hold finite weights above 0, got {reprlib.repr(class_weight)}; "
            "to leave a class out, drop its rows."
        )
    return weights


def expected_cost_labels(probability: Floats, loss: Floats | None) -> NDArray[np.intp]:
    """Class of least expected cost in each row; the first one of a tie."""
    if loss is None:
        return np.asarray(np.argmax(probability, axis=1))
    return np.asarray(np.argmin(probability @ loss, axis=1))


def root_risk(totals: Floats, costs: ClassCosts | None) -> float:
    """Risk of the tree that is only a root: expected cost per unit of weight."""
    weighted = totals if costs is None else totals * costs.proba_factor
    probability = weighted / weighted.sum()
    if costs is None or costs.loss is None:
        return float(1.0 - probability.max())
    return float((probability @ costs.loss).min())


def _altered(probability: Floats, totals: Floats, loss_of_class: Floats) -> Floats:
    """Factors under the altered priors, on the scale of those under the priors alone."""
    if np.all(loss_of_class == loss_of_class[0]):
        return probability
    weighted = probability * totals
    scale = weighted.sum() / (weighted * loss_of_class).sum()
    altered: Floats = probability * loss_of_class * scale
    return altered


def _prior_shares(priors: Any, classes: Sequence[Any]) -> Floats:
    if isinstance(priors, str):
        return np.full(len(classes), 1.0 / len(classes))
    if isinstance(priors, Mapping):
        shares = _by_class(priors, classes, "priors")
        # What was given to classes that these rows lack is spread over the others.
        absent = [_number(priors[label], "priors") for label in priors if label not in classes]
        if absent and shares.any():
            shares = shares * ((shares.sum() + sum(absent)) / shares.sum())
    else:
        shares = _numbers(priors, "priors", "one share per class")
        if shares.shape != (len(classes),):
            raise ParameterError(
                f"priors must hold one share for each of the {len(classes)} classes in the "
                f"order of classes_, got shape {shares.shape}; pass a dict to name the classes."
            )
    if not np.all(np.isfinite(shares)) or np.any(shares < 0) or abs(shares.sum() - 1.0) > 1e-6:
        raise ParameterError(
            "priors must be non-negative and sum to 1, "
            f"got {shares.tolist()} with sum {shares.sum():g}; divide them by their sum."
        )
    return np.asarray(shares / shares.sum())


def _loss_matrix(costs: Any, classes: Sequence[Any]) -> Floats:
    n = len(classes)
    if isinstance(costs, Mapping):
        loss = _loss_from_dicts(costs, classes)
    else:
        loss = _numbers(costs, "costs", "a square matrix")
    if loss.shape != (n, n):
        raise ParameterError(
            f"costs must be a {n} × {n} matrix with the true class in rows and the predicted "
            f"one in columns, in the order of classes_, got shape {loss.shape}; "
            "pass a dict of dicts to name the classes."
        )
    if not np.all(np.isfinite(loss)) or np.any(loss < 0) or np.any(np.diag(loss) != 0):
        raise ParameterError(
            "costs must be finite, at least 0, and 0 on the diagonal, "
            f"got {loss.tolist()}; subtract each row's diagonal entry from that row."
        )
    if n > 1 and not loss.any():
        raise ParameterError(
            "costs must hold at least one cost above 0, got zeros only; "
            "leave costs at None to count every error as 1."
        )
    return loss


def _loss_from_dicts(costs: Mapping[Any, Any], classes: Sequence[Any]) -> Floats:
    loss = np.zeros((len(classes), len(classes)))
    _refuse_strangers(costs, classes, "costs")
    for i, true in enumerate(classes):
        row = costs.get(true, {})
        if not isinstance(row, Mapping):
            raise ParameterError(
                "costs must be a matrix or a dict of dicts {true: {predicted: cost}}, "
                f"got {type(row).__name__} for the class {true!r}; write a dict there."
            )
        _refuse_strangers(row, [label for label in classes if label != true], "costs")
        for j, predicted in enumerate(classes):
            if predicted in row:
                loss[i, j] = _number(row[predicted], "costs")
            elif i != j:
                raise ParameterError(
                    f"costs must name every pair of classes, but predicting {predicted!r} for "
                    f"{true!r} has no cost; add it, with 0 if it costs nothing."
                )
    return loss


def _by_class(
    given: Mapping[Any, Any], classes: Sequence[Any], name: str, default: float | None = None
) -> Floats:
    """Numbers of a dict in the order of the classes."""
    _refuse_strangers(given, classes, name)
    numbers = np.empty(len(classes))
    for i, label in enumerate(classes):
        if label not in given and default is None:
            raise ParameterError(
                f"{name} must name every class, but {label!r} is missing; add it to the dict."
            )
        numbers[i] = _number(given.get(label, default), name)
    return numbers


def _refuse_strangers(given: Mapping[Any, Any], classes: Sequence[Any], name: str) -> None:
    """Refuse a key that is no class, unless all classes are named (a fold may lack one)."""
    strangers = [label for label in given if label not in classes]
    if strangers and any(label not in given for label in classes):
        listed = ", ".join(map(repr, classes[:10])) + (", …" if len(classes) > 10 else "")
        raise ParameterError(
            f"{name} must name classes of the target, got {strangers[0]!r} where the classes "
            f"are {listed}; check its spelling and type."
        )


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must hold numbers, got {value!r}; replace it by a number."
        ) from None


def _numbers(values: Any, name: str, what: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be {what} of numbers or a dict, got {type(values).__name__}; "
            "check its entries."
        ) from None
