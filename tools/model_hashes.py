"""Hash the saved models and the answers of a few hundred fits over all learners and options.

``python tools/model_hashes.py OUTPUT.json`` writes one hash per fit; with ``--against OLD.json``
it also says which differ, and fails if any does. A change that must not change a tree is run
through this before and after. The hashes belong to one machine and set of libraries: keep none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import treewright as tw
from treewright import datasets


def mixed(n: int, seed: int, n_levels: int = 5) -> dict[str, Any]:
    """Columns of every kind with gaps."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 12, n).round(1)
    age[rng.random(n) < 0.1] = np.nan
    colour = rng.choice([f"c{i}" for i in range(n_levels)], n).astype(object)
    colour[rng.random(n) < 0.1] = None
    return {
        "age": age,
        "income": rng.lognormal(3, 1, n).round(2),
        "small": rng.normal(0, 1, n).astype(np.float32),
        "colour": colour,
        "member": rng.random(n) < 0.4,
        "count": rng.integers(0, 9, n),
    }


def mixed_target(columns: dict[str, Any], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    signal = (np.nan_to_num(columns["age"], nan=50) > 42) * 2.0 + columns["member"]
    signal = signal + (columns["colour"] == "c1") * 1.5 + (columns["count"] > 5)
    return np.maximum(signal + rng.normal(0, 0.6, len(signal)), 0.0).round(2)


def numbers(n: int, m: int, seed: int, n_binary: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Plain continuous columns, the last ones zero or one, and a signal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1, (n, m))
    X[:, 1] = X[:, 1].round(1)
    if n_binary:
        X[:, -n_binary:] = X[:, -n_binary:] > 0.5
    signal = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, -1] + rng.normal(0, 0.4, n)
    return X, signal


def classes(signal: np.ndarray, k: int) -> np.ndarray:
    return np.digitize(signal, np.quantile(signal, np.arange(1, k) / k))


def load(name: str) -> tuple[Any, Any]:
    data = getattr(datasets, name)()
    return data.data, data.target


def tables() -> tuple[dict[str, Any], dict[str, Any]]:
    """Named (X, y, weights) for classification and for regression."""
    columns, gaps = mixed(500, 0), mixed(1500, 3, n_levels=40)
    signal, gap_signal = mixed_target(columns, 1), mixed_target(gaps, 4)
    X, s = numbers(3000, 10, 7)
    bits, t = numbers(2500, 30, 8, n_binary=24)
    many, u = numbers(9000, 6, 9)
    holes = X.copy()
    holes[np.random.default_rng(5).random(X.shape) < 0.07] = np.nan
    rng = np.random.default_rng(6)
    classification = {
        "iris": (*load("load_iris"), None),
        "credit": (*load("load_german_credit"), None),
        "titanic": (*load("load_titanic"), None),
        "mixed3": (
            columns,
            np.array(["low", "mid", "top"], object)[np.digitize(signal, [1, 2.2])],
            rng.integers(1, 4, 500),
        ),
        "levels2": (gaps, (gap_signal > 1.4).astype(int), rng.random(1500) + 0.5),
        "numbers2": (X, classes(s, 2), None),
        "holes3": (holes, classes(s, 3), None),
        "bits2": (bits, classes(t, 2), None),
        "single5": (many.astype(np.float32), classes(u, 5), None),
        "single12": (many[:4000].astype(np.float32), classes(u[:4000], 12), None),
    }
    regression = {
        "hitters": (*load("load_hitters"), None),
        "mixed": (columns, signal, rng.integers(1, 4, 500)),
        "levels": (gaps, gap_signal, rng.random(1500) + 0.5),
        "numbers": (X, s - s.min(), None),
        "holes": (holes, s - s.min(), None),
        "bits": (bits, (t - t.min()).round(), None),
        "two": (X[:800], np.column_stack([s, -(s**2)])[:800], None),
    }
    return classification, regression


