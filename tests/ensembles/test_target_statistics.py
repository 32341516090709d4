"""Nominal columns of very many categories: ordered target statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import treewright
from treewright import GradientBoostingClassifier, GradientBoostingRegressor
from treewright.ensembles.boosting.statistics import _all_rows, _rows_before
from treewright.errors import ModelFileError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::treewright.errors.UnseenCategoriesWarning")


def cities(n: int = 1500, m: int = 300, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    code = np.minimum(rng.exponential(m / 3, n).astype(int), m - 1)
    frame = pd.DataFrame({"size": rng.normal(size=n), "city": [f"c{k:03}" for k in code]})
    frame.loc[rng.random(n) < 0.05, "city"] = None
    effect = np.append(rng.normal(size=m), 0.5)
    return frame, effect[np.where(frame.city.isna(), m, code)] * 2 + frame["size"].to_numpy()


def small(kind: type, **parameters: Any) -> Any:
    return kind(n_estimators=20, max_categories=50, random_state=3, **parameters)


def test_a_row_sees_the_rows_of_its_category_that_come_before_it() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(-1, 6, 60).astype(np.int32)
    order, weight = rng.permutation(60), rng.integers(1, 4, 60).astype(float)
    targets = rng.normal(50, 1, (60, 2))
    found = _rows_before(codes, order, targets, weight, 3.0)
    prior = np.average(targets, axis=0, weights=weight)
    for place, row in enumerate(order):
        before = [r for r in order[:place] if codes[r] == codes[row]]
        total = weight[before] @ targets[before] + 3.0 * prior
        own = total / (weight[before].sum() + 3.0)
        assert_allclose(found[row], np.full(2, np.nan) if codes[row] < 0 else own, rtol=1e-12)
    later = _all_rows(codes, 7, targets, weight, 3.0)
    of_two = codes == 2
    own = (weight[of_two] @ targets[of_two] + 3.0 * prior) / (weight[of_two].sum() + 3.0)
    assert_allclose(later[2], own, rtol=1e-12)
    assert_allclose(later[6], prior)  # a category without rows
    assert np.isnan(later[-1]).all()


def test_statistics_tell_more_than_the_most_frequent_categories() -> None:
    X, y = cities(6000, 1500)
    new = slice(4500, None)

    def error(bound: int | None) -> float:
        model = GradientBoostingRegressor(n_estimators=60, max_categories=bound, random_state=0)
        return float(np.mean((model.fit(X[:4500], y[:4500]).predict(X[new]) - y[new]) ** 2))

    assert error(255) < 0.9 * error(None)


def test_chance_that_is_only_in_the_categories_is_not_learned() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"name": [f"n{k}" for k in rng.integers(0, 700, 2000)]})
    model = small(GradientBoostingClassifier, learning_rate=0.1).fit(X, rng.integers(0, 2, 2000))
    assert model.train_score_[-1] > 0.6  # with means of all rows, their own too, it is 0.49


@pytest.mark.parametrize("n_targets", [1, 2, 3])
def test_threads_frames_and_files_change_no_byte(tmp_path: Path, n_targets: int) -> None:
    X, y = cities()
    kind: Any = GradientBoostingClassifier
    if n_targets == 1:
        kind = GradientBoostingRegressor
    else:
        y = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_targets + 1)[1:-1]))
    kinds = [(1, X), (2, X), (1, pl.from_pandas(X)), (7, pl.from_pandas(X).to_arrow())]
    paths = []
    for k, (n_jobs, frame) in enumerate(kinds):
        model = small(kind, n_jobs=n_jobs).fit(frame, y).set_params(n_jobs=None)
        paths.append(tmp_path / f"{k}.model")
        treewright.save(model, paths[-1])
    assert len({path.read_bytes() for path in paths}) == 1
    again = treewright.load(paths[0])
    new = X.iloc[::-1].assign(city=X.city.replace("c001", "never seen"))
    assert_array_equal(again.predict(new), model.predict(new))
    assert len(again.importances()) == 2
    assert again.importances()[1] > 0.2
    assert len(again.estimators_[0].schema) == (2 if n_targets < 3 else 4)
    assert "city (" in again.estimators_[0].to_text()


def test_rounds_can_be_added_dropped_and_taken_up_again(tmp_path: Path) -> None:
    X, y = cities()
    whole = small(GradientBoostingRegressor, dropout=0.1).fit(X, y)
    part = small(GradientBoostingRegressor, dropout=0.1, warm_start=True)
    part.set_params(n_estimators=8).fit(X, y)
    part.set_params(n_estimators=20).fit(X, y)
    assert_allclose(part.predict(X), whole.predict(X))

    def halfway(y: Any, score: Any) -> Any:
        calls.append(1)
        if len(calls) == 13:
            raise RuntimeError
        return score - y, np.ones(len(y))

    calls: list[int] = []
    kept = small(GradientBoostingRegressor, loss=halfway, snapshot=str(tmp_path / "s"), every=4)
    with pytest.raises(RuntimeError):
        kept.fit(X, y)
    resumed = kept.fit(X, y)
    plain = small(GradientBoostingRegressor, init="zero").fit(X, y)
    assert len(calls) == 13 + 8
    assert_allclose(resumed.predict(X), plain.predict(X))


def test_rows_set_aside_see_what_new_rows_would() -> None:
    X, y = cities()
    new = (X[1000:], y[1000:])
    model = small(GradientBoostingRegressor).fit(X[:1000], y[:1000], eval_set=new)
    error = np.mean((model.predict(new[0]) - new[1]) ** 2)
    assert_allclose(model.validation_score_[model.n_iter_ - 1], error)


def test_constraints_name_the_columns_that_came() -> None:
    X, y = cities()
    y = np.digitize(y, [-1, 1])
    X["other"] = np.random.default_rng(3).normal(size=len(X))
    groups = [["size"], ["city", "other"]]
    model = small(GradientBoostingClassifier, interaction_cst=groups, monotonic_cst=None).fit(X, y)
    for tree in model.estimators_:
        used = {tree.schema.features[f].name.split(" (")[0] for f in tree.splits.feature if f >= 0}
        assert used <= {"size"} or used <= {"city", "other"}


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_shapley_values_are_those_of_the_columns(n_classes: int) -> None:
    X, y = cities()
    model: Any = small(GradientBoostingRegressor).fit(X, y)
    if n_classes:
        y = np.digitize(y, [0] if n_classes == 2 else [-1, 1])
        model = small(GradientBoostingClassifier).fit(X, y)
    asked, other = X[:30].copy(), X[40:41]
    asked.loc[:4, "city"], asked.loc[5:9, "city"] = None, "new"
    score = model.decision_function if n_classes else model.predict
    found = model.shap_values(asked)
    total = found.values.sum(axis=1) + found.base_values
    assert_allclose(total, score(asked), atol=1e-9)
    # of two columns and one row beside, by the definition
    size, city = asked.copy(), asked.copy()
    size["city"], city["size"] = other["city"].iloc[0], other["size"].iloc[0]
    own = score(asked) - score(city) + score(size) - score(other)
    found = model.shap_values(asked, background=other)
    assert_allclose(found.values[:, 0], own / 2, atol=1e-9)


def test_the_nearest_change_keeps_to_the_categories_of_the_column() -> None:
    X, y = cities()
    model = small(GradientBoostingClassifier).fit(X, y > 0)
    for row in range(5):
        change = treewright.explain.nearest_change(model, X[row : row + 1], X)
        changed = X[row : row + 1].assign(**dict(zip(change.features, change.after, strict=True)))
        assert model.predict(changed)[0] == change.new_answer != model.predict(X[row : row + 1])[0]


def test_what_statistics_cannot_do_is_refused_in_one_sentence(tmp_path: Path) -> None:
    X, y = cities()
    path = tmp_path / "rows.parquet"
    X.assign(y=y).to_parquet(path)
    with pytest.raises(ParameterError, match=r"column 'city' has \d+ categories, got 50"):
        small(GradientBoostingRegressor).fit(path, target="y")


@pytest.mark.parametrize("damage", [{}, [[0, np.zeros((2, 1))]], [[1, np.zeros((9, 1))]]])
def test_damaged_statistics_are_refused(damage: Any) -> None:
    model = small(GradientBoostingRegressor).fit(*cities())
    with pytest.raises(ModelFileError, match="damaged"):
        GradientBoostingRegressor()._restore({**model._state(), "statistics": damage})
