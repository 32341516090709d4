"""``treewright predict``: one line per row, with or without probabilities."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import treewright
from treewright.data.readers import read_table


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def test_predictions_are_those_of_the_library_in_the_order_of_the_file(command, fitted, data):
    model = fitted()
    outcome = command("predict", model, data)
    table = read_table(data).drop_columns(["sold"])
    expected = treewright.load(model).predict(table)
    assert outcome.code == 0
    assert rows(outcome.out) == [["prediction"], *([label] for label in expected)]
    assert outcome.err == ""


def test_proba_adds_a_column_per_class(command, fitted, data):
    model = fitted(more=["--set", "max_depth=1"])
    header, *body = rows(command("predict", model, data, "--proba").out)
    assert header == ["prediction", "probability(no)", "probability(yes)"]
    table = read_table(data).drop_columns(["sold"])
    expected = treewright.load(model).predict_proba(table)
    np.testing.assert_array_equal(np.array(body)[:, 1:].astype(float), expected)


def test_a_regression_predicts_numbers(command, fitted, data):
    _, *body = rows(command("predict", fitted("price"), data).out)
    assert len(body) == 8
    assert all(10.0 <= float(value) <= 23.5 for (value,) in body)


def test_output_goes_to_a_file(command, fitted, data, tmp_path):
    path = tmp_path / "out.csv"
    outcome = command("predict", fitted(), data, "--output", path)
    assert outcome.out == f"8 predictions: {path}\n"
    assert len(path.read_text().splitlines()) == 9


def test_columns_are_matched_by_name(command, fitted, data, tmp_path):
    shuffled = tmp_path / "shuffled.csv"
    header, *body = rows(data.read_text())
    order = [3, 0, 2, 1]
    with shuffled.open("w", newline="") as file:
        csv.writer(file).writerows([row[i] for i in order] for row in [header, *body])
    model = fitted()
    assert command("predict", model, shuffled).out == command("predict", model, data).out


def test_a_missing_column_is_a_data_error_that_names_it(command, fitted, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("size,grade,price\n1,low,3\n")
    outcome = command("predict", fitted(), new, "--output", tmp_path / "out.csv")
    assert outcome.code == 3
    assert "colour" in outcome.err
    assert not (tmp_path / "out.csv").exists()


def test_an_extra_column_is_ignored_with_a_warning(command, fitted, tmp_path, recwarn):
    import warnings

    new = tmp_path / "new.csv"
    new.write_text("size,colour,grade,price,weight\n1,red,low,3,9\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        outcome = command("predict", fitted(), new)
    assert outcome.code == 0
    assert outcome.err.startswith("treewright: warning: ")
    assert "weight" in outcome.err


def test_probabilities_of_a_regression_are_a_usage_error(command, fitted, data):
    outcome = command("predict", fitted("price"), data, "--proba")
    assert outcome.code == 2
    assert "--proba needs a model of classes" in outcome.err


@pytest.mark.parametrize("content", [None, b"", b"size,colour\n1,red\n"])
def test_a_file_that_is_no_model_exits_4(command, data, tmp_path, content):
    path = tmp_path / "broken.tw"
    if content is not None:
        path.write_bytes(content)
    outcome = command("predict", path, data)
    assert outcome.code == 4
    assert outcome.err.count("\n") == 1


def test_a_file_that_is_read_is_never_overwritten(command, fitted, data):
    model = fitted()
    before = data.read_bytes()
    for words in (["predict", model, data, "--output", data, "--force"],):
        outcome = command(*words)
        assert outcome.code == 2
        assert "must not be a file that is read" in outcome.err
    assert data.read_bytes() == before


def test_a_strange_file_is_overwritten_only_by_force(command, fitted, data, tmp_path):
    model, other = fitted(), tmp_path / "letter.txt"
    other.write_text("Dear Ada")
    outcome = command("predict", model, data, "--output", other)
    assert outcome.code == 2
    assert "--force" in outcome.err
    assert other.read_text() == "Dear Ada"
    assert command("predict", model, data, "--output", other, "--force").code == 0
    assert command("predict", model, data, "--output", other).code == 0  # predictions of ours
    assert other.read_text().startswith("prediction")


def test_gap_words_are_told_and_predicted_as_gaps(command, tmp_path):
    rows_of = [f"{k},{'yes' if k > 50 else 'no'}" for k in range(100)]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(["a,b", "N/A,yes", "-,no", *rows_of]) + "\n")
    outcome = command("fit", path, "--target", "b", "--output", tmp_path / "m.tw")
    assert outcome.code == 0
    assert "2 words such as N/A or null taken for gaps: 'a' (2)" in outcome.err
    assert treewright.load(tmp_path / "m.tw").tree_.schema.features[0].kind == "continuous"


def test_a_text_column_stays_text_where_only_numbers_and_gap_words_are_left(command, tmp_path):
    train, new, model = tmp_path / "train.csv", tmp_path / "new.csv", tmp_path / "model.tw"
    cells = ["1", "2 %", "x", "n/a"] * 10
    answers = ["a", "b"] * 20
    lines = [f"{cell},{answer}" for cell, answer in zip(cells, answers, strict=True)]
    train.write_text("\n".join(["k,y", *lines]) + "\n")
    new.write_text("k\n1\nn/a\n1\n")
    assert command("fit", train, "--target", "y", "--output", model).code == 0
    outcome = command("predict", model, new)
    assert outcome.code == 0, outcome.err
    new.write_text("k\n2 %\nn/a\n2 %\n")
    assert command("predict", model, new).out.split() == ["prediction", "b", "b", "b"]


def test_labels_are_no_formulas_of_a_spreadsheet(command, tmp_path):
    labels = ["=1+1", "@here", "-cmd|x", "+", "-1.5", "yes"]
    data = tmp_path / "d.csv"
    data.write_text("x,y\n" + "".join(f"{k},{label}\n" for k, label in enumerate(labels)) * 2)
    model = tmp_path / "m.tw"
    words = ["--set", "min_samples_split=2", "--set", "min_samples_leaf=1", "--output", model]
    command("fit", data, "--target", "y", "--task", "classification", *words)
    said = list(csv.DictReader(command("predict", model, data, "--keep", "y").out.splitlines()))
    guarded = ["'=1+1", "'@here", "'-cmd|x", "+", "-1.5", "yes"]
    assert [row["y"] for row in said] == guarded * 2
    assert {row["prediction"] for row in said} <= set(guarded)
    assert "'=1+1" in {row["prediction"] for row in said}


def test_memory_needs_a_folder_to_write_to(command, fitted, data, tmp_path):
    assert "--output" in command("predict", fitted(), data, "--memory", "1GB").err
    outcome = command("predict", fitted(), data, "--memory", "1GB", "--output", tmp_path / "o.csv")
    assert outcome.code == 2
    assert "must be a folder" in outcome.err
    assert not (tmp_path / "o.csv").exists()
    in_blocks = ("predict", fitted(), data, "--memory", "1GB", "--output", tmp_path / "o")
    for option in (("--keep", "age"), ("--gaps", "?"), ("--separator", ";"), ("--force",)):
        outcome = command(*in_blocks, *option)
        assert outcome.code == 2
        assert "are for data that are read whole" in outcome.err
