"""Cross-validated errors and out-of-fold predictions beside rpart's, on the recorded folds.

The trees of the folds are not recorded. Where a number differs, a tie must be found in a tree
of ours: for the errors of a cp table in any fold, for a prediction on the way of the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.oracle.rpart_compare import Case, Comparison, Routes, as_rpart_predicts, compare, cp_rows
from tests.oracle.rpart_ties import Ties
from treewright import pruning

EQUAL, TIED, DIFFERENT, NOT_COMPARED = "equal", "tied", "different", "not compared"


@dataclass(frozen=True, eq=False)
class Study:
    """A recorded run with the model of ours and how their trees compare."""

    case: Case
    model: Any
    comparison: Comparison

    @classmethod
    def of(cls, case: Case) -> Study:
        model = case.estimator(cv=case.data.splits).fit(case.data.X, case.y)
        return cls(case, model, compare(model.tree_, case))

    @property
    def key(self) -> str:
        return self.case.key

    @cached_property
    def routes(self) -> Routes:
        return Routes(self.model.tree_, self.case.data.X)

    @property
    def is_tied(self) -> bool:
        return bool(self.comparison.ties)

    @property
    def has_out_of_fold(self) -> bool:
        return "oof" in (self.case.run.get("cv") or {})

    def is_known(self, ties: dict[str, str]) -> bool:
        return self.key in ties.get(self.case.data.name, "").split()


def compare_errors(study: Study) -> str:
    """Columns xerror and xstd of the cp table.

    Not compared: a root alone, which rpart does not cross-validate; and data whose rows end at
    inner nodes, which rpart's cross-validation sends elsewhere than its own predict does.
    """
    case = study.case
    if study.is_tied or case.stops or len(study.model.cp_table_) == 1:
        return NOT_COMPARED
    with watched_folds() as folds:
        table = study.model.cp_table(case.data.X, case.y)
    recorded = cp_rows(case)
    expected = [recorded["xerror"], recorded["xstd"]]
    if np.allclose([table.xerror, table.xstd], expected, rtol=0, atol=1e-9):
        return EQUAL
    everything = np.arange(len(case.y))
    return (
        TIED
        if any(
            Ties(case, tree, np.setdiff1d(everything, held_out)).anywhere()
            for tree, held_out in folds
        )
        else DIFFERENT
    )


@contextmanager
def watched_folds() -> Iterator[list[tuple[Any, np.ndarray]]]:
    """Collect the tree and the held-out rows of each fold; turn costs round as rpart does.

    rpart reads its loss matrix with rows and columns exchanged when it cross-validates.
    """
    folds = []
    class_loss, squared_loss = pruning.class_loss, pruning.squared_loss

    def watched(loss):
        def loss_of(tree, nodes, rows):
            folds.append((tree, rows))
            return loss(tree, nodes, rows)

        return loss_of

    def turned(y, costs=None, class_factor=None):
        return watched(class_loss(y, None if costs is None else costs.T, class_factor))

    with (
        patch.object(pruning, "class_loss", turned),
        patch.object(pruning, "squared_loss", lambda y: watched(squared_loss(y))),
    ):
        yield folds


def compare_predictions(study: Study) -> str:
    """Out-of-fold predictions, or the error of each fold where only that is recorded."""
    case = study.case
    recorded = case.run.get("cv") or {}
    if not recorded:
        return NOT_COMPARED
    compare_fold = _compare_rows if study.has_out_of_fold else _compare_error
    outcomes = {compare_fold(case, recorded, i) for i in range(len(case.data.splits))}
    return next(outcome for outcome in (DIFFERENT, TIED, EQUAL) if outcome in outcomes)


def _compare_rows(case: Case, recorded: dict[str, Any], fold: int) -> str:
    train, test = case.data.splits[fold]
    model = _fit(case, train)
    expected = case.recorded(recorded["oof"])[test]
    is_close = np.isclose(model.predict(case.data.X.iloc[test]), expected, rtol=1e-9, atol=0)
    rows = test[~is_close]
    if not len(rows):
        return EQUAL
    # What was pruned may hold the tie, so the tree is looked at before.
    grown = case.estimator().set_params(cp=0.0).fit(case.data.X.iloc[train], case.y[train])
    ties = Ties(case, grown.tree_, train)
    taken = Routes(_fit(case, train, cp=0.0).tree_, case.data.X.iloc[rows])
    ends = Routes(model.tree_, case.data.X.iloc[rows])
    is_explained = [
        ties.explain(taken.path(i), len(ends.path(i)) - 1) or _is_on_break(taken, i)
        for i in range(len(rows))
    ]
    return TIED if all(is_explained) else DIFFERENT


def _compare_error(case: Case, recorded: dict[str, Any], fold: int) -> str:
    train, test = case.data.splits[fold]
    model = _fit(case, train)
    predicted = model.predict(case.data.X.iloc[test])
    if case.classes:
        ours, expected = np.mean(predicted == case.y[test]), recorded["per_fold_accuracy"][fold]
    else:
        ours = np.sqrt(np.mean((predicted - case.y[test]) ** 2))
        expected = recorded["per_fold_rmse"][fold]
    if np.isclose(ours, expected, rtol=1e-9, atol=0):
        return EQUAL
    grown = case.estimator().fit(case.data.X.iloc[train], case.y[train])
    return TIED if Ties(case, grown.tree_, train).anywhere() else DIFFERENT


def _fit(case: Case, train, **parameters: Any):
    X, y = case.data.X.iloc[train], case.y[train]
    model = case.estimator().set_params(**parameters).fit(X, y)
    return as_rpart_predicts(model) if case.is_grown_out or not case.stops else model


def _is_on_break(routes: Routes, row: int) -> bool:
    """Whether an ordinal value that a node did not see is the very middle of two that it did."""
    tree, table = routes.tree, routes.table
    inner = routes.path(row)[:-1]
    return any(
        table.schema.features[feature].kind == "ordinal"
        and table.columns[feature][row] == tree.splits.node_breaks(node)[0]
        for node, feature in zip(inner, tree.splits.feature[inner], strict=True)
    )
