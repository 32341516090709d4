"""``treewright demo``: what it prints is true and what it writes can be read."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import treewright


def test_demo_shows_a_pruned_tree_its_accuracy_and_cost(command, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    folder = Path("new/folder")
    outcome = command("demo", "--output-dir", folder)
    assert outcome.code == 0, outcome.err
    assert max(map(len, outcome.out.splitlines())) <= 80
    model = treewright.load(folder / "german-credit.tw")
    assert model.tree_.to_text(width=80, gaps=False).rstrip() in outcome.out
    assert 1 < model.tree_.n_leaves < 30

    row = re.search(r"this tree +([\d.]+)% +([\d.]+)% to ([\d.]+)% +(\d+)", outcome.out)
    accuracy, low, high, cost = map(float, row.groups())
    assert 70.0 < accuracy < 80.0
    assert low < accuracy < high
    assert 9.0 < high - low < 11.0  # 300 customers
    everyone = re.search(r"every customer called good +70.0% .* (\d+)", outcome.out)
    assert everyone.group(1) == "450"  # 90 bad customers at 5
    assert cost < 450
    root = ElementTree.parse(folder / "german-credit.svg").getroot()
    assert root.tag.endswith("svg")
    for name in ("german-credit.svg", "german-credit.tw"):
        assert str(folder / name) in outcome.out


def test_a_folder_that_cannot_be_made_is_a_usage_error(command, tmp_path):
    (tmp_path / "file").write_text("in the way")
    outcome = command("demo", "--output-dir", tmp_path / "file" / "below")
    assert outcome.code == 2
    assert "cannot be written" in outcome.err
