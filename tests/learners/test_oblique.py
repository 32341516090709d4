"""Oblique trees: lines are found, single features win ties, tests stay readable."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import treewright as tw
from treewright.tree.split import SplitKind

METHODS = ["oc1", "cart-lc", "lda", "logistic", "ridge", "random"]


def triangle(n: int, seed: int):
    X = np.random.default_rng(seed).random((n, 2))
    return X, X.sum(axis=1) < 1


def grid():
    """The unit square by tenths, and which points lie below x + y = 1."""
    X = np.stack(np.meshgrid(np.arange(11), np.arange(11)), axis=-1).reshape(-1, 2) / 10
    return X, X.sum(axis=1) < 0.95


def is_linear(model) -> np.ndarray:
    return model.tree_.splits.kind == SplitKind.LINEAR


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [100, 500])
def test_oc1_finds_the_line_with_two_leaves(n, seed):
    X, y = triangle(n, seed)
    model = tw.ObliqueTreeClassifier(random_state=0).fit(X, y)
    assert model.get_n_leaves() == 2
    assert model.score(X, y) == 1.0
    _, weight, _ = zip(*model.tree_.splits.node_terms(0), strict=True)
    assert weight[0] == pytest.approx(weight[1], rel=0.1)
    assert tw.CARTClassifier().fit(X, y).get_n_leaves() > 5


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_line_of_a_grid_with_two_leaves(method):
    X, y = grid()
    model = tw.ObliqueTreeClassifier(method=method, random_state=0).fit(X, y)
    assert (model.get_n_leaves(), model.score(X, y)) == (2, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_needs_fewer_leaves_than_cart_on_drawn_points(method):
    X, y = triangle(300, 1)
    model = tw.ObliqueTreeClassifier(method=method, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.get_n_leaves() < tw.CARTClassifier().fit(X, y).get_n_leaves()


@pytest.mark.parametrize("method", ["oc1", "cart-lc", "ridge", "random"])
def test_numbers_with_a_step_across_a_line_need_two_leaves(method):
    X, below = grid()
    model = tw.ObliqueTreeRegressor(method=method, random_state=0).fit(X, np.where(below, 3.0, 7.0))
    assert model.get_n_leaves() == 2
    assert_array_equal(model.predict([[0.1, 0.1], [0.9, 0.9]]), [3.0, 7.0])


@pytest.mark.parametrize("method", METHODS)
def test_a_test_of_one_feature_wins_ties(method):
    X, _ = triangle(200, 0)
    y = X[:, 1] < 0.4
    model = tw.ObliqueTreeClassifier(method=method, random_state=0).fit(X, y)
    assert model.get_n_leaves() == 2
    assert not is_linear(model).any()
    assert model.tree_.splits.feature[0] == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_linear_test_gains_more_than_every_test_of_one_feature(method):
    X, y = triangle(200, 4)
    y = y ^ (np.random.default_rng(0).random(200) < 0.1)
    model = tw.ObliqueTreeClassifier(method=method, max_depth=1, random_state=0).fit(X, y)
    axis = tw.CARTClassifier(max_depth=1).fit(X, y)
    gain = [
        m.tree_.impurity[0] - m.tree_.impurity[1:] @ (m.tree_.weight[1:] / 200)
        for m in (model, axis)
    ]
    assert is_linear(model)[0]
    assert gain[0] > gain[1]


def test_columns_of_noise_are_deleted_from_the_test():
    rng = np.random.default_rng(3)
    X = rng.random((300, 6))
    y = X[:, 1] + X[:, 4] < 1
    model = tw.ObliqueTreeClassifier(method="lda", deletion=0.05, max_depth=1).fit(X, y)
    assert_array_equal(sorted(f for f, _, _ in model.tree_.splits.node_terms(0)), [1, 4])


def test_deletion_says_how_much_gain_a_coefficient_must_be_worth():
    rng = np.random.default_rng(3)
    X = rng.random((300, 3))
    y = X @ [1.0, 1.0, 0.2] < 1.1
    terms = [
        len(
            tw.ObliqueTreeClassifier(method="lda", deletion=share, max_depth=1)
            .fit(X, y)
            .tree_.splits.node_terms(0)
        )
        for share in (0.0, 0.3)
    ]
    assert terms == [3, 2]


def test_a_row_with_a_gap_goes_to_the_side_of_the_mean():
    X, y = triangle(300, 2)
    X = X * [1.0, 0.9]  # the mean lies below the line
    y = X.sum(axis=1) < 1
    X[:12, 0] = np.nan
    model = tw.ObliqueTreeClassifier(random_state=0, max_depth=1).fit(X, y)
    assert is_linear(model)[0]
    features, weight = map(np.array, list(zip(*model.tree_.splits.node_terms(0), strict=True))[:2])
    side = int(weight @ np.nanmean(X, axis=0)[features] >= model.tree_.splits.node_breaks(0)[0])
    assert_array_equal(model.apply(X[:12]), np.full(12, 1 + side))
    assert_array_equal(model.apply([[0.0, np.nan], [9.0, np.nan]]), [1 + side] * 2)


def test_nominal_features_may_be_tested_alone():
    X, y = triangle(400, 5)
    colour = np.random.default_rng(1).choice(["red", "green", "blue"], 400)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "colour": colour})
    model = tw.ObliqueTreeClassifier(nominal_terms=None, random_state=0)
    model.fit(frame, y ^ (colour == "red"))
    splits = model.tree_.splits
    assert model.score(frame, y ^ (colour == "red")) == 1.0
    assert (splits.kind == SplitKind.CODES).any()
    assert is_linear(model).any()
    assert 2 not in splits.term_feature


CODINGS = ["target", "indicators"]
LIFT = {"blue": 0.0, "green": 0.35, "red": -0.35}


def shifted(n: int, gaps: bool = False):
    """Points below or above x + lift of their colour = 0.5; three colours, blue most frequent."""
    rng = np.random.default_rng(11)
    x = rng.integers(0, 41, n) / 40
    colour = rng.choice(list(LIFT), n, p=[0.5, 0.3, 0.2]).astype(object)
    y = x + np.array([LIFT[c] for c in colour]) < 0.51
    if gaps:
        colour[: n // 10] = None
    return pd.DataFrame({"x": x, "noise": rng.random(n), "colour": colour}), y


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("method", METHODS)
def test_a_border_that_a_category_shifts_is_one_test(method, coding):
    X, y = shifted(400)
    model = tw.ObliqueTreeClassifier(
        method=method, nominal_terms=coding, n_projections=200, max_depth=1, random_state=0
    ).fit(X, y)
    alone = tw.ObliqueTreeClassifier(
        method=method, nominal_terms=None, n_projections=200, max_depth=1, random_state=0
    ).fit(X, y)
    assert is_linear(model)[0]
    assert {0, 2} <= {f for f, _, _ in model.tree_.splits.node_terms(0)}
    assert model.score(X, y) > alone.score(X, y)


@pytest.mark.parametrize("coding", CODINGS)
def test_the_shift_of_every_category_is_found(coding):
    X, y = shifted(400)
    model = tw.ObliqueTreeClassifier(nominal_terms=coding, random_state=0).fit(X, y)
    assert (model.get_n_leaves(), model.score(X, y)) == (2, 1.0)
    (_, x, _), (_, green, one), (_, red, two) = model.tree_.splits.node_terms(0)
    assert (one, two) == (1, 2)  # blue, the most frequent, counts 0
    assert green / x == pytest.approx(0.35, abs=0.05)
    assert red / x == pytest.approx(-0.35, abs=0.05)
    shares = model.feature_importances_
    assert_array_equal(shares, [0.5, 0.0, 0.5])  # a feature counts once, however many terms it has


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_categories_shift_numbers_too(coding, n_outputs):
    X, below = shifted(400)
    y = np.where(below, 1.0, 3.0)[:, None] * np.arange(1, 1 + n_outputs)
    y = y[:, 0] if n_outputs == 1 else y
    model = tw.ObliqueTreeRegressor(nominal_terms=coding, random_state=0).fit(X, y)
    assert model.get_n_leaves() == 2


def test_gaps_go_to_the_side_of_the_mean_and_unseen_categories_count_as_the_most_frequent():
    X, y = shifted(400, gaps=True)
    model = tw.ObliqueTreeClassifier(random_state=0, max_depth=1).fit(X, y)
    asked = pd.DataFrame(
        {"x": [0.0, 1.0] * 2, "noise": 0.5, "colour": [None, None, "pink", "pink"]}
    )
    assert len(set(model.apply(asked))) == 1  # a colour that was never seen is a gap
    assert_array_equal(model.apply(X[:40]), np.repeat(model.apply(asked)[0], 40))
    # green is known, but not among the rows of the node
    few = X.copy()
    few["colour"] = pd.Categorical(few["colour"], ["blue", "green", "red"])
    few.loc[few["colour"] == "green", "colour"] = "blue"
    model = tw.ObliqueTreeClassifier(random_state=0, max_depth=1).fit(few, y)
    assert is_linear(model)[0]
    rows = few.iloc[40:].copy()
    rows["colour"] = pd.Categorical(["green"] * len(rows), ["blue", "green", "red"])
    as_blue = rows.assign(colour=pd.Categorical(["blue"] * len(rows), ["blue", "green", "red"]))
    assert_array_equal(model.apply(rows), model.apply(as_blue))


@pytest.mark.parametrize("coding", CODINGS)
def test_terms_of_categories_are_shown_stored_explained_and_kept_in_rules(coding, tmp_path):
    X, y = shifted(400, gaps=True)
    model = tw.ObliqueTreeClassifier(nominal_terms=coding, max_depth=2, random_state=0).fit(X, y)
    tree = model.tree_
    assert any(code >= 0 for _, _, code in tree.splits.node_terms(0))
    for shown in (tree.to_text(), str(tree.rules()), tree.to_svg(), tree.rule_set().to_text()):
        assert "[colour = green]" in shown
    expected = model.predict(X)
    tw.save(model, tmp_path / "model")
    assert_array_equal(tw.load(tmp_path / "model").predict(X), expected)
    again = type(tree).from_dict(tree.to_dict())
    assert_array_equal(again.splits.term_code, tree.splits.term_code)
    assert_array_equal(tree.rule_set().predict(X), expected)
    rules = type(tree.rule_set()).from_dict(tree.rule_set().to_dict())
    assert_array_equal(rules.predict(X), expected)


def test_a_forest_sums_categories_too(tmp_path):
    X, y = shifted(300, gaps=True)
    base = tw.ObliqueTreeClassifier(method="random")
    model = tw.RandomForestClassifier(10, base=base, random_state=0).fit(X, y)
    assert any(np.any(member.tree_.splits.term_code >= 0) for member in model.estimators_)
    tw.save(model, tmp_path / "forest")
    assert_array_equal(tw.load(tmp_path / "forest").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("coding", CODINGS)
def test_the_order_of_rows_does_not_change_a_test_of_categories(coding):
    X, y = shifted(300, gaps=True)
    order = np.random.default_rng(0).permutation(300)
    models = [
        tw.ObliqueTreeClassifier(nominal_terms=coding, random_state=0).fit(X.iloc[rows], y[rows])
        for rows in (np.arange(300), order)
    ]
    assert models[0].tree_.to_text() == models[1].tree_.to_text()


def test_text_rules_and_svg_show_the_rounded_test():
    X, y = triangle(300, 2)
    model = tw.ObliqueTreeClassifier(random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    features, weight = map(np.array, list(zip(*model.tree_.splits.node_terms(0), strict=True))[:2])
    assert_array_equal(features, [0, 1])
    assert max(weight) == 1.0
    assert_array_equal(weight, [float(f"{w:.6g}") for w in weight])
    for shown, digits in (
        (model.tree_.to_text(), 6),
        (str(model.tree_.rules()), 6),
        (model.tree_.to_svg(), 4),
    ):
        small = f"{weight.min():.{digits}g}"
        assert f"{small}·a + b" in shown or f"a + {small}·b" in shown


@pytest.mark.parametrize("kind", [tw.ObliqueTreeClassifier, tw.ObliqueTreeRegressor])
def test_a_saved_tree_is_the_one_that_is_loaded(kind, tmp_path):
    X, y = triangle(200, 3)
    model = kind(random_state=0).fit(X, y.astype(float))
    assert is_linear(model).any()
    tw.save(model, tmp_path / "model")
    copy = tw.load(tmp_path / "model")
    assert copy.tree_.to_text() == model.tree_.to_text()
    assert_array_equal(copy.predict(X), model.predict(X))


@pytest.mark.parametrize("method", ["oc1", "lda", "random"])
@pytest.mark.parametrize("max_features", ["sqrt", 3, None])
def test_a_forest_of_oblique_trees(method, max_features, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((240, 5))
    y = X[:, 0] + X[:, 1] + X[:, 2] < 1.5
    base = tw.ObliqueTreeClassifier(method=method, n_restarts=2)
    forests = [
        tw.RandomForestClassifier(
            8, base=base, max_features=max_features, random_state=0, n_jobs=n_jobs
        ).fit(X[:160], y[:160])
        for n_jobs in (1, 2)
    ]
    assert any(
        (member.tree_.splits.kind == SplitKind.LINEAR).any() for member in forests[0].estimators_
    )
    says = forests[0].predict_proba(X)
    assert_array_equal(forests[1].predict_proba(X), says)
    if max_features is None:
        plain = tw.RandomForestClassifier(8, max_features=None, random_state=0)
        plain.fit(X[:160], y[:160])
        assert forests[0].score(X[160:], y[160:]) > plain.score(X[160:], y[160:])
    tw.save(forests[0], tmp_path / "forest")
    assert_array_equal(tw.load(tmp_path / "forest").predict_proba(X), says)


def test_costs_and_weights_move_the_line():
    X, y = triangle(300, 6)
    y = y ^ (np.random.default_rng(2).random(300) < 0.15)
    plain, costly = (
        tw.ObliqueTreeClassifier(max_depth=1, random_state=0, class_weight=weight).fit(X, y)
        for weight in (None, {False: 1, True: 20})
    )
    assert costly.predict(X).sum() > plain.predict(X).sum()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_the_scale_of_columns_does_not_matter(scale):
    X, y = triangle(200, 7)
    model = tw.ObliqueTreeClassifier(random_state=0).fit(X * [1.0, scale], y)
    assert (model.get_n_leaves(), model.score(X * [1.0, scale], y)) == (2, 1.0)


def test_constant_and_copied_columns_do_no_harm():
    X, y = triangle(150, 8)
    X = np.column_stack([X, X[:, 0], np.full(150, 7.0)])
    for method in METHODS:
        model = tw.ObliqueTreeClassifier(method=method, random_state=0).fit(X, y)
        assert model.score(X, y) == 1.0


def test_ctrl_c_is_answered_within_half_a_second_on_many_rows(press_ctrl_c):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200_000, 20)), rng.integers(0, 3, 200_000)
    tw.ObliqueTreeClassifier().fit(X[:500], y[:500])
    for after in (0.4, 1.2):
        assert press_ctrl_c(after, lambda: tw.ObliqueTreeClassifier().fit(X, y)) < 0.5


@pytest.mark.parametrize(
    ("name", "forge"),
    [
        ("term_feature", lambda a: np.full_like(a, 9)),
        ("term_weight", lambda a: np.full_like(a, np.nan)),
        ("term_code", lambda a: a + np.uint8(7)),
        ("n_terms", np.zeros_like),
        ("term_weight", lambda a: a[:-1]),
    ],
)
def test_a_forest_whose_terms_do_not_fit_is_refused(name, forge):
    from treewright.errors import ModelFileError
    from treewright.tree.forest.arrays import Forest
    from treewright.tree.forest.check import check_forest

    X, y = shifted(300)
    base = tw.ObliqueTreeClassifier(method="random")
    forest = tw.RandomForestClassifier(5, base=base, random_state=0).fit(X, y)._body.forest
    check_forest(forest)
    arrays = {**forest.arrays, name: forge(forest.arrays[name].copy())}
    with pytest.raises(ModelFileError, match="damaged"):
        check_forest(Forest(forest.schema, arrays, criterion="gini"))


def test_a_forest_of_trees_with_costs_is_fitted_tree_by_tree():
    X, y = triangle(200, 3)
    base = tw.ObliqueTreeClassifier(method="random", class_weight="balanced")
    forest = tw.RandomForestClassifier(5, base=base, random_state=0).fit(X, y)
    assert any((member.tree_.splits.kind == SplitKind.LINEAR).any() for member in forest)
    assert forest.score(X, y) > 0.95


def test_trees_of_a_forest_that_grows_further_are_those_of_one_grown_at_once():
    X, y = triangle(200, 3)
    base = tw.ObliqueTreeClassifier(method="random")
    grown = tw.RandomForestClassifier(3, base=base, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=6).fit(X, y)
    whole = tw.RandomForestClassifier(6, base=base, random_state=0).fit(X, y)
    assert_array_equal(grown.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_forest_on_columns_of_two_values(n_columns):
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (60, n_columns)).astype(float)
    y = (X.sum(axis=1) > n_columns / 2) ^ (random.random(60) < 0.2)
    model = tw.BaggingClassifier(tw.ObliqueTreeClassifier(), 10, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7
