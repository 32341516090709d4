"""One fitted model of every kind, with rows to ask: known ones, gaps and unseen categories."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import treewright as tw


@dataclass
class Case:
    """A model and rows; ``expected`` is what it says of them."""

    model: Any
    X: pd.DataFrame

    @property
    def rows(self) -> list[list[Any]]:
        """Rows as lists with None for gaps."""
        cells = self.X.astype(object)
        return cells.where(cells.notna(), None).values.tolist()

    @property
    def label(self) -> np.ndarray:
        return self._quiet("predict")

    @property
    def numbers(self) -> np.ndarray:
        found = self._quiet("predict_proba" if hasattr(self.model, "classes_") else "predict")
        return np.asarray(found, float).reshape(len(self.X), -1)

    @property
    def is_classifier(self) -> bool:
        return hasattr(self.model, "classes_")

    @property
    def ties(self) -> np.ndarray:
        """Rows that two classes have equal claims to, but for rounding."""
        costs = getattr(self.model, "cost_matrix_", None)
        claims = self.numbers if costs is None else -(self.numbers @ costs)
        top = np.sort(claims, axis=1)
        return top[:, -1] - top[:, -2] < 1e-9 if claims.shape[1] > 1 else np.zeros(len(top), bool)

    def _quiet(self, method: str) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(self.model, method)(self.X)


@cache
def mixed(n: int = 240, gaps: bool = True, n_classes: int = 3) -> tuple[pd.DataFrame, Any, Any]:
    """Numbers, categories with hostile texts and an order; classes and a number to predict."""
    random = np.random.default_rng(7)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, n).astype(float),
            "in come": np.round(random.lognormal(3, 0.7, n), 3),
            "ci\"ty's": random.choice(["Ü x", "b'c", 'd"e', "f\\g", "</h>", "no"], n),
            "size": pd.Categorical(
                random.choice(["small", "mid", "large"], n), ["small", "mid", "large"], ordered=True
            ),
            "flag": random.choice([1, 2, 5], n),
        }
    )
    score = (
        X["age"] / 20
        + X["ci\"ty's"].isin(["b'c", "no"]) * 2
        + (X["size"] == "large") * (X["in come"] > 20) * 3
        + random.normal(0, 0.6, n)
    )
    if gaps:
        for name in ("age", "in come", "ci\"ty's", "size"):
            X.loc[random.random(n) < 0.12, name] = None
    y = pd.cut(
        score, [-np.inf, *np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), np.inf]
    )
    labels = np.array(["lo'w", 'm"id', "high"], object)[y.cat.codes]
    return X, labels, score.to_numpy()


def asked(X: pd.DataFrame, n: int = 60) -> pd.DataFrame:
    """Rows to ask: some of training, others with more gaps and a category that is new."""
    random = np.random.default_rng(3)
    rows = X.iloc[random.permutation(len(X))[:n]].copy().reset_index(drop=True)
    for name in X.columns:
        if name != "flag":
            rows.loc[random.random(n) < 0.2, name] = None
    if "ci\"ty's" in X:
        rows.loc[:3, "ci\"ty's"] = "never; DROP TABLE t; --"
    return rows


def _fit(model: Any, X: Any, y: Any, rows: Any = None) -> Case:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Case(model.fit(X, y), asked(X) if rows is None else rows)


CATEGORICAL = {
    "categorical_features": ["ci\"ty's", "flag"],
    "ordinal_features": {"size": ["small", "mid", "large"]},
}


def _classifiers() -> dict[str, Any]:
    kinds: dict[str, Any] = CATEGORICAL
    small = {"n_estimators": 6, "random_state": 0, **kinds}
    return {
        "cart": tw.CARTClassifier(missing="learned", max_depth=5, **kinds),
        "cart surrogates": tw.CARTClassifier(missing="surrogate", max_depth=4, **kinds),
        "cart costs": tw.CARTClassifier(
            max_depth=3, missing="majority", costs=[[0, 1, 2], [4, 0, 1], [3, 2, 0]], **kinds
        ),
        "cart fractional costs": tw.CARTClassifier(
            max_depth=3, missing="fractional", costs=[[0, 1, 2], [4, 0, 1], [3, 2, 0]], **kinds
        ),
        "hunt own branch": tw.HuntClassifier(missing="own_branch", max_depth=3, **kinds),
        "hunt multiway": tw.HuntClassifier(
            nominal_split="multiway", missing="learned", max_depth=3, **kinds
        ),
        "c45": tw.C45Classifier(**kinds),
        "c45 subset": tw.C45Classifier(subset=True, **kinds),
        "c45 rules": tw.C45Rules(**kinds),
        "c50": tw.C50Classifier(**kinds),
        "c50 soft": tw.C50Classifier(soft_thresholds=True, **kinds),
        "c50 rules": tw.C50Classifier(rules=True, **kinds),
        "c50 boosted": tw.C50Classifier(trials=4, **kinds),
        "c50 boosted rules": tw.C50Classifier(trials=3, rules=True, **kinds),
        "chaid": tw.CHAIDClassifier(alpha_split=0.2, **kinds),
        "ctree": tw.CTreeClassifier(alpha=0.2, **kinds),
        "bagging": tw.BaggingClassifier(n_estimators=5, random_state=0),
        "bagged c45": tw.BaggingClassifier(
            tw.C45Classifier(), n_estimators=4, aggregation="vote", random_state=0
        ),
        "bagged c50": tw.BaggingClassifier(
            tw.C50Classifier(), n_estimators=3, max_features=0.8, random_state=0
        ),
        "forest": tw.RandomForestClassifier(max_depth=5, **small),
        "extra trees": tw.ExtraTreesClassifier(max_depth=5, **small),
        "adaboost": tw.AdaBoostClassifier(n_estimators=6, random_state=0),
        "adaboost real": tw.AdaBoostClassifier(n_estimators=4, algorithm="real", random_state=0),
        "adaboost m1 c45": tw.AdaBoostClassifier(
            tw.C45Classifier(), n_estimators=3, algorithm="m1", random_state=0
        ),
        "boosting": tw.GradientBoostingClassifier(max_leaf_nodes=6, **small),
        "mars": tw.MARSClassifier(degree=2, **kinds),
        "voting": tw.VotingClassifier(
            [("a", tw.CARTClassifier(max_depth=2, **kinds)), ("b", tw.C45Classifier(**kinds))],
            voting="soft",
        ),
        "cost sensitive": tw.CostSensitiveClassifier(
            tw.CARTClassifier(max_depth=3, **kinds), [[0, 1, 2], [4, 0, 1], [3, 2, 0]]
        ),
        "cost sensitive, a class lost": tw.CostSensitiveClassifier(
            tw.CARTClassifier(max_depth=3, **kinds),
            [[0, 9000, 2], [4, 0, 1], [3, 9000, 0]],
            method="metacost",
            random_state=0,
        ),
    }


def _regressors() -> dict[str, Any]:
    kinds: dict[str, Any] = CATEGORICAL
    return {
        "cart regressor": tw.CARTRegressor(missing="surrogate", max_depth=4, **kinds),
        "ctree regressor": tw.CTreeRegressor(alpha=0.2, **kinds),
        "forest regressor": tw.RandomForestRegressor(n_estimators=5, random_state=0, **kinds),
        "adaboost regressor": tw.AdaBoostRegressor(n_estimators=5, random_state=0),
        "boosting regressor": tw.GradientBoostingRegressor(
            n_estimators=6, loss="poisson", max_leaf_nodes=6, random_state=0, **kinds
        ),
        "mars regressor": tw.MARSRegressor(degree=2, **kinds),
    }


@cache
def case(name: str) -> Case:
    """A case by name, fitted once."""
    if name in OTHERS:
        return OTHERS[name]()
    X, labels, number = mixed()
    if name in (found := _classifiers()):
        return _fit(found[name], X, labels)
    return _fit(_regressors()[name], X, np.maximum(number, 0.0))


def _oblique(
    model: Any, is_class: bool = True, columns: Sequence[str] = ("age", "in come", "flag")
) -> Case:
    X, labels, number = mixed(gaps=False)
    X = X[list(columns)]
    return _fit(model, X, labels if is_class else number, asked(X, 40))


def _two() -> tuple[pd.DataFrame, Any]:
    X, _, number = mixed()
    return X, np.where(number > np.median(number), 1, 0)


OTHERS = {
    "oblique": lambda: _oblique(tw.ObliqueTreeClassifier(max_depth=3, random_state=0)),
    "oblique nominal": lambda: _oblique(
        tw.ObliqueTreeClassifier(max_depth=3, random_state=0),
        columns=("age", "in come", "ci\"ty's", "flag"),
    ),
    "oblique regressor": lambda: _oblique(
        tw.ObliqueTreeRegressor(max_depth=3, random_state=0), False
    ),
    "optimal": lambda: _fit(
        tw.OptimalTreeClassifier(max_depth=2),
        mixed(gaps=False)[0].drop(columns=["size"]),
        mixed(gaps=False)[1],
        mixed(gaps=False)[0].drop(columns=["size"]).iloc[:40],
    ),
    "boosting two": lambda: _fit(
        tw.GradientBoostingClassifier(
            n_estimators=6, max_leaf_nodes=6, random_state=0, **CATEGORICAL
        ),
        *_two(),
    ),
    "mars two": lambda: _fit(tw.MARSClassifier(**CATEGORICAL), *_two()),
    "stacking": lambda: _fit(
        tw.StackingClassifier(
            [("a", tw.CARTClassifier(max_depth=3)), ("b", tw.C45Classifier())], cv=3
        ),
        *_two(),
    ),
    "stacking regressor": lambda: _fit(
        tw.StackingRegressor(
            [("a", tw.CARTRegressor(max_depth=3)), ("b", tw.MARSRegressor())], cv=3
        ),
        mixed()[0],
        mixed()[2],
    ),
    "two outputs": lambda: _fit(
        tw.CARTRegressor(max_depth=3, **CATEGORICAL),
        mixed()[0],
        np.column_stack([mixed()[2], -(mixed()[2] ** 2)]),
    ),
}

CLASSIFIERS = [
    *_classifiers(),
    "oblique",
    "oblique nominal",
    "optimal",
    "boosting two",
    "mars two",
    "stacking",
]
REGRESSORS = [*_regressors(), "oblique regressor", "stacking regressor", "two outputs"]
ALL = [*CLASSIFIERS, *REGRESSORS]
