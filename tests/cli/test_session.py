"""Options that every command takes, stdin and stdout, packed files, and the end of ``fit``."""

from __future__ import annotations

import bz2
import inspect
import io
import json
import lzma
import re
import sys
import zipfile

import pytest
from typer.main import get_command

from tests.cli.conftest import CSV
from treewright.cli._app import COMMANDS, build_app


@pytest.fixture
def rows(tmp_path):
    """Forty rows with two classes, so that folds are possible."""
    path = tmp_path / "rows.csv"
    lines = [f"{i},{'red' if i % 3 else 'blue'},{'yes' if i > 19 else 'no'}" for i in range(40)]
    path.write_text("size,colour,sold\n" + "\n".join(lines) + "\n")
    return path


def test_fit_ends_with_an_honest_error_a_short_tree_and_what_to_do_next(command, rows, tmp_path):
    outcome = command("fit", rows, "--target", "sold", "--output", tmp_path / "m.tw")
    assert "Cross-validated error: " in outcome.out
    assert "10 folds; 95 % interval" in outcome.out
    assert "  no   50.0% ▇▇▇▇▇▇▇▇▇▇" in outcome.out
    assert "size >= 19.5" in outcome.out or "size < 19.5" in outcome.out
    assert "Next: treewright show" in outcome.out
    assert "\x1b" not in outcome.out


def test_a_file_name_with_blanks_is_quoted_in_what_to_do_next(command, rows, tmp_path):
    outcome = command("fit", rows, "--target", "sold", "--output", tmp_path / "my model.tw")
    assert f"treewright show '{tmp_path / 'my model.tw'}'," in outcome.out


def test_the_error_of_a_regression_is_judged_by_folds_too(command, rows, tmp_path):
    outcome = command("fit", rows, "--target", "size", "--output", tmp_path / "m.tw")
    assert "Cross-validated error: " in outcome.out
    assert "root mean square, 10 folds, R²" in outcome.out


def test_too_few_rows_to_hold_some_out_are_said(command, tmp_path):
    path = tmp_path / "tiny.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    outcome = command("fit", path, "--target", "b", "--output", tmp_path / "m.tw")
    assert "too few rows to hold some out" in outcome.out


def test_fit_as_json_and_in_silence(command, rows, tmp_path):
    words = ("fit", rows, "--target", "sold", "--output", tmp_path / "m.tw")
    found = json.loads(command(*words, "--json").out)
    assert found["rows"] == 40
    assert 0 <= found["error"] <= 1
    assert command(*words, "--quiet").out == ""
    assert "not asked for" in command(*words, "--folds", 0).out


def test_a_tab_is_written_as_it_is_typed(command, tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("a b\tc,d\n1\tx\n2\ty\n3\tx\n4\ty\n")
    words = ("fit", path, "--target", "c,d", "--output", tmp_path / "m.tw")
    assert command(*words, "--separator", "\\t").code == 0


def test_another_encoding_may_stand_before_or_after_the_command(command, tmp_path):
    path = tmp_path / "l.csv"
    path.write_bytes("größe,b\n1,x\n2,y\n3,x\n4,y\n".encode("latin-1"))
    words = ("fit", path, "--target", "b", "--output", tmp_path / "m.tw")
    assert command(*words).code == 3
    assert command(*words, "--encoding", "latin-1").code == 0
    assert command("--encoding=latin-1", *words).code == 0


def test_data_come_through_a_pipe_and_predictions_go_into_one(command, fitted, monkeypatch):
    model = fitted()
    stdin = io.TextIOWrapper(io.BytesIO(CSV.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    outcome = command("predict", model, "-", "--output", "-")
    assert outcome.out.splitlines()[0] == "prediction"
    assert len(outcome.out.splitlines()) == 9


@pytest.mark.parametrize("kind", ["bz2", "xz", "zip"])
def test_packed_files_are_read(command, tmp_path, kind):
    path = tmp_path / f"shop.csv.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("shop.csv", CSV)
    else:
        path.write_bytes({"bz2": bz2.compress, "xz": lzma.compress}[kind](CSV.encode()))
    words = ("fit", path, "--target", "sold", "--output", tmp_path / "m.tw")
    assert command(*words).code == 0
    path.write_bytes(path.read_bytes()[:-30])
    assert command(*words).code == 3


def test_predictions_keep_columns_that_are_asked_for(command, fitted, data):
    outcome = command("predict", fitted(), data, "--keep", "grade,size")
    assert outcome.out.splitlines()[:2] == ["grade,size,prediction", "low,1.5,yes"]
    wrong = command("predict", fitted(), data, "--keep", "grad")
    assert wrong.code == 3
    assert "grade" in wrong.err


def test_whole_numbers_are_kept_without_a_point(command, tmp_path):
    data = tmp_path / "visits.csv"
    data.write_text("age,visits,sold\n" + "31.5,3,yes\n42,1,no\n" * 10 + "50,,no\n")
    model = tmp_path / "m.tw"
    assert command("fit", data, "--target", "sold", "--output", model).code == 0
    lines = command("predict", model, data, "--keep", "visits,age").out.splitlines()
    assert lines[1:3] == ["3,31.5,yes", "1,42.0,no"]
    assert lines[-1].startswith(",50.0,")


def test_learners_are_listed_with_their_parameters_and_defaults(command):
    assert "c45 " in command("learners").out
    out = command("learners", "c45").out
    assert ":mod:" not in out
    assert "`" not in out
    assert "confidence" in out
    assert "0.25" in out
    assert json.loads(command("learners", "id3", "--json").out)[0]["parameter"] == "discretize"
    wrong = command("learners", "c54")
    assert wrong.code == 2
    assert "c45" in wrong.err


def test_a_bundled_data_set_is_written_and_not_over_another_file(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command("demo", "--data", "iris.csv").code == 0
    assert (tmp_path / "iris.csv").read_text().count("\n") == 151
    assert command("demo", "--data", "iris.csv").code == 0
    (tmp_path / "cheat.csv").write_text("mine")
    assert command("demo", "--data", "cheat.csv").code == 2
    assert command("demo", "--data", "titanik.csv").code == 2


def test_control_characters_of_the_data_do_not_reach_the_terminal(command, tmp_path):
    path = tmp_path / "evil.csv"
    path.write_text("a\x1b[31m,b\n1,x\n")
    outcome = command("fit", path, "--target", "no")
    assert outcome.code == 3
    assert "\x1b" not in outcome.err
    assert "a\\x1b[31m" in outcome.err


def test_width_is_a_number_of_columns(command, fitted):
    narrow, wide = (command("show", fitted(), "--width", n).out for n in (50, 300))
    assert max(map(len, narrow.splitlines()[1:])) <= 50
    assert max(map(len, wide.splitlines())) > 60
    assert command("show", fitted(), "--width", "much").code == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_whose_options_exist(name):
    spoken = inspect.getdoc(COMMANDS[name])
    examples = re.findall(rf"treewright {name}[^;]*", spoken.split("Example", 1)[1])
    assert examples
    known = {
        option for word in get_command(build_app()).commands[name].params for option in word.opts
    }
    for example in examples:
        assert set(re.findall(r"--[a-z-]+", example)) <= known


def test_every_command_that_draws_takes_a_seed():
    commands = get_command(build_app()).commands
    with_seed = {n for n, c in commands.items() if any("--seed" in p.opts for p in c.params)}
    # the others draw nothing
    assert with_seed == set(commands) - {"predict", "show", "export", "learners"}
