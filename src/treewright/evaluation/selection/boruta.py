"""Boruta: all columns that tell more than chance does.

Every round a forest gets a shuffled copy, a shadow, of each column; a column that is more important
than the best shadow scores a hit. Columns with more hits than coin tosses would give are confirmed,
those with fewer rejected and left out of later rounds.

Reference: Kursa and Rudnicki (2010), *Feature selection with the Boruta package*.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from treewright.data.schema import Schema
from treewright.data.table import Table
from treewright.errors import ParameterError
from treewright.evaluation.selection.problem import Problem, Scored

__all__ = ["boruta"]

FEWEST_SHADOWS = 5
"""With fewer columns left there are more shadows of each, so that their best is worth beating."""


def boruta(problem: Problem) -> Scored:
    """Share of rounds in which a column beat every shadow, and what follows from it."""
    from scipy import stats

    n = problem.n_features
    hits, rounds = np.zeros(n), np.zeros(n)
    status = np.full(n, "tentative", object)
    for k in range(problem.n_rounds):
        left = np.flatnonzero(status != "rejected")
        if not (status == "tentative").any() or not left.size:
            break
        importance, best_shadow = _importances(problem, left)
        hits[left] += importance > best_shadow
        rounds[left] += 1
        # both tails of a fair coin, for all columns at once (Bonferroni)
        level = problem.alpha / (2 * n)
        above = stats.binom.sf(hits - 1, rounds, 0.5) < level
        below = stats.binom.cdf(hits, rounds, 0.5) < level
        open_ = status == "tentative"
        status[open_ & above] = "confirmed"
        status[open_ & below] = "rejected"
        if problem.tell is not None:
            problem.tell(k + 1, problem.n_rounds)
    share = hits / np.maximum(rounds, 1)
    words = tuple(map(str, status))
    return Scored(share, status == "confirmed", "rounds that beat all shadows", status=words)


def _importances(problem: Problem, left: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """Importance of the columns left, and of the best shadow."""
    table = problem.table.select(left)
    copies = max(-(-FEWEST_SHADOWS // len(left)), 1)
    features, columns = list(table.schema.features), list(table.columns)
    gaps = list(table.has_gaps)
    for copy in range(copies):
        for j in range(len(left)):
            old = table.schema.features[j]
            name = f"{old.name}\x00shadow{copy}"
            features.append(replace(old, name=name))
            columns.append(table.columns[j][problem.random.permutation(table.n_rows)])
            gaps.append(table.has_gaps[j])
    wide = Table(
        Schema(tuple(features), named=True), table.n_rows, np.array(gaps, bool), tuple(columns)
    )
    model = clone(problem.model)
    if "random_state" in model.get_params():
        model.set_params(random_state=int(problem.random.randint(np.iinfo(np.int32).max)))
    model.fit(wide, problem.rows.y)
    if hasattr(model, "permutation_importance_oob"):
        found = model.permutation_importance_oob(wide, problem.rows.y)
        values = np.nan_to_num(np.asarray(found.z, np.float64))
    elif hasattr(model, "feature_importances_"):
        values = np.asarray(model.feature_importances_, np.float64)
    else:
        raise ParameterError(
            'method="boruta" needs a model with importances, which '
            f"{type(model).__name__} does not have; use RandomForestClassifier()."
        )
    return values[: len(left)], float(values[len(left) :].max())