CHEAP = ("iris", "credit", "titanic", "mixed3", "levels2", "holes3")
CHEAP_R = ("hitters", "mixed", "levels", "holes")
ALL_C = (*CHEAP, "numbers2", "bits2", "single5", "single12")
ALL_R = (*CHEAP_R, "numbers", "bits")
MISSING = ("learned", "surrogate", "fractional", "own_branch", "majority")


def single_trees() -> Iterator[tuple[Any, tuple[str, ...]]]:
    cart, cartr = tw.CARTClassifier, tw.CARTRegressor
    for missing in MISSING:
        yield cart(missing=missing), ("titanic", "mixed3", "levels2", "holes3")
        yield cartr(missing=missing), CHEAP_R
    yield cart(), ("iris", "credit", "numbers2", "bits2", "single5", "single12")
    yield cartr(), ("numbers", "bits", "two")
    yield cart(criterion="entropy", cp=0.01), CHEAP
    yield cart(criterion="error", max_leaf_nodes=20), CHEAP
    yield cart(splitter="random", max_features="sqrt", random_state=3), ALL_C
    yield cart(ccp_alpha="cv", cv=3, random_state=0), ("iris", "titanic")
    yield cart(class_weight="balanced", min_samples_leaf=5, n_jobs=2), ("credit", "single5")
    yield cart(priors="uniform", max_depth=6, continuous_split="at_most"), ("credit", "holes3")
    costs = [[0, 1], [5, 0]]
    yield cart(costs=costs), ("credit",)
    yield cart(costs=costs, cost_method="generalized_gini"), ("credit", "titanic")
    yield cart(monotonic_cst=[1, 0, 0, -1] + [0] * 6), ("numbers2",)
    yield (
        cart(missing="surrogate", surrogate_style="share", surrogate_fallback="stop"),
        ("titanic",),
    )
    yield cartr(criterion="absolute_error", min_samples_leaf=3), ALL_R
    yield cartr(criterion="poisson"), ALL_R
    yield cartr(splitter="random", max_features=0.5, random_state=1), ALL_R
    yield cartr(cp="cv", cv=3, rule="1se", random_state=0), ("hitters",)
    yield cartr(max_leaf_nodes=30, min_impurity_decrease=0.001, n_jobs=2), ("numbers", "mixed")
    yield (
        tw.HuntClassifier(
            criterion="entropy",
            nominal_split="multiway",
            ordinal_split="multiway",
            continuous_split="at_most",
        ),
        CHEAP,
    )
    yield tw.HuntRegressor(nominal_split="multiway", continuous_split="at_most"), CHEAP_R
    for parameters in (
        {},
        {"missing": "own_branch"},
        {"discretize": "equal_width", "n_bins": 4},
        {"discretize": "equal_frequency", "n_bins": 5, "missing": "majority"},
    ):
        yield tw.ID3Classifier(**parameters), ("iris", "credit", "titanic", "mixed3")


def quinlan() -> Iterator[tuple[Any, tuple[str, ...]]]:
    for parameters in (
        {},
        {"variant": "j48"},
        {"criterion": "gain", "subset": True},
        {"n_jobs": 2},
        {"missing": "majority", "confidence": 0.1},
        {"pruning": None},
        {"variant": "j48", "pruning": None, "collapse": False},
        {"subset": True, "subtree_raising": False},
        {"class_weight": "balanced"},
    ):
        yield tw.C45Classifier(**parameters), CHEAP
    yield tw.C45Classifier(trials=2, random_state=0), ("credit", "titanic")
    yield tw.C45Classifier(), ("numbers2", "bits2", "single5")
    for parameters in ({}, {"criterion": "gain"}, {"subset": True, "theory_share": 0.2}):
        yield tw.C45Rules(**parameters), ("iris", "credit", "titanic")
    for parameters in (
        {},
        {"rules": True},
        {"trials": 4},
        {"trials": 3, "rules": True},
        {"subset": True, "global_pruning": False},
        {"soft_thresholds": True},
        {"winnow": True, "random_state": 0},
        {"rules": True, "bands": 3},
    ):
        yield tw.C50Classifier(**parameters), ("iris", "credit", "titanic", "mixed3", "levels2")
    yield tw.C50Classifier(costs=[[0, 1], [4, 0]]), ("credit", "titanic")
    yield tw.C50Classifier(trials=3, n_jobs=2), ("numbers2", "holes3")


