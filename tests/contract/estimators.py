"""The estimators under contract, and small tables to fit them on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

import treewright

AROUND = {"CostSensitiveClassifier"}
"""Models around another, which have no trees of their own; see the tests beside them."""

NAMES = sorted(
    n
    for n in treewright.__all__
    if n.endswith(("Classifier", "Regressor", "Rules")) and n not in AROUND
)
"""Every public estimator: a new one is under contract from its first day."""

FEW = 5
"""Members of an ensemble, as in scikit-learn's own checks."""

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "AdaBoostClassifier": [
        {"algorithm": "m1", "estimator": treewright.CARTClassifier(max_depth=4)},
        {"estimator": treewright.CARTClassifier(max_depth=3, missing="majority")},
        {"algorithm": "real", "learning_rate": 0.5},
        {"method": "resample", "estimator": treewright.CARTClassifier(missing="surrogate")},
    ],
    "AdaBoostRegressor": [{"method": "reweight", "loss": "square"}],
    "BaggingClassifier": [
        {"bootstrap": False},
        {"method": "patches", "n_estimators": 25},
        {"method": "subspaces", "n_estimators": 25},
        {"estimator": treewright.C45Classifier()},
        {"estimator": treewright.C50Classifier(rules=True), "max_samples": 0.7},
        {"estimator": treewright.CTreeClassifier(), "bootstrap": False},
        {
            "estimator": treewright.CARTClassifier(ccp_alpha=0.01, class_weight="balanced"),
            "aggregation": "vote",
        },
    ],
    "BaggingRegressor": [
        {"bootstrap": False},
        {"method": "pasting"},
        {"estimator": treewright.CTreeRegressor()},
        {"estimator": treewright.CHAIDRegressor(), "bootstrap": False, "max_features": 0.7},
    ],
    "ExtraTreesClassifier": [
        {"bootstrap": True, "replace": False, "aggregation": "vote"},
        {"tree_method": "exact", "class_weight": "balanced", "max_features": None},
        {"missing": "own_branch", "criterion": "entropy"},
    ],
    "ExtraTreesRegressor": [
        {"bootstrap": True, "max_samples": 0.5},
        {"criterion": "poisson", "max_leaf_nodes": 12},
        {"max_depth": 12, "max_features": "sqrt", "keep_targets": True},
    ],
    "GradientBoostingClassifier": [
        {"growth": "depth", "max_depth": 4, "class_weight": "balanced"},
        {"growth": "symmetric", "max_depth": 4, "min_samples_leaf": 1},
        {"subsample": 0.7, "sampling": "mvs", "max_features": 0.7, "dropout": 0.2},
        {"early_stopping": True, "scoring": "accuracy", "l1_regularization": 0.1},
    ],
    "GradientBoostingRegressor": [
        {"loss": "absolute_error", "max_features_per_tree": 0.7},
        {"loss": "huber", "growth": "depth", "max_depth": 4},
        {"tree_method": "exact", "max_leaf_nodes": 8, "min_samples_leaf": 1},
        {"subsample": 0.7, "sampling": "goss", "l2_regularization": 1.0},
    ],
    "RandomForestClassifier": [
        {"bootstrap": False},
        {"bootstrap": False, "tree_method": "hist", "class_weight": "balanced_subsample"},
        {"tree_method": "exact", "class_weight": "balanced_subsample", "ccp_alpha": 0.01},
        {"sampling": "balanced", "aggregation": "vote"},
        {"replace": False, "missing": "surrogate", "class_weight": "balanced"},
        {"base": treewright.C45Classifier()},
        {"base": treewright.CHAIDClassifier(), "bootstrap": False},
        {"base": treewright.ID3Classifier(missing="majority"), "bootstrap": False},
        {"base": treewright.CTreeClassifier(), "max_samples": 0.8},
    ],
    "RandomForestRegressor": [
        {"bootstrap": False, "max_features": "sqrt"},
        {"tree_method": "hist", "max_features": 0.33, "min_samples_leaf": 3},
        {"criterion": "absolute_error", "max_samples": 0.7, "keep_targets": True},
        {"criterion": "poisson"},
        {"base": treewright.CTreeRegressor(), "bootstrap": False},
    ],
    "HoeffdingTreeClassifier": [
        {"algorithm": "efdt"},
        {"drift": "adwin", "leaf_prediction": "majority", "grace_period": 20, "tau": 0.9},
    ],
    "HoeffdingTreeRegressor": [{"leaf_prediction": "linear", "drift": "adwin"}],
    "SLIQClassifier": [
        {"coding": "full", "memory_limit": "1MB"},
        {"coding": "partial", "class_weight": "balanced"},
    ],
    "SPRINTClassifier": [
        {"coding": "full", "memory_limit": "4MB"},
        {"max_depth": 4, "n_jobs": 2},
    ],
    "C45Classifier": [
        {"variant": "j48", "pruning": None, "collapse": False},
        {"variant": "release8"},
        {"criterion": "gain", "subset": True, "subtree_raising": False},
        {"missing": "majority", "confidence": 0.1, "min_samples_leaf": 1},
        {"trials": 2, "random_state": 0},
    ],
    "C45Rules": [
        {"criterion": "gain", "min_samples_leaf": 1, "variant": "release8"},
        {"subset": True, "confidence": 0.1, "theory_share": 0.2},
    ],
    "C50Classifier": [
        {"rules": True},
        {"trials": 4},
        {"trials": 3, "rules": True, "earlystop": False},
        {"subset": True, "global_pruning": False},
        {"soft_thresholds": True},
        {"winnow": True, "random_state": 0},
        {"rules": True, "bands": 3},
    ],
    "CARTClassifier": [
        {"pruning": "pessimistic"},
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
        {"min_significance": 0.05},
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
    "MARSClassifier": [
        {"degree": 2, "class_weight": "balanced"},
        {"pruning": None, "auto_linear": False, "minspan": 3},
    ],
    "MARSRegressor": [
        {"degree": 2, "fast_k": 3},
        {"degree": 3, "minspan": -3, "endspan": 2, "auto_linear": False},
        {"pruning": "cv", "cv": 3, "random_state": 0},
    ],
    "ObliqueTreeClassifier": [
        {"method": "cart-lc"},
        {"method": "lda", "nominal_terms": "indicators"},
        {"method": "logistic", "max_depth": 3},
        {"method": "ridge", "ccp_alpha": 0.01},
        {"method": "random", "max_depth": 5},
    ],
    "ObliqueTreeRegressor": [
        {"method": "cart-lc", "nominal_terms": "indicators"},
        {"method": "ridge", "nominal_terms": None},
        {"method": "random"},
    ],
    "OptimalTreeClassifier": [
        {"leaf_penalty": 0.02, "max_cuts": 5, "class_weight": "balanced"},
        {"max_depth": 2, "max_cuts": None},
    ],
    "OptimalTreeRegressor": [{"max_depth": 2, "leaf_penalty": 0.01, "max_cuts": None}],
    "HuntRegressor": [{"nominal_split": "multiway", "continuous_split": "at_most"}],
}


