"""The README says what the program prints, and the examples run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(arguments: list[str], folder: Path) -> str:
    command = [sys.executable, "-X", "utf8", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_shows_what_its_example_prints(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", readme, re.S).groups()
    assert run(["-c", code], tmp_path) == printed


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(example, tmp_path):
    assert run([str(example)], tmp_path)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_named_files_exist(document):
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert all((document.parent / link).exists() for link in links), links
    # files of the package are named without their way to it
    places = [ROOT, ROOT / "src/treewright"]
    named = re.findall(r"`((?:[\w.]+/)+[\w.]*\.(?:py|hpp|cpp)|(?:[\w.]+/)+)`", text)
    missing = [name for name in named if not any((place / name).exists() for place in places)]
    assert missing == []
