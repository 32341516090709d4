"""Error-based pruning by its definition; twin of ``core/prune/error_based.cpp``.

A tree here is a nested :class:`Part`; rows go down it by the branches that a function gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.twins.quinlan import class_weights

__all__ = ["C50", "Part", "added_errors", "prune"]

Floats = NDArray[np.float64]
Branches = Callable[[int], NDArray[np.int64]]
"""Branch of every row at a node of the grown tree, −1 for a gap that goes every way."""


@dataclass(frozen=True)
class Part:
    """A subtree: the node of the grown tree it comes from, its class weights and its branches."""

    source: int
    value: Floats = field(default_factory=lambda: np.zeros(0))
    branches: tuple[Part, ...] = ()


@dataclass(frozen=True)
class C50:
    """The rules of C5.0: which branch is raised, and what is then grown again.

    ``same_cut`` says whether two nodes cut the same continuous feature; ``grow`` grows a subtree
    from weighted rows, None where nothing is grown again.
    """

    min_items: float
    same_cut: Callable[[int, int], bool]
    grow: Callable[[Floats], Part] | None = None


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
    part: Part,
    weight: Floats,
    y: NDArray[np.int32],
    branches: Branches,
    rules: dict[str, Any],
    c50: C50 | None = None,
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
            prune(below, share, y, branches, rules, c50)
            for below, share in zip(part.branches, shares, strict=True)
        ),
    )
    leaf = _leaf_errors(value, rules)
    tree = _errors(pruned, rules, c50)
    largest = _largest(pruned, c50) if rules["raise_subtrees"] else None
    branch = np.inf
    if largest is not None:
        branch = _errors(_send(largest, weight, y, branches, rules), rules)
    slack = 0.1 + rules["tolerance"]
    if leaf <= branch + slack and leaf <= tree + slack:
        return Part(part.source, value)
    if branch > tree + slack:
        return pruned
    assert largest is not None
    if c50 is not None and c50.grow is not None and largest.value.sum() < 0.95 * value.sum():
        largest = _grown_again(largest, weight, y, branches, rules, c50)
        c50 = replace(c50, grow=None)
    return prune(largest, weight, y, branches, rules, c50)


def _largest(part: Part, c50: C50 | None) -> Part | None:
    """The branch that may be raised: the heaviest; C5.0 has further rules."""
    totals = [below.value.sum() for below in part.branches]
    if c50 is None:
        return part.branches[len(totals) - 1 - int(np.argmax(totals[::-1]))]
    inner = [b for b, below in enumerate(part.branches) if below.branches]
    if not inner:
        return None
    largest = max(inner, key=lambda b: float(totals[b]))  # the first of equal ones
    below = part.branches[largest]
    if totals[largest] < 0.1 * part.value.sum() or c50.same_cut(part.source, below.source):
        return None
    return below


def _grown_again(
    part: Part,
    weight: Floats,
    y: NDArray[np.int32],
    branches: Branches,
    rules: dict[str, Any],
    c50: C50,
) -> Part:
    """The same test, and below it what is grown from the rows that come down now."""

    def below(share: Floats) -> Part:
        value = class_weights(y, share, rules["n_classes"])
        assert c50.grow is not None
        if value.sum() < 2 * c50.min_items or value.max() == value.sum():
            return Part(part.source)
        return c50.grow(share)

    return replace(part, branches=tuple(below(s) for s in _divide(part, weight, branches)))


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


def _errors(part: Part, rules: dict[str, Any], c50: C50 | None = None) -> float:
    """Expected errors; C5.0 takes light leaves of one class below a node together."""
    if not part.branches:
        return _leaf_errors(part.value, rules)
    light = [
        not below.branches and c50 is not None and 0 < below.value.sum() < c50.min_items
        for below in part.branches
    ]
    if len(part.branches) < 3 or not any(light):
        return sum(_errors(below, rules, c50) for below in part.branches)
    pools: dict[int, Floats] = {}
    total = 0.0
    for below, is_light in zip(part.branches, light, strict=True):
        if is_light:
            label = _label(below.value, rules)
            pools[label] = pools.get(label, np.zeros(len(below.value))) + below.value
        else:
            total += _errors(below, rules, c50)
    return total + sum(_leaf_errors(pool, rules) for pool in pools.values())


def _leaf_errors(value: Floats, rules: dict[str, Any]) -> float:
    cases = float(value.sum())
    if cases <= max(rules["tolerance"], 0.0):
        return 0.0
    label = _label(value, rules)
    errors = cases - float(value[label])
    return (errors + added_errors(cases, errors, rules)) * float(_prices(value, rules)[label])


def _prices(value: Floats, rules: dict[str, Any]) -> Floats:
    return np.asarray(rules.get("price") or np.ones(len(value)))


def _label(value: Floats, rules: dict[str, Any]) -> int:
    """The class whose errors cost least."""
    return int(np.argmin((value.sum() - value) * _prices(value, rules)))