def make(name: str, **parameters: Any) -> Any:
    """An estimator; an ensemble of a few members."""
    kind = getattr(treewright, name)
    if is_team(name):
        parameters = {"estimators": members_of(name), **parameters}
    if "n_estimators" in kind._get_param_names():
        parameters = {"n_estimators": FEW, **parameters}
    return kind(**parameters)


def is_team(name: str) -> bool:
    """Whether members of several kinds vote, or are stacked."""
    return name.startswith(("Voting", "Stacking"))


def members_of(name: str) -> list[tuple[str, Any]]:
    """Two members that read mixed tables."""
    if name.endswith("Regressor"):
        return [
            ("cart", treewright.CARTRegressor(max_depth=4)),
            ("hunt", treewright.HuntRegressor(max_depth=3)),
        ]
    return [
        ("cart", treewright.CARTClassifier(max_depth=4)),
        ("j48", treewright.C45Classifier(variant="j48")),
    ]


def defaults() -> list[Any]:
    """Each estimator with its defaults."""
    return [make(name) for name in NAMES]


def everyone() -> list[Any]:
    """Each estimator with its defaults and in its variants."""
    varied = [make(name, **parameters) for name in NAMES for parameters in VARIANTS.get(name, [])]
    return [*defaults(), *varied]


def seed(estimator: Any) -> None:
    """Fix the random numbers of an estimator that draws any."""
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=0)


def draws_rows(estimator: Any) -> bool:
    """Whether a fit draws rows, so that a row of weight two is not two rows."""
    name = type(estimator).__name__
    if name == "C50Classifier":
        return bool(estimator.winnow)
    method = getattr(estimator, "method", None)
    if hasattr(estimator, "bootstrap"):
        is_drawn = estimator.bootstrap or estimator.max_samples is not None
        return is_drawn if method is None else method != "subspaces"
    if name.startswith("AdaBoost"):
        return bool(method == "resample")
    if is_booster(estimator):
        return bool(estimator.subsample < 1 or estimator.early_stopping is True)
    return name == "C45Classifier" and estimator.trials is not None


def tells_classes_apart(estimator: Any) -> bool:
    """Whether a classifier needs two classes: a booster has no score for a single one,
    and a blender nothing to weigh."""
    return type(estimator).__name__ in ("GradientBoostingClassifier", "StackingClassifier")


def is_booster(estimator: Any) -> bool:
    """Whether the members are trees themselves."""
    return type(estimator).__name__.startswith("GradientBoosting")


def is_ensemble(estimator: Any) -> bool:
    """Whether an estimator has members."""
    return "n_estimators" in estimator.get_params(deep=False)


def trees(model: Any) -> list[Any]:
    """The trees of a fitted model; of a member that is made of several, the first."""
    if not is_ensemble(model):  # MARS has none
        return [model.tree_] if hasattr(model, "tree_") else []
    if not is_booster(model):
        return [member.tree_ for member in model.estimators_ if hasattr(member, "tree_")]
    return list(model.estimators_)


def has_tree(estimator: Any) -> bool:
    """Whether a model is made of trees; MARS is a sum of hinges, a team has members."""
    return not type(estimator).__name__.startswith(("MARS", "Voting", "Stacking"))


def uses_folds(estimator: Any) -> bool:
    """Whether a fit cross-validates."""
    if type(estimator).__name__.startswith("Stacking"):
        return True
    strengths = [getattr(estimator, name, None) for name in ("ccp_alpha", "cp", "pruning")]
    if getattr(estimator, "pruning", None) == "cost_complexity" and strengths[:2] == [None, None]:
        options = estimator.pruning_options or {}
        strengths = [options[name] for name in ("ccp_alpha", "cp") if name in options] or ["cv"]
    return "cv" in strengths


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
