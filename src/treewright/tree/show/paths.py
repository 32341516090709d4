"""The way of one row through a tree, in words.

The descent is written out here a second time, slowly and with reasons; it must agree with
the compiled predictor. A gap asks the surrogates, then takes the default branch; if that is
GAP_FRACTION the row goes on in parts, so a way may have several ends.
"""

from __future__ import annotations

import html
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from treewright.errors import ColumnNamesWarning, DataError
from treewright.tree.conditions import Condition, branch_conditions, surrogate_conditions
from treewright.tree.show.describe import Wording, number_text
from treewright.tree.show.nodes import node_prediction
from treewright.tree.show.words import clean, exact, format_number, format_value
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SplitKind, Splits, term_value
from treewright.tree.tree import Tree

__all__ = ["Path", "Step", "as_numbers", "encoded_row", "split_value", "trace_row", "trace_values"]


@dataclass(frozen=True, slots=True)
class Step:
    """What happened to a row at one node.

    Parameters
    ----------
    node
        The node.
    test
        The condition of the branch taken; at the end of the way the prediction.
    branch, child
        Branch taken and the node it leads to; None at an end, and where a gap goes down
        every branch.
    reason
        Why: the value, a surrogate, or the rule for gaps.
    share
        Part of the row that came here; 1 unless a gap above sent it down several branches.
    prediction
        What the node predicts, if the way ends here.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
    >>> step = tree.path(iris.data.slice(60, 1)).steps[0]
    >>> step.test, step.child, step.reason
    ('Petal.Length >= 2.45', 2, 'Petal.Length is 3.5')
    """

    node: int
    test: str
    branch: int | None
    child: int | None
    reason: str
    share: float = 1.0
    prediction: Any = None

    def __str__(self) -> str:
        part = "" if self.share == 1 else f" [{100 * self.share:.3g} % of the row]"
        goal = "" if self.child is None else f" → node {self.child}"
        return f"node {self.node}{part}: {self.test}{goal}  ({self.reason})"


@dataclass(frozen=True, repr=False)
class Path(Sequence[Step]):
    """The steps of a row, depth first; ``leaf`` is where most of it ends.

    Parameters
    ----------
    steps
        One per node that the row came to.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_
    >>> path = tree.path(iris.data.slice(60, 1))
    >>> print(path)
    node 0: Petal.Length >= 2.45 → node 2  (Petal.Length is 3.5)
    node 2: Petal.Width < 1.75 → node 3  (Petal.Width is 1)
    node 3: versicolor  (a leaf)
    >>> path.leaf
    3
    """

    steps: tuple[Step, ...]

    @property
    def ends(self) -> tuple[Step, ...]:
        """The steps at which the row, or a part of it, ends."""
        return tuple(step for step in self.steps if step.prediction is not None)

    @property
    def leaf(self) -> int:
        """Node that the row ends in; of several the one with the largest share."""
        return max(self.ends, key=lambda step: (step.share, -step.node)).node

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self.steps[index]

    def __str__(self) -> str:
        return "\n".join(str(step) for step in self.steps)

    def __repr__(self) -> str:
        return f"<Path of {len(self)} steps to node {self.leaf}>"

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(str(step))}</li>" for step in self.steps)
        return f"<ol>{items}</ol>"


def trace_row(tree: Tree, row: Any) -> Path:
    """The way of one row; see :meth:`Tree.path`."""
    return trace_values(tree, encoded_row(tree, row))


def encoded_row(tree: Tree, row: Any) -> list[Any]:
    """The values of one row: floats with NaN for gaps, codes with −1."""
    from treewright.data.encode import encode

    with warnings.catch_warnings():  # a row in column order is as good as one with names
        warnings.simplefilter("ignore", ColumnNamesWarning)
        columns = encode(_as_table(tree, row), schema=tree.schema).columns
    if len(columns) and len(columns[0]) != 1:
        raise DataError(f"path takes one row, got {len(columns[0])}: choose one of them.")
    return [column[0] for column in columns]


def _as_table(tree: Tree, row: Any) -> Any:
    """Whatever stands for one row as something that ``encode`` takes."""
    if hasattr(row, "columns"):
        return row
    if isinstance(row, np.ndarray) and row.ndim == 2:
        return row
    if isinstance(row, Mapping) or hasattr(row, "items"):
        return {name: [value] for name, value in row.items()}
    names = tree.schema.names
    values = [row] if isinstance(row, str) or not isinstance(row, Iterable) else list(row)
    if len(values) != len(names):
        raise DataError(
            f"row must have {len(names)} values in the order of the features, got {len(values)}: "
            "pass a dict from name to value, with None for a gap, to be sure."
        )
    return {name: [value] for name, value in zip(names, values, strict=True)}


