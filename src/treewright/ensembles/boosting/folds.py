"""How many rounds a small table is worth, and of which trees: cross-validation inside the fit.

Rows are dealt into folds, and for each fold a run learns from the other rows. All runs go on side
by side, in large steps; after some round the rows that a run did not learn from have the lowest
mean loss. The fit of all rows then learns as much (rate times rounds) in small steps.

Rows are sorted by target, then by a hash of their features, and dealt in that order, one to each
fold in turn. So all folds have their share of every class or range of the target, the order in
which rows came does not matter. A row stays in one fold whatever it weighs: most weights say how
much a row matters, and a run that learned from its copies would be judged by rows it has seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.sparse import SparseTable
from treewright.data.table import Table
from treewright.ensembles.boosting.material import Material
from treewright.ensembles.boosting.rounds import Rounds, Stepping
from treewright.ensembles.boosting.stopping import AUTO_ROWS
from treewright.ensembles.boosting.tasks import Aim

__all__ = ["FOLD_RATE", "FOLD_ROUNDS", "FoldRuns", "chooses_rounds", "deal"]

N_FOLDS = 4
FOLD_ROUNDS, FOLD_RATE = 133, 0.3
LEAST_ROWS = 50
"""Rows below which folds say too little."""


def chooses_rounds(booster: Any, aim: Aim, material: Material, has_eval_set: bool) -> bool:
    """Whether the rounds of a fit are chosen by cross-validation."""
    return (
        booster.n_estimators == "auto"
        and booster.early_stopping == "auto"
        and not has_eval_set
        and (aim.own is None or booster.scoring != "loss")
        and material.table.n_rows < AUTO_ROWS
        and int(_can_judge(material).sum()) >= LEAST_ROWS
    )


class FoldRuns(Stepping):
    """Runs side by side, judged together.

    Parameters
    ----------
    runs
        One for each fold, which it follows.
    rounds
        What they are asked for.
    """

    def __init__(self, runs: Sequence[Any], rounds: Rounds) -> None:
        self.runs, self.rounds = runs, rounds
        self.weights = [run.aside.total_weight for run in runs]
        self.n_done = 0
        self.train_score: list[float] = []
        self.validation_score: list[float] = []

    def step(self) -> None:
        """One round of every run."""
        for run in self.runs:
            run.step()
        self.n_done += 1
        each = [run.validation_score[-1] for run in self.runs]
        self.validation_score.append(float(np.average(each, weights=self.weights)))

    @property
    def best(self) -> float:
        """The best score so far, the larger the better."""
        assert self.patience is not None
        return self.patience.best


def deal(material: Material) -> Iterator[tuple[Material, Material]]:
    """For each fold the rows to learn from, and those that judge."""
    y = np.asarray(material.y, np.float64).reshape(len(material.y), -1)
    order = np.lexsort((_hashes(material.table), *y.T[::-1]))
    order = order[_can_judge(material)[order]]
    fold = np.full(len(y), N_FOLDS)
    fold[order] = np.arange(len(order)) % N_FOLDS
    for k in range(N_FOLDS):
        yield material.take(np.flatnonzero(fold != k)), material.take(np.flatnonzero(fold == k))


def _can_judge(material: Material) -> NDArray[np.bool_]:
    """Rows that folds are made of: the only row of a class is always learned from."""
    if material.classes is None:
        return np.ones(len(material.y), np.bool_)
    return np.asarray(np.bincount(material.y)[material.y] > 1)


def _hashes(table: Table) -> NDArray[np.uint64]:
    """A number for the features of each row. Cells of 0 add nothing, stored or not."""
    if isinstance(table, SparseTable):
        m = table.matrix
        column = np.repeat(np.arange(m.shape[1], dtype=np.uint64), np.diff(m.indptr))
        found = np.zeros(table.n_rows, np.uint64)
        np.add.at(found, m.indices, _hash(m.data, column))
        return found
    found = np.zeros(table.n_rows, np.uint64)
    for k, values in enumerate(table.columns):
        found += _hash(values, np.array([k], np.uint64))
    return found


def _hash(values: NDArray[Any], column: Any) -> NDArray[np.uint64]:
    if values.dtype.kind == "f":
        known = np.where(np.isnan(values), np.inf, values.astype(np.float64) + 0.0)  # no −0
        bits = known.view(np.uint64)
    else:
        bits = values.astype(np.int64).view(np.uint64)
    mixed = (bits ^ (bits >> np.uint64(32))) * (
        (np.uint64(2) * column + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    )
    return np.asarray(mixed ^ (mixed >> np.uint64(29)), np.uint64)
