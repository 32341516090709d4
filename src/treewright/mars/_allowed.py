"""Which predictors may multiply a term."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.kernels.mars import Offer
from treewright.mars._predictors import Predictor

__all__ = ["make_offer", "positions"]


def positions(given: Any, schema: Schema, parameter: str) -> list[int]:
    """Features by name or position, as positions."""
    found = []
    for name in given:
        if isinstance(name, str) and name in schema.names:
            found.append(schema.index(name))
        elif isinstance(name, int | np.integer) and 0 <= name < len(schema):
            found.append(int(name))
        else:
            raise ParameterError(
                f"{parameter} must name features of X or give their positions, got {name!r}; "
                f"there are {len(schema)} features, the first is {schema.names[0]!r}."
            )
    return found


def make_offer(allowed: Any, predictors: tuple[Predictor, ...], schema: Schema) -> Offer | None:
    """What the forward pass asks about every new term; None where all may meet."""
    if allowed is None:
        return None
    feature = np.array([predictor.feature for predictor in predictors])
    if callable(allowed):
        return _by_function(allowed, feature, schema)
    forbidden = _pairs(allowed, schema)

    def offer(used: Sequence[int]) -> NDArray[np.bool_]:
        return np.asarray(~forbidden[feature[list(used)]].any(0)[feature])

    return offer


def _by_function(
    allowed: Callable[[str, tuple[str, ...]], Any], feature: NDArray[np.intp], schema: Schema
) -> Offer:
    def offer(used: Sequence[int]) -> NDArray[np.bool_]:
        parents = tuple(schema.names[f] for f in feature[list(used)])
        answers = {f: bool(allowed(schema.names[f], parents)) for f in np.unique(feature)}
        return np.array([answers[f] for f in feature], np.bool_)

    return offer


def _pairs(allowed: Any, schema: Schema) -> NDArray[np.bool_]:
    forbidden = np.zeros((len(schema), len(schema)), np.bool_)
    for pair in allowed:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ParameterError(
                f"allowed must be a function or pairs of features that never meet, got {pair!r}; "
                'write [("age", "income")].'
            )
        a, b = positions(pair, schema, "allowed")
        forbidden[a, b] = forbidden[b, a] = True
    return forbidden
