"""The twin of TreeSHAP: every set of features is played, as the definition says.

A game gives a number to every set of features; sets are bits of an integer. Values follow from
all of them, which takes ``2 ** n_features`` plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import factorial, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.twins.predict import branch, next_branch, shares
from treewright.tree.additive import Part
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SplitKind
from treewright.tree.tree import Tree

__all__ = ["interactions", "interventional_game", "path_game", "shapley"]

Floats = NDArray[np.float64]
Row = Sequence[float]
Ends = list[tuple[int, float]]


def shapley(game: Floats) -> Floats:
    """Shapley values of a game of shape (2 ** n, outputs)."""
    n = len(game).bit_length() - 1
    out = np.zeros((n, game.shape[1]))
    for i in range(n):
        for s in range(len(game)):
            if not s >> i & 1:
                k = bin(s).count("1")
                weight = factorial(k) * factorial(n - k - 1) / factorial(n)
                out[i] += weight * (game[s | 1 << i] - game[s])
    return out


def interactions(game: Floats) -> Floats:
    """Halves of the Shapley interaction indices; the diagonal is what is left of the values."""
    n = len(game).bit_length() - 1
    out = np.zeros((n, n, game.shape[1]))
    for i, j in combinations(range(n), 2):
        for s in range(len(game)):
            if not s >> i & 1 and not s >> j & 1:
                k = bin(s).count("1")
                weight = factorial(k) * factorial(n - k - 2) / (2 * factorial(n - 1))
                both = game[s | 1 << i | 1 << j] - game[s | 1 << i] - game[s | 1 << j] + game[s]
                out[i, j] += weight * both
        out[j, i] = out[i, j]
    values = shapley(game)
    for i in range(n):
        out[i, i] = values[i] - out[i].sum(axis=0)
    return out


def path_game(part: Part, x: Row) -> Floats:
    """What a tree says of a row where only some features are known, by training weight."""
    n = len(part.tree.schema)
    return np.array(
        [
            _value(part, _known_ends(part, x, {f for f in range(n) if s >> f & 1}))
            for s in range(1 << n)
        ]
    )


def interventional_game(part: Part, x: Row, background: Sequence[Row]) -> Floats:
    """The same where features that are not known come from other rows."""
    n = len(part.tree.schema)
    game = []
    for s in range(1 << n):
        hybrids = [[x[f] if s >> f & 1 else b[f] for f in range(n)] for b in background]
        game.append(np.mean([_value(part, _known_ends(part, h, None)) for h in hybrids], axis=0))
    return np.array(game)


def _value(part: Part, ends: Ends) -> Floats:
    total = np.zeros(part.values.shape[1])
    for node, share in ends:
        total += share * part.values[node]
    return total


def _known_ends(part: Part, x: Row, known: set[int] | None) -> Ends:
    """Ends and shares of a row; None: everything is known."""
    tree = part.tree
    ends: Ends = []
    stack: Ends = [(0, 1.0)]
    while stack:
        node, share = stack.pop()
        children = list(tree.children(node))
        if not children:
            ends.append((node, share))
            continue
        if known is not None and not set(_features_read(tree, node, x)) <= known:
            parts = shares(tree, node)
        else:
            lower = _soft_share(part, node, x)
            taken = next_branch(tree, node, x)
            if lower is not None:
                parts = [lower, 1 - lower]
            elif taken == GAP_STOP:
                ends.append((node, share))
                continue
            elif taken == GAP_FRACTION:
                parts = shares(tree, node)
            else:
                parts = [float(b == taken) for b in range(len(children))]
        stack += [(c, share * p) for c, p in zip(children, parts, strict=True) if p > 0]
    return ends


def _soft_share(part: Part, node: int, x: Row) -> float | None:
    if part.bounds is None:
        return None
    low, middle, high = (float(bound[node]) for bound in part.bounds)
    value = float(x[part.tree.splits.feature[node]])
    if not low < high or isnan(value) or not low < value < high:
        return None
    if value < middle:
        return 1 - 0.5 * (value - low) / (middle - low)
    return 0.5 * (high - value) / (high - middle)


def _features_read(tree: Tree, node: int, x: Row) -> list[int]:
    """Features that decide where a row goes: the test's, and those of surrogates that are asked."""
    read: list[int] = []

    def note(splits: Any, i: int) -> bool:
        linear = splits.kind[i] == SplitKind.LINEAR
        read.extend([f for f, _, _ in splits.node_terms(i)] if linear else [int(splits.feature[i])])
        return branch(splits, i, x) is None

    is_open = note(tree.splits, node)
    for s in range(tree.surrogate_offset[node], tree.surrogate_offset[node + 1]):
        is_open = is_open and note(tree.surrogates, s)
    return read
