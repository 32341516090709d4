"""Our forests beside the recorded runs of randomForest and ranger: errors and importances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import treewright
from tests.oracle.recorded import Recorded, load_data, load_runs, load_small

PROGRAMS = ("randomForest", "ranger")
DATASETS = (
    "airquality",
    "boston_housing",
    "breast_cancer_w",
    "carseats",
    "credit_g",
    "diabetes_reg",
    "glass",
    "glaucoma",
    "hitters",
    "ionosphere",
    "iris",
    "mtcars",
    "pima",
    "titanic",
    "wdbc",
)
N_TREES = 500
SEEDS = 20
"""At least twice as many as theirs, whose means are recorded: then most of the noise is theirs."""
MOST_SEEDS, ROWS = 100, 15_000
"""More seeds where rows are few: as many as these rows make, up to the most."""
SEEDS_CV = (1, 2, 3)

IMPORTANCES = {
    "randomForest": {
        "impurity": "importance_gini_or_purity",
        "permutation": "importance_permutation_raw",
    },
    "ranger": {
        "impurity": "importance_impurity",
        "permutation": "importance_permutation",
        "corrected": "importance_impurity_corrected_3seeds",
    },
}


@dataclass(frozen=True)
class Outcome:
    """A program on a data set, ours beside it.

    ``oob`` and ``cv`` are error rates or mean squared errors. ``oob_error`` and ``cv_error`` are
    standard errors of such an estimate from as many rows; ``oob_spread`` is the recorded standard
    deviation over seeds. ``ranks`` are rank correlations of the importances. ``exchanged`` tells
    how far apart features are that the programs rank differently, in standard errors of the means
    over seeds: the largest over all pairs of the smaller of their distance in ours and in theirs.
    """

    dataset: str
    program: str
    n_rows: int
    n_features: int
    classes: bool
    oob: float
    their_oob: float
    oob_spread: float
    oob_error: float
    cv: float
    their_cv: float
    cv_error: float
    ranks: Mapping[str, float]
    exchanged: Mapping[str, float]

    @property
    def oob_distance(self) -> float:
        """Difference of the out-of-bag errors in standard errors."""
        return (self.oob - self.their_oob) / self.oob_error

    @property
    def cv_distance(self) -> float:
        """Difference of the cross-validated errors in standard errors."""
        return (self.cv - self.their_cv) / self.cv_error


def load_complete(shared: Path, dataset: str) -> Recorded:
    """A shared data set without the rows that have gaps, as the programs saw it."""
    X, y, fold = load_data(shared, dataset)
    keep = X.notna().all(axis=1).to_numpy()
    runs = load_runs(shared, "rf", dataset)
    assert len(runs["rows"]) == int(keep.sum())
    return Recorded(dataset, X[keep].reset_index(drop=True), y[keep], fold[keep], runs["runs"])


def load_small_complete(dataset: str) -> Recorded:
    """The same for a run that is kept in the repository."""
    data = load_small("rf", dataset)
    keep = data.X.notna().all(axis=1).to_numpy()
    X = data.X[keep].reset_index(drop=True)
    return Recorded(dataset, X, data.y[keep], data.fold[keep], data.runs, data.hints)


def forest(data: Recorded, program: str, seed: int, n_trees: int = N_TREES, **more: Any) -> Any:
    """A forest with the settings of the program's defaults."""
    n_features = data.X.shape[1]
    if is_class(data):
        drawn = int(np.sqrt(n_features))
        return treewright.RandomForestClassifier(
            n_trees,
            max_features=max(drawn, 1),
            aggregation="vote",
            redraw=False,
            tree_method="exact",
            random_state=seed,
            **data.hints,
            **more,
        )
    drawn = n_features // 3 if program == "randomForest" else int(np.sqrt(n_features))
    # A node of five rows is a leaf to both programs, where a row that was drawn twice is two. We
    # count it once: six rows of a bootstrap sample are about four of the table, and trees have
    # as many nodes as the recorded ones.
    return treewright.RandomForestRegressor(
        n_trees,
        max_features=max(drawn, 1),
        min_samples_split=4,
        redraw=False,
        tree_method="exact",
        random_state=seed,
        **data.hints,
        **more,
    )


def is_class(data: Recorded) -> bool:
    return data.y.dtype.kind != "f"


def as_seen_by(program: str, X: pd.DataFrame) -> pd.DataFrame:
    """The columns as the program reads them: ranger takes the order of levels for a scale."""
    if program != "ranger":
        return X
    X = X.copy()
    for name in X:
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            X[name] = X[name].cat.as_ordered()
    return X


