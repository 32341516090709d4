"""What would change the answer: the nearest row that a model tells apart from a given one.

Distance is the sum over the changed features: numbers in standard deviations, ordered categories
by how many of them are passed, other categories one each. For one tree every leaf with another
answer is a box, and the nearest box is found. For a sum of trees the answer changes only at
thresholds, so changes are tried in the order of their distance, all sets of features among them;
the first that changes the answer is the nearest. Where that takes too many tries, and for other
models, rows of ``X`` with another answer are brought back, feature by feature, as close as they go.

Reference: Wachter, Mittelstadt and Russell (2018), *Counterfactual explanations without opening
the black box*; Tolomei and others (2017), on tree ensembles.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.errors import DataError, ParameterError
from treewright.explain._asking import Asked
from treewright.explain._paint import DOWN, axes, name, tidy
from treewright.tree.additive import Additive, additive_of
from treewright.tree.conditions import Interval, Linear, Members
from treewright.tree.show.rules import extract_rules
from treewright.tree.show.tables import as_frame, html_table, text_table
from treewright.tree.show.words import clip, format_value
from treewright.tree.split import SplitKind

__all__ = ["Change", "nearest_change"]

Floats = NDArray[np.float64]
Moves = dict[int, float]

TRIES = 30_000
"""Changes of a sum of trees that are tried in the order of their distance."""
BATCH = 2_000
POOL = 30
"""Rows with another answer from which a way back is tried."""


@dataclass(frozen=True, eq=False)
class Change:
    """The nearest change that makes a model answer otherwise.

    Parameters
    ----------
    features
        Names of the features to change.
    before, after
        Their values.
    size
        Distance of each change.
    answer, new_answer
        What the model says of the row, and after the change.
    is_nearest
        Whether no nearer change exists (of those that a model of trees can notice).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.explain import nearest_change
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> change = nearest_change(model, X.iloc[[60]], X)
    >>> print(change)
    The nearest change from 1 to 0
    feature           from   to  size
    petal length (cm)  3.5 2.45 0.597
    >>> axes = change.plot()
    >>> change.frame().shape
    (1, 4)
    """

    features: tuple[str, ...]
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    size: tuple[float, ...]
    answer: Any
    new_answer: Any
    is_nearest: bool

    def __len__(self) -> int:
        return len(self.features)

    @property
    def distance(self) -> float:
        """Sum of the sizes."""
        return float(sum(self.size))

    def frame(self) -> Any:
        """The changes as a data frame."""
        return as_frame(
            {
                "feature": list(self.features),
                "before": [_shown(v) for v in self.before],
                "after": [_shown(v) for v in self.after],
                "size": list(self.size),
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the size of each change.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        ax = axes(ax, height=1.1 + 0.4 * len(self))
        labels = [
            f"{name(f)}: {name(_shown(b), 14)} → {name(_shown(a), 14)}"
            for f, b, a in zip(self.features, self.before, self.after, strict=True)
        ]
        ax.barh(labels[::-1], self.size[::-1], color=DOWN)
        ax.set_xlabel("size of the change (standard deviations, or steps of categories)")
        ax.set_title(name(self._caption(), 90), fontsize=10)
        tidy(ax)
        return ax

    def _caption(self) -> str:
        nearest = "nearest" if self.is_nearest else "a near"
        article = "The " if self.is_nearest else ""
        return (
            f"{article}{nearest} change from {_shown(self.answer)} to {_shown(self.new_answer)}"
        ).replace("a near", "A near", 1)

    def _cells(self) -> dict[str, list[str]]:
        return {
            "feature": [clip(format_value(f), 40) for f in self.features],
            "from": [clip(_shown(v), 30) for v in self.before],
            "to": [clip(_shown(v), 30) for v in self.after],
            "size": [f"{s:.3g}" for s in self.size],
        }

    def __str__(self) -> str:
        return f"{self._caption()}\n{text_table(self._cells(), left=1)}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._caption())


@checked()
def nearest_change(
    model: Any, row: Any, X: Any, *, wanted: Any = None, fixed: Sequence[Any] = ()
) -> Change:
    """The nearest change of a row that makes a model answer otherwise.

    Parameters
    ----------
    model : fitted estimator of treewright
        Any; the change is the nearest for a tree, and for a sum of trees unless it takes very
        many tries (``is_nearest`` tells).
    row : mapping, sequence or frame of one row
        The row.
    X : array or data frame
        Rows of the same kind, for what is a large change of each feature.
    wanted : class, or pair of numbers, default=None
        The class to get, None for any other one; for numbers the range to get into (a bound may be
        None).
    fixed : sequence of names or positions, default=()
        Features that must stay.

    Returns
    -------
    change : Change
        With ``frame()``, ``plot()`` and ``str()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import CARTClassifier
    >>> from treewright.explain import nearest_change
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> change = nearest_change(model, X.iloc[[60]], X)
    >>> change.answer, change.new_answer, change.features
    (1, 0, ('petal length (cm)',))
    """
    asked = Asked(model, X)
    search = _Search(asked, _one_row(asked, row), wanted, {asked.feature(f) for f in fixed})
    total = _trees(model, asked.schema)
    found, is_nearest = None, True
    if total is not None and len(total.parts) == 1:
        found = search.first(_boxes(search, total))
    elif total is not None:
        found = search.first(_in_order(_moves(search, total)))
    if found is None and (total is None or len(total.parts) > 1):
        is_nearest = False
        found = search.way_back()
    if found is None:
        raise DataError(
            "No change of the features that may change makes the model answer so; fix fewer "
            "features, or ask for another answer."
        )
    return search.result(found, is_nearest)


def _trees(model: Any, schema: Schema) -> Additive | None:
    """A model as a sum of trees whose answer changes at thresholds of single features only.

    None also where the trees read a column in another order than ``schema`` has.
    """
    try:
        total = additive_of(model)
    except ParameterError:
        return None
    plain = total.schema.features == schema.features and all(
        part.bounds is None and not np.any(part.tree.splits.kind == SplitKind.LINEAR)
        for part in total.parts
    )
    return total if plain else None


class _Search:
    """A row, what counts as another answer, and how far changes are."""

    def __init__(self, asked: Asked, row: Table, wanted: Any, fixed: set[int]) -> None:
        self.asked, self.row, self.fixed = asked, row, fixed
        self.values = [float(column[0]) for column in row.columns]
        self.answer = asked.labels(row)[0]
        self.is_wanted = _goal(asked, self.answer, wanted)
        self.scale = [_scale(asked.table, f) for f in range(len(asked.schema))]
        self.whole = [_is_whole(asked.table, f) for f in range(len(asked.schema))]
        if bool(self.is_wanted(asked.labels(row))[0]):
            raise ParameterError(
                f"The model says {self.answer!r} already, which is what is wanted; ask for another "
                "answer."
            )

    def size(self, feature: int, value: float) -> float:
        """How far a value lies from the row's; from a gap every value is one away."""
        own = self.values[feature]
        is_gap = own != own or (self.asked.schema.features[feature].is_categorical and own < 0)
        if is_gap:
            return 1.0
        if self.asked.schema.features[feature].kind == "nominal":
            return float(value != own)
        return abs(value - own) / self.scale[feature]

    def cost(self, moves: Moves) -> float:
        return sum(self.size(f, v) for f, v in moves.items())

    def tell(self, tries: Sequence[Moves]) -> NDArray[Any]:
        """What the model says after each of some changes."""
        n = len(tries)
        columns: dict[int, NDArray[Any]] = {}
        for f, column in enumerate(self.row.columns):
            columns[f] = np.repeat(np.asarray(column), n)
        for i, moves in enumerate(tries):
            for f, value in moves.items():
                columns[f][i] = value
        gaps = self.row.has_gaps
        table = Table(self.row.schema, n, gaps, tuple(columns[f] for f in sorted(columns)))
        return self.asked.labels(table)

    def first(self, tries: Iterator[Moves]) -> Moves | None:
        """The first change in an order of distance that does it."""
        batch: list[Moves] = []
        for k, moves in enumerate(tries):
            if k >= TRIES:
                break
            batch.append(moves)
            if len(batch) == (50 if k < 50 else BATCH):
                found = self._hit(batch)
                if found is not None:
                    return found
                batch = []
        return self._hit(batch) if batch else None

    def _hit(self, batch: list[Moves]) -> Moves | None:
        hits = np.flatnonzero(self.is_wanted(self.tell(batch)))
        return batch[int(hits[0])] if len(hits) else None

    def way_back(self) -> Moves | None:
        """Rows of the table with another answer, each brought back as far as it goes."""
        table = self.asked.table
        good = np.flatnonzero(self.is_wanted(self.asked.labels(table)))
        ways = []
        for i in good.tolist():
            moves = {
                f: float(column[i])
                for f, column in enumerate(table.columns)
                if f not in self.fixed and not _same(float(column[i]), self.values[f])
            }
            if all(v == v for v in moves.values()):
                ways.append((self.cost(moves), i, moves))
        best: tuple[float, Moves] | None = None
        for _, _, moves in sorted(ways, key=lambda way: way[:2])[:POOL]:
            if not bool(self.is_wanted(self.tell([moves]))[0]):
                continue  # a fixed feature keeps the answer
            near = self._pulled(moves)
            if best is None or self.cost(near) < best[0]:
                best = self.cost(near), near
        return None if best is None else best[1]

    def _pulled(self, moves: Moves) -> Moves:
        """Leave out what is not needed, then bring numbers back by halves."""
        for f in sorted(moves, key=lambda f: -self.size(f, moves[f])):
            less = {g: v for g, v in moves.items() if g != f}
            if less and bool(self.is_wanted(self.tell([less]))[0]):
                moves = less
        for f in list(moves):
            if (
                self.asked.schema.features[f].kind != "continuous"
                or self.values[f] != self.values[f]
            ):
                continue
            good, bad = moves[f], self.values[f]
            for _ in range(40):
                middle = (good + bad) / 2
                if self.whole[f]:
                    middle = np.round(middle)
                if middle in (good, bad):
                    break
                if bool(self.is_wanted(self.tell([{**moves, f: middle}]))[0]):
                    good = middle
                else:
                    bad = middle
            moves = {**moves, f: float(good)}
        return moves

    def result(self, moves: Moves, is_nearest: bool) -> Change:
        order = sorted(moves, key=lambda f: -self.size(f, moves[f]))
        return Change(
            tuple(str(self.asked.schema.names[f]) for f in order),
            tuple(self.asked.value_name(f, self.values[f]) for f in order),
            tuple(self.asked.value_name(f, moves[f]) for f in order),
            tuple(self.size(f, moves[f]) for f in order),
            _plain(self.answer),
            _plain(self.tell([moves])[0]),
            is_nearest,
        )


