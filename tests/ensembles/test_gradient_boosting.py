"""The gradient boosters: rounds, losses, stopping, constraints, files."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.class_weight import compute_sample_weight

import treewright
from tests.contract.estimators import mixed_columns
from treewright import CARTRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from treewright.errors import DataError, ParameterError, SchemaError


@pytest.fixture(scope="module")
def numbers() -> tuple[Any, Any]:
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def classes() -> tuple[Any, Any]:
    return load_breast_cancer(return_X_y=True)


def mixed(n: int = 400) -> tuple[dict[str, Any], Any]:
    columns = mixed_columns(n)
    signal_ = (columns["colour"] == "red") * 2.0 + np.nan_to_num(columns["age"], nan=60) / 20
    return columns, signal_ + np.random.default_rng(5).normal(0, 0.3, n)


# The algorithm


def test_exact_trees_from_zero_are_the_slides_algorithm(numbers: Any) -> None:
    X, y = numbers
    rate, residual, score = 0.3, y.astype(float), np.zeros(len(y))
    model = GradientBoostingRegressor(
        tree_method="exact",
        init="zero",
        n_estimators=8,
        learning_rate=rate,
        max_leaf_nodes=5,
        min_samples_leaf=1,
    ).fit(X, y)
    for tree in model.estimators_:
        own = CARTRegressor(max_leaf_nodes=5, continuous_split="at_most").fit(X, residual)
        assert own.tree_.splits.feature.tolist() == tree.splits.feature.tolist()
        assert_array_equal(own.tree_.splits.breaks, tree.splits.breaks)
        assert_allclose(rate * own.tree_.value, tree.value)
        score += rate * own.predict(X)
        residual = y - score
    assert_allclose(model.predict(X), score)


@pytest.mark.parametrize("growth", ["leaf", "depth", "symmetric"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sampling": "goss"},
        {"sampling": "mvs", "subsample": 0.8},
        {"dropout": 0.2},
        {"monotonic_cst": [-1, 0]},
        {"interaction_cst": [[0], [1]]},
    ],
)
def test_a_column_of_one_value_and_gaps_is_learned(growth: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    is_gap = rng.random(200) < 0.5
    X = np.column_stack([np.where(is_gap, np.nan, 1.0), rng.normal(size=200)])
    model = GradientBoostingRegressor(growth=growth, n_estimators=20, random_state=0, **options)
    found = model.fit(X, 3.0 * is_gap).predict(X)
    assert found[is_gap].min() > found[~is_gap].max() + 1.5


def test_the_loss_of_training_falls_with_every_round(numbers: Any, classes: Any) -> None:
    for loss in ("squared_error", "absolute_error", "poisson", "gamma", "tweedie"):
        model = GradientBoostingRegressor(loss, n_estimators=15).fit(*numbers)
        assert np.all(np.diff(model.train_score_) < 0), loss
    for loss in ("log_loss", "exponential"):
        found = GradientBoostingClassifier(loss, n_estimators=15).fit(*classes)
        assert np.all(np.diff(found.train_score_) < 0), loss
        assert found.score(*classes) > 0.95


@pytest.mark.parametrize(
    "options",
    [
        {"n_estimators": 8},
        {"n_estimators": 8, "growth": "symmetric", "subsample": 0.7},
        {"n_estimators": 20, "early_stopping": True},
        {"n_estimators": 4, "tree_method": "exact"},
    ],
)
@pytest.mark.parametrize("weights", [{0: 1, 1: 4}, {0: 0.4, 1: 1.6}, {0: 1, 1: 3.3}, "balanced"])
def test_weights_of_classes_are_weights_of_their_rows(
    classes: Any, options: dict[str, Any], weights: Any
) -> None:
    X, y = classes
    options = {**options, "random_state": 0}
    of_classes = GradientBoostingClassifier(class_weight=weights, **options).fit(X, y)
    of_rows = GradientBoostingClassifier(**options)
    of_rows.fit(X, y, compute_sample_weight(weights, y))
    assert_array_equal(of_classes.predict_proba(X), of_rows.predict_proba(X))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("options", [{}, {"tree_method": "exact"}, {"dropout": 0.2}])
@pytest.mark.parametrize(
    ("loss", "rate"),
    [
        ("squared_error", 1e300),
        ("gamma", 1000.0),
        ("poisson", 1000.0),
        (lambda y, score: (score - y, np.ones_like(score)), 1e308),
    ],
)
def test_a_rate_with_which_scores_overflow_is_refused(
    numbers: Any, options: dict[str, Any], loss: Any, rate: float
) -> None:
    X, y = numbers
    options = {"n_estimators": 3, "random_state": 0, **options}
    model = GradientBoostingRegressor(loss, learning_rate=rate, **options)
    with pytest.raises(ParameterError, match="learning_rate must be small enough"):
        model.fit(X, y)


def test_an_init_without_weights_is_refused_where_rows_weigh(numbers: Any) -> None:
    X, y = numbers
    model = GradientBoostingRegressor(init=KNeighborsRegressor(), n_estimators=2)
    model.fit(X, y)
    with pytest.raises(ParameterError, match="an init whose fit takes sample_weight"):
        model.fit(X, y, sample_weight=np.arange(len(y)) + 1.0)


def test_stopping_early_needs_two_rows() -> None:
    with pytest.raises(DataError, match="sets rows aside, but there is only one row;"):
        GradientBoostingRegressor(early_stopping=True).fit([[1.0]], [1.0])
    with pytest.raises(DataError, match="sets rows aside, but no class has two of the 2 rows;"):
        GradientBoostingClassifier(early_stopping=True).fit([[1.0], [2.0]], [0, 1])


def test_quantiles_leave_their_share_below(numbers: Any) -> None:
    X, y = numbers
    for share in (0.1, 0.5, 0.9):
        model = GradientBoostingRegressor("quantile", quantile=share, n_estimators=30).fit(X, y)
        assert abs(np.mean(y <= model.predict(X)) - share) < 0.07


def test_a_function_that_is_the_squared_error_grows_its_trees(numbers: Any) -> None:
    X, y = numbers
    own = GradientBoostingRegressor(
        lambda y, s: (s - y, np.ones_like(y)), init="zero", n_estimators=10, random_state=0
    ).fit(X, y)
    ours = GradientBoostingRegressor(init="zero", n_estimators=10, random_state=0).fit(X, y)
    assert_allclose(own.predict(X), ours.predict(X), rtol=1e-6)


def test_stages_end_at_the_prediction(numbers: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=6).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 6
    assert_array_equal(stages[-1], model.predict_proba(X))
    assert len(model.estimators_) == 18
    assert "score of" in model.estimators_[0].to_text()
    assert model.estimators_[-1].to_svg().startswith("<svg")
    assert model.estimators_[0].rules()


def test_several_outputs_are_fitted_side_by_side(numbers: Any) -> None:
    X, y = numbers
    both = GradientBoostingRegressor(n_estimators=10, max_features=1.0).fit(
        X, np.column_stack([y, -2 * y])
    )
    alone = GradientBoostingRegressor(n_estimators=10, max_features=1.0).fit(X, y)
    assert_allclose(both.predict(X)[:, 0], alone.predict(X))
    assert both.predict(X).shape == (len(y), 2)


def test_importances_of_three_kinds_name_the_features_in_use(numbers: Any) -> None:
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=10).fit(np.column_stack([X, np.ones(len(X))]), y)
    for kind in ("gain", "split", "cover"):
        share = model.importances(kind)  # type: ignore[arg-type]
        assert share.sum() == pytest.approx(1.0)
        assert share[-1] == 0.0
    assert_array_equal(model.feature_importances_, model.importances("gain"))


# Columns


def test_categories_gaps_and_text_need_no_encoding() -> None:
    columns, y = mixed()
    model = GradientBoostingRegressor(n_estimators=40).fit(columns, y)
    assert model.score(columns, y) > 0.9
    assert model.feature_importances_[2] > 0.2
    few = {name: column[:5] for name, column in columns.items()}
    assert np.isfinite(model.predict({**few, "colour": ["violet"] * 5})).all()


def test_frames_of_all_kinds_give_the_same_bytes(tmp_path: Path) -> None:
    columns, y = mixed()
    frame = pl.DataFrame({name: list(column) for name, column in columns.items()})
    frame = frame.with_columns(pl.col("age").fill_nan(None))
    found = []
    for n_jobs, X in ((1, pd.DataFrame(columns)), (2, frame), (7, frame.to_arrow())):
        model = GradientBoostingRegressor(
            n_estimators=5, n_jobs=n_jobs, subsample=0.8, random_state=1
        )
        treewright.save(model.fit(X, y).set_params(n_jobs=None), tmp_path / "m.tw")
        found.append((tmp_path / "m.tw").read_bytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("growth", ["leaf", "depth", "symmetric"])
def test_monotone_constraints_hold(growth: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (600, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.2, 600)
    model = GradientBoostingRegressor(
        n_estimators=30, growth=growth, max_depth=4, monotonic_cst=[1, -1]
    ).fit(X, y)
    line = np.linspace(-2, 2, 60)
    for fixed in (-1.0, 0.0, 1.0):
        assert np.all(np.diff(model.predict(np.column_stack([line, np.full(60, fixed)]))) >= 0)
        assert np.all(np.diff(model.predict(np.column_stack([np.full(60, fixed), line]))) <= 0)


def test_interactions_stay_within_their_groups() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    y = X["a"] * X["b"] + X["c"] * X["d"]
    model = GradientBoostingRegressor(
        n_estimators=20, interaction_cst=[["a", "c"], [1, 3]], min_samples_leaf=5
    ).fit(X, y)
    for tree in model.estimators_:
        for leaf in np.flatnonzero(tree.is_leaf):
            on_path, node = set(), int(leaf)
            while node > 0:
                node = int(tree.parent[node])
                on_path.add(int(tree.splits.feature[node]))
            assert on_path <= {0, 2} or on_path <= {1, 3}


def test_symmetric_trees_have_as_many_tests_as_levels(numbers: Any) -> None:
    model = GradientBoostingRegressor(n_estimators=5, growth="symmetric", max_depth=3).fit(*numbers)
    for tree in model.estimators_:
        tests = zip(tree.splits.feature[~tree.is_leaf], tree.splits.breaks, strict=True)
        assert len(set(tests)) <= 3
        assert 4 <= tree.n_leaves <= 8


def test_whole_weights_of_any_size_leave_slopes_their_bits(numbers: Any) -> None:
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=10, l2_regularization=0.0, random_state=0)
    alike = model.fit(X, y).train_score_
    large = 4_000_000 + np.arange(len(y)) % 2
    assert_allclose(model.fit(X, y, sample_weight=large).train_score_, alike, rtol=0.01)


def test_every_leaf_has_the_rows_it_needs(classes: Any) -> None:
    for growth in ("leaf", "depth", "symmetric"):
        model = GradientBoostingClassifier(n_estimators=10, growth=growth, min_samples_leaf=30)
        for tree in model.fit(*classes).estimators_:
            assert tree.n_samples[tree.is_leaf].min() >= 30
            assert tree.n_samples[0] == 569


# Rounds


def test_sampling_keeps_the_prediction_close(numbers: Any) -> None:
    X, y = numbers
    whole = (
        GradientBoostingRegressor(n_estimators=50, max_leaf_nodes=4, random_state=0)
        .fit(X, y)
        .score(X, y)
    )
    for kind in ("uniform", "mvs", "goss"):
        model = GradientBoostingRegressor(
            n_estimators=50, max_leaf_nodes=4, subsample=0.5, sampling=kind, random_state=0
        ).fit(X, y)
        assert abs(model.score(X, y) - whole) < 0.06
        rows = [int(t.n_samples[0]) for t in model.estimators_]
        assert 0.4 * len(y) < np.mean(rows) < 0.6 * len(y)


def test_column_shares_limit_what_trees_see(numbers: Any) -> None:
    model = GradientBoostingRegressor(n_estimators=20, max_features_per_tree=0.2, random_state=0)
    used = [set(t.splits.feature[~t.is_leaf]) for t in model.fit(*numbers).estimators_]
    assert all(len(u) <= 2 for u in used)
    assert len(set().union(*used)) > 4


def test_dropout_scores_add_up_to_the_prediction(numbers: Any) -> None:
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=15, dropout=0.3, random_state=0).fit(X, y)
    assert model.train_score_[-1] == pytest.approx(np.mean((model.predict(X) - y) ** 2))


def test_early_stopping_keeps_the_best_rounds(classes: Any) -> None:
    X, y = classes
    model = GradientBoostingClassifier(
        n_estimators=400, learning_rate=0.3, n_iter_no_change=5, random_state=0
    ).fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    assert model.n_iter_ == np.argmin(model.validation_score_) + 1 < 400
    assert len(model.estimators_) == model.n_iter_
    loss = -np.mean(np.log(model.predict_proba(X[300:])[np.arange(269), y[300:]]))
    assert model.validation_score_[model.n_iter_ - 1] == pytest.approx(loss)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy"])
def test_any_scorer_can_judge_the_rounds(classes: Any, scoring: Any) -> None:
    X, y = classes
    model = GradientBoostingClassifier(
        n_estimators=12, early_stopping=True, scoring=scoring, random_state=0
    ).fit(X, y)
    assert len(model.validation_score_) <= 12
    assert np.all(np.diff(model.validation_score_[: model.n_iter_]).sum() >= 0)
    seen: list[Any] = []

    def own(estimator: Any, X_: Any, y_: Any) -> float:
        seen.append((len(X_), len(y_)))
        return float(np.mean(estimator.predict(X_) == y_))

    model.set_params(scoring=own, random_state=0).fit(X, y)
    assert set(seen) == {(57, 57)}


def test_a_warm_start_grows_what_one_fit_would_have(classes: Any) -> None:
    X, y = classes
    step = {"learning_rate": 0.1, "subsample": 0.7, "max_features": 0.5, "random_state": 3}
    once = GradientBoostingClassifier(n_estimators=12, **step).fit(X, y)  # type: ignore[arg-type]
    twice = GradientBoostingClassifier(n_estimators=5, warm_start=True, **step).fit(X, y)  # type: ignore[arg-type]
    twice.set_params(n_estimators=12).fit(X, y)
    assert_array_equal(once.predict_proba(X), twice.predict_proba(X))
    assert_allclose(once.train_score_, twice.train_score_)


def test_an_estimator_can_be_the_start(numbers: Any) -> None:
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=5, init=LinearRegression()).fit(X, y)
    line = LinearRegression().fit(X, y)
    assert_allclose(model.init_.predict(X), line.predict(X))
    assert model.score(X, y) > line.score(X, y)


class Interrupting:
    """A scorer that presses Ctrl-C when it is asked for the n-th time."""

    def __init__(self) -> None:
        self.left = -1

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)
        return float(np.mean(estimator.predict(X) == y))


@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_ctrl_c_keeps_the_rounds_and_a_snapshot_goes_on_to_the_same_bytes(
    tmp_path: Path, classes: Any, dropout: float
) -> None:
    X, y = classes
    scorer = Interrupting()
    model = GradientBoostingClassifier(
        n_estimators=16,
        subsample=0.8,
        dropout=dropout,
        early_stopping=True,
        n_iter_no_change=99,
        scoring=scorer,
        random_state=0,
        every=4,
    ).fit(X, y)
    whole, score = model.predict_proba(X), model.validation_score_
    file = tmp_path / "fit.snapshot"
    model.set_params(snapshot=file)
    scorer.left = 11
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert 1 <= model.n_iter_ <= 11
    assert len(model.train_score_) >= 10
    assert file.exists()
    model.fit(X, y)
    assert not file.exists()
    assert_array_equal(model.predict_proba(X), whole)
    assert_array_equal(model.validation_score_, score)


def test_a_killed_fit_resumes_to_the_same_bytes(tmp_path: Path, classes: Any) -> None:
    X, y = classes
    file = tmp_path / "fit.snapshot"
    code = f"""
        from sklearn.datasets import load_breast_cancer
        from treewright import GradientBoostingClassifier
        X, y = load_breast_cancer(return_X_y=True)
        GradientBoostingClassifier(
            n_estimators=100000, learning_rate=0.01, verbose=1, random_state=0, subsample=0.5,
            snapshot={str(file)!r}, every=3,
        ).fit(X, y)
    """
    killed = subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(treewright.__file__).parents[1])},
    )
    assert killed.stdout is not None
    for line in killed.stdout:
        if line.startswith(b"round 7 "):
            break
    killed.kill()
    killed.wait()
    killed.stdout.close()
    assert file.exists()
    about: dict[str, Any] = {"learning_rate": 0.01, "random_state": 0, "subsample": 0.5}
    resumed = GradientBoostingClassifier(n_estimators=40, snapshot=file, **about)
    kept = treewright_rounds(file)
    assert kept >= 3
    if kept <= 40:
        whole = GradientBoostingClassifier(n_estimators=40, **about).fit(X, y)
        assert_array_equal(resumed.fit(X, y).predict_proba(X), whole.predict_proba(X))


def treewright_rounds(file: Path) -> int:
    """Rounds in a snapshot."""
    from treewright.ensembles.boosting.snapshot import Snapshots

    return int(Snapshots(file, 1, "")._read()["n_done"])


# Bad input

BAD: dict[str, tuple[Any, str]] = {
    "negative counts": (
        lambda X, y: GradientBoostingRegressor("poisson").fit(X, y - y.mean()),
        'loss="poisson" needs a target that is at least 0',
    ),
    "gamma at zero": (
        lambda X, y: GradientBoostingRegressor("gamma").fit(X, y * 0 + [0.0] + (y > 99)),
        'loss="gamma" needs a target that is above 0',
    ),
    "tweedie of zeros": (
        lambda X, y: GradientBoostingRegressor("tweedie").fit(X, y * 0),
        "got 0 everywhere",
    ),
    "all gaps": (
        lambda X, y: GradientBoostingRegressor().fit(X * np.nan, y),
        "got gaps in all cells",
    ),
    "other columns to judge": (
        lambda X, y: GradientBoostingRegressor().fit(X, y, eval_set=(X[:, 1:], y)),
        "eval_set must have the columns of X",
    ),
    "unseen classes to judge": (
        lambda X, y: GradientBoostingClassifier().fit(X, y > 99, eval_set=(X, y * 0 + 7)),
        "eval_set must have targets like y",
    ),
    "a loss of NaN": (
        lambda X, y: GradientBoostingRegressor(lambda y, s: (y * np.nan, y)).fit(X, y),
        "got a gradient that is NaN or infinite in 442 places",
    ),
    "a loss of another shape": (
        lambda X, y: GradientBoostingRegressor(lambda y, s: (y, y[:-1])).fit(X, y),
        "loss must return a hessian of shape",
    ),
    "a loss of words": (
        lambda X, y: GradientBoostingRegressor(lambda y, s: ("a", y)).fit(X, y),
        "loss must return a gradient of numbers, got str",
    ),
    "text to judge where numbers were": (
        lambda X, y: GradientBoostingRegressor().fit(
            {"a": y}, y, eval_set=({"a": np.full(len(y), "x")}, y)
        ),
        "eval_set must have columns like those of X",
    ),
    "fewer targets than rows to judge": (
        lambda X, y: GradientBoostingRegressor().fit(X, y, eval_set=(X, y[:5])),
        "eval_set must have a target for each row, got 442 rows and 5 targets",
    ),
    "a snapshot in no folder": (
        lambda X, y: GradientBoostingRegressor(snapshot="no such folder/fit").fit(X, y),
        "must lie in a folder that exists",
    ),
    "a loss of one array": (
        lambda X, y: GradientBoostingRegressor(lambda y, s: np.array(3.0)).fit(X, y),
        "loss must return two arrays",
    ),
    "exponential for three": (
        lambda X, y: GradientBoostingClassifier("exponential").fit(X, np.arange(442) % 3),
        "tells two classes apart, got 3",
    ),
    "an unknown scorer": (
        lambda X, y: GradientBoostingRegressor(scoring="nice").fit(X, y),
        "scoring must be",
    ),
    "a metric as scorer": (
        lambda X, y: GradientBoostingRegressor(scoring=lambda y, p: 1.0).fit(X, y),
        "scoring must be a scorer f(model, X, y)",
    ),
    "a scorer of classes for numbers": (
        lambda X, y: GradientBoostingRegressor(scoring="roc_auc").fit(X, y),
        "scoring must be a scorer of numbers",
    ),
    "a scorer of words": (
        lambda X, y: GradientBoostingRegressor(
            scoring=lambda m, X, y: "good", early_stopping=True
        ).fit(X, y),
        "scoring must give one number, got str",
    ),
    "a loss of negative hessians": (
        lambda X, y: GradientBoostingRegressor(lambda y, s: (s - y, y * 0 - 1)).fit(X, y),
        "loss must return hessians of at least 0, got -1",
    ),
    "exact with bins' parameters": (
        lambda X, y: GradientBoostingRegressor(tree_method="exact", dropout=0.1).fit(X, y),
        'tree_method="exact" needs dropout=0.0',
    ),
    "unknown features": (
        lambda X, y: GradientBoostingRegressor(interaction_cst=[["no"]]).fit(X, y),
        "interaction_cst must hold features of the data",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_sentence(numbers: Any, name: str) -> None:
    run, words = BAD[name]
    with pytest.raises((DataError, ParameterError, SchemaError)) as caught:
        run(*numbers)
    text = str(caught.value)
    assert words in text
    assert "\n" not in text
    assert text.endswith(".")


FUNCTIONS = """
import sys
import numpy as np
from treewright import GradientBoostingRegressor