def losses(data: Recorded, predicted: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
    """Loss of each row: wrong or right, or the squared error."""
    if is_class(data):
        return (predicted.astype(str) != data.y[rows].astype(str)).astype(float)
    return (predicted - data.y[rows]) ** 2


def standard_error(loss: np.ndarray) -> float:
    """Of the mean of losses."""
    return float(loss.std(ddof=1) / np.sqrt(len(loss)))


def compare(data: Recorded, program: str, share: float = 1.0) -> Outcome:
    """Fit all rows with some seeds, and all but each fold with a few; or with a share of both."""
    run = data.runs[f"{program}_default"]
    X = as_seen_by(program, data.X)
    oob, importances, spread = [], [], []
    n_seeds = min(max(SEEDS, ROWS // len(data.y)), MOST_SEEDS)
    for seed in range(1, 1 + round(share * n_seeds)):
        model = forest(data, program, seed, oob_score=True).fit(X, data.y)
        loss = losses(data, oob_answers(model))
        oob.append(loss.mean())
        spread.append(standard_error(loss))
        importances.append(all_importances(model, X, data.y, program))
    seeds = SEEDS_CV[: ceil(share * len(SEEDS_CV))]
    cv = [cross_validated(data, program, X, seed) for seed in seeds]
    cross = run["cv_seed1"]
    names = IMPORTANCES[program]
    ours = {k: MeanImportance.of([i[k] for i in importances]) for k in names}
    theirs = {k: MeanImportance.recorded(run[name], name, X) for k, name in names.items()}
    return Outcome(
        dataset=data.name,
        program=program,
        n_rows=len(data.y),
        n_features=X.shape[1],
        classes=is_class(data),
        oob=float(np.mean(oob)),
        their_oob=float(run["oob_error_or_mse_mean"]),
        oob_spread=float(run["oob_sd"]),
        oob_error=float(np.mean(spread)),
        cv=float(np.mean(cv)),
        their_cv=1.0 - cross["accuracy"] if is_class(data) else float(cross["rmse"] ** 2),
        cv_error=float(np.mean([standard_error(loss) for loss in cv])),
        ranks={k: float(spearmanr(ours[k].mean, theirs[k].mean).statistic) for k in names},
        exchanged={k: exchanged(ours[k], theirs[k]) for k in names},
    )


def oob_answers(model: Any) -> np.ndarray:
    """Labels or numbers that rows get from trees that did not see them."""
    if hasattr(model, "oob_prediction_"):
        return model.oob_prediction_
    return model.classes_[np.argmax(model.oob_decision_function_, axis=1)]


def all_importances(model: Any, X: pd.DataFrame, y: np.ndarray, program: str) -> dict[str, Any]:
    found = {
        "impurity": model.feature_importances_,
        "permutation": model.permutation_importance_oob(X, y).importance,
    }
    if program == "ranger":
        found["corrected"] = model.impurity_importance(X, y).importance
    return found


@dataclass(frozen=True)
class MeanImportance:
    """Means over seeds in column order, and their standard errors."""

    mean: np.ndarray
    error: np.ndarray

    @classmethod
    def of(cls, found: list[np.ndarray]) -> MeanImportance:
        spread = np.std(found, axis=0, ddof=1) if len(found) > 1 else np.zeros(len(found[0]))
        return cls(np.mean(found, axis=0), spread / np.sqrt(len(found)))

    @classmethod
    def recorded(cls, run: Mapping[str, Any], name: str, X: pd.DataFrame) -> MeanImportance:
        mean, spread = (recorded_importance(run, X, k) for k in ("mean", "sd"))
        return cls(mean, spread / np.sqrt(3 if name.endswith("3seeds") else 10))

    def distance(self, a: int, b: int) -> float:
        """Between two features, in standard errors."""
        return float(abs(self.mean[a] - self.mean[b]) / np.hypot(self.error[a], self.error[b]))


def recorded_importance(
    recorded: Mapping[str, Any], X: pd.DataFrame, what: str = "mean"
) -> np.ndarray:
    """In column order; R turns odd signs in names into dots."""
    values = list(recorded[what].values())
    assert len(values) == X.shape[1]
    return np.array(values, float)


def exchanged(ours: MeanImportance, theirs: MeanImportance) -> float:
    """See Outcome."""
    most = 0.0
    for a, b in combinations(range(len(ours.mean)), 2):
        if (ours.mean[a] - ours.mean[b]) * (theirs.mean[a] - theirs.mean[b]) < 0:
            most = max(most, min(ours.distance(a, b), theirs.distance(a, b)))
    return most


def cross_validated(data: Recorded, program: str, X: pd.DataFrame, seed: int) -> np.ndarray:
    """Losses of all rows, each by a forest that did not see its fold."""
    loss = np.empty(len(data.y))
    for train, test in data.splits:
        model = forest(data, program, seed).fit(X.iloc[train], data.y[train])
        loss[test] = losses(data, model.predict(X.iloc[test]), test)
    return loss


def outcomes(shared: Path) -> list[Outcome]:
    """Both programs on every recorded data set."""
    return [
        compare(load_complete(shared, name), program) for name in DATASETS for program in PROGRAMS
    ]
