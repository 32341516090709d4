"""What came of a comparison: scores of every fold, a test of every pair, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.evaluation._figures import FIGURES
from treewright.evaluation._folds import FoldRun
from treewright.evaluation._ranks import Friedman
from treewright.evaluation._scores import share_tested
from treewright.evaluation._tests import Correction, Posterior, mean_interval
from treewright.tree.show.tables import as_frame, html_table

__all__ = ["Comparison", "Pair", "Settings"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """How a comparison is judged.

    Parameters
    ----------
    test, correction
        Of differences, and for the number of pairs.
    metric
        The figure that was asked for; None for the usual one.
    confidence
        Of intervals; 1 minus the level of the tests.
    rope
        Differences no larger than this count as none (``test="bayes"``).
    costs, positive
        As they were given.

    Examples
    --------
    >>> from treewright import CARTClassifier, compare, datasets
    >>> iris = datasets.load_iris()
    >>> models = {"tree": CARTClassifier(), "stump": CARTClassifier(max_depth=1)}
    >>> settings = compare(models, iris.data, iris.target, random_state=0).settings
    >>> settings.test, settings.metric, settings.confidence
    ('corrected_t', None, 0.95)
    """

    test: str
    correction: Correction
    metric: str | None
    confidence: float
    rope: float
    costs: Any = None
    positive: Any = None


@dataclass(frozen=True)
class Pair:
    """Two models, the better one first.

    Parameters
    ----------
    first, second
        Their names.
    difference, low, high
        Of the metric, first minus second, with the interval of this pair alone; of the mean ranks
        where several data sets are ranked.
    statistic, p_value
        Of the test.
    p_adjusted
        The p-value corrected for the number of pairs.
    posterior
        With ``test="bayes"``: how probable it is that the first is worse, equal or better.

    Examples
    --------
    >>> from treewright import CARTClassifier, compare, datasets
    >>> iris = datasets.load_iris()
    >>> models = {"tree": CARTClassifier(), "stump": CARTClassifier(max_depth=1)}
    >>> pair = compare(models, iris.data, iris.target, random_state=0).pair("stump", "tree")
    >>> pair.first, bool(pair.low > 0), bool(pair.p_adjusted < 0.05)
    ('tree', True, True)
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    statistic: float
    p_value: float
    p_adjusted: float
    posterior: Posterior | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models side by side, the best first.

    Parameters
    ----------
    names
        The models, the best first.
    metric
        The figure they were compared by.
    settings
        The test, its correction, the confidence and what else was asked for.
    scores
        The metric of every model on every fold, one array for each data set.
    data_sets
        Names of the data sets; one empty name where there is one.
    pairs
        Every pair of models, with the test of their difference.
    ranking, ranks
        Friedman's test and the mean ranks, where several data sets are ranked.
    runs
        What every model said on every fold, by data set and name.

    Examples
    --------
    >>> from treewright import CARTClassifier, compare, datasets
    >>> iris = datasets.load_iris()
    >>> models = {"tree": CARTClassifier(), "stump": CARTClassifier(max_depth=1)}
    >>> result = compare(models, iris.data, iris.target, folds=5, repeats=1, random_state=0)
    >>> result.names, result.differs(result.pairs[0])
    (('tree', 'stump'), True)
    >>> result.frame().columns.tolist()
    ['model', 'accuracy', 'low', 'high', 'std', 'fit_seconds']
    >>> result.pair_frame().columns.tolist()
    ['first', 'second', 'difference', 'low', 'high', 'p_value', 'p_adjusted', 'differs']
    >>> result.fold_frame().shape
    (5, 3)
    >>> print(result.sentence)
    By accuracy on these 150 rows and at the 5 % level, tree is better than stump (by 26.7
    points, interval 22.3 to 31.1); this is about training on some 120 rows like these, not
    about other data.
    >>> axes = result.plot("differences")
    """

    names: tuple[str, ...]
    metric: str
    settings: Settings
    scores: tuple[Floats, ...]
    data_sets: tuple[str, ...]
    pairs: tuple[Pair, ...]
    ranking: Friedman | None = None
    ranks: Floats | None = None
    runs: dict[str, dict[str, FoldRun]] = field(default_factory=dict, repr=False)

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        return 1 - self.settings.confidence

    @property
    def means(self) -> Floats:
        """Mean score of every model, over folds and then over data sets."""
        return np.asarray(np.mean([one.mean(axis=1) for one in self.scores], axis=0))

    def differs(self, pair: Pair) -> bool:
        """Whether a pair may be called different.

        Parameters
        ----------
        pair
            One of ``pairs``.
        """
        if pair.posterior is not None:
            return pair.posterior.better > self.settings.confidence
        if self.ranking is not None and self.ranking.f_p_value >= self.alpha:
            return False  # no pair may be looked at before all of them differ
        return pair.p_adjusted < self.alpha

    def pair(self, a: str, b: str) -> Pair:
        """The pair of two models, whichever is the better.

        Parameters
        ----------
        a, b
            Names of the models, in any order.

        Examples
        --------
        >>> from treewright import CARTClassifier, compare, datasets
        >>> iris = datasets.load_iris()
        >>> models = {"tree": CARTClassifier(), "stump": CARTClassifier(max_depth=1)}
        >>> result = compare(models, iris.data, iris.target, folds=5, repeats=1, random_state=0)
        >>> result.pair("stump", "tree").first
        'tree'
        """
        for pair in self.pairs:
            if {pair.first, pair.second} == {a, b}:
                return pair
        from treewright.errors import ParameterError

        raise ParameterError(f"pair takes two names of {', '.join(self.names)}; got {a!r}, {b!r}.")

    def by(self, metric: str) -> Comparison:
        """The same comparison by another figure, without fitting anything again.

        Parameters
        ----------
        metric : str
            A figure of :class:`Evaluation`.

        Returns
        -------
        Comparison

        Examples
        --------
        >>> from treewright import CARTClassifier, compare, datasets
        >>> iris = datasets.load_iris()
        >>> models = {"tree": CARTClassifier(), "stump": CARTClassifier(max_depth=1)}
        >>> result = compare(models, iris.data, iris.target, folds=5, repeats=1, random_state=0)
        >>> result.metric, result.by("log_loss").metric
        ('accuracy', 'log_loss')
        """
        from treewright.evaluation._compare import judge

        return judge(self.runs, replace(self.settings, metric=metric))

    @property
    def sentence(self) -> str:
        """What may and what may not be concluded."""
        from treewright.evaluation._comparison_words import sentence

        return sentence(self)

    # Tables

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"model": list(self.names), self.metric: self.means}
        if len(self.data_sets) == 1:
            share = share_tested(self._splits())
            n_folds = self.scores[0].shape[1]
            confidence, within = self.settings.confidence, FIGURES[self.metric].within
            limits = [
                within(*mean_interval(one, share, confidence)) if n_folds > 1 else self._row(k)
                for k, one in enumerate(self.scores[0])
            ]
            columns["low"], columns["high"] = (list(ends) for ends in zip(*limits, strict=True))
            if n_folds > 1:
                columns["std"] = self.scores[0].std(axis=1, ddof=1)
        else:
            if self.ranks is not None:
                columns["rank"] = self.ranks
            for name, one in zip(self.data_sets, self.scores, strict=True):
                columns[name] = one.mean(axis=1)
        runs = list(self.runs.values())
        columns["fit_seconds"] = [
            float(np.mean([a.fit_seconds for found in runs for a in found[name].answers]))
            for name in self.names
        ]
        return columns

    def _row(self, k: int) -> tuple[float, float]:
        """Interval of an accuracy on one test set."""
        from treewright.evaluation._intervals import proportion_interval

        n = len(self._splits()[0].test)
        score = float(self.scores[0][k, 0])
        found = proportion_interval(score * n, n, "wilson", self.settings.confidence)
        return found.low, found.high

    def _splits(self) -> Any:
        return next(iter(next(iter(self.runs.values())).values())).splits

    def _pair_columns(self) -> dict[str, Any]:
        what = "rank_difference" if self.ranking is not None else "difference"
        names = {"first": "first", "second": "second", what: "difference"}
        names |= {"low": "low", "high": "high"}
        if self.settings.test == "bayes":
            columns = {name: [getattr(p, of) for p in self.pairs] for name, of in names.items()}
            for part in ("worse", "equal", "better"):
                columns[f"p_{part}"] = [getattr(p.posterior, part) for p in self.pairs]
            return columns
        names |= {"p_value": "p_value", "p_adjusted": "p_adjusted"}
        columns = {name: [getattr(p, of) for p in self.pairs] for name, of in names.items()}
        return columns | {"differs": [self.differs(p) for p in self.pairs]}

    def frame(self) -> Any:
        """Every model with its mean score and interval, the best first."""
        return as_frame(self._columns())

    def pair_frame(self) -> Any:
        """Every pair with its difference, interval and p-value."""
        return as_frame(self._pair_columns())

    def fold_frame(self) -> Any:
        """The score of every model on every fold, in a column each."""
        columns: dict[str, Any] = {}
        if len(self.data_sets) > 1:
            n = [one.shape[1] for one in self.scores]
            columns["data_set"] = np.repeat(self.data_sets, n).tolist()
        columns["fold"] = np.concatenate([np.arange(one.shape[1]) + 1 for one in self.scores])
        for k, name in enumerate(self.names):
            columns[name] = np.concatenate([one[k] for one in self.scores])
        return as_frame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them.

        Examples
        --------
        >>> from treewright import CARTClassifier, compare, datasets
        >>> iris = datasets.load_iris()
        >>> models = {"tree": CARTClassifier(), "stump": CARTClassifier(max_depth=1)}
        >>> result = compare(models, iris.data, iris.target, folds=5, repeats=1, random_state=0)
        >>> list(result.to_dict())
        ['metric', 'test', 'correction', 'confidence', 'models', 'pairs', 'sentence']
        """
        from treewright.evaluation._comparison_words import as_dict

        return as_dict(self)

    def __str__(self) -> str:
        from treewright.evaluation._comparison_words import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        import html

        from treewright.evaluation._comparison_words import caption, cells

        return (
            html_table(cells(self._columns()), caption(self))
            + html_table(cells(self._pair_columns()), "Pairs")
            + f"<p>{html.escape(self.sentence)}</p>"
        )

    def plot(
        self,
        kind: Literal["critical_difference", "scores", "differences"] = "critical_difference",
        ax: Any = None,
    ) -> Any:
        """Draw the comparison.

        Parameters
        ----------
        kind : {"critical_difference", "scores", "differences"}, default="critical_difference"
            "critical_difference" puts the models on an axis of mean ranks (several data sets) or
            mean scores (one), with bars that join those that are not shown to differ; "scores"
            draws the scores of all folds, "differences" that of every pair with its interval.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        ax : matplotlib axes
        """
        from treewright.evaluation._comparison_plots import draw

        return draw(self, kind, ax)
