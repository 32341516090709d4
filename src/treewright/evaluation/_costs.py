"""What confusions cost: a matrix, or a dict of dicts, in the order of the classes.

Unlike the costs that trees are grown with, these may be negative (a gain) and may stand on the
diagonal (what a right answer costs), as on the course's slides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError

__all__ = ["positive_code", "read_costs"]


def read_costs(costs: Any, classes: Sequence[Any]) -> NDArray[np.float64] | None:
    """The matrix of costs, true class in rows and predicted one in columns; None stays None."""
    if costs is None:
        return None
    n = len(classes)
    matrix = _from_dicts(costs, classes) if isinstance(costs, Mapping) else costs
    try:
        found = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"costs must be a {n} × {n} matrix of numbers or a dict of dicts "
            f"{{true: {{predicted: cost}}}}, got {type(costs).__name__}; check its entries."
        ) from None
    if found.shape != (n, n):
        listed = ", ".join(repr(label) for label in list(classes)[:8])
        raise ParameterError(
            f"costs must be a {n} × {n} matrix, true class in rows and predicted one in columns, "
            f"in the order of the classes {listed}; got shape {found.shape}."
        )
    if not np.isfinite(found).all():
        raise ParameterError(f"costs must be finite, got {found.tolist()}; use a large number.")
    return found


def _from_dicts(costs: Mapping[Any, Any], classes: Sequence[Any]) -> NDArray[np.float64]:
    """Pairs that are not named cost nothing on the diagonal; all others must be named."""
    place = {label: k for k, label in enumerate(classes)}
    matrix = np.full((len(place), len(place)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    for true, row in costs.items():
        if not isinstance(row, Mapping):
            raise ParameterError(
                "costs must be a matrix or a dict of dicts {true: {predicted: cost}}, "
                f"got {type(row).__name__} for the class {true!r}; write a dict there."
            )
        for label in (true, *row):
            if label not in place:
                raise ParameterError(
                    f"costs must name classes, got {label!r} where the classes are "
                    f"{', '.join(map(repr, list(place)[:8]))}; check its spelling and type."
                )
        for predicted, cost in row.items():
            matrix[place[true], place[predicted]] = cost
    if np.isnan(matrix).any():
        i, j = np.argwhere(np.isnan(matrix))[0].tolist()
        labels = list(place)
        raise ParameterError(
            f"costs must name every pair of classes, but calling {labels[i]!r} {labels[j]!r} has "
            "no cost; add it, with 0 if it costs nothing."
        )
    return matrix


def positive_code(positive: Any, classes: Sequence[Any]) -> int | None:
    """Place of the positive class: the last of two by default, none of more."""
    labels = list(classes)
    if positive is None:
        return 1 if len(labels) == 2 else None
    if positive not in labels:
        listed = ", ".join(map(repr, labels[:8])) + (", …" if len(labels) > 8 else "")
        raise ParameterError(
            f"positive must be one of the classes {listed}, got {positive!r}; check its spelling "
            "and type."
        )
    return labels.index(positive)
