"""``treewright demo``: what it prints is true and what it writes can be read."""

from __future__ import annotations

from pathlib import Path

import treewright


def test_demo_reports_on_german_credit(command, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    folder = Path("new/folder")
    outcome = command("demo", "--output-dir", folder, "--time", "2")
    assert outcome.code == 0, outcome.err
    model = treewright.load(folder / "german-credit.tw")
    assert model.tree_.to_text(gaps=False).rstrip() in outcome.out
    assert 1 < model.tree_.n_leaves <= 30
    page = (folder / "german-credit.html").read_text(encoding="utf-8")
    assert "mean cost" in page
    for name in ("german-credit.html", "german-credit.tw"):
        assert str(folder / name) in outcome.out


def test_a_folder_that_cannot_be_made_is_a_usage_error(command, tmp_path):
    (tmp_path / "file").write_text("in the way")
    outcome = command("demo", "--output-dir", tmp_path / "file" / "below")
    assert outcome.code == 2
    assert "cannot be written" in outcome.err
