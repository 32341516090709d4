"""Our extremely randomised trees beside recorded runs of ranger (``splitrule="extratrees"``).

Both make one random cut of each feature drawn. ranger divides categories at random, we cut their
order by rate at a random place. The shared runs took all rows and hold errors on the folds; those
in the repository drew bootstrap samples and hold out-of-bag errors and importances of ten seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import treewright
from tests.oracle.recorded import Recorded, recorded_datasets
from tests.oracle.rf_compare import (
    N_TREES,
    is_class,
    load_complete,
    losses,
    oob_answers,
    recorded_importance,
    standard_error,
)

RUN = "ranger_extratrees"
BOOTSTRAP_RUN = "ranger_extratrees_bootstrap"


@dataclass(frozen=True)
class Errors:
    """Errors, ours and theirs, and the standard error of such an estimate."""

    ours: float
    theirs: float
    error: float

    @property
    def distance(self) -> float:
        """Difference in standard errors."""
        return (self.ours - self.theirs) / self.error


@dataclass(frozen=True)
class Folds(Errors):
    """Errors on the folds."""

    dataset: str
    n_rows: int


@dataclass(frozen=True)
class OutOfBag(Errors):
    """Out-of-bag errors, mean nodes of a tree and rank correlations of importances."""

    nodes: float
    their_nodes: float
    ranks: Mapping[str, float]


def extra_trees(data: Recorded, seed: int, n_trees: int, **more: Any) -> Any:
    """A forest with ranger's settings."""
    drawn = max(int(np.sqrt(data.X.shape[1])), 1)
    settings = {"max_features": drawn, "redraw": False, "random_state": seed, **data.hints, **more}
    if is_class(data):
        return treewright.ExtraTreesClassifier(n_trees, aggregation="vote", **settings)
    # nodes of five rows are leaves; of a bootstrap sample five draws are about three rows
    least = 4 if more.get("bootstrap") else 6
    return treewright.ExtraTreesRegressor(n_trees, min_samples_split=least, **settings)


def compare_folds(data: Recorded, seed: int = 1) -> Folds:
    """Fit all but each fold."""
    loss = np.empty(len(data.y))
    for train, test in data.splits:
        model = extra_trees(data, seed, N_TREES).fit(data.X.iloc[train], data.y[train])
        loss[test] = losses(data, model.predict(data.X.iloc[test]), test)
    cross = data.runs[RUN]["cv_seed1"]
    theirs = 1.0 - cross["accuracy"] if is_class(data) else float(cross["rmse"] ** 2)
    return Folds(float(loss.mean()), theirs, standard_error(loss), data.name, len(loss))


def compare_out_of_bag(data: Recorded, seed: int = 1) -> OutOfBag:
    """Fit all rows, from bootstrap samples."""
    run = data.runs[BOOTSTRAP_RUN]
    model = extra_trees(data, seed, N_TREES, bootstrap=True, oob_score=True).fit(data.X, data.y)
    loss = losses(data, oob_answers(model))
    ours = {
        "impurity": model.feature_importances_,
        "permutation": model.permutation_importance_oob(data.X, data.y).importance,
    }
    return OutOfBag(
        ours=float(loss.mean()),
        theirs=float(np.mean(run["oob"])),
        error=standard_error(loss),
        nodes=float(np.mean([member.tree_.n_nodes for member in model.estimators_])),
        their_nodes=float(run["mean_nodes_per_tree"]),
        ranks={
            name: float(
                spearmanr(found, recorded_importance(run[f"importance_{name}"], data.X)).statistic
            )
            for name, found in ours.items()
        },
    )


@lru_cache(maxsize=2)
def all_folds(shared: Path) -> tuple[Folds, ...]:
    """Every recorded data set."""
    return tuple(
        compare_folds(load_complete(shared, name)) for name in recorded_datasets(shared, "rf")
    )