def model(file, rounds, factor=1.0):
    def loss(y, score):
        if y is None:
            return again(y, score) + unset
        return factor * (score - y), np.ones_like(y) * (1.0 if "a" in {"a", "b"} else 0.0)

    def again(y, score):
        return loss(y, score)

    def scorer(model, X, y):
        nonlocal rounds
        if not rounds:
            raise KeyboardInterrupt
        rounds -= 1
        return -np.mean((model.predict(X) - y) ** 2)

    return GradientBoostingRegressor(
        lambda y, score: loss(y, score), n_estimators=8, early_stopping=True, every=1,
        scoring=lambda *about: scorer(*about), random_state=np.random.RandomState(0), snapshot=file,
    )
    unset = None

X = np.random.default_rng(0).normal(size=(60, 3))
if __name__ == "__main__":
    model(sys.argv[1], 4).fit(X, X[:, 0])
"""


def test_a_snapshot_of_a_fit_with_functions_goes_on_in_another_process(tmp_path: Path) -> None:
    script, file = tmp_path / "functions.py", tmp_path / "cut"
    script.write_text(FUNCTIONS)
    path = {"PYTHONPATH": str(Path(treewright.__file__).parents[1])}
    command = [sys.executable, str(script), str(file)]
    cut = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **path})
    assert "KeyboardInterrupt" in cut.stderr
    here = runpy.run_path(str(script))
    X, model = here["X"], here["model"]
    with pytest.raises(DataError, match="with other data, weights or parameters"):
        model(file, 4, factor=2.0).fit(X, X[:, 0])
    resumed = model(file, 4).fit(X, X[:, 0])
    whole = model(None, 99).fit(X, X[:, 0])
    assert_array_equal(resumed.predict(X), whole.predict(X))


def test_a_snapshot_of_other_data_is_refused(tmp_path: Path, numbers: Any) -> None:
    X, y = numbers
    file = tmp_path / "fit.snapshot"
    scorer = Interrupting()
    scorer.left = 3
    model = GradientBoostingRegressor(
        snapshot=file, every=1, early_stopping=True, scoring=scorer, random_state=0
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(DataError, match="was made with other data, weights or parameters"):
        model.fit(X, y + 1)
    file.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot be read"):
        model.fit(X, y)


def test_a_saved_booster_says_the_same(tmp_path: Path) -> None:
    columns, y = mixed()
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [2, 4])]
    for model, target in (
        (GradientBoostingRegressor(n_estimators=6), y),
        (GradientBoostingClassifier(n_estimators=6), labels),
        (GradientBoostingRegressor(n_estimators=6, tree_method="exact"), y),
        (GradientBoostingRegressor(n_estimators=6, init=CARTRegressor(max_depth=2)), y),
    ):
        model.fit(columns, target)
        treewright.save(model, tmp_path / "model.tw")
        loaded = treewright.load(tmp_path / "model.tw")
        assert_array_equal(loaded.predict(columns), model.predict(columns))
        assert loaded.n_iter_ == 6
        assert loaded.summary() == model.summary()


def test_exact_trees_of_many_classes_answer_a_row_alone_as_among_others():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(120, 3)), np.arange(120) % 12
    model = GradientBoostingClassifier(tree_method="exact", n_estimators=3, random_state=0)
    together = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(
        np.vstack([model.predict_proba(row[None]) for row in X]), together
    )
