"""What the commands that judge models share: reading the data, making learners, printing."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treewright.cli.fit import LEARNERS, Task, choose_task, declare_kinds, drop_gaps, make, sow
from treewright.errors import ParameterError

__all__ = ["Judged", "class_named", "draw", "learner", "read_judged", "show", "wants_progress"]


@dataclass(frozen=True)
class Judged:
    """Features and target of a file, rows without a target left out."""

    features: Any
    y: Any
    task: Task
    n_dropped: int


def read_judged(
    data: Path,
    target: str,
    task: Task,
    gaps: str | None,
    separator: str | None,
    drop: str | None = None,
) -> Judged:
    """Read a file and find out what is to be predicted."""
    from treewright.cli._files import read_data
    from treewright.cli._options import leave_out, require_column

    table = read_data(data, gaps, separator)
    require_column(target, table.column_names, "--target")
    features, y, n_dropped = drop_gaps(leave_out(table, drop, target), target)
    return Judged(features, y, choose_task(task, y), n_dropped)


def learner(
    name: str,
    judged: Judged,
    settings: Sequence[str],
    seed: int,
    categorical: str | None,
    ordinal: Sequence[str] | None,
) -> Any:
    """A learner by its name, with its parameters."""
    estimator = make(name, judged.task, list(settings))
    sow(estimator, seed)
    own = estimator.get_params(deep=False)
    if own.get("oob_score") is True and not any(s.startswith("oob_score") for s in settings):
        estimator.set_params(oob_score=False)  # folds judge it
    declare_kinds(estimator, judged.features, categorical, list(ordinal or []))
    return estimator


def default_learners(task: Task) -> list[str]:
    """Five learners of different kinds that can predict the target."""
    wanted = ["cart", "c45", "c50", "ctree", "random_forest", "chaid", "extra_trees"]
    return [name for name in wanted if task in LEARNERS[name]][:5]


def class_named(text: str | None, y: Any) -> Any:
    """The class that a word of the command line means, with the type it has in the file."""
    if text is None:
        return None
    for value in y.unique().to_pylist():
        if str(value) == text:
            return value
    return text


def wants_progress(as_json: bool) -> bool:
    """A bar where a person is looking."""
    return sys.stderr.isatty() and not as_json


def show(result: Any, text: str, as_json: bool, n_dropped: int) -> None:
    """Print a result."""
    if as_json:
        print(json.dumps(result.to_dict(), ensure_ascii=False, indent=2))
        return
    if n_dropped:
        print(f"{n_dropped} {'row' if n_dropped == 1 else 'rows'} without a target left out.")
    print(text)


def draw(result: Any, picture: Path | None) -> None:
    """Write the figure of a result to a file."""
    if picture is None:
        return
    import matplotlib as mpl

    mpl.use("Agg")
    figure = result.plot().figure
    known = figure.canvas.get_supported_filetypes()
    if picture.suffix.lstrip(".").lower() not in known:
        raise ParameterError(f"--picture must end in .png, .svg or .pdf, got {str(picture)!r}.")
    figure.savefig(picture, dpi=120)
