"""Every ending has its exit code and one sentence on stderr."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import typer

from treewright.cli._exit import run
from treewright.errors import (
    DataError,
    ExtraColumnsWarning,
    ModelFileError,
    ParameterError,
    SchemaError,
)


def app_that(action):
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

    @app.command()
    def only(depth: int = 0) -> None:
        action()

    return app


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ParameterError("max_depth must be positive, got -3."), 2),
        (DataError("Column 'a' is empty."), 3),
        (SchemaError("Column 'b' is missing."), 3),
        (ModelFileError("The file is cut short."), 4),
    ],
)
def test_our_errors_become_their_sentence_and_code(error, code, capsys):
    assert run(app_that(raising(error)), []) == code
    captured = capsys.readouterr()
    assert captured.err == f"treewright: {error}\n"
    assert captured.out == ""


def test_a_declared_parameter_constraint_of_scikit_learn_is_a_usage_error(capsys):
    from sklearn.utils._param_validation import InvalidParameterError

    error = InvalidParameterError("The 'max_depth' parameter must be positive. Got -3 instead.")
    assert run(app_that(raising(error)), []) == 2
    assert capsys.readouterr().err == f"treewright: {error}\n"


@pytest.mark.parametrize("words", [["--dept", "3"], ["--depth", "three"], ["more"]])
def test_wrong_words_exit_2_with_one_line_and_the_way_to_the_help(words, capsys):
    assert run(app_that(print), words) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.endswith("--help'.\n")


def test_ctrl_c_exits_130(capsys):
    assert run(app_that(raising(KeyboardInterrupt())), []) == 130
    assert capsys.readouterr().err.strip() == "treewright: Interrupted."


def test_a_bug_exits_1_and_says_how_to_see_the_traceback(capsys):
    assert run(app_that(raising(KeyError("oops"))), []) == 1
    err = capsys.readouterr().err
    assert "a bug in treewright, KeyError: 'oops'" in err
    assert "--debug" in err
    assert "Traceback" not in err


def test_a_bug_shows_its_traceback_when_asked(capsys):
    assert run(app_that(raising(KeyError("oops"))), ["--debug"]) == 1
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "--debug" not in err


def test_a_warning_is_one_line_without_its_place_in_the_code(capsys):
    def action():
        warnings.warn("Column 'x' was ignored.", ExtraColumnsWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert run(app_that(action), []) == 0
    assert capsys.readouterr().err == "treewright: warning: Column 'x' was ignored.\n"


def test_success_exits_0(capsys):
    assert run(app_that(lambda: print("done")), ["--depth", "1"]) == 0
    assert capsys.readouterr().out == "done\n"


def test_a_closed_pipe_ends_quietly():
    code = (
        "import sys, typer\n"
        "from treewright.cli._exit import run\n"
        "app = typer.Typer(add_completion=False)\n"
        "@app.command()\n"
        "def only():\n"
        "    for _ in range(100000): print('a line that nobody reads')\n"
        "sys.exit(run(app, []))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_the_module_runs_as_a_program_and_prints_the_version():
    command = [sys.executable, "-m", "treewright", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("treewright 0")


def test_traceback_may_follow_the_command(command):
    outcome = command("show", "no-such-model.tw", "--debug")
    assert outcome.code == 4
    assert "Traceback (most recent call last)" in outcome.err


def test_no_command_prints_the_help(command):
    outcome = command()
    assert outcome.code == 0
    for name in ("fit", "predict", "show", "demo"):
        assert f"\n  {name} " in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_a_shell_is_told_how_a_command_goes_on():
    asked = {
        "COMP_WORDS": "treewright re",
        "COMP_CWORD": "1",
        "_TREEWRIGHT_COMPLETE": "complete_bash",
    }
    done = subprocess.run(
        [sys.executable, "-m", "treewright"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["report"]


def test_ctrl_c_in_a_report_ends_its_threads_without_an_abort(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 8)).round(4)
    y = X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0
    data = tmp_path / "long.csv"
    np.savetxt(data, np.column_stack([X, y]), "%g", ",", header="a,b,c,d,e,f,g,h,y", comments="")
    command = [sys.executable, "-m", "treewright", "report", str(data), "--target", "y"]
    process = subprocess.Popen(
        [*command, "-o", str(tmp_path / "report.html")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.endswith(b"treewright: Interrupted.\n")
    assert not list(tmp_path.glob("*.html*"))


def test_a_word_that_is_no_choice_is_said_in_our_words(command, fitted):
    outcome = command("show", fitted(), "--as", "pdf")
    assert outcome.code == 2
    assert "'--as': 'pdf' is not one of" in outcome.err


def test_a_file_to_write_is_named_by_an_option_and_the_sentence_says_so(command, fitted):
    outcome = command("export", fitted(), "m.c")
    assert outcome.code == 2
    assert "(m.c); name a file to write with --output. Try" in outcome.err


def test_the_current_folder_is_named(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = command("fit", ".", "--target", "y")
    assert outcome.code == 3
    assert outcome.err.startswith("treewright: .: a folder must hold Parquet files")


def test_a_full_disk_exits_3_in_every_command(command, fitted, data, tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    model = fitted()
    monkeypatch.setattr(os, "fsync", fail)
    commands = [
        ("fit", data, "--target", "sold", "--output", tmp_path / "a.tw"),
        ("predict", model, data, "--output", tmp_path / "a.csv"),
        ("predict", model, data, "--output", tmp_path / "a", "--memory", "1GB"),
        ("export", model, "--output", tmp_path / "a.c"),
        ("show", model, "--output", tmp_path / "a.html"),
    ]
    for words in commands:
        outcome = command(*words)
        assert outcome.code == 3, words
        assert "no space is left on the disk" in outcome.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_behind_standard_output_is_no_bug(fitted):
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "treewright", "show", str(fitted())]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3
    assert done.stderr == (
        "treewright: The output cannot be written, as no space is left on the disk.\n"
    )
