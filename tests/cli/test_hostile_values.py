"""Hostile names and values through the commands, from the file to every form of the model."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from tests.hostile import HOSTILE, can_be_encoded

NAMES = [name for name in HOSTILE if can_be_encoded(name) and name.strip() and "\0" not in name]
"""A file of lines holds no NUL, and a column has a name."""


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hostile_names_and_values_pass_through_the_commands(command, tmp_path):
    rng = np.random.default_rng(0)
    path, model = tmp_path / "data.csv", tmp_path / "model.tw"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["category", *NAMES, "target"])
        for _ in range(2):
            for name in NAMES:
                rows.writerow([name, *rng.integers(9, size=len(NAMES)), name])
    fit = command("fit", path, "--target", "target", "--learner", "c45", "--output", model)
    assert fit.code == 0, fit.err
    said = [fit]
    for words in (
        *(("show", model, "--as", form) for form in ("text", "rules", "svg", "html")),
        ("predict", model, path),
        ("evaluate", model, path, "--target", "target"),
        *(("export", model, "--to", form) for form in ("json", "python", "dot")),
    ):
        outcome = command(*words)
        assert outcome.code == 0, (words, outcome.err)
        said.append(outcome)
        if words[-1] in ("svg", "html"):
            assert "<script>alert" not in outcome.out
    for outcome in said[:3]:
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", outcome.out)
