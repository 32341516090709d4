"""Scores by a model on folds: forward, backward, permutation.

Forward starts with nothing and adds the column that helps most, backward starts with all and drops
the one that is missed least; both stop where the cross-validated score no longer gains. Permutation
asks how much worse a fitted model gets on held-out rows when a column is shuffled.

References: Kohavi and John (1997), *Wrappers for feature subset selection*; Breiman (2001), *Random
forests*, section 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.evaluation._data import Rows, take_rows
from treewright.evaluation._folds import Split, ask, run_folds
from treewright.evaluation._scores import fold_scores, is_higher_better, said_score, share_tested
from treewright.evaluation._splits import make_splits
from treewright.evaluation._tests import corrected_t
from treewright.evaluation.selection.problem import Problem, Scored

__all__ = ["backward", "forward", "permutation"]

Floats = NDArray[np.float64]

SHUFFLES = 5
"""How often permutation shuffles each column on every fold."""


def forward(problem: Problem) -> Scored:
    """Add columns one by one while the score gains."""
    subsets = _Subsets(problem)
    inside: list[int] = []
    now = subsets.baseline()
    gain = np.zeros(problem.n_features)
    limit = problem.n_features if problem.k is None else problem.k
    while len(inside) < limit:
        left = [j for j in range(problem.n_features) if j not in inside]
        scores = subsets.score([[*inside, j] for j in left])
        for j, score in zip(left, scores, strict=True):
            gain[j] = score - now
        best = int(np.argmax(scores))
        if problem.k is None and scores[best] <= now + 1e-12:
            break
        inside.append(left[best])
        now = scores[best]
    chosen = np.zeros(problem.n_features, bool)
    chosen[inside] = True
    rest = [j for j in np.argsort(-gain, kind="stable").tolist() if j not in inside]
    order = np.array([*inside, *rest], np.int64)
    return Scored(gain, chosen, f"gain in {problem.metric} when added", order=order)


def backward(problem: Problem) -> Scored:
    """Drop columns one by one while the score does not lose."""
    subsets = _Subsets(problem)
    inside = list(range(problem.n_features))
    now = subsets.score([inside])[0]
    loss = np.zeros(problem.n_features)
    dropped: list[int] = []
    least = 1 if problem.k is None else problem.k
    while len(inside) > least:
        scores = subsets.score([[i for i in inside if i != j] for j in inside])
        for j, score in zip(inside, scores, strict=True):
            loss[j] = now - score
        best = int(np.argmax(scores))
        if problem.k is None and scores[best] < now - 1e-12:
            break
        now = scores[best]
        dropped.append(inside.pop(best))
    chosen = np.zeros(problem.n_features, bool)
    chosen[inside] = True
    kept = sorted(inside, key=lambda j: -loss[j])
    order = np.array([*kept, *reversed(dropped)], np.int64)
    return Scored(loss, chosen, f"loss of {problem.metric} when dropped", order=order)


def permutation(problem: Problem) -> Scored:
    """Loss on held-out rows when a column is shuffled there, over all folds."""
    from scipy import stats

    splits = _splits(problem)
    runs = run_folds(
        {"model": problem.model},
        problem.rows,
        splits,
        n_jobs=problem.n_jobs,
        keep_models=True,
        progress=problem.tell,
    )["model"]
    sign = 1.0 if is_higher_better(problem.metric) else -1.0
    whole = fold_scores(runs, problem.metric)
    X = problem.rows.features_for(problem.model)
    losses = np.zeros((len(splits), problem.n_features))
    for k, (split, model) in enumerate(zip(splits, runs.models, strict=True)):
        held_out = take_rows(X, split.test)
        for j in range(problem.n_features):
            shuffled = [_shuffled(problem, model, held_out, split, j) for _ in range(SHUFFLES)]
            losses[k, j] = sign * (whole[k] - np.mean(shuffled))
    share = share_tested(splits)
    limit = float(stats.t.ppf(1 - problem.alpha, len(splits) - 1))
    found = [corrected_t(losses[:, j], share) for j in range(problem.n_features)]
    means = np.array([one.estimate for one in found])
    errors = np.array([losses[:, j].std(ddof=1) for j in range(problem.n_features)])
    errors = errors * np.sqrt(1 / len(splits) + share)
    chosen = means - limit * errors > 0
    return Scored(means, chosen, f"loss of {problem.metric} when shuffled", errors=errors)


def _shuffled(problem: Problem, model: Any, held_out: Any, split: Split, j: int) -> float:
    order = problem.random.permutation(len(split.test))
    said = ask(model, _with_column_moved(held_out, j, order), problem.rows.classes)
    return said_score(problem.rows, split.test, said, problem.metric)


def _with_column_moved(X: Any, j: int, order: NDArray[np.int64]) -> Any:
    """The same rows with one column in another order."""
    if isinstance(X, Table):
        columns = list(X.columns)
        columns[j] = columns[j][order]
        return Table(X.schema, X.n_rows, X.has_gaps, tuple(columns))
    if isinstance(X, np.ndarray):
        moved = X.copy()
        moved[:, j] = X[order, j]
        return moved
    if hasattr(X, "iloc"):
        new = X.copy()
        new.isetitem(j, X.iloc[order, j].array)
        return new
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    return frame.with_columns(frame[:, j].gather_every(1)[order.tolist()]).to_native()


def _splits(problem: Problem) -> list[Split]:
    seed = int(problem.random.randint(np.iinfo(np.int32).max))
    return make_splits(problem.rows, folds=problem.folds, random_state=seed)


class _Subsets:
    """Cross-validated scores of a model on some of the columns; more is better."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.splits = _splits(problem)
        self.sign = 1.0 if is_higher_better(problem.metric) else -1.0
        self.X = problem.rows.features_for(problem.model)
        self.done = 0

    def baseline(self) -> float:
        """The score of a model without columns: the majority, or the mean."""
        from sklearn.dummy import DummyClassifier, DummyRegressor

        dummy = DummyRegressor() if self.problem.rows.classes is None else DummyClassifier()
        rows = self._rows(np.zeros((len(self.problem.rows), 1)))
        run = run_folds({"none": dummy}, rows, self.splits)["none"]
        return self.sign * float(fold_scores(run, self.problem.metric).mean())

    def score(self, subsets: Iterable[list[int]]) -> list[float]:
        """Mean score of every subset on the folds."""
        found = []
        for columns in subsets:
            rows = self._rows(select_columns(self.X, np.array(sorted(columns))))
            run = run_folds(
                {"model": self.problem.model}, rows, self.splits, n_jobs=self.problem.n_jobs
            )["model"]
            found.append(self.sign * float(fold_scores(run, self.problem.metric).mean()))
            self.done += 1
            if self.problem.tell is not None:
                n = self.problem.n_features
                self.problem.tell(self.done, max(n * (n + 1) // 2, self.done))
        return found

    def _rows(self, X: Any) -> Rows:
        rows = self.problem.rows
        return Rows(X, rows.y, rows.classes, rows.codes)


def select_columns(X: Any, columns: NDArray[np.int64]) -> Any:
    """Some columns of a table, matrix or frame, in the same kind of container."""
    if isinstance(X, Table):
        return X.select(columns)
    if isinstance(X, np.ndarray):
        return X[:, columns]
    if isinstance(X, dict):
        names = list(X)
        return {names[j]: X[names[j]] for j in columns}
    from scipy.sparse import issparse

    if issparse(X):
        return X.tocsc()[:, columns]
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(X):
        return np.asarray(X)[:, columns]
    frame = nw.from_native(X, eager_only=True)
    names = frame.columns
    return frame.select([names[j] for j in columns]).to_native()
