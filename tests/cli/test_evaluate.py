"""``treewright evaluate``: a model on new rows, a learner by holding rows out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import treewright
from treewright import datasets

CREDIT = datasets.load_german_credit()


@pytest.fixture(scope="module")
def credit(tmp_path_factory):
    path = tmp_path_factory.mktemp("credit") / "credit.csv"
    CREDIT.frame.to_csv(path, index=False)
    return path


def test_a_learner_is_cross_validated(command, credit):
    outcome = command("evaluate", credit, "--target", CREDIT.target_name, "--json", "--folds", 5)
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    expected = treewright.cross_validate(
        treewright.CARTClassifier(random_state=0),
        CREDIT.data,
        CREDIT.target,
        folds=5,
        random_state=0,
    )
    assert found["figures"]["accuracy"]["value"] == pytest.approx(expected.accuracy)
    assert len(found["folds"]) == 5
    assert outcome.err == ""


def test_costs_and_the_positive_class_are_named(command, credit, tmp_path):
    outcome = command(
        *("evaluate", credit, "--target", CREDIT.target_name, "--learner", "c45"),
        *("--costs", "bad:good=5", "--costs", "good:bad=1", "--positive", "bad"),
        *("--method", "holdout", "--picture", f"roc={tmp_path / 'roc.png'}"),
    )
    assert outcome.code == 0, outcome.err
    assert "C45Classifier, holdout" in outcome.out
    assert "positive class 'bad'" in outcome.out
    assert "mean cost" in outcome.out
    assert (tmp_path / "roc.png").stat().st_size > 1000


def test_a_model_is_judged_on_new_rows(command, credit, tmp_path):
    model = tmp_path / "credit.tw"
    assert command("fit", credit, "--target", CREDIT.target_name, "--output", model).code == 0
    outcome = command("evaluate", model, credit)
    assert outcome.code == 0, outcome.err
    assert "look like the rows that the model was trained on" in " ".join(outcome.out.split())


def test_numbers_and_groups(command, tmp_path):
    path = tmp_path / "numbers.csv"
    x = np.arange(90.0)
    lines = [f"{a},{int(a) % 9},{2 * a + 1}" for a in x]
    path.write_text("x,who,y\n" + "\n".join(lines) + "\n")
    words = ("evaluate", path, "--target", "y", "--group", "who", "--folds", 3, "--json")
    found = json.loads(command(*words).out)
    assert found["figures"]["r2"]["value"] > 0.9
    assert "by group" in found["method"]
    model = tmp_path / "numbers.tw"
    command("fit", path, "--target", "y", "--output", model)
    assert "RMSE" in command("evaluate", model, path).out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "--target must name the column"),
        (["--target", "clas"], 3, "Did you mean"),
        (["--target", CREDIT.target_name, "--method", "guess"], 2, "method must be one of"),
        (["--target", CREDIT.target_name, "--costs", "bad=5"], 2, "true:said=cost"),
        (["--target", CREDIT.target_name, "--costs", "bad:good=5"], 2, "has no cost"),
        (["--target", CREDIT.target_name, "--positive", "worst"], 2, "positive must be one of"),
        (["--target", CREDIT.target_name, "--folds", "5000"], 2, "folds must not be more"),
        (["--target", CREDIT.target_name, "--picture", "roc=x.txt"], 2, "--picture takes"),
        (["--target", CREDIT.target_name, "--group", "nowhere"], 3, "--group names a column"),
    ],
)
def test_bad_words_get_one_sentence(command, credit, words, code, sentence):
    outcome = command("evaluate", credit, *words)
    assert outcome.code == code
    assert sentence in outcome.err
    assert outcome.err.count("\n") == 1
