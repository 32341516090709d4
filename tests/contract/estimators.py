"""The estimators under contract, and small tables to fit them on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

import treewright

NAMES = sorted(n for n in treewright.__all__ if n.endswith(("Classifier", "Regressor", "Rules")))
"""Every public estimator: a new one is under contract from its first day."""

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "C45Classifier": [
        {"variant": "j48", "pruning": None, "collapse": False},
        {"criterion": "gain", "subset": True, "subtree_raising": False},
        {"missing": "majority", "confidence": 0.1, "min_samples_leaf": 1},
        {"trials": 2, "random_state": 0},
    ],
    "C45Rules": [
        {"criterion": "gain", "min_samples_leaf": 1},
        {"subset": True, "confidence": 0.1, "theory_share": 0.2},
    ],
    "CARTClassifier": [
        {"missing": "surrogate"},
        {"missing": "fractional"},
        {"missing": "own_branch"},
        {"missing": "majority"},
        {"criterion": "entropy", "cp": 0.01},
        {"criterion": "error", "max_leaf_nodes": 20},
        {"splitter": "random", "max_features": "sqrt"},
        {"ccp_alpha": "cv", "cv": 3, "random_state": 0},
    ],
    "CARTRegressor": [
        {"missing": "surrogate"},
        {"missing": "fractional"},
        {"criterion": "absolute_error"},
        {"criterion": "poisson"},
        {"splitter": "random", "max_features": 0.5},
        {"cp": "cv", "cv": 3, "rule": "1se", "random_state": 0},
    ],
    "CHAIDClassifier": [
        {"min_samples_split": 2, "min_samples_leaf": 1, "alpha_resplit": 0.01},
        {"exhaustive": True, "statistic": "likelihood", "adjust": False},
    ],
    "CHAIDRegressor": [{"exhaustive": True}, {"n_bins": 4, "ccp_alpha": 0.001}],
    "CTreeClassifier": [
        {"missing": "surrogate", "max_surrogates": 2, "alpha": 0.5, "min_samples_leaf": 3},
        {"missing": "fractional", "test_statistic": "maximum"},
        {"adjust": "monte_carlo", "n_resamples": 99},
        {"adjust": None, "nominal_split": "multiway", "max_features": "sqrt"},
        {"adjust": "univariate", "ccp_alpha": "cv", "cv": 3, "random_state": 0},
    ],
    "CTreeRegressor": [
        {"missing": "surrogate", "max_surrogates": 2, "alpha": 0.5, "min_samples_leaf": 3},
        {"missing": "fractional"},
        {"adjust": "monte_carlo", "n_resamples": 499},
        {"test_statistic": "maximum", "nominal_split": "multiway"},
    ],
    "HuntClassifier": [
        {
            "criterion": "entropy",
            "nominal_split": "multiway",
            "ordinal_split": "multiway",
            "continuous_split": "at_most",
        },
    ],
    "ID3Classifier": [
        {"missing": "own_branch"},
        {"missing": "majority", "max_depth": 3},
        {"discretize": "equal_width", "n_bins": 4},
        {"discretize": "equal_frequency"},
    ],
    "HuntRegressor": [{"nominal_split": "multiway", "continuous_split": "at_most"}],
}


def defaults() -> list[Any]:
    """Each estimator with its defaults."""
    return [getattr(treewright, name)() for name in NAMES]


def everyone() -> list[Any]:
    """Each estimator with its defaults and in its variants."""
    varied = [
        getattr(treewright, name)(**parameters)
        for name in NAMES
        for parameters in VARIANTS.get(name, [])
    ]
    return [*defaults(), *varied]


def seed(estimator: Any) -> None:
    """Fix the random numbers of an estimator that draws any."""
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=0)


def draws_rows(estimator: Any) -> bool:
    """Whether a fit draws rows, so that a row of weight two is not two rows."""
    return type(estimator).__name__ == "C45Classifier" and estimator.trials is not None


def identify(estimator: Any) -> str:
    """A test id that tells variants apart."""
    return repr(estimator).replace("\n", "").replace(" ", "")


def mixed_columns(n: int = 120, seed: int = 0) -> dict[str, Any]:
    """Numbers, text and booleans with gaps in all but the booleans."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 12, n).round(1)
    age[rng.random(n) < 0.15] = np.nan
    colour = rng.choice(["red", "green", "blue", "grey"], n).astype(object)
    colour[rng.random(n) < 0.15] = None
    return {
        "age": age,
        "income": rng.lognormal(3, 1, n).round(2),
        "colour": colour,
        "member": rng.random(n) < 0.4,
    }


def target_for(estimator: Any, columns: dict[str, Any], seed: int = 1) -> Any:
    """A target that depends on the columns and some noise."""
    rng = np.random.default_rng(seed)
    n = len(columns["age"])
    signal = (
        (np.nan_to_num(columns["age"], nan=50) > 42) * 2.0
        + columns["member"]
        + (columns["colour"] == "red") * 1.5
        + rng.normal(0, 0.6, n)
    )
    if is_classifier(estimator):
        return np.array(["low", "middle", "high"], object)[np.digitize(signal, [1.0, 2.2])]
    return np.maximum(signal, 0.0).round(2)


def predictions(estimator: Any, X: Any) -> np.ndarray:
    """All that an estimator says about rows: probabilities, or numbers."""
    says = getattr(estimator, "predict_proba", estimator.predict)
    return np.asarray(says(X))