def _boxes(search: _Search, total: Additive) -> Iterator[Moves]:
    """For each leaf of a tree the least change that leads there, the nearest first."""
    place = {feature.name: k for k, feature in enumerate(total.schema.features)}
    ways: list[tuple[float, int, Moves]] = []
    for k, rule in enumerate(extract_rules(total.parts[0].tree)):
        moves: Moves = {}
        for condition in rule.conditions:
            assert not isinstance(condition, Linear)
            f = place[condition.feature.name]
            value = _nearest(search, f, condition)
            if value is None or (f in search.fixed and not _same(value, search.values[f])):
                break
            if not _same(value, search.values[f]):
                moves[f] = value
        else:
            ways.append((search.cost(moves), k, moves))
    for _, _, moves in sorted(ways, key=lambda way: way[:2]):
        yield moves


def _nearest(search: _Search, f: int, condition: Interval | Members) -> float | None:
    """The value closest to the row's that satisfies a condition; None if there is none."""
    own = search.values[f]
    is_code = search.asked.schema.features[f].is_categorical
    is_gap = own != own or (is_code and own < 0)
    if is_gap and condition.gap:
        return own
    if isinstance(condition, Members):
        if own in condition.codes or (condition.gap and own not in condition.excluded):
            return own
        return float(condition.codes[0]) if condition.codes else None
    bounds = condition.bounds
    if not is_gap and bounds.contains(own):
        return own
    if bounds.is_empty:
        return None
    whole = is_code or search.whole[f]
    start = own if not is_gap else (bounds.low if np.isfinite(bounds.low) else bounds.high)
    low = _inside(bounds.low, bounds.includes_low, 1, whole)
    high = _inside(bounds.high, bounds.includes_high, -1, whole)
    value = min(max(start, low), high)
    return float(value) if np.isfinite(value) and bounds.contains(float(value)) else None


