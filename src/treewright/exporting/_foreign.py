"""Trees of other libraries made into ours.

A reader gives plain lists about the nodes of each tree; here they become a Tree, with nodes in
the order that ours have, and a booster around them. What comes from a file is checked as a model
file of ours is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    "booster",
    "damaged",
    "make_tree",
    "placeholders",
    "single_break",
    "two_ways",
]

Floats = NDArray[np.float64]
MOST_FEATURES = 10_000_000


@dataclass
class ForeignNode:
    """A node as another library has it; children by their places in the list.

    A test is one break (``closed``: ``x <= at`` goes left), or the branch of each code that is
    known there. ``gap`` is the branch of a gap.
    """

    value: Sequence[float]
    children: Sequence[int] = ()
    feature: int = -1
    at: float = 0.0
    closed: bool = True
    branches: Mapping[int, int] | None = None
    gap: int = 0
    n_samples: float = 0.0
    weight: float = 0.0
    gain: float = 0.0
    impurity: float = 0.0


def two_ways(codes: Iterable[int], right: Iterable[int]) -> dict[int, int]:
    """Branches of ``codes``: those in ``right`` go there, the others to the left."""
    chosen = set(right)
    return {code: int(code in chosen) for code in codes}


@contextmanager
def damaged(what: str) -> Iterator[None]:
    """Turn whatever a damaged file leads to into one sentence."""
    try:
        yield
    except TreewrightError:
        raise
    except (
        *(KeyError, IndexError, TypeError, ValueError, AttributeError),
        *(OverflowError, RecursionError),
    ) as error:
        raise ModelFileError(
            f"{what} cannot be read as a model, it lacks or breaks something "
            f"({type(error).__name__}: {error}); save it again."
        ) from None


def placeholders(n: int) -> list[Feature]:
    """Numbers without names, as many as a file says that there are."""
    if not 0 <= n <= MOST_FEATURES:
        raise ValueError(f"it has {n} features")
    return [Feature(f"x{i}", "continuous") for i in range(n)]


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
    codes: list[int] = []
    branches: list[int] = []
    for node in nodes:
        is_cut = bool(node.children) and node.branches is None
        own = dict(sorted((node.branches or {}).items()))
        kind.append(
            SplitKind.BREAKS if is_cut else SplitKind.CODES if node.children else SplitKind.LEAF
        )
        feature.append(node.feature if node.children else -1)
        closed.append(is_cut and node.closed)
        breaks += [float(node.at)] * is_cut
        codes += own
        branches += own.values()
        n_breaks.append(int(is_cut))
        n_codes.append(len(own))
    return Splits(
        kind=np.array(kind, np.uint8),
        feature=np.array(feature, np.int32),
        closed=np.array(closed, np.bool_),
        reversed=np.zeros(len(nodes), np.bool_),
        break_offset=np.cumsum([0, *n_breaks], dtype=np.int64),
        breaks=np.array(breaks, np.float64),
        code_offset=np.cumsum([0, *n_codes], dtype=np.int64),
        codes=np.array(codes, np.int32),
        branches=np.array(branches, np.int32),
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
    n_rounds = max(1, *(len(column) for column in found.columns))
    nothing = [ForeignNode([0.0])]
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
