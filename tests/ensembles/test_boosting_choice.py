"""Rounds and growth that cross-validation chooses inside the fit of a booster."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_friedman1

import treewright
from treewright import GradientBoostingClassifier, GradientBoostingRegressor
from treewright.ensembles.boosting.folds import (
    FOLD_RATE,
    FOLD_ROUNDS,
    LEAST_ROWS,
    N_FOLDS,
    deal,
)
from treewright.ensembles.boosting.material import read_material
from treewright.ensembles.boosting.settings import AUTO_MOST, AUTO_RATE, AUTO_ROUNDS
from treewright.errors import ModelFileError


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


def bytes_of(model: Any, folder: Path) -> bytes:
    """A model's file, but for the number of threads."""
    jobs = model.n_jobs
    treewright.save(model.set_params(n_jobs=None), folder / "model.tw")
    model.set_params(n_jobs=jobs)
    return (folder / "model.tw").read_bytes()


# What is chosen


def test_noise_ends_a_fit_early_and_a_clean_target_goes_on() -> None:
    X, y = make_friedman1(200, noise=0.0, random_state=0)
    noise = np.random.default_rng(0).normal(size=200)
    clean = GradientBoostingRegressor(random_state=0).fit(X, y)
    noisy = GradientBoostingRegressor(random_state=0).fit(X, noise)
    assert clean.n_iter_ > AUTO_ROUNDS
    assert noisy.n_iter_ < 40


def test_the_fit_learns_as_much_as_the_best_round_of_the_folds(iris: Any) -> None:
    model = GradientBoostingClassifier(random_state=0).fit(*iris)
    best = int(np.argmin(model.validation_score_)) + 1
    assert model.n_iter_ == round(best * FOLD_RATE / AUTO_RATE) == len(model.train_score_)
    assert len(model.validation_score_) == min(best + model.n_iter_no_change, FOLD_ROUNDS)
    rate = 0.13
    model = GradientBoostingClassifier(learning_rate=rate, random_state=0).fit(*iris)
    best = int(np.argmin(model.validation_score_)) + 1
    assert model.n_iter_ == round(best * FOLD_RATE / rate)


def test_the_better_growth_is_chosen_and_a_given_one_stays() -> None:
    draw = np.random.default_rng(1)
    smooth = draw.uniform(-1, 1, (300, 5))
    corner = draw.uniform(0, 1, (300, 2))
    models = [
        GradientBoostingRegressor(random_state=0).fit(smooth, np.sin(2 * smooth).sum(axis=1)),
        GradientBoostingClassifier(random_state=0).fit(corner, (corner > 0.8).all(axis=1)),
    ]
    assert [model.growth_ for model in models] == ["symmetric", "leaf"]
    model = GradientBoostingRegressor(growth="leaf", random_state=0).fit(smooth, smooth[:, 0])
    assert model.growth_ == "leaf"


# What is not


def test_given_rounds_are_done_as_they_are(iris: Any, tmp_path: Path) -> None:
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(*iris)
    assert (model.n_iter_, model.growth_, len(model.validation_score_)) == (30, "leaf", 0)
    plain = GradientBoostingClassifier(early_stopping=False, random_state=0).fit(*iris)
    assert (plain.n_iter_, len(plain.validation_score_)) == (AUTO_ROUNDS, 0)
    same = GradientBoostingClassifier(n_estimators=AUTO_ROUNDS, random_state=0).fit(*iris)
    assert_array_equal(plain.predict_proba(iris[0]), same.predict_proba(iris[0]))


def test_few_rows_and_lone_classes_are_learned_without_folds() -> None:
    draw = np.random.default_rng(2)
    X = draw.normal(size=(LEAST_ROWS, 3))
    few = GradientBoostingRegressor(random_state=0).fit(X[1:], X[1:, 0])
    assert few.n_iter_ == AUTO_ROUNDS
    alone = GradientBoostingClassifier(early_stopping="auto").fit(X, np.arange(LEAST_ROWS))
    assert alone.n_iter_ == AUTO_ROUNDS
    y = np.r_[0, draw.integers(1, 3, LEAST_ROWS)]
    model = GradientBoostingClassifier(random_state=0).fit(np.vstack([X[:1], X]), y)
    assert len(model.validation_score_)
    assert np.all(np.isfinite(model.validation_score_))


def test_a_loss_without_a_value_needs_a_scorer_for_folds() -> None:
    X, y = make_friedman1(120, random_state=0)

    def squares(y_: Any, score: Any) -> Any:
        return score - y_, np.ones(len(y_))

    plain = GradientBoostingRegressor(squares, random_state=0).fit(X, y)
    assert plain.n_iter_ == AUTO_ROUNDS
    judged = GradientBoostingRegressor(squares, scoring="r2", random_state=0).fit(X, y)
    best = int(np.argmax(judged.validation_score_)) + 1
    assert judged.n_iter_ == round(best * FOLD_RATE / AUTO_RATE)


def test_an_eval_set_judges_instead_of_folds(iris: Any) -> None:
    X, y = iris
    model = GradientBoostingClassifier(random_state=0).fit(X[::2], y[::2], eval_set=(X, y))
    assert model.growth_ == "leaf"
    assert model.n_iter_ == np.argmin(model.validation_score_) + 1 <= AUTO_MOST


# Same data, same model


