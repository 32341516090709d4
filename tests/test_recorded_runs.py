"""Tests against recorded runs may be skipped at home, but not where the runs must be there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")

NEEDS_RUNS = "def test_it(shared_dir):\n    assert (shared_dir / 'run').read_text() == 'recorded'\n"
SKIPS_ITSELF = "import pytest\ndef test_it():\n    pytest.skip('no time')\n"
SKIPS_WHOLE_FILE = "import pytest\npytest.skip('no runs', allow_module_level=True)\n"


def outcome(folder: Path, test: str, *, required: bool) -> str:
    """Last line of pytest in a checkout of its own with one test below tests/oracle."""
    oracle = folder / "checkout" / "tests" / "oracle"
    oracle.mkdir(parents=True)
    shutil.copy(CONFTEST, oracle.parent)
    (oracle / "test_one.py").write_text(test)
    environment = dict(os.environ, TREEWRIGHT_REQUIRE_SHARED="1" if required else "0")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(
        command, cwd=folder / "checkout", env=environment, capture_output=True, text=True
    )
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize("test", [NEEDS_RUNS, SKIPS_ITSELF, SKIPS_WHOLE_FILE])
def test_without_the_runs_the_test_is_skipped(test, tmp_path):
    assert "1 skipped" in outcome(tmp_path, test, required=False)


@pytest.mark.parametrize("test", [NEEDS_RUNS, SKIPS_ITSELF, SKIPS_WHOLE_FILE])
def test_where_the_runs_are_required_a_skip_is_a_failure(test, tmp_path):
    last = outcome(tmp_path, test, required=True)
    assert "1 error" in last or "1 failed" in last
    assert "skipped" not in last


def test_with_the_runs_the_test_runs(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "run").write_text("recorded")
    assert "1 passed" in outcome(tmp_path, NEEDS_RUNS, required=True)
