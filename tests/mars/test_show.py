"""What a fitted MARS model tells: text, tables, pictures and source."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1

from tests.mars.test_mars import mixed
from treewright import MARSClassifier, MARSRegressor
from treewright.errors import ParameterError

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def model():
    X, y = mixed()
    return MARSRegressor(degree=2).fit(X, pd.Series(y, name="price"))


def test_the_formula_has_one_line_per_term(model):
    lines = model.to_text(digits=4).splitlines()
    assert lines[0] == "price ="
    assert len(lines) == len(model.basis_) + 1
    assert all(line.startswith(("  + ", "  - ")) for line in lines[2:])


def test_the_summary_has_figures_and_a_row_per_term(model):
    summary = model.summary()
    text = str(summary)
    assert f"{len(model.basis_)} of {len(model.forward_basis_)} terms" in text
    assert f"R² {model.rsq_:.4f}" in text
    assert len(summary.frame()) == len(model.basis_)
    assert "<table>" in summary._repr_html_()
    assert summary.plot() is not None


def test_anova_says_what_is_lost_without_each_part(model):
    anova = model.anova()
    assert np.all(anova.rss >= model.rss_ * (1 - 1e-12))
    assert anova.n_terms.sum() == len(model.basis_) - 1
    assert anova.frame().shape[0] == len(anova.features)
    assert anova.plot() is not None


def test_parts_of_an_additive_model_have_their_standard_deviations():
    X, y = make_friedman1(300, random_state=0)
    model = MARSRegressor().fit(X, y)
    matrix, anova = model.basis_matrix(X), model.anova()
    for k, name in enumerate(anova.features):
        own = [t for t in range(1, len(model.basis_)) if f"x{model._features_of(t)[0]}" == name]
        part = matrix[:, own] @ model.coefficients_[own]
        assert anova.sd[k] == pytest.approx(part.std())


def test_importance_lists_used_features_first(model):
    importance = model.importance()
    shown = list(importance.frame()["feature"])
    assert shown[0] == "a"
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert importance.plot() is not None


def test_python_source_predicts_as_the_model_does():
    X, y = mixed()
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    three = np.where(y > 2, "p", np.where(y > 1, "q", "r"))
    for estimator, target in (
        (MARSRegressor(degree=2), y),
        (MARSRegressor(), np.column_stack([y, -y])),
        (MARSClassifier(degree=2), three == "p"),
        (MARSClassifier(degree=2), three),
    ):
        fitted = estimator.fit(X, target)
        space: dict = {}
        exec(fitted.to_python(), space)
        found = np.array([space["predict"](row) for row in rows])
        expected = fitted.predict_proba(X) if hasattr(fitted, "classes_") else fitted.predict(X)
        if expected.ndim == 2 and found.ndim == 1:
            expected = expected[:, 1]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_names_cannot_break_out_of_the_source():
    name = "x'] + __import__('os').name + row['"
    X = pd.DataFrame({name: np.arange(40.0)})
    fitted = MARSRegressor().fit(X, np.abs(np.arange(40.0) - 20))
    space: dict = {}
    exec(fitted.to_python(), space)
    assert space["predict"]({name: 20.0}) == pytest.approx(fitted.predict(X)[20])


def test_effects_are_drawn_for_every_feature_and_pair(model):
    figure = model.plot()
    titles = {(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes}
    assert ("a", "price") in titles
    assert ("b", "c") in titles
    assert len(model.plot(features=["a"]).axes) < len(figure.axes)
    with pytest.raises(ParameterError, match="nothing to draw"):
        MARSRegressor(max_terms=1).fit(*make_friedman1(30, random_state=0)).plot()


def test_a_classifier_of_three_classes_draws_a_curve_for_each():
    X, y = mixed()
    fitted = MARSClassifier().fit(X[["a", "b"]], np.digitize(y, [1, 2]))
    assert len(fitted.plot(features=["a"]).axes[0].lines) == 3
