"""Run commands as a person would: words in; exit code, stdout and stderr out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from treewright.cli import main

CSV = """size,colour,grade,price,sold
1.5,red,low,10.0,yes
2.0,blue,low,11.5,no
2.5,red,high,12.0,yes
3.5,NA,high,20.0,no
4.0,blue,middle,21.0,no
4.5,red,middle,22.5,yes
5.0,blue,low,23.5,
5.5,red,high,,yes
"""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run ``treewright`` with the given words in this process."""

    def run(*words: object) -> Outcome:
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        captured = capsys.readouterr()
        code = end.value.code
        assert isinstance(code, int)
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small file of mixed columns with gaps."""
    path = tmp_path / "shop.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


@pytest.fixture
def fitted(data: Path, tmp_path: Path, command: Callable[..., Outcome]) -> Callable[..., Path]:
    """Fit a model on the small file and return where it is."""

    def fit(target: str = "sold", more: Sequence[str] = ()) -> Path:
        path = tmp_path / f"{target}.tw"
        outcome = command("fit", data, "--target", target, "--output", path, *more)
        assert outcome.code == 0, outcome.err
        return path

    return fit