def test_order_threads_and_storage_do_not_change_the_choice(iris: Any, tmp_path: Path) -> None:
    X, y = iris
    expected = bytes_of(GradientBoostingClassifier(random_state=0).fit(X, y), tmp_path)
    for n_jobs in (2, 7):
        model = GradientBoostingClassifier(random_state=0, n_jobs=n_jobs).fit(X, y)
        assert bytes_of(model, tmp_path) == expected
    order = np.random.default_rng(0).permutation(len(y))
    model = GradientBoostingClassifier(random_state=0).fit(X[order], y[order])
    assert bytes_of(model, tmp_path) == expected
    model = GradientBoostingClassifier(random_state=0).fit(csr_array(X), y)
    assert_array_equal(
        model.validation_score_,
        GradientBoostingClassifier(random_state=0).fit(X, y).validation_score_,
    )


def test_every_row_judges_once_with_all_its_weight_and_is_learned_from_in_the_other_folds(
    iris: Any,
) -> None:
    X, y = iris
    weight = np.random.default_rng(3).integers(1, 9, len(y)).astype(float)
    for each in (None, weight, weight + 0.5):
        material = read_material(GradientBoostingClassifier(), X, y, each)
        judged = []
        for learn, fold in deal(material):
            assert np.bincount(fold.y).min() >= len(y) // 3 // N_FOLDS
            assert_array_equal(np.sort([*learn.rows, *fold.rows]), np.arange(len(y)))
            if material.count is not None:
                assert_array_equal(fold.count, material.count[fold.rows])
            judged.extend(fold.rows)
        assert_array_equal(np.sort(judged), np.arange(len(y)))


def test_weights_of_classes_that_are_multiples_do_not_put_copies_into_other_folds() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    y = (X[:, 0] + random.normal(size=400) > 1).astype(int)
    plain, whole, near = (
        GradientBoostingClassifier(class_weight=weight, random_state=0).fit(X, y).n_iter_
        for weight in (None, {0: 1, 1: 4}, {0: 1, 1: 4.01})
    )
    assert max(whole, near) < 3 * plain
    assert abs(whole - near) < 0.5 * near


def test_a_small_source_has_the_bytes_of_a_fit_in_memory(tmp_path: Path) -> None:
    X, y = make_friedman1(300, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    table = pa.table({f"x{k}": X[:, k] for k in range(4)})
    whole = table.append_column("y", pa.array(y)).append_column("w", pa.array(weight))
    model = GradientBoostingRegressor(random_state=0).fit(table, y, sample_weight=weight)
    blocks = GradientBoostingRegressor(random_state=0)
    blocks.fit(whole, target="y", sample_weight="w")
    model._name_target("y")
    assert bytes_of(blocks, tmp_path) == bytes_of(model, tmp_path)


# Long work


class Pressing:
    """A loss that presses Ctrl-C when it is asked for the n-th time."""

    def __init__(self, left: int = -1) -> None:
        self.left, self.asked = left, 0

    def __call__(self, y: Any, score: Any) -> Any:
        self.asked += 1
        if self.asked == self.left:
            signal.raise_signal(signal.SIGINT)
        return score - y, np.ones(len(y))


def test_ctrl_c_keeps_rounds_of_the_fit_but_none_of_the_folds(tmp_path: Path) -> None:
    X, y = make_friedman1(80, random_state=0)
    asked = Pressing()
    options: dict[str, Any] = {"scoring": "r2", "random_state": 0}
    whole = GradientBoostingRegressor(asked, **options).fit(X, y)
    interrupted = GradientBoostingRegressor(Pressing(5), **options)
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(X, y)
    assert not hasattr(interrupted, "n_iter_")
    late = asked.asked - whole.n_iter_ + 4
    interrupted.set_params(loss=Pressing(late), warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(X, y)
    assert 3 <= interrupted.n_iter_ <= 4
    interrupted.fit(X, y)
    assert_array_equal(interrupted.predict(X), whole.predict(X))
    assert_array_equal(interrupted.validation_score_, whole.validation_score_)


def test_a_snapshot_goes_on_with_the_rounds_that_were_chosen(tmp_path: Path) -> None:
    X, y = make_friedman1(80, random_state=0)
    asked = Pressing()
    options: dict[str, Any] = {"scoring": "r2", "random_state": 0, "every": 2}
    whole = GradientBoostingRegressor(asked, **options).fit(X, y)
    asked.left, asked.asked = asked.asked - 5, 0
    model = GradientBoostingRegressor(asked, snapshot=tmp_path / "fit.snapshot", **options)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (tmp_path / "fit.snapshot").exists()
    model.fit(X, y)
    assert_array_equal(model.predict(X), whole.predict(X))


def test_a_saved_model_knows_what_was_chosen(iris: Any, tmp_path: Path) -> None:
    model = GradientBoostingClassifier(random_state=0).fit(*iris)
    treewright.save(model, tmp_path / "model.tw")
    loaded = treewright.load(tmp_path / "model.tw")
    assert (loaded.growth_, loaded.n_iter_) == (model.growth_, model.n_iter_)
    loaded.set_params(warm_start=True).fit(*iris)
    assert_array_equal(loaded.predict_proba(iris[0]), model.predict_proba(iris[0]))
    for damage in ("leaf", ["round", 4], ["leaf", 4.0]):
        with pytest.raises(ModelFileError, match="growth"):
            GradientBoostingClassifier()._restore({**model._state(), "chosen": damage})


def test_lines_about_the_folds_say_so(iris: Any, capsys: Any) -> None:
    GradientBoostingClassifier(verbose=5, random_state=0).fit(*iris)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("folds (leaf), round 5  set aside ")
    assert any(line.startswith("folds (symmetric), round 5") for line in lines)
    assert lines[-1].startswith("round ")
    assert "training" in lines[-1]
