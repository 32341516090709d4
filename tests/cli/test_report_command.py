"""``treewright report`` and ``treewright show --as html``."""

from __future__ import annotations

import csv

from treewright.datasets import load_play_tennis


def write_tennis(path, times=4):
    """Play tennis, several times over, as a file."""
    tennis = load_play_tennis()
    rows = zip(*(tennis.data[name].to_pylist() for name in tennis.feature_names), strict=True)
    lines = [[*row, said] for row, said in zip(rows, tennis.target.tolist(), strict=True)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*tennis.feature_names, "Play"], *(lines * times)])
    return path


def test_a_report_is_written_with_costs_from_a_file(command, tmp_path):
    data = write_tennis(tmp_path / "tennis.csv")
    costs = tmp_path / "costs.csv"
    costs.write_text("true,No,Yes\nNo,0,3\nYes,1,0\n")
    page = tmp_path / "out.html"
    words = ("report", data, "--target", "Play", "--costs", costs, "--learners", "cart,c45")
    outcome = command(*words, "--time", "1", "-o", page)
    assert outcome.code == 0, outcome.err
    assert "mean cost" in outcome.out
    assert str(page) in outcome.out
    assert "--costs" in page.read_text(encoding="utf-8")  # the command to repeat
    again = command(*words, "--time", "1", "-o", page)
    assert again.code == 0  # its own page may be written anew
    page.write_text("somebody's notes")
    assert command(*words, "-o", page).code == 2


def test_wrong_words_of_a_report_are_explained(command, tmp_path):
    data = write_tennis(tmp_path / "tennis.csv")
    assert command("report", data, "--target", "Pley").code == 3
    assert command("report", data, "--target", "Play", "--learners", "crt").code == 2
    costs = tmp_path / "costs.csv"
    costs.write_text("true,No,Yes\nNo,zero,3\nYes,1,0\n")
    outcome = command("report", data, "--target", "Play", "--costs", costs)
    assert outcome.code == 3
    assert "Costs must be numbers" in outcome.err


def test_a_saved_tree_is_shown_as_a_page(command, tmp_path):
    data = write_tennis(tmp_path / "tennis.csv", 1)
    model, page = tmp_path / "tennis.tw", tmp_path / "tree.html"
    assert command("fit", data, "--target", "Play", "--output", model).code == 0
    assert command("show", model, "--as", "html", "--output", page).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert command("show", model, "--as", "html", "--max-depth", "2").code == 2
