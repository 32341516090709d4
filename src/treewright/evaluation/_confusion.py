"""Figures that follow from a confusion matrix alone.

They are made for a whole stack of matrices at once, because the bootstrap asks for thousands. All
equal scikit-learn's, conventions included: a share of nothing is 0, averages run over the classes
that occur.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["class_shares", "confusion_figures", "proportions"]

Floats = NDArray[np.float64]


def confusion_figures(
    matrix: Floats, costs: Floats | None = None, positive: int | None = None
) -> dict[str, Floats]:
    """Figures of matrices of shape (m, k, k): true class in rows, predicted one in columns.

    Parameters
    ----------
    matrix
        Counts, or weights.
    costs
        Cost of each cell; None for no costs.
    positive
        Code of the class that precision, recall and the like are of; None for none.
    """
    total = matrix.sum(axis=(1, 2))
    true, said = matrix.sum(axis=2), matrix.sum(axis=1)
    hit = np.diagonal(matrix, axis1=1, axis2=2)
    right = hit.sum(axis=1)
    accuracy = _share(right, total)
    figures = {"accuracy": accuracy, "error": _share(total - right, total)}
    recall = _share(hit, true)
    figures["balanced_accuracy"] = _share((recall * (true > 0)).sum(axis=1), (true > 0).sum(axis=1))
    figures["kappa"] = _kappa(right, true, said, total)
    figures["mcc"] = _correlation(right, true, said, total)
    for name, (part, whole) in class_shares(matrix).items():
        if positive is not None:
            figures[name] = _share(part[:, positive], whole[:, positive])
    for name in ("precision", "recall", "f1"):
        figures.update(_averages(name, *class_shares(matrix)[name], true, said))
    if costs is not None:
        figures["total_cost"] = (matrix * costs).sum(axis=(1, 2))
        figures["mean_cost"] = _share(figures["total_cost"], total)
    return figures


def class_shares(matrix: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Part and whole of the shares of each class, by name."""
    total = matrix.sum(axis=(1, 2))[:, None]
    true, said = matrix.sum(axis=2), matrix.sum(axis=1)
    hit = np.diagonal(matrix, axis1=1, axis2=2)
    false_alarm = said - hit
    return {
        "precision": (hit, said),
        "recall": (hit, true),
        "specificity": (total - true - false_alarm, total - true),
        "fpr": (false_alarm, total - true),
        "f1": (2 * hit, true + said),
    }


def proportions(matrix: Floats, positive: int | None) -> Iterator[tuple[str, float, float]]:
    """The figures of one matrix that are shares of rows: name, part and whole."""
    total, right = float(matrix.sum()), float(np.trace(matrix))
    yield "accuracy", right, total
    yield "error", total - right, total
    for average in ("precision_micro", "recall_micro", "f1_micro"):
        yield average, right, total
    if positive is not None:
        shares = class_shares(matrix[None])
        for name in ("precision", "recall", "specificity", "fpr"):
            part, whole = shares[name]
            yield name, float(part[0, positive]), float(whole[0, positive])


def _share(part: Floats, whole: Floats) -> Floats:
    """``part / whole``, and 0 where there is nothing to share."""
    result = np.zeros(np.broadcast(part, whole).shape)
    np.divide(part, whole, out=result, where=np.asarray(whole) > 0)
    return result


def _kappa(right: Floats, true: Floats, said: Floats, total: Floats) -> Floats:
    """Agreement beyond chance (Cohen 1960); NaN where chance alone agrees always."""
    by_chance = (true * said).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((right * total - by_chance) / (total**2 - by_chance))


def _correlation(right: Floats, true: Floats, said: Floats, total: Floats) -> Floats:
    """Matthews' correlation for any number of classes (Gorodkin 2004)."""
    spread_true = total**2 - (true**2).sum(axis=1)
    spread_said = total**2 - (said**2).sum(axis=1)
    return _share(right * total - (true * said).sum(axis=1), np.sqrt(spread_true * spread_said))


def _averages(
    name: str, part: Floats, whole: Floats, true: Floats, said: Floats
) -> dict[str, Floats]:
    share, occurs = _share(part, whole), (true + said) > 0
    return {
        f"{name}_micro": _share(part.sum(axis=1), whole.sum(axis=1)),
        f"{name}_macro": _share((share * occurs).sum(axis=1), occurs.sum(axis=1)),
        f"{name}_weighted": _share((share * true).sum(axis=1), true.sum(axis=1)),
    }
