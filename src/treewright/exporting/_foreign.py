"""Trees of other libraries made into ours.

A reader gives plain lists about the nodes of each tree; here they become a Tree, with nodes in
the order that ours have, and a booster around them. What comes from a file is checked as a model
file of ours is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema, Target
from treewright.errors import ModelFileError, TreewrightError
from treewright.tree.check import check_structure
from treewright.tree.forest.arrays import Forest
from treewright.tree.split import GAP_STOP, SplitKind, Splits
from treewright.tree.tree import Tree

__all__ = ["ForeignNode", "booster", "damaged", "make_tree", "single_break"]

Floats = NDArray[np.float64]


@dataclass
class ForeignNode:
    """A node as another library has it; children by their place in the list.

    A test is one break (``closed``: ``x <= at`` goes left), or the codes that go ``to_left`` or
    ``to_right``, all other categories going the other way. ``gap`` is the branch of a gap.
    """

    value: Sequence[float]
    left: int = -1
    right: int = -1
    feature: int = -1
    at: float = 0.0
    closed: bool = True
    to_left: Sequence[int] | None = None
    to_right: Sequence[int] | None = None
    gap: int = 0
    n_samples: float = 0.0
    weight: float = 0.0
    gain: float = 0.0
    impurity: float = 0.0


@contextmanager
def damaged(what: str) -> Iterator[None]:
    """Turn whatever a damaged file leads to into one sentence."""
    try:
        yield
    except TreewrightError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(
            f"{what} cannot be read as a model, it lacks or breaks something "
            f"({type(error).__name__}: {error}); save it again."
        ) from None


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
        node = nodes[i]
        if node.left < 0:
            first.append(-1)
            continue
        first.append(len(order))
        for child in (node.left, node.right):
            if not 0 <= child < len(nodes) or child in seen:
                raise ValueError(f"node {i} has a child {child}")
            seen.add(child)
            order.append(child)
    kept = [nodes[i] for i in order]
    is_leaf = np.array([node.left < 0 for node in kept])
    value = np.array([node.value for node in kept], np.float64)
    target = schema.target
    is_class = target is not None and target.is_classification
    weight = np.array([node.weight for node in kept], np.float64)
    total = weight[0] if weight[0] > 0 else 1.0
    zeros = np.zeros(len(kept))
    tree = Tree(
        schema=schema,
        first_child=np.array(first, np.int32),
        n_children=np.where(is_leaf, 0, 2).astype(np.int32),
        splits=_splits(kept, schema),
        default=np.array([GAP_STOP if node.left < 0 else node.gap for node in kept], np.int32),
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
    kind, feature, closed, breaks, codes, branches = [], [], [], [], [], []
    n_breaks, n_codes = [], []
    for node in nodes:
        is_inner = node.left >= 0
        is_coded = is_inner and (node.to_left is not None or node.to_right is not None)
        kind.append(
            SplitKind.CODES if is_coded else SplitKind.BREAKS if is_inner else SplitKind.LEAF
        )
        feature.append(node.feature if is_inner else -1)
        closed.append(is_inner and not is_coded and node.closed)
        own: list[int] = []
        if is_coded:
            listed = set(node.to_right if node.to_left is None else node.to_left)  # type: ignore[arg-type]
            own = list(range(len(schema.features[node.feature].categories)))
            branches += [int((code in listed) == (node.to_left is None)) for code in own]
        elif is_inner:
            breaks.append(float(node.at))
        n_breaks.append(int(is_inner and not is_coded))
        n_codes.append(len(own))
        codes += own
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
    extra: dict[str, Any] = field(default_factory=dict)


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
    n_rows = int(trees[0].n_samples[0])
    values = np.asarray(names) if names else None
    if values is not None and values.dtype.kind == "U":
        values = values.astype(object)
    target = Target(found.target, tuple(values.tolist()) if values is not None else ())
    state = {
        "schema": Schema(found.features, found.named, target),
        "forest": Forest.from_trees(trees),
        "start": np.asarray([found.start], np.float64),
        "init": None,
        "seed": 0,
        "n_rows": n_rows,
        "train_score": np.zeros(0),
        "validation_score": np.zeros(0),
        "classes": values,
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