def tested() -> Iterator[tuple[Any, tuple[str, ...]]]:
    names, r_names = ("iris", "credit", "titanic", "mixed3"), ("hitters", "mixed", "levels")
    for parameters in (
        {},
        {"exhaustive": True, "statistic": "likelihood", "adjust": False},
        {"alpha_resplit": 0.01, "n_bins": 5, "min_samples_leaf": 1, "n_jobs": 2},
    ):
        yield tw.CHAIDClassifier(**parameters), names
    for parameters in ({}, {"exhaustive": True}, {"n_bins": 4, "ccp_alpha": 0.001}):
        yield tw.CHAIDRegressor(**parameters), r_names
    shared = (
        {},
        {"missing": "surrogate", "max_surrogates": 2, "alpha": 0.5},
        {"missing": "fractional", "test_statistic": "maximum"},
        {"adjust": "monte_carlo", "n_resamples": 99, "random_state": 0},
        {
            "adjust": None,
            "nominal_split": "multiway",
            "max_features": "sqrt",
            "random_state": 0,
            "n_jobs": 2,
        },
    )
    for parameters in shared:
        yield tw.CTreeClassifier(**parameters), names
        yield tw.CTreeRegressor(**parameters), r_names


def ensembles() -> Iterator[tuple[Any, tuple[str, ...]]]:
    def forest(kind: Any, **parameters: Any) -> Any:
        return kind(**{"n_estimators": 6, "random_state": 0, **parameters})

    rfc, rfr = tw.RandomForestClassifier, tw.RandomForestRegressor
    for kind, names in (
        (rfc, ALL_C),
        (rfr, ALL_R),
        (tw.ExtraTreesClassifier, ALL_C),
        (tw.ExtraTreesRegressor, ALL_R),
    ):
        for n_jobs in (1, 2):
            oob = {"oob_score": True} if kind in (rfc, rfr) else {}
            yield forest(kind, n_jobs=n_jobs, **oob), names
        yield forest(kind, tree_method="hist"), names
        yield forest(kind, tree_method="exact", max_depth=9), names
        yield forest(kind, min_samples_leaf=4, max_features=None), names
        yield forest(kind, max_leaf_nodes=25), names
        yield forest(kind, bootstrap=True, replace=False, max_samples=0.6, oob_score=True), names
        yield forest(kind, redraw=False, min_samples_split=9, n_jobs=2), names
        for missing in MISSING[1:]:
            wanted = [n for n in names if n in ("titanic", "levels2", "levels", "holes3", "holes")]
            yield forest(kind, missing=missing), tuple(wanted)
    for kind in (rfc, tw.ExtraTreesClassifier):
        yield forest(kind, criterion="entropy"), ALL_C
        yield forest(kind, class_weight="balanced", aggregation="vote"), ("credit", "single5")
    yield forest(rfc, class_weight="balanced_subsample", oob_score=True), ("credit", "titanic")
    yield forest(rfc, sampling="balanced", aggregation="vote", oob_score=True), ("credit", "mixed3")
    yield forest(rfc, ccp_alpha=0.005), ("credit", "holes3")
    yield forest(rfc, early_stopping=True, n_estimators=40, n_iter_no_change=5), ("credit",)
    yield forest(rfc, monotonic_cst=[1, 0, 0, -1] + [0] * 6), ("numbers2",)
    for criterion in ("absolute_error", "poisson"):
        yield forest(rfr, criterion=criterion, max_features=0.33), ("hitters", "mixed", "numbers")
        yield forest(tw.ExtraTreesRegressor, criterion=criterion), ("hitters", "numbers")
    yield forest(rfr, keep_targets=True), ("hitters", "mixed", "two")
    for base in (tw.C45Classifier(), tw.CTreeClassifier(), tw.CHAIDClassifier()):
        yield forest(rfc, base=base), ("credit", "titanic")
    yield forest(rfr, base=tw.CTreeRegressor()), ("hitters",)
    for parameters in (
        {},
        {"bootstrap": False},
        {"method": "patches"},
        {"method": "subspaces"},
        {"estimator": tw.C45Classifier()},
        {"n_jobs": 2, "oob_score": True},
        {"estimator": tw.C50Classifier(rules=True), "max_samples": 0.7},
        {"estimator": tw.CTreeClassifier()},
        {
            "estimator": tw.CARTClassifier(ccp_alpha=0.01, class_weight="balanced"),
            "aggregation": "vote",
        },
    ):
        yield forest(tw.BaggingClassifier, **parameters), ("iris", "credit", "titanic")
    for parameters in (
        {},
        {"method": "pasting"},
        {"estimator": tw.CTreeRegressor()},
        {"estimator": tw.CHAIDRegressor(), "max_features": 0.7},
    ):
        yield forest(tw.BaggingRegressor, **parameters), ("hitters", "mixed")


