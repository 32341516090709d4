"""What a page knows of a model, as data for its script: the book.

Names and categories pass through the book as texts and never as markup. Trees are arrays, as
they are here: node ``i``'s branch ``b`` leads to node ``first[i] + b``. Sizes along the
weakest-link sequence are numbered from 0, the whole tree, and ``until[i]`` is the size from which
node ``i`` has no branches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema
from treewright.pruning import pruning_sequence
from treewright.tree.show.colours import Palette, colour
from treewright.tree.show.describe import number_text
from treewright.tree.show.words import clean, clip, format_number, format_value, separate
from treewright.tree.split import SplitKind, Splits
from treewright.tree.tree import Tree

__all__ = ["Measure", "Steps", "book_of", "steps_of", "tree_entry"]

NAME_ROOM = 120
"""Columns of a name or category; what is longer is clipped."""
MOST_CATEGORIES = 400
"""Categories of one feature that the form offers."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """What the error of a subtree is called, and how risks become it."""

    name: str
    percent: bool = False
    is_squared: bool = False

    @classmethod
    def of(cls, tree: Tree, costs: Any = None) -> Measure:
        """Error rate, cost per row, or root mean squared error."""
        target = tree.schema.target
        if target is None or not target.is_classification:
            return cls("root mean squared error", is_squared=True)
        if costs is not None:
            return cls("cost per row")
        is_share = abs(float(tree.risk[0]) - (1.0 - float(tree.probability[0].max()))) < 1e-9
        return cls("error", percent=True) if is_share else cls("weighted error", percent=True)

    def __call__(self, risk: Floats) -> Floats:
        return np.asarray(np.sqrt(np.maximum(risk, 0.0)) if self.is_squared else risk)

    def spread(self, risk: Floats, std: Floats) -> Floats:
        """The standard error of the measure from that of the risk (delta method)."""
        if not self.is_squared:
            return std
        root = np.sqrt(np.maximum(risk, 1e-300))
        return np.asarray(np.minimum(std / (2 * root), root))


@dataclass(frozen=True, eq=False)
class Steps:
    """The subtrees of one tree, the largest first.

    Parameters
    ----------
    n_leaves, training
        Size and training risk of each.
    until
        Number of the first subtree in which each node has no branches.
    error, std, kind
        Risk on other rows, its standard error and where it comes from; None where unknown.
    """

    n_leaves: NDArray[np.int64]
    training: Floats
    until: NDArray[np.int64]
    error: Floats | None = None
    std: Floats | None = None
    kind: str = ""


def steps_of(
    tree: Tree, judge: Callable[[Tree, Any], tuple[Floats, Floats | None, str] | None] | None = None
) -> Steps:
    """The weakest-link sequence of a tree; ``judge(tree, sequence)`` gives errors of its steps."""
    sequence = pruning_sequence(tree, "error", "exact")
    until = np.searchsorted(sequence.alphas + sequence.tolerance, sequence.node_alpha)
    found = None if judge is None else judge(tree, sequence)
    error, std, kind = found if found is not None else (None, None, "")
    whole = tree.n_leaves
    n_leaves, risks = sequence.n_leaves, sequence.risks
    if n_leaves[0] != whole:
        # splits that gain nothing go first; the slider begins before them
        until = until + 1
        n_leaves, risks = np.append(whole, n_leaves), np.append(risks[0], risks)
        error = None if error is None else np.append(error[0], error)
        std = None if std is None else np.append(std[0], std)
    return Steps(n_leaves, risks, until, error, std, kind)


def book_of(
    trees: Sequence[Mapping[str, Any]],
    schema: Schema,
    palette: Palette,
    measure: Measure,
    *,
    costs: Any = None,
    ranges: Mapping[int, tuple[float, float, float]] | None = None,
) -> dict[str, Any]:
    """The book of trees over one schema."""
    target = schema.target
    used = sorted({f for entry in trees for f in entry["uses"]})
    about: dict[str, Any] = {"name": shown(target.name) if target else "y"}
    if target is not None and target.is_classification:
        about["classes"] = [shown(format_value(c)) for c in target.classes]
        about["colours"] = [colour(f"class{k}", "light") for k in range(len(target.classes))]
        if target.class_factor:
            about["factor"] = [float(f) for f in target.class_factor]
        if costs is not None:
            about["costs"] = np.asarray(costs, np.float64).tolist()
    else:
        about["scale"] = [rounded(x) for x in palette.scale or (0.0, 1.0)]
    features = [
        _feature(feature, i in used, (ranges or {}).get(i))
        for i, feature in enumerate(schema.features)
    ]
    entries = [{k: v for k, v in entry.items() if k != "uses"} for entry in trees]
    named = {"name": measure.name, "percent": measure.percent}
    return {"target": about, "features": features, "measure": named, "trees": entries}


def tree_entry(
    tree: Tree,
    measure: Measure,
    steps: Steps,
    *,
    start: int = 0,
    candidates: Mapping[int, Any] | None = None,
) -> dict[str, Any]:
    """The arrays of one tree; ``start`` is the size that is shown first."""
    words = _threshold_words(tree)
    n_children = tree.n_children.tolist()
    splits = [_split(tree.splits, i, n, words) for i, n in enumerate(n_children)]
    entry: dict[str, Any] = {
        "first": tree.first_child.tolist(),
        "count": n_children,
        "gap": tree.default.tolist(),
        "n": tree.n_samples.tolist(),
        "gain": [rounded(x, 4) for x in tree.gain.tolist()],
        "value": _values(tree),
        "splits": splits,
        "until": steps.until.tolist(),
        "start": start,
        "steps": _steps(steps, measure),
        "uses": _uses(tree),
    }
    if _adds_up(tree):
        entry["sums"] = 1
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            entry["value"][node] = []
    if not np.array_equal(tree.weight, tree.n_samples):
        entry["weight"] = [rounded(x) for x in tree.weight.tolist()]
    target = tree.schema.target
    if target is not None and target.is_classification:
        entry["label"] = tree.label.tolist()
    elif np.all(tree.impurity >= 0):
        entry["spread"] = [rounded(x, 4) for x in np.sqrt(tree.impurity).tolist()]
    offset = tree.surrogate_offset.tolist()
    if offset[-1]:
        entry["surrogates"] = [
            [_split(tree.surrogates, k, n, words) for k in range(offset[i], offset[i + 1])]
            for i, n in enumerate(n_children)
        ]
    if candidates:
        entry["candidates"] = {str(node): found for node, found in candidates.items()}
    return entry


def shown(text: str) -> str:
    """A name on one line, without characters that do not print, and not endless."""
    return clip(clean(text), NAME_ROOM)


def rounded(x: float, digits: int = 6) -> float | int | None:
    """A number with few digits, whole where it is whole; None where JSON has no word for it."""
    if not np.isfinite(x):
        return None
    if float(x).is_integer() and abs(x) < 1e15:
        return int(x)
    return float(f"{x:.{digits}g}")


def _feature(
    feature: Feature, is_used: bool, spread: tuple[float, float, float] | None
) -> dict[str, Any]:
    about: dict[str, Any] = {"name": shown(feature.name), "kind": feature.kind}
    if feature.is_categorical:
        given = feature.categories[:MOST_CATEGORIES] if is_used else ()
        about["categories"] = [shown(format_value(value)) for value in given]
    elif feature.time in ("date", "datetime", "time") and not feature.zone:
        about["time"] = feature.time  # a page has no time zones and no field for a duration
    elif spread is not None:
        about["range"] = [rounded(x, 4) for x in spread]
    return about


def _steps(steps: Steps, measure: Measure) -> dict[str, Any]:
    about: dict[str, Any] = {
        "leaves": steps.n_leaves.tolist(),
        "train": [rounded(x) for x in measure(steps.training).tolist()],
    }
    if steps.error is not None:
        about["error"] = [rounded(x) for x in measure(steps.error).tolist()]
        about["kind"] = steps.kind
        if steps.std is not None:
            spread = measure.spread(steps.error, steps.std)
            about["std"] = [rounded(x) for x in spread.tolist()]
    return about


def _values(tree: Tree) -> list[list[Any]]:
    """Means, or the classes that occur at a node and their weights in turn."""
    target = tree.schema.target
    if target is None or not target.is_classification:
        return [[rounded(x) for x in row] for row in tree.value.tolist()]
    found: list[list[Any]] = [[] for _ in range(tree.n_nodes)]
    where = np.nonzero(tree.value)
    for node, k, weight in zip(
        *(a.tolist() for a in where), tree.value[where].tolist(), strict=True
    ):
        found[node] += [k, rounded(weight)]
    return found


def _adds_up(tree: Tree) -> bool:
    """Whether the class weights of every inner node are whole and the sums of its children's."""
    target = tree.schema.target
    if target is None or not target.is_classification or tree.n_nodes == 1:
        return False
    if not np.array_equal(tree.value, np.round(tree.value)):
        return False
    sums = np.zeros_like(tree.value)
    np.add.at(sums, tree.parent[1:], tree.value[1:])
    inner = ~tree.is_leaf
    return bool(np.array_equal(sums[inner], tree.value[inner]))


