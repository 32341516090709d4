"""Oblique trees on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd


def test_an_oblique_tree_is_fitted_shown_and_predicts(command, tmp_path):
    data, model, out = tmp_path / "data.csv", tmp_path / "m.tw", tmp_path / "out.csv"
    X = np.random.default_rng(0).random((150, 2))
    below = np.where(X.sum(axis=1) < 1, "yes", "no")
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "below": below}).to_csv(data, index=False)
    options = ("--target", "below", "--learner", "oblique", "--set", "random_state=0")
    fitted = command("fit", data, *options, "--output", model)
    assert fitted.code == 0, fitted
    shown = command("show", model)
    assert shown.code == 0, shown
    assert "2 leaves" in shown.out
    assert "·" in shown.out
    predicted = command("predict", model, data, "--output", out)
    assert predicted.code == 0, predicted
    assert len(pd.read_csv(out)) == 150
