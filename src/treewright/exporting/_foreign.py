"""Trees of other libraries made into ours.

A reader gives plain lists about the nodes of each tree; here they become a Tree, with nodes in
the order that ours have, and a booster around them. What comes from a file is checked as a model
file of ours is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ModelFileError, TreewrightError
from treewright.tree.check import check_structure
from treewright.tree.forest.arrays import Forest
from treewright.tree.split import GAP_STOP, SplitKind, Splits
from treewright.tree.tree import Tree

__all__ = [
    "Boosted",
    "ForeignNode",
    "Room",
    "booster",
    "damaged",
    "make_tree",
    "no_trees",
    "placeholders",
    "single_break",
    "two_ways",
]

Floats = NDArray[np.float64]
Codes = tuple[NDArray[np.int32], NDArray[np.int32]]
FREE_BYTES = 50_000_000
BYTES_PER_BYTE = 256
FEATURE, COLUMN, TREE, NODE, CODE = 250, 200, 4000, 600, 16
"""Bytes that one takes, and what memory a file may take without any size and for each byte."""


@dataclass
class ForeignNode:
    """A node as another library has it; children by their places in the list.

    A test is one break (``closed``: ``x <= at`` goes left), or the codes that are known there,
    ascending, and the branch of each. ``gap`` is the branch of a gap.
    """

    value: Sequence[float]
    children: Sequence[int] = ()
    feature: int = -1
    at: float = 0.0
    closed: bool = True
    branches: Codes | None = None
    gap: int = 0
    n_samples: float = 0.0
    weight: float = 0.0
    gain: float = 0.0
    impurity: float = 0.0


def two_ways(n_codes: int, right: Sequence[int]) -> Codes:
    """Branches of the first codes: those in ``right`` go there, the others to the left."""
    codes = np.arange(n_codes, dtype=np.int32)
    return codes, np.isin(codes, np.array(right, np.int64)).astype(np.int32)


class Room:
    """Memory that is left for what a file of ``size`` bytes says that there is.

    A number in a file is no proof of what it counts: a few bytes could ask for gigabytes.
    """

    def __init__(self, what: str, size: int) -> None:
        self.what = what
        self.left = FREE_BYTES + BYTES_PER_BYTE * size

    def take(self, n: int, each: int, name: str) -> int:
        """``n``, if there is room for as many things of ``each`` bytes."""
        if n < 0:
            raise ValueError(f"it has {n} {name}")
        if n * each > self.left:
            raise ModelFileError(
                f"{self.what} has {n} {name}, which is more than a file of its size can be about; "
                "save it again, with the names of its features."
            )
        self.left -= n * each
        return n


@contextmanager
def damaged(what: str, size: int) -> Iterator[Room]:
    """Turn whatever a damaged file of ``size`` bytes leads to into one sentence."""
    try:
        yield Room(what, size)
    except TreewrightError:
        raise
    except Exception as error:
        raise ModelFileError(
            f"{what} cannot be read as a model, it lacks or breaks something "
            f"({type(error).__name__}: {str(error)[:200]}); save it again."
        ) from None


def placeholders(n: int, room: Room) -> list[Feature]:
    """Numbers without names, as many as a file says that there are."""
    return [Feature(f"x{i}", "continuous") for i in range(room.take(n, FEATURE, "features"))]


def no_trees(n: int, room: Room) -> list[list[list[ForeignNode]]]:
    """An empty list of trees for each column of scores that a file says that there is."""
    if n < 1:
        raise ValueError(f"it has {n} scores for a row")
    return [[] for _ in range(room.take(n, COLUMN, "scores for a row"))]


def single_break(at: float, *, closed: bool) -> tuple[float, bool]:
    """The break for doubles of a test that rounds its value to single precision first.

    ``float32(x) <= at`` (closed) or ``float32(x) < at`` holds up to half-way between two
    neighbours, and there if the lower one is even.

    Examples
    --------
    >>> at, closed = single_break(0.5, closed=True)
    >>> at > 0.5 and closed
    True
    """
    lower = np.float32(at)
    if float(lower) > at or (not closed and float(lower) == at):
        lower = np.nextafter(lower, np.float32(-np.inf))
    upper = np.nextafter(lower, np.float32(np.inf))
    if not np.isfinite(lower) or not np.isfinite(upper):
        return at, closed
    middle = (float(lower) + float(upper)) / 2
    is_even = int(lower.view(np.uint32)) % 2 == 0
    return middle, bool(is_even)


def make_tree(nodes: Sequence[ForeignNode], schema: Schema) -> Tree:
    """A checked Tree; nodes that cannot be reached are left out."""
    order, first, seen = [0], [], {0}
    for i in order:  # grows while it is read: level by level, siblings side by side
        children = nodes[i].children
        first.append(len(order) if children else -1)
        for child in children:
            if not 0 <= child < len(nodes) or child in seen:
                raise ValueError(f"node {i} has a child {child}")
            seen.add(child)
            order.append(child)
    kept = [nodes[i] for i in order]
    n_children = np.array([len(node.children) for node in kept], np.int32)
    value = np.array([node.value for node in kept], np.float64)
    target = schema.target
    is_class = target is not None and target.is_classification
    weight = np.array([node.weight for node in kept], np.float64)
    total = weight[0] if weight[0] > 0 else 1.0
    zeros = np.zeros(len(kept))
    tree = Tree(
        schema=schema,
        first_child=np.array(first, np.int32),
        n_children=n_children,
        splits=_splits(kept, schema),
        default=np.array([node.gap if node.children else GAP_STOP for node in kept], np.int32),
        surrogate_offset=np.zeros(len(kept) + 1, np.int64),
        surrogates=Splits.empty(),
        surrogate_agreement=np.zeros(0),
        surrogate_adjusted=np.zeros(0),
        n_samples=np.array([round(node.n_samples) for node in kept], np.int64),
        weight=weight,
        value=value,
        label=value.argmax(axis=1).astype(np.int32) if is_class else np.zeros(0, np.int32),
        impurity=np.array([node.impurity for node in kept], np.float64),
        gain=np.array([node.gain for node in kept], np.float64),
        risk=_risk(value, weight / total) if is_class else zeros,
    )
    check_structure(tree)
    return tree


def _risk(value: Floats, share: Floats) -> Floats:
    whole = value.sum(axis=1)
    wrong = np.divide(whole - value.max(axis=1), whole, out=np.zeros(len(value)), where=whole > 0)
    return np.asarray(wrong * share)


def _splits(nodes: Sequence[ForeignNode], schema: Schema) -> Splits:
    kind, feature, closed, breaks, n_breaks, n_codes = [], [], [], [], [], []
    none = np.zeros(0, np.int32)
    parts: list[Codes] = [(none, none)]
    for node in nodes:
        is_cut = bool(node.children) and node.branches is None
        own = parts[0] if node.branches is None else node.branches
        kind.append(
            SplitKind.BREAKS if is_cut else SplitKind.CODES if node.children else SplitKind.LEAF
        )
        feature.append(node.feature if node.children else -1)
        closed.append(is_cut and node.closed)
        breaks += [float(node.at)] * is_cut
        parts.append(own)
        n_breaks.append(int(is_cut))
        n_codes.append(len(own[0]))
    codes, branches = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Splits(
        kind=np.array(kind, np.uint8),
        feature=np.array(feature, np.int32),
        closed=np.array(closed, np.bool_),
        reversed=np.zeros(len(nodes), np.bool_),
        break_offset=np.cumsum([0, *n_breaks], dtype=np.int64),
        breaks=np.array(breaks, np.float64),
        code_offset=np.cumsum([0, *n_codes], dtype=np.int64),
        codes=codes.astype(np.int32),
        branches=branches.astype(np.int32),
        term_offset=np.zeros(len(nodes) + 1, np.int64),
        term_feature=np.zeros(0, np.int32),
        term_weight=np.zeros(0, np.float64),
    )


@dataclass
class Boosted:
    """What a reader found: trees of each column of scores, and what they are about."""

    features: tuple[Feature, ...]
    columns: list[list[list[ForeignNode]]]
    loss: str  # as ours are called
    start: Sequence[float]
    room: Room
    classes: Sequence[Any] = ()
    target: str = "y"
    named: bool = True
    in_singles: bool = False  # sums of the trees are rounded to single precision


def booster(found: Boosted, classes: Any = None) -> Any:
    """A fitted GradientBoostingClassifier or GradientBoostingRegressor."""
    from treewright.ensembles.boosting.gradient_boosting import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
    )

    names = found.classes if classes is None else _given_classes(classes, found.classes)
    n_columns = len(found.columns)
    score = Schema(found.features, found.named, Target(f"score of {found.target}"))
    n_rounds = max(1, *map(len, found.columns))
    nothing = [ForeignNode([0.0])]
    n_lacking = n_rounds * n_columns - sum(map(len, found.columns))
    found.room.take(n_lacking, TREE, "columns of scores without trees")
    trees = [
        make_tree(column[k] if k < len(column) else nothing, score)
        for k in range(n_rounds)
        for column in found.columns
    ]
    values = np.asarray(names) if names else None
    if values is not None and values.dtype.kind == "U":
        values = values.astype(object)
    told = tuple(values.tolist()) if values is not None else ()
    target = Target(found.target, told, 1 if told else n_columns)
    state = {
        "schema": Schema(found.features, found.named, target),
        "forest": Forest.from_trees(trees),
        "start": np.asarray([found.start], np.float64),
        "init": None,
        "seed": 0,
        "n_rows": 0,  # that it was grown from here
        "train_score": np.zeros(0),
        "validation_score": np.zeros(0),
        "classes": values,
        "in_singles": found.in_singles,
    }
    kind: Callable[..., Any] = GradientBoostingRegressor
    if names:
        kind = GradientBoostingClassifier
    model = kind(n_estimators=n_rounds, loss=found.loss)._restore(state)
    model.n_iter_ = n_rounds
    assert len(trees) == n_rounds * n_columns
    return model


def _given_classes(classes: Any, known: Sequence[Any]) -> list[Any]:
    from treewright.errors import ParameterError

    given: list[Any] = np.asarray(classes).tolist()
    if len(given) != len(known):
        raise ParameterError(
            f"classes must name each of the {len(known)} classes of the model in their order, got "
            f"{len(given)}."
        )
    return given
