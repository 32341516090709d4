"""``tune``: the best parameters, and an honest figure for the model that has them.

The score that chose a candidate is too good: of many candidates, one was lucky on these folds. So
the whole search is repeated inside outer folds, and the rows held out there, which had no part in
the choice, give the figure that is reported (nested cross-validation).

References: Varma and Simon (2006), *Bias in error estimation when using cross-validation for model
selection*; Cawley and Talbot (2010), *On over-fitting in model selection*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from treewright.arguments import TEXT, checked, number
from treewright.errors import ParameterError
from treewright.evaluation._costs import positive_code, read_costs
from treewright.evaluation._data import Rows, is_class_model, read_rows
from treewright.evaluation._folds import Progress, Split, fit_and_ask, run_folds
from treewright.evaluation._names import choice
from treewright.evaluation._scores import (
    default_metric,
    fold_scores,
    is_higher_better,
    said_score,
)
from treewright.evaluation._search import (
    SEARCHES,
    Searched,
    Tried,
    check_grid,
    choose,
    n_candidates_of,
)
from treewright.evaluation._sizes import size_of
from treewright.evaluation._splits import make_splits, read_groups
from treewright.evaluation._tuning import Outer, Tuning

__all__ = ["tune"]


@checked(simplest_within=TEXT | number(0))
def tune(
    model: Any,
    grid: Any,
    X: Any,
    y: Any,
    *,
    search: Literal["grid", "random", "greedy", "halving"] = "grid",
    nested: bool = True,
    simplest_within: str | float | None = None,
    metric: str | None = None,
    folds: Any = 5,
    outer_folds: Any = 5,
    n_candidates: int = 20,
    size: Callable[[Any], float] | None = None,
    confidence: float = 0.95,
    costs: Any = None,
    positive: Any = None,
    stratify: bool | None = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Tuning:
    """Search for the best parameters, and judge the search itself on rows held out of it.

    Parameters
    ----------
    model : estimator
        Of this library, scikit-learn or any other that follows it; it is cloned.
    grid : dict of str to list
        Values to try for each parameter; a list of such dicts for ``"grid"`` and ``"halving"``;
        for ``"random"`` also distributions of scipy.
    X : array or data frame of shape (n_samples, n_features)
        Encoded once where the model is ours.
    y : array-like of shape (n_samples,)
        The target.
    search : {"grid", "random", "greedy", "halving"}, default="grid"
        "grid" tries all combinations, "random" draws ``n_candidates`` of them, "greedy" goes from
        parameter to parameter and keeps the best value of each while the others stay, "halving"
        tries all on few rows and the best third on three times as many, up to all rows.
    nested : bool, default=True
        Whether to repeat the search in outer folds, for a figure that had no part in the choice.
    simplest_within : "1se", float or None, default=None
        Take the smallest model whose score is within one standard error, or this much, of the
        best (Occam).
    metric : str, default=None
        A figure of :class:`Evaluation`; accuracy, or mean cost where there are costs, or RMSE.
    folds, outer_folds : int or splitter, default=5
        Folds that choose, and folds that judge.
    n_candidates : int, default=20
        Combinations drawn by ``"random"``.
    size : callable, default=None
        Size of a fitted model for ``simplest_within``; leaves, rules, members' leaves or
        coefficients by default.
    confidence : float, default=0.95
        Of the interval.
    costs, positive, stratify, groups
        As in :func:`treewright.cross_validate`.
    random_state : int, RandomState or None, default=None
        Of folds and draws.
    n_jobs : int, default=None
        Fits at a time; −1 for all cores. Changes nothing but the time.
    progress : bool or callable, default=None
        True for a bar; or a function of fits done and fits in all.

    Returns
    -------
    Tuning
        ``best_params``, the fitted ``model``, ``naive`` and ``nested`` scores, ``sentence``, with
        ``frame()``, ``plot()``, ``str()`` and a notebook display.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, tune
    >>> iris = datasets.load_iris()
    >>> found = tune(CARTClassifier(), {"max_depth": [1, 2, 3]}, iris.data, iris.target,
    ...              random_state=0)
    >>> found.best_params
    {'max_depth': 3}
    >>> found.model.get_depth()
    3
    """
    rows = read_rows(X, y, is_class_model(model))
    _check(model, grid, search, simplest_within)
    if not isinstance(folds, int | np.integer) and not hasattr(folds, "split"):
        raise ParameterError(
            "folds must be a number or a splitter of scikit-learn, since they are made anew in "
            f"every outer fold, got {type(folds).__name__}."
        )
    metric = default_metric(rows, metric, costs)
    random = check_random_state(random_state)
    seeds = [int(random.randint(np.iinfo(np.int32).max)) for _ in range(3)]
    splitting: dict[str, Any] = {"stratify": stratify}
    groups = read_groups(groups, len(rows))
    job = _Job(
        model,
        grid,
        rows,
        metric,
        search,
        simplest_within,
        size or size_of,
        n_candidates,
        costs,
        positive,
        seeds[1],
        n_jobs,
    )
    outer: list[Split] = []
    if nested:
        outer = make_splits(
            rows, folds=outer_folds, groups=groups, random_state=seeds[0], **splitting
        )
    on_all = _inner(rows, np.arange(len(rows)), groups, folds, seeds[2], splitting)
    per_search = n_candidates_of(grid, search, n_candidates, len(rows)) * len(on_all)
    job.follow(progress, per_search * (1 + len(outer)))
    found = job.search_in(on_all)
    judged = []
    for split in outer:
        inner = _inner(rows, split.train, groups, folds, seeds[2], splitting)
        judged.append(job.judge(job.search_in(inner), split))
    job.finish()
    fitted = clone(model).set_params(**_fresh(found.chosen.parameters))
    fitted.fit(rows.features_for(fitted), rows.y)
    return Tuning(
        model=fitted,
        metric=metric,
        search=search,
        searched=found,
        outer=tuple(judged),
        outer_splits=tuple(outer),
        confidence=confidence,
        simplest_within=simplest_within,
        n_rows=len(rows),
    )


class _Job:
    """One search, to be made on all rows and in every outer fold."""

    def __init__(
        self,
        model: Any,
        grid: Any,
        rows: Rows,
        metric: str,
        search: str,
        within: str | float | None,
        size: Callable[[Any], float],
        n_candidates: int,
        costs: Any,
        positive: Any,
        seed: int,
        n_jobs: int | None,
    ) -> None:
        self.model, self.grid, self.rows, self.metric = model, grid, rows, metric
        self.search, self.within, self.size, self.n_jobs = search, within, size, n_jobs
        self.sign = 1.0 if is_higher_better(metric) else -1.0
        self.settings = {"n_candidates": n_candidates, "seed": seed, "start": model.get_params()}
        self.costs, self.code = None, None
        if rows.classes is not None:
            classes = rows.classes.tolist()
            self.costs, self.code = read_costs(costs, classes), positive_code(positive, classes)
        self.progress: Any = None
        self.done, self.n = 0, 0

    def follow(self, progress: Progress, n: int) -> None:
        """Report every fit as one of ``n``."""
        self.n = n
        if progress is True:
            from rich.console import Console
            from rich.progress import Progress as Bar

            self.bar = Bar(console=Console(stderr=True), transient=True)
            self.bar.start()
            task = self.bar.add_task("Fitting", total=n)
            self.progress = lambda done, n: self.bar.update(task, completed=done, total=n)
        elif callable(progress):
            self.progress = progress

    def finish(self) -> None:
        """The greedy search may need fewer fits than foreseen."""
        if self.progress is not None and self.done != self.n:
            self.progress(self.done, self.done)
        if hasattr(self, "bar"):
            self.bar.stop()

    def search_in(self, splits: list[Split]) -> Searched:
        """Search on the given inner folds."""

        self.settings["n_rows"] = min(len(split.train) for split in splits)

        def score(candidates: Sequence[dict[str, Any]], share: float) -> list[Tried]:
            return self.score(candidates, self._part_of(splits, share), share)

        tried = SEARCHES[self.search](self.grid, score, self.sign, self.settings)
        return choose(tried, self.sign, self.within)

    def score(
        self, candidates: Sequence[dict[str, Any]], splits: list[Split], share: float
    ) -> list[Tried]:
        """Scores of candidates on all splits, and the sizes of their models where they count."""
        models = {
            k: clone(self.model).set_params(**_fresh(one)) for k, one in enumerate(candidates)
        }
        # models are kept one candidate at a time, all forests of a grid might not fit into memory
        parts = [models] if self.within is None else [{k: m} for k, m in models.items()]
        tried = []
        for part in parts:
            runs = run_folds(
                part,
                self.rows,
                splits,
                n_jobs=self.n_jobs,
                progress=self._told(),
                keep_models=self.within is not None,
            )
            for k, run in runs.items():
                scores = fold_scores(run, self.metric, self.costs, self.code, "the model")
                size = float("nan")
                if self.within is not None:
                    size = float(np.mean([self.size(model) for model in run.models]))
                tried.append(Tried(dict(candidates[k]), scores, size, share))
        return tried

    def _part_of(self, splits: list[Split], share: float) -> list[Split]:
        """The same splits with a share of their training rows, classes in the same shares."""
        if share >= 1:
            return splits
        random = np.random.RandomState(self.settings["seed"])
        parts = []
        for split in splits:
            order = random.permutation(split.train)
            if self.rows.codes is not None:
                order = order[np.argsort(self.rows.codes[order], kind="stable")]
            n = max(round(share * len(order)), 2)
            places = ((np.arange(n) + 0.5) * len(order) / n).astype(int)
            parts.append(Split(np.sort(order[places]), split.test, split.repeat))
        return parts

    def judge(self, found: Searched, split: Split) -> Outer:
        """The chosen candidate, fitted to the rows it was chosen on, on rows held out of that."""
        model = clone(self.model).set_params(**_fresh(found.chosen.parameters))
        rows = self.rows
        answer = fit_and_ask(model, rows.features_for(model), rows.y, rows.classes, split)
        score = said_score(
            self.rows, split.test, answer.test, self.metric, self.costs, self.code, "the model"
        )
        return Outer(found.chosen.parameters, found.chosen.mean, score)

    def _told(self) -> Progress:
        if self.progress is None:
            return None
        before = self.done

        def told(done: int, _: int) -> None:
            self.done = before + done
            self.progress(self.done, max(self.n, self.done))

        return told


def _inner(
    rows: Rows,
    places: Any,
    groups: Any,
    folds: int,
    seed: int,
    splitting: dict[str, Any],
) -> list[Split]:
    """Folds of some of the rows, in the numbers of all."""
    codes = None if rows.codes is None else rows.codes[places]
    part = Rows(None, rows.y[places], rows.classes, codes)
    together = None if groups is None else groups[places]
    made = make_splits(part, folds=folds, groups=together, random_state=seed, **splitting)
    return [Split(places[split.train], places[split.test], split.repeat) for split in made]


def _fresh(parameters: dict[str, Any]) -> dict[str, Any]:
    """Estimators among the values are cloned, so that candidates share nothing."""
    return {name: clone(value, safe=False) for name, value in parameters.items()}


def _check(model: Any, grid: Any, search: str, within: Any) -> None:
    choice("search", search, list(SEARCHES))
    check_grid(grid, list(model.get_params()), search, type(model).__name__)
    if isinstance(within, str) and within != "1se":
        raise ParameterError(
            f'simplest_within must be "1se", a number of at least 0 or None, got {within!r}.'
        )
