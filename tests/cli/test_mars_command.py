"""MARS on the command line."""

from __future__ import annotations

import pandas as pd

from tests.mars.test_mars import mixed


def test_mars_is_fitted_shown_and_predicts(command, tmp_path):
    data, model, out = tmp_path / "data.csv", tmp_path / "m.tw", tmp_path / "out.csv"
    X, y = mixed(120)
    X.assign(price=y).to_csv(data, index=False)
    options = ("--target", "price", "--learner", "mars", "--set", "degree=2", "--output", model)
    fitted = command("fit", data, *options)
    assert fitted.code == 0, fitted
    assert "MARSRegressor of 'price'" in fitted.out
    assert "terms of" in fitted.out
    shown = command("show", model)
    assert shown.code == 0, shown
    assert "GCV" in shown.out
    assert "price" in shown.out
    predicted = command("predict", model, data, "--output", out)
    assert predicted.code == 0, predicted
    assert len(pd.read_csv(out)) == 120


def test_only_text_shows_a_sum_of_hinges(command, tmp_path):
    data, model = tmp_path / "data.csv", tmp_path / "m.tw"
    X, y = mixed(60)
    X.assign(big=y > 1).to_csv(data, index=False)
    assert command("fit", data, "--target", "big", "--learner", "mars", "--output", model).code == 0
    refused = command("show", model, "--as", "svg")
    assert refused.code == 2
    assert "MARS" in refused.err
