"""Error-based pruning by its definition; twin of ``core/error_based.cpp``.

A tree here is a nested :class:`Part`; rows go down it by the branches that a function gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels.reference.quinlan import class_weights

__all__ = ["Part", "added_errors", "prune"]

Floats = NDArray[np.float64]
Branches = Callable[[int], NDArray[np.int64]]
"""Branch of every row at a node of the grown tree, −1 for a gap that goes every way."""


@dataclass(frozen=True)
class Part:
    """A subtree: the node of the grown tree it comes from, its class weights and its branches."""

    source: int
    value: Floats = field(default_factory=lambda: np.zeros(0))
    branches: tuple[Part, ...] = ()


def added_errors(cases: float, errors: float, rules: dict[str, Any]) -> float:
    """What the upper confidence limit adds to ``errors`` among ``cases``."""
    none = float(cases * (1.0 - rules["confidence"] ** (1.0 / cases)))
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (added_errors(cases, 1.0, rules) - none)
    if errors + 0.5 >= cases:
        return float(max(rules["tail"] * (cases - errors), rules["least_tail"]))
    c, e = rules["z"] ** 2, errors + 0.5
    limit = (e + c / 2 + np.sqrt(c * (e * (1 - e / cases) + c / 4))) / (cases + c)
    return float(cases * limit - errors)


def prune(
    part: Part, weight: Floats, y: NDArray[np.int32], branches: Branches, rules: dict[str, Any]
) -> Part:
    """The pruned subtree for rows of the given weights; 0 for those that are elsewhere."""
    value = class_weights(y, weight, rules["n_classes"])
    part = replace(part, value=value)
    if not part.branches or not weight.any():
        return replace(part, branches=())
    shares = _divide(part, weight, branches)
    pruned = replace(
        part,
        branches=tuple(
            prune(below, share, y, branches, rules)
            for below, share in zip(part.branches, shares, strict=True)
        ),
    )
    leaf = _leaf_errors(value, rules)
    tree = sum(_errors(below, rules) for below in pruned.branches)
    totals = [below.value.sum() for below in pruned.branches]
    largest = pruned.branches[len(totals) - 1 - int(np.argmax(totals[::-1]))]
    branch = np.inf
    if rules["raise_subtrees"]:
        branch = _errors(_send(largest, weight, y, branches, rules), rules)
    slack = 0.1 + rules["tolerance"]
    if leaf <= branch + slack and leaf <= tree + slack:
        return Part(part.source, value)
    if branch <= tree + slack:
        return prune(largest, weight, y, branches, rules)
    return pruned


def _divide(part: Part, weight: Floats, branches: Branches) -> list[Floats]:
    """Weights of the rows in each branch; gaps go every way with the branch's share."""
    taken = branches(part.source)
    known = weight[taken >= 0].sum()
    parts = []
    for b in range(len(part.branches)):
        own = weight[taken == b].sum()
        share = own / known if known else 1.0 / len(part.branches)
        parts.append(np.where(taken == b, weight, np.where(taken < 0, weight * share, 0.0)))
    return parts


def _send(
    part: Part, weight: Floats, y: NDArray[np.int32], branches: Branches, rules: dict[str, Any]
) -> Part:
    """The subtree with the class weights of other rows."""
    value = class_weights(y, weight, rules["n_classes"])
    below = (
        zip(part.branches, _divide(part, weight, branches), strict=True) if part.branches else ()
    )
    sent = tuple(_send(child, share, y, branches, rules) for child, share in below)
    return Part(part.source, value, sent)


def _errors(part: Part, rules: dict[str, Any]) -> float:
    if part.branches:
        return sum(_errors(below, rules) for below in part.branches)
    return _leaf_errors(part.value, rules)


def _leaf_errors(value: Floats, rules: dict[str, Any]) -> float:
    cases = float(value.sum())
    if cases <= max(rules["tolerance"], 0.0):
        return 0.0
    errors = cases - float(value.max())
    return errors + added_errors(cases, errors, rules)
