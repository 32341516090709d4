"""MARS beside the recorded runs of R's earth 5.3.2: terms, knots, subsets and coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.oracle.recorded import SMALL, load_data, load_runs
from treewright import MARSClassifier, MARSRegressor, datasets

#: Two or more products of an indicator of one row with different parents: the same column, so
#: earth's rounding decides which it takes, and later steps follow.
TIED = {("cu_summary", f"degree{d}{kind}") for d in (2, 3) for kind in ("", "_plain", "_minspan1")}
TIED |= {("cu_summary", f"degree{d}_noprune") for d in (2, 3)}


@dataclass(frozen=True)
class Case:
    """One recorded run: its data, what earth answered, and our model."""

    dataset: str
    key: str
    run: dict[str, Any]
    model: Any
    y: np.ndarray
    shift: np.ndarray  # earth's ranks of ordered factors begin at 1, ours at 0

    @property
    def is_plain(self) -> bool:
        """Whether the fast heuristics were off."""
        return self.key.endswith(("_plain", "_minspan1"))

    @property
    def is_tied(self) -> bool:
        return (self.dataset, self.key) in TIED

    def has_same_forward_terms(self) -> bool:
        dirs, cuts = table_of(self.model.forward_basis_, self.shift)
        expected = np.array(self.run["forward_dirs"])
        return (
            dirs.shape == expected.shape
            and bool((dirs == expected).all())
            and np.allclose(cuts, self.run["forward_cuts"], rtol=1e-12, atol=0)
        )

    def has_same_selection(self) -> bool:
        kept = np.sort(np.array(self.run["selected_terms_1based"])) - 1
        subset = self.model.subsets_.terms[len(self.model.basis_) - 1]
        return np.array_equal(kept, subset)

    def coefficient_error(self) -> float:
        """Largest relative difference of a coefficient of the least-squares fit."""
        expected = np.array([self.run["coefficients"][name] for name in self.selected_names()])
        return float(np.max(np.abs(self.model.coefficients_ / expected - 1)))

    def selected_names(self) -> list[str]:
        names = self.run["forward_terms"]
        return [names[k - 1] for k in sorted(self.run["selected_terms_1based"])]

    def gcv_error(self) -> float:
        """Relative difference of GCV; above 0: ours is larger."""
        return self.model.gcv_ / self.run["gcv"] - 1


def table_of(basis: Any, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions and cuts, one row per term and one column per predictor, as earth keeps them."""
    dirs = np.zeros((len(basis), len(basis.names)), int)
    cuts = np.zeros(dirs.shape)
    for k, term in enumerate(basis.terms):
        for factor in term:
            dirs[k, factor.predictor] = factor.kind
            cuts[k, factor.predictor] = factor.knot + shift[factor.predictor]
    return dirs, cuts


def settings(key: str) -> dict[str, Any]:
    """The parameters of a recorded run."""
    found: dict[str, Any] = {"degree": int(key[6])}
    if "_plain" in key:
        found |= {"fast_k": 0, "auto_linear": False, "adjust_endspan": 1.0}
    if "_minspan1" in key:
        found |= {"fast_k": 0, "auto_linear": False, "minspan": 1, "endspan": 1}
    if "_noprune" in key:
        found |= {"pruning": None}
    return found


@lru_cache(maxsize=2)
def cases(shared: Path, dataset: str) -> list[Case]:
    """All runs on a data set but the exhaustive search, which is not offered."""
    runs = load_runs(shared, "earth", dataset)
    X, y = _rows(shared, dataset, runs)
    made = []
    for key, run in runs["runs"].items():
        if "exhaustive" in key or "error" in run:
            continue
        kind = MARSRegressor if y.dtype == float else MARSClassifier
        model = kind(**settings(key)).fit(X, y)
        shift = np.array([float(_is_ordered(X, p)) for p in model._predictors])
        made.append(Case(dataset, key, run, model, y, shift))
    return made


def _is_ordered(X: pd.DataFrame, predictor: Any) -> bool:
    dtype = X.dtypes.iloc[predictor.feature]
    return isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)


def _rows(shared: Path, dataset: str, runs: dict[str, Any]) -> tuple[pd.DataFrame, np.ndarray]:
    """The complete cases that earth saw."""
    if shared == SMALL:
        bundled = getattr(datasets, f"load_{dataset}")()
        X, y, places = bundled.data.to_pandas(), bundled.target, np.array(runs["rows"])
        nominal = {n: pd.CategoricalDtype(v) for n, v in runs["categories"].items()}
        return X.iloc[places].astype(nominal), y[places]
    X, y, _ = load_data(shared, dataset)
    folds = np.loadtxt(
        shared / "data" / "folds" / f"{dataset}.csv", delimiter=",", skiprows=1, dtype=int
    )
    used = np.sort(folds[folds[:, 1] >= 0, 0])
    places = np.searchsorted(used, np.array(runs["rows"]))
    return X.iloc[places], y[places]
