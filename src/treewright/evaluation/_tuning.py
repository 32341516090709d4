"""What came of a search: all candidates, the choice, and the honest figure beside the naive one."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.evaluation._comparison_words import cells, plain, records, score_words
from treewright.evaluation._figures import FIGURES
from treewright.evaluation._folds import Split
from treewright.evaluation._scores import is_higher_better, share_tested
from treewright.evaluation._search import Searched, Tried
from treewright.evaluation._tests import mean_interval
from treewright.tree.show.tables import as_frame, html_table, text_table

__all__ = ["Outer", "Tuning"]

MOST_SHOWN = 20
"""Candidates in the text form."""


@dataclass(frozen=True)
class Outer:
    """What was chosen in one outer fold, its score there, and on the rows held out.

    Parameters
    ----------
    parameters
        What the fold chose.
    inner_score
        Its score on the folds that chose it.
    score
        Its score on the rows held out.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, tune
    >>> iris = datasets.load_iris()
    >>> grid = {"max_depth": [1, 2]}
    >>> result = tune(CARTClassifier(), grid, iris.data, iris.target, random_state=0)
    >>> [outer.parameters for outer in result.outer][:2]
    [{'max_depth': 2}, {'max_depth': 2}]
    """

    parameters: dict[str, Any]
    inner_score: float
    score: float


@dataclass(frozen=True, eq=False)
class Tuning:
    """The result of a search.

    Parameters
    ----------
    model
        The chosen candidate, fitted to all rows.
    metric, search
        What was asked for.
    searched
        All candidates and the choice, on all rows.
    outer, outer_splits
        What was chosen in every outer fold and how good it was on the rows held out; empty
        without nesting.
    confidence, simplest_within
        What was asked for.
    n_rows
        Number of rows.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, tune
    >>> iris = datasets.load_iris()
    >>> grid = {"max_depth": [1, 2, 3]}
    >>> result = tune(CARTClassifier(), grid, iris.data, iris.target, random_state=0)
    >>> result.best_params, round(result.naive, 3), round(result.nested, 3)
    ({'max_depth': 3}, 0.933, 0.927)
    >>> result.frame().columns.tolist()
    ['max_depth', 'accuracy', 'standard_error', 'chosen']
    >>> result.outer_frame().shape
    (5, 4)
    >>> list(result.to_dict())
    ['metric', 'search', 'best_params', 'naive', 'nested', 'low', 'high', 'confidence',
    'candidates', 'sentence']
    >>> axes = result.plot()
    """

    model: Any
    metric: str
    search: str
    searched: Searched
    outer: tuple[Outer, ...]
    outer_splits: tuple[Split, ...]
    confidence: float
    simplest_within: str | float | None
    n_rows: int

    @property
    def best_params(self) -> dict[str, Any]:
        """Parameters of the chosen candidate."""
        return dict(self.searched.chosen.parameters)

    @property
    def naive(self) -> float:
        """The score of the choice on the folds that chose it; too good."""
        return self.searched.chosen.mean

    @property
    def nested(self) -> float:
        """The mean score on the outer folds, which had no part in the choice; NaN without them."""
        return float(np.mean([one.score for one in self.outer])) if self.outer else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the nested score."""
        if len(self.outer) < 2:
            return float("nan"), float("nan")
        scores = [one.score for one in self.outer]
        low, high = mean_interval(scores, share_tested(self.outer_splits), self.confidence)
        return FIGURES[self.metric].within(low, high)

    @property
    def sentence(self) -> str:
        """What was chosen, and what to expect of it."""
        tried, chosen = self.searched.tried, self.searched.chosen
        label = FIGURES[self.metric].label
        naive = score_words(self.metric, self.naive)
        n = len({repr(one.parameters) for one in tried})
        what = f"{_shown(chosen.parameters)} was chosen of {n} ({label} {naive} on the folds that "
        what += "chose it)"
        if self.simplest_within is not None and chosen is not self.searched.best:
            best = self.searched.best
            what = (
                f"{_shown(chosen.parameters)}, the smallest model near the best, was chosen of {n} "
                f"({label} {naive}, size {chosen.size:.4g}, where "
                f"{_shown(best.parameters)} has {score_words(self.metric, best.mean)}, size "
                f"{best.size:.4g})"
            )
        if not self.outer:
            return (
                f"{what}; that figure is too good, since it made the choice: use nested=True for "
                "one that did not."
            )
        low, high = (score_words(self.metric, end) for end in self.interval)
        expected = score_words(self.metric, self.nested)
        return (
            f"{what}; expect {expected} on new rows ({100 * self.confidence:g} % interval {low} to "
            f"{high}), from {len(self.outer)} outer folds that had no part in the choice"
            f"{self._stability()}."
        )

    def _stability(self) -> str:
        """How often the outer folds made the same choice."""
        same = sum(repr(one.parameters) == repr(self.best_params) for one in self.outer)
        return f" ({same} of {len(self.outer)} chose the same)"

    # Tables

    def _ordered(self) -> list[Tried]:
        sign = -1.0 if is_higher_better(self.metric) else 1.0
        return sorted(self.searched.tried, key=lambda one: (-one.share, sign * one.mean))

    def _columns(self) -> dict[str, Any]:
        tried = self._ordered()
        names = list(dict.fromkeys(name for one in tried for name in one.parameters))
        columns: dict[str, Any] = {
            name: [one.parameters.get(name, "") for one in tried] for name in names
        }
        columns[self.metric] = [one.mean for one in tried]
        columns["standard_error"] = [one.standard_error for one in tried]
        if self.simplest_within is not None:
            columns["size"] = [one.size for one in tried]
        if any(one.share < 1 for one in tried):
            columns["share_of_rows"] = [one.share for one in tried]
        columns["chosen"] = [one is self.searched.chosen for one in tried]
        return columns

    def frame(self) -> Any:
        """All candidates with their scores on the inner folds, the best first."""
        plain_columns = {n: [_value(v) for v in values] for n, values in self._columns().items()}
        return as_frame(plain_columns)

    def outer_frame(self) -> Any:
        """What every outer fold chose, its score on the folds that chose it and on the others."""
        names = list(dict.fromkeys(name for one in self.outer for name in one.parameters))
        columns: dict[str, Any] = {"fold": [k + 1 for k in range(len(self.outer))]}
        columns |= {n: [_value(one.parameters.get(n)) for one in self.outer] for n in names}
        columns["naive"] = [one.inner_score for one in self.outer]
        columns["nested"] = [one.score for one in self.outer]
        return as_frame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them."""
        low, high = self.interval
        return {
            "metric": self.metric,
            "search": self.search,
            "best_params": {name: plain(v) for name, v in self.best_params.items()},
            "naive": plain(self.naive),
            "nested": plain(self.nested),
            "low": plain(low),
            "high": plain(high),
            "confidence": self.confidence,
            "candidates": records(self._columns()),
            "sentence": self.sentence,
        }

    def _caption(self) -> str:
        label = FIGURES[self.metric].label
        n = len(self.searched.tried)
        return f"{n} candidates by {label} on inner folds, {self.search} search"

    def __str__(self) -> str:
        columns = {n: list(v)[:MOST_SHOWN] for n, v in self._columns().items()}
        lines = [self._caption(), text_table(cells(_texts(columns)))]
        more = len(self.searched.tried) - MOST_SHOWN
        if more > 0:
            lines.append(f"… and {more} more")
        if self.outer:
            label = FIGURES[self.metric].label
            lines += [
                "",
                f"naive {label} {score_words(self.metric, self.naive)} (the folds that chose), "
                f"nested {score_words(self.metric, self.nested)} (folds that did not)",
            ]
        return "\n".join([*lines, "", textwrap.fill(self.sentence, 96)])

    def _repr_html_(self) -> str:
        table = html_table(cells(_texts(self._columns())), self._caption())
        return f"{table}<p>{html.escape(self.sentence)}</p>"

    def plot(self, parameter: str | None = None, ax: Any = None) -> Any:
        """Draw the score of every candidate, and the nested score beside it.

        Parameters
        ----------
        parameter : str, default=None
            The axis; the only parameter if there is one, else candidates in the order of their
            scores.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ax : matplotlib axes
        """
        from treewright.evaluation._tuning_plot import draw

        return draw(self, parameter, ax)


def _shown(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items())


def _value(value: Any) -> Any:
    """A value that a frame can hold."""
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)


def _texts(columns: dict[str, Any]) -> dict[str, Any]:
    """Parameters as they are written; figures as they are."""
    kept = ("standard_error", "size", "share_of_rows", "chosen")
    last = list(columns).index("standard_error") - 1
    return {
        name: list(values) if k >= last or name in kept else [str(v) for v in values]
        for k, (name, values) in enumerate(columns.items())
    }