def trace_values(tree: Tree, values: Sequence[Any]) -> Path:
    """The way of a row of encoded values: floats with NaN for gaps, codes with −1."""
    numbers = as_numbers(tree, values)
    steps = []
    stack = [(0, 1.0)]
    while stack:
        node, share = stack.pop()
        if tree.first_child[node] < 0:
            steps.append(_end(tree, node, share, "a leaf"))
            continue
        step = _decide(tree, node, numbers, share)
        steps.append(step)
        if step.child is not None:
            stack.append((step.child, share))
        elif step.prediction is None:
            children = tree.children(node)
            weight = tree.weight[children.start : children.stop]
            total = weight.sum()
            parts = weight / total if total > 0 else np.full(len(weight), 1 / len(weight))
            onward = zip(children, (share * parts).tolist(), strict=True)
            stack.extend(reversed([(child, part) for child, part in onward if part > 0]))
    return Path(tuple(steps))


def as_numbers(tree: Tree, values: Sequence[Any]) -> list[float]:
    """Encoded values as floats, NaN for gaps."""
    return [_as_number(tree, feature, value) for feature, value in enumerate(values)]


def _as_number(tree: Tree, feature: int, value: Any) -> float:
    """An encoded value as a float, NaN for a gap."""
    is_gap = tree.schema.features[feature].is_categorical and value < 0
    return math.nan if is_gap else float(value)


def _end(tree: Tree, node: int, share: float, reason: str) -> Step:
    prediction = node_prediction(tree, node)
    return Step(node, format_value(prediction), None, None, reason, share, prediction)


def _decide(tree: Tree, node: int, numbers: list[float], share: float) -> Step:
    conditions = branch_conditions(tree, node)
    branch = _branch(tree.splits, node, numbers)
    why = _value_words(tree, tree.splits, node, numbers)
    if branch is None:
        branch, surrogate = _ask_surrogates(tree, node, numbers)
        if branch is not None:
            return _step(tree, node, conditions, branch, f"{why}; surrogate {surrogate}", share)
        default = int(tree.default[node])
        if default == GAP_FRACTION:
            what = Wording.over(conditions).subject(conditions[0])
            reason = f"{why}; every branch by its weight"
            return Step(node, f"test of {what}", None, None, reason, share)
        if default == GAP_STOP:
            return _end(tree, node, share, f"{why}; a gap stops here")
        return _step(tree, node, conditions, default, f"{why}; gaps go this way", share)
    return _step(tree, node, conditions, branch, why, share)


def _step(
    tree: Tree, node: int, conditions: list[Condition], branch: int, reason: str, share: float
) -> Step:
    # the reason says whether the value was a gap, so the test need not
    test = Wording.over(conditions, gap_names=frozenset()).text(conditions[branch], 80)
    return Step(node, test, branch, int(tree.first_child[node]) + branch, reason, share)


def _ask_surrogates(tree: Tree, node: int, numbers: list[float]) -> tuple[int | None, str]:
    """The branch that the first surrogate with a value gives, and that surrogate in words."""
    start, stop = tree.surrogate_offset[node : node + 2].tolist()
    for i in range(start, stop):
        branch = _branch(tree.surrogates, i, numbers)
        if branch is not None:
            conditions = surrogate_conditions(tree, i, int(tree.n_children[node]))
            return branch, Wording.over(conditions).text(conditions[branch], 80)
    return None, ""


def split_value(splits: Splits, i: int, numbers: Sequence[float]) -> float:
    """What a split looks at in a row of numbers with NaN for gaps: a value, a code, or a sum."""
    if splits.kind[i] != SplitKind.LINEAR:
        return float(numbers[splits.feature[i]])
    x = 0.0
    for f, weight, code in splits.node_terms(i):
        x += weight * term_value(numbers[f], code)
    return x


def _branch(splits: Splits, i: int, numbers: list[float]) -> int | None:
    """Branch of a row at one split; None for a gap."""
    x = split_value(splits, i, numbers)
    if math.isnan(x):
        return None
    if splits.kind[i] == SplitKind.CODES:
        codes = splits.node_codes(i)
        at = int(np.searchsorted(codes, x))
        seen = at < len(codes) and codes[at] == x
        return int(splits.node_branches(i)[at]) if seen else None
    breaks = splits.node_breaks(i)
    branch = int(np.count_nonzero(breaks < x if splits.closed[i] else breaks <= x))
    return 1 - branch if splits.reversed[i] else branch


def _value_words(tree: Tree, splits: Splits, i: int, numbers: list[float]) -> str:
    """What the row has where the split looks."""
    if splits.kind[i] == SplitKind.LINEAR:
        terms = splits.node_terms(i)
        gaps = [f for f in dict.fromkeys(f for f, _, _ in terms) if math.isnan(numbers[f])]
        if gaps:
            names = ", ".join(clean(tree.schema.features[f].name) for f in gaps)
            return f"{names} is a gap" if len(gaps) == 1 else f"{names} are gaps"
        return f"the sum is {format_number(split_value(splits, i, numbers))}"
    feature = tree.schema.features[splits.feature[i]]
    name, x = clean(feature.name), numbers[splits.feature[i]]
    if math.isnan(x):
        return f"{name} is a gap"
    if not feature.is_categorical:
        return f"{name} is {number_text(x, feature)}"
    word = exact(feature.categories[int(x)])
    unseen = splits.kind[i] == SplitKind.CODES and int(x) not in splits.node_codes(i)
    return f"{name} is {word}" + (", which this node has not seen" if unseen else "")