def _inside(end: float, is_included: bool, side: int, whole: bool) -> float:
    """The number at the end of a range that is still inside."""
    if not np.isfinite(end):
        return end
    if whole:
        near = np.ceil(end) if side > 0 else np.floor(end)
        return float(near + side) if near == end and not is_included else float(near)
    return end if is_included else float(np.nextafter(end, side * np.inf))


def _moves(search: _Search, total: Additive) -> dict[int, list[tuple[float, float]]]:
    """Size and value of the changes that some tree can notice, by feature, the nearest first."""
    found = {}
    for f, feature in enumerate(total.schema.features):
        if f in search.fixed:
            continue
        own = search.values[f]
        values: set[float] = set()
        if feature.is_categorical:
            values = {float(c) for c in range(len(feature.categories))}
        else:
            for part in total.parts:
                values |= _sides(search, part.tree.splits, f, own)
        moves = sorted((search.size(f, v), v) for v in values if not _same(v, own))
        if moves:
            found[f] = moves
    return found


def _sides(search: _Search, splits: Any, feature: int, own: float) -> set[float]:
    """The nearest values beyond each threshold of a feature, seen from the row's."""
    nodes = np.flatnonzero((splits.feature == feature) & (splits.kind == SplitKind.BREAKS))
    values = set()
    for node in nodes.tolist():
        closed = bool(splits.closed[node])
        for at in splits.node_breaks(node).tolist():
            above = own > at if closed else own >= at
            if own != own:
                values |= {_inside(at, closed, -1, search.whole[feature])}
            if own != own or not above:
                values |= {_inside(at, not closed, 1, search.whole[feature])}
            else:
                values |= {_inside(at, closed, -1, search.whole[feature])}
    return {v for v in values if np.isfinite(v)}