def _uses(tree: Tree) -> set[int]:
    """Features that a split or surrogate looks at."""
    found: set[int] = set()
    for splits in (tree.splits, tree.surrogates):
        found.update(splits.feature[splits.feature >= 0].tolist())
        found.update(splits.term_feature.tolist())
    return found


def _split(splits: Splits, i: int, n_branches: int, words: dict[int, dict[float, str]]) -> Any:
    kind = splits.kind[i]
    if kind == SplitKind.LEAF:
        return None
    if kind == SplitKind.CODES:
        codes, branches = splits.node_codes(i), splits.node_branches(i)
        groups = [codes[branches == b].tolist() for b in range(n_branches)]
        return {"feature": int(splits.feature[i]), "groups": groups}
    breaks = splits.node_breaks(i).tolist()
    # a break at infinity asks whether the value is known; JSON has no word for it, scripts have
    written = [x if np.isfinite(x) else str(x).replace("inf", "Infinity") for x in breaks]
    about: dict[str, Any] = {"breaks": written}
    if splits.closed[i]:
        about["closed"] = 1
    if splits.reversed[i]:
        about["reversed"] = 1
    if kind == SplitKind.LINEAR:
        about["terms"] = [list(term) for term in splits.node_terms(i)]
        about["words"] = [format_number(x, 4) for x in breaks]
    else:
        feature = about["feature"] = int(splits.feature[i])
        spelled = [words[feature][x] for x in breaks]
        if spelled != [repr(x).removesuffix(".0") for x in breaks]:
            about["words"] = spelled
    return about


def _threshold_words(tree: Tree) -> dict[int, dict[float, str]]:
    """Words for all breaks of each feature that tell them apart."""
    values: dict[int, set[float]] = {}
    for splits in (tree.splits, tree.surrogates):
        owner = np.repeat(splits.feature, np.diff(splits.break_offset))
        for feature, x in zip(owner.tolist(), splits.breaks.tolist(), strict=True):
            values.setdefault(feature, set()).add(x)
    return {
        i: {x: number_text(x, tree.schema.features[i]) for x in found}
        if tree.schema.features[i].time
        else separate(found, 4)
        for i, found in values.items()
        if i >= 0
    }