def boosters() -> Iterator[tuple[Any, tuple[str, ...]]]:
    def booster(kind: Any, **parameters: Any) -> Any:
        return kind(**{"n_estimators": 8, "random_state": 0, "n_jobs": 2, **parameters})

    for kind, names in (
        (tw.GradientBoostingClassifier, ALL_C),
        (tw.GradientBoostingRegressor, (*ALL_R, "two")),
    ):
        for parameters in (
            {},
            {"growth": "depth", "max_bins": 20, "max_features": 1.0},
            {"growth": "symmetric", "max_depth": 4, "subsample": 0.7},
            {"sampling": "goss", "subsample": 0.4},
            {"early_stopping": True, "dropout": 0.2},
        ):
            yield booster(kind, **parameters), names
        for parameters in (
            {"tree_method": "exact"},
            {"early_stopping": True, "scoring": "loss", "n_iter_no_change": 2},
            {"sampling": "mvs", "subsample": 0.6, "max_features_per_tree": 0.5},
            {"categorical_features": [], "class_weight": "balanced"}
            if kind is tw.GradientBoostingClassifier
            else {"max_features_per_level": 0.5},
            {"growth": "depth", "max_depth": 3, "l1_regularization": 0.5, "min_gain": 0.01},
        ):
            yield booster(kind, **parameters), names[1:6]
    regressor = tw.GradientBoostingRegressor
    yield booster(regressor, loss="absolute_error"), ("mixed", "numbers")
    for loss in ("huber", "quantile", "poisson", "gamma", "tweedie"):
        positive = ("bits",) if loss == "gamma" else ("mixed", "numbers")
        yield booster(regressor, loss=loss), positive
    constraints = [1, 0, 0, -1] + [0] * 6
    for growth in ("leaf", "depth"):
        constrained = {"growth": growth, "monotonic_cst": constraints}
        yield booster(tw.GradientBoostingClassifier, **constrained), ("numbers2", "holes3")
        yield booster(regressor, **constrained), ("numbers", "holes")
    groups = [[0, 1, 2], [3, 4]]
    yield booster(tw.GradientBoostingClassifier, interaction_cst=groups), ("mixed3", "numbers2")


def of_lists() -> Iterator[tuple[Any, tuple[str, ...]]]:
    for kind in (tw.SLIQClassifier, tw.SPRINTClassifier):
        for parameters in (
            {},
            {"coding": "full", "memory_limit": "2MB"},
            {"coding": "partial", "class_weight": "balanced"},
            {"max_depth": 4, "min_samples_leaf": 5},
        ):
            yield kind(**parameters), CHEAP