def _in_order(moves: dict[int, list[tuple[float, float]]]) -> Iterator[Moves]:
    """All sets of moves of different features, by the sum of their sizes."""
    features = sorted(moves)
    # A set is a tuple of (place of the feature, number of the move), places ascending. It leads to
    # sets that are no nearer: the next move of its last feature, and one of any later feature.
    queue: list[tuple[float, tuple[tuple[int, int], ...]]] = [
        (moves[f][0][0], ((place, 0),)) for place, f in enumerate(features)
    ]
    heapq.heapify(queue)
    while queue:
        cost, chosen = heapq.heappop(queue)
        yield {features[place]: moves[features[place]][k][1] for place, k in chosen}
        place, k = chosen[-1]
        own = moves[features[place]]
        if k + 1 < len(own):
            further = cost - own[k][0] + own[k + 1][0]
            heapq.heappush(queue, (further, (*chosen[:-1], (place, k + 1))))
        for later in range(place + 1, len(features)):
            nearest = moves[features[later]][0][0]
            heapq.heappush(queue, (cost + nearest, (*chosen, (later, 0))))


def _goal(asked: Asked, answer: Any, wanted: Any) -> Callable[[NDArray[Any]], NDArray[np.bool_]]:
    if asked.is_classifier:
        if wanted is None:
            return lambda said: np.asarray(said != answer)
        if wanted not in asked.model.classes_.tolist():
            names = ", ".join(str(c) for c in asked.model.classes_)
            raise ParameterError(f"wanted must be one of the classes {names}, got {wanted!r}.")
        return lambda said: np.asarray(said == wanted)
    if (
        not isinstance(wanted, tuple | list)
        or len(wanted) != 2
        or not all(
            limit is None or (isinstance(limit, Real) and limit == limit) for limit in wanted
        )
    ):
        raise ParameterError(
            "wanted must be a pair of numbers for a model that predicts numbers, such as "
            f"(10, None) for at least 10, got {wanted!r}."
        )
    low = -np.inf if wanted[0] is None else float(wanted[0])
    high = np.inf if wanted[1] is None else float(wanted[1])
    return lambda said: np.asarray((said >= low) & (said <= high))


def _one_row(asked: Asked, row: Any) -> Table:
    if isinstance(row, Mapping) and all(np.ndim(v) == 0 for v in row.values()):
        row = {k: [v] for k, v in row.items()}
    elif hasattr(row, "to_frame") and getattr(row, "ndim", 2) == 1:
        row = row.to_frame().T.infer_objects()
    elif (
        isinstance(row, list | tuple | np.ndarray)
        and getattr(row, "ndim", 1) == 1
        and not any(isinstance(value, list | tuple | np.ndarray) for value in row)
    ):
        row = [list(row)]
    table = Asked(asked.model, row).table
    if table.n_rows != 1:
        raise DataError(f"row must be one row, got {table.n_rows}.")
    return table


def _scale(table: Table, f: int) -> float:
    about = table.schema.features[f]
    if about.is_categorical:
        return max(1.0, len(about.categories) - 1.0)
    spread = float(np.nanstd(np.asarray(table.columns[f], np.float64)))
    return spread if spread > 0 else 1.0


def _is_whole(table: Table, f: int) -> bool:
    column = np.asarray(table.columns[f], np.float64)
    known = column[~np.isnan(column)]
    return bool(len(known)) and bool(np.all(known == np.rint(known)))


def _same(a: float, b: float) -> bool:
    return a == b or (a != a and b != b)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _shown(value: Any) -> str:
    if value is None:
        return "gap"
    return f"{value:.6g}" if isinstance(value, float) else format_value(value)
