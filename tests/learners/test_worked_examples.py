"""Worked examples 14, 15 and 27: baseball salaries, two rings, transformed attributes."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.datasets import load_hitters, two_rings


def test_baseball_salaries_split_at_four_and_a_half_years_then_at_117_hits():
    hitters = load_hitters()
    salary = np.asarray(hitters.target, float)
    known = ~np.isnan(salary)
    X = {name: np.asarray(hitters.data.column(name), float)[known] for name in ("Years", "Hits")}
    model = tw.CARTRegressor(max_leaf_nodes=3).fit(X, np.log(salary[known]))
    tree = model.tree_
    assert tree.n_leaves == 3
    assert [tree.schema.names[f] for f in tree.splits.feature if f >= 0] == ["Years", "Hits"]
    assert tree.splits.breaks.tolist() == [4.5, 117.5]
    # The longer careers are the ones that the hits divide.
    assert tree.first_child[2] > 0


def test_error_on_new_rings_turns_up_again_while_the_training_error_falls():
    train, test = (two_rings(1000, noise=0.1, random_state=seed) for seed in (0, 1))
    model = tw.CARTClassifier().fit(train.data, train.target)
    curve = model.size_curve(test.data, test.target)
    assert np.all(np.diff(curve.n_leaves) > 0)
    assert np.all(np.diff(curve.training) < 0)
    assert curve.training[-1] == pytest.approx(0, abs=1e-12)
    best = int(np.argmin(curve.held_out))
    assert 0 < best < len(curve.n_leaves) - 1
    assert curve.held_out[0] > curve.held_out[best] + 0.1
    assert curve.held_out[-1] > curve.held_out[best] + 0.02
    assert curve.held_out[-1] == pytest.approx(1 - model.score(test.data, test.target))


def test_the_size_curve_is_a_figure_of_one_call():
    import matplotlib

    matplotlib.use("Agg")
    train, test = (two_rings(300, random_state=seed) for seed in (2, 3))
    curve = tw.CARTClassifier().fit(train.data, train.target).size_curve(test.data, test.target)
    axes = curve.plot()
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels[:2] == ["training", "held out"]
    assert len(str(curve).splitlines()) == len(curve.n_leaves) + 1
    assert "<table" in curve._repr_html_()


@pytest.mark.parametrize("transform", [np.exp, np.cbrt, lambda x: 5 * x - 3, np.arctan])
def test_increasing_transformations_leave_the_training_partition_alone(transform):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(400, 4)), 2)
    y = (X[:, 0] * X[:, 1] + rng.normal(scale=0.3, size=400) > 0).astype(int)
    plain = tw.CARTClassifier(min_samples_leaf=3).fit(X, y)
    moved = tw.CARTClassifier(min_samples_leaf=3).fit(transform(X), y)
    assert np.array_equal(plain.apply(X), moved.apply(transform(X)))
    numbers = tw.CARTRegressor(min_samples_leaf=3).fit(X, X[:, 2] + y)
    moved = tw.CARTRegressor(min_samples_leaf=3).fit(transform(X), X[:, 2] + y)
    assert np.array_equal(numbers.predict(X), moved.predict(transform(X)))


def test_the_order_of_columns_changes_nothing_where_no_tie_decides():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 5))
    y = X @ rng.normal(size=5) + rng.normal(size=500)
    order = rng.permutation(5)
    plain = tw.CARTRegressor(min_samples_leaf=5).fit(X, y)
    moved = tw.CARTRegressor(min_samples_leaf=5).fit(X[:, order], y)
    assert np.array_equal(plain.predict(X), moved.predict(X[:, order]))


def test_renamed_categories_in_the_same_order_give_the_same_predictions():
    rng = np.random.default_rng(5)
    colour = rng.choice(["amber", "blue", "cyan", "drab", "ecru"], size=300)
    renamed = np.char.add("tone-", colour)
    y = np.isin(colour, ["blue", "drab"]) ^ (rng.random(300) < 0.2)
    X, Z = ({"colour": names, "size": np.arange(300.0) % 7} for names in (colour, renamed))
    plain = tw.CARTClassifier(max_depth=4).fit(X, y)
    moved = tw.CARTClassifier(max_depth=4).fit(Z, y)
    assert np.array_equal(plain.predict(X), moved.predict(Z))