def searched() -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Oblique and optimal trees, streams and MARS."""
    names, r_names = ("iris", "credit", "numbers2"), ("hitters", "numbers")
    for method in ("oc1", "cart-lc", "lda", "random"):
        yield tw.ObliqueTreeClassifier(method=method, max_depth=4, random_state=0), names
    for method in ("oc1", "ridge", "random"):
        yield tw.ObliqueTreeRegressor(method=method, max_depth=4, random_state=0), r_names
    for depth in (1, 2):
        yield tw.OptimalTreeClassifier(max_depth=depth), ("iris", "titanic", "mixed3")
        yield tw.OptimalTreeRegressor(max_depth=depth), ("hitters", "mixed")
    for parameters in ({}, {"algorithm": "efdt"}, {"drift": "adwin", "grace_period": 50}):
        yield tw.HoeffdingTreeClassifier(**parameters), (*CHEAP, "numbers2")
    for parameters in ({}, {"leaf_prediction": "linear"}, {"drift": "adwin"}):
        yield tw.HoeffdingTreeRegressor(**parameters), (*CHEAP_R, "numbers")
    complete, r_complete = ("iris", "credit", "numbers2"), ("numbers", "bits")
    for degree in (1, 2):
        yield tw.MARSClassifier(degree=degree), complete
        yield tw.MARSRegressor(degree=degree), r_complete


def combined() -> Iterator[tuple[Any, tuple[str, ...]]]:
    """AdaBoost, stacking, voting and models around another."""
    for parameters in (
        {},
        {"algorithm": "m1", "estimator": tw.CARTClassifier(max_depth=4)},
        {"algorithm": "real", "learning_rate": 0.5},
        {"method": "resample", "estimator": tw.C45Classifier()},
    ):
        model = tw.AdaBoostClassifier(n_estimators=6, random_state=0).set_params(**parameters)
        yield model, ("iris", "credit", "titanic", "mixed3")
    for loss in ("linear", "square", "exponential"):
        yield tw.AdaBoostRegressor(n_estimators=6, loss=loss, random_state=0), CHEAP_R
    members = [("cart", tw.CARTClassifier(max_depth=3)), ("c45", tw.C45Classifier())]
    r_members = [("cart", tw.CARTRegressor(max_depth=3)), ("ctree", tw.CTreeRegressor())]
    for parameters in ({}, {"method": "blending"}):
        parameters["random_state"] = 0
        yield tw.StackingClassifier(members, **parameters), ("iris", "credit", "titanic")
        yield tw.StackingRegressor(r_members, **parameters), CHEAP_R[:2]
    yield tw.VotingClassifier(members), ("iris", "credit", "titanic")
    yield tw.VotingRegressor(r_members, weights="learned", random_state=0), CHEAP_R[:2]
    costs = [[0, 1], [5, 0]]
    for method in ("threshold", "weights", "metacost"):
        cost_minded = tw.CostSensitiveClassifier(
            tw.CARTClassifier(max_depth=4), costs=costs, method=method, random_state=0
        )
        yield cost_minded, ("credit", "titanic")


def digest(*arrays: Any) -> str:
    total = hashlib.sha256()
    for array in arrays:
        array = np.asarray(array)
        total.update(str((array.dtype, array.shape)).encode())
        total.update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
    return total.hexdigest()[:16]


def answers(model: Any, X: Any) -> str:
    """A hash of what a model says, and of what was found out beside growing."""
    says = [getattr(model, "predict_proba", model.predict)(X), model.predict(X)]
    for name in ("feature_importances_", "oob_score_", "oob_prediction_", "oob_decision_function_"):
        value = getattr(model, name, None)
        if value is not None and not callable(value):
            says.append(value)
    return digest(*says)


IN_BLOCKS = (
    tw.CARTClassifier(max_depth=6),
    tw.CARTRegressor(max_depth=6),
    tw.RandomForestClassifier(n_estimators=4, random_state=0),
    tw.RandomForestRegressor(n_estimators=4, random_state=0),
    tw.GradientBoostingClassifier(n_estimators=6, random_state=0),
    tw.GradientBoostingRegressor(n_estimators=6, growth="depth", random_state=0),
)
"""Models that are also fitted on a Parquet folder in small blocks."""


def as_folder(X: Any, y: Any, weights: Any, folder: Path) -> tuple[dict[str, Any], Any]:
    """Arguments of a fit that reads the rows from three Parquet files, and its features."""
    import pandas as pd

    frame = X.to_pandas() if hasattr(X, "to_pandas") else pd.DataFrame(X)
    frame.columns = [str(name) for name in frame.columns]
    features = frame.copy()
    frame["the target"] = y
    if weights is not None:
        frame["the weight"] = weights
    folder.mkdir()
    for i in range(3):
        frame.iloc[i * len(frame) // 3 : (i + 1) * len(frame) // 3].to_parquet(
            folder / f"part{i}.parquet"
        )
    weighted = {} if weights is None else {"sample_weight": "the weight"}
    return {"X": folder, "target": "the target", **weighted}, features


def fit(estimator: Any, X: Any, y: Any, weights: Any, folder: Path) -> list[str]:
    given = {"X": X, "y": y, **({} if weights is None else {"sample_weight": weights})}
    return fit_given(estimator, given, X, folder)


def fit_given(estimator: Any, given: dict[str, Any], X: Any, folder: Path) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = estimator.fit(**given)
        except Exception as error:  # what may not be fitted must be refused as before
            return ["refused", f"{type(error).__name__}: {error}"]
        path = folder / "model"
        try:
            tw.save(model, path)
            saved = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        except tw.errors.ModelFileError:
            saved = "not saved"
        return [saved, answers(model, X)]


SOURCES = (
    single_trees, quinlan, tested, ensembles, boosters, of_lists, searched, combined
)  # fmt: skip


def of_blocks() -> dict[str, list[str]]:
    """Fits on Parquet folders."""
    from sklearn.base import clone, is_classifier

    classification, regression = tables()
    found: dict[str, list[str]] = {}
    for estimator in IN_BLOCKS:
        pool = classification if is_classifier(estimator) else regression
        for name in set(pool) & {"titanic", "mixed3", "holes3", "levels", "holes"}:
            X, y, weights = pool[name]
            label = f"folder of {name} {' '.join(repr(estimator).split())}"
            with tempfile.TemporaryDirectory() as folder:
                given, features = as_folder(X, y, weights, Path(folder) / "rows")
                found[label] = fit_given(clone(estimator), given, features, Path(folder))
    return found


def run(only: list[str]) -> dict[str, list[str]]:
    from sklearn.base import clone, is_classifier

    classification, regression = tables()
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in SOURCES:
            if only and source.__name__ not in only:
                continue
            for estimator, names in source():
                for name in names:
                    pool = classification if is_classifier(estimator) else regression
                    X, y, weights = pool[name]
                    label = f"{name} {' '.join(repr(estimator).split())}"
                    found[label] = fit(clone(estimator), X, y, weights, Path(folder))
    return found if only and of_blocks.__name__ not in only else {**found, **of_blocks()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--against", type=Path, help="hashes made earlier")
    parser.add_argument(
        "--only", nargs="*", default=[], choices=[f.__name__ for f in (*SOURCES, of_blocks)]
    )
    arguments = parser.parse_args()
    found = run(arguments.only)
    arguments.output.write_text(json.dumps(found, indent=1))
    refused = sum(entry[0] == "refused" for entry in found.values())
    print(f"{len(found) - refused} fits, {refused} refused")
    if arguments.against is None:
        return 0
    old = json.loads(arguments.against.read_text())
    labels = found if arguments.only else {**old, **found}
    differing = [label for label in labels if old.get(label) != found.get(label)]
    for label in differing:
        print("differs:", label, old.get(label), found.get(label))
    print(f"{len(differing)} differ")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
