"""``treewright report data.csv --target y``: one page to send to a colleague."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from treewright.cli._arguments import (
    Categorical,
    DataFile,
    Drop,
    Force,
    Gaps,
    Jobs,
    Metric,
    Ordinal,
    Positive,
    Seed,
    Separator,
    Target,
)
from treewright.cli.fit import Task
from treewright.errors import DataError

__all__ = ["run", "write"]

MOST_NOTES = 3
"""Columns with many gaps that are named."""
PAGE_START = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'


def run(
    data: DataFile,
    target: Target,
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CSV of costs: a row per true class, a column per predicted one."
        ),
    ] = None,
    learners: Annotated[
        str | None, typer.Option(metavar="A,B", help="Learners to compare; some of each kind.")
    ] = None,
    time: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time that the work may take, about.")
    ] = 60.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The page; DATA's name with .html, here."
        ),
    ] = None,
    test_share: Annotated[
        float, typer.Option(metavar="SHARE", help="Of the rows, held out until the end.")
    ] = 0.25,
    task: Annotated[
        Task, typer.Option(metavar="TASK", help="classification, regression, or by the target.")
    ] = Task.auto,
    metric: Metric = None,
    positive: Positive = None,
    max_leaves: Annotated[
        int, typer.Option(metavar="NUMBER", min=2, help="Leaves of a tree that can be read.")
    ] = 30,
    drop: Drop = None,
    title: Annotated[str | None, typer.Option(metavar="WORDS", help="Title of the page.")] = None,
    categorical: Categorical = None,
    ordinal: Ordinal = None,
    gaps: Gaps = None,
    separator: Separator = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
) -> None:
    """Compare learners on a file, choose one to read and one to win, and explain both on a page.

    Example: treewright report titanic.csv --target Survived --time 30 --output titanic.html
    """
    import treewright
    from treewright.cli import _judging
    from treewright.cli._files import check_output, read_data
    from treewright.cli._options import parse_list, require_column

    path = Path(f"{data.name.split('.')[0]}.html") if output is None else output
    inputs = [data] if costs is None else [data, costs]
    check_output(path, inputs, force=force, own=PAGE_START)
    table = read_data(data, gaps, separator)
    require_column(target, table.column_names, "--target")
    for name in parse_list(drop) or ():
        require_column(name, table.column_names, "--drop")
    kinds = _kinds(table.drop_columns([target]), categorical, ordinal or [])
    found = treewright.report(
        table,
        target,
        costs=None if costs is None else read_costs(costs, table.column(target)),
        learners=parse_list(learners),
        time=time,
        test_size=test_share,
        task=task.value,
        metric=metric,
        positive=_judging.class_named(positive, table.column(target)),
        max_leaves=max_leaves,
        drop=parse_list(drop) or (),
        title=title or f"{target} in {data.name}",
        seed=seed,
        n_jobs=jobs,
        progress=sys.stderr.isatty(),
        command=_command(
            data,
            {
                "--target": target,
                "--costs": costs,
                "--learners": learners,
                "--time": f"{time:g}",
                "--test-share": f"{test_share:g}",
                "--task": task.value,
                "--metric": metric,
                "--positive": positive,
                "--max-leaves": max_leaves,
                "--drop": drop,
                "--categorical": categorical,
                "--gaps": gaps,
                "--separator": separator,
                "--seed": seed,
                "--output": path,
            },
            ordinal or [],
        ),
        **kinds,
    )
    write(found, path)


def _command(data: Path, options: dict[str, Any], ordinal: list[str]) -> str:
    """The command that makes the page again."""
    words = ["treewright", "report", str(data)]
    for name, value in options.items():
        words += [] if value is None else [name, str(value)]
    for order in ordinal:
        words += ["--ordinal", order]
    return shlex.join(words)


def write(found: Any, path: Path) -> None:
    """Write the page of a report, and say what it found."""
    from treewright.cli._files import write_text

    write_text(found.to_html(), path)
    for words in notes(found.data.suspects):
        print(f"Note: {words}")
    print(found.sentence)
    print(f"Report: {path}")


def notes(suspects: Sequence[Any]) -> list[str]:
    """What to be careful with, of many columns with the same trouble in one line."""
    gappy = [s for s in suspects if s.words.startswith("is a gap in ")]
    if len(gappy) <= MOST_NOTES:
        return [f"{s.column!r} {s.words}" for s in suspects]
    said = [f"{s.column!r} {s.words}" for s in suspects if s not in gappy]
    named = ", ".join(repr(s.column) for s in gappy[:MOST_NOTES])
    return [*said, f"{len(gappy)} columns are gaps in more than half of the rows: {named}, …"]


def _kinds(features: Any, categorical: str | None, ordinal: list[str]) -> dict[str, Any]:
    """Kinds of columns that the command line declares, as arguments of a report."""
    import treewright
    from treewright.cli.fit import declare_kinds

    holder = treewright.CARTClassifier()
    declare_kinds(holder, features, categorical, ordinal)
    names = ("categorical_features", "ordinal_features")
    given = {name: getattr(holder, name) for name in names}
    return {k: v for k, v in given.items() if v is not None and v != "from_dtype"}


def read_costs(path: Path, y: Any) -> dict[Any, dict[Any, float]]:
    """A file of costs: the true class in the first column, a column for each predicted class."""
    from treewright.cli import _judging
    from treewright.data import read_table

    table = read_table(path)
    names = table.column_names
    found: dict[Any, dict[Any, float]] = {}
    for row in table.to_pylist():
        true = _judging.class_named(str(row[names[0]]), y)
        try:
            costs = {_judging.class_named(n, y): float(row[n]) for n in names[1:]}
        except (TypeError, ValueError):
            raise DataError(
                f"Costs must be numbers, a row per true class and a column per predicted one, but "
                f"{str(path)!r} has {list(row.values())} for {str(true)!r}."
            ) from None
        found[true] = costs
    return found
