"""``treewright tune data.csv --target y --grid max_depth=2,3,5``: the best parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from treewright.cli._arguments import (
    Categorical,
    Confidence,
    DataFile,
    Drop,
    Force,
    Gaps,
    Jobs,
    Json,
    Metric,
    Ordinal,
    Picture,
    Positive,
    Seed,
    Separator,
    Target,
)
from treewright.cli.fit import LEARNERS, Task
from treewright.data.text_numbers import number
from treewright.errors import ParameterError

__all__ = ["run"]


def run(
    data: DataFile,
    target: Target,
    grid: Annotated[
        list[str],
        typer.Option(metavar="KEY=A,B,C", help="Values to try for a parameter; repeatable."),
    ],
    learner: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(LEARNERS)}.")
    ] = "cart",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Parameter that stays; repeatable."),
    ] = None,
    task: Annotated[
        Task, typer.Option(metavar="TASK", help="classification, regression, or by the target.")
    ] = Task.auto,
    search: Annotated[
        str, typer.Option(metavar="NAME", help="grid, random, greedy or halving.")
    ] = "grid",
    nested: Annotated[
        bool, typer.Option(help="Judge the search itself on outer folds, for an honest figure.")
    ] = True,
    simplest_within: Annotated[
        str | None,
        typer.Option(metavar="1se|NUMBER", help="Prefer the smallest model this near the best."),
    ] = None,
    candidates: Annotated[
        int, typer.Option(metavar="NUMBER", help="Combinations drawn by --search random.")
    ] = 20,
    metric: Metric = None,
    folds: Annotated[int, typer.Option(metavar="NUMBER", help="Folds that choose.")] = 5,
    outer_folds: Annotated[int, typer.Option(metavar="NUMBER", help="Folds that judge.")] = 5,
    positive: Positive = None,
    confidence: Confidence = 0.95,
    categorical: Categorical = None,
    ordinal: Ordinal = None,
    drop: Drop = None,
    gaps: Gaps = None,
    separator: Separator = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the model fitted to all rows."),
    ] = None,
    force: Force = False,
    picture: Picture = None,
    json: Json = False,
) -> None:
    """Search for the best parameters; the figure reported had no part in the choice.

    Example: treewright tune titanic.csv --target Survived --grid max_depth=2,4,8 --output best.tw
    """
    import treewright
    from treewright.cli import _judging
    from treewright.cli._files import MODEL_START, check_output
    from treewright.cli._target import name_target

    check_output(output, [data], force=force, own=MODEL_START)
    judged = _judging.read_judged(data, target, task, gaps, separator, drop)
    model = _judging.learner(learner, judged, settings or [], seed, categorical, ordinal)
    result = treewright.tune(
        model,
        _parse_grid(grid),
        judged.features,
        judged.y,
        search=search,  # type: ignore[arg-type]
        nested=nested,
        simplest_within=_parse_within(simplest_within),
        n_candidates=candidates,
        metric=metric,
        folds=folds,
        outer_folds=outer_folds,
        positive=_judging.class_named(positive, judged.y),
        confidence=confidence,
        random_state=seed,
        n_jobs=jobs,
        progress=_judging.wants_progress(json),
    )
    if output is not None:
        name_target(result.model, target)
        treewright.save(result.model, output)
    _judging.draw(result, picture)
    _judging.show(result, str(result), json, judged.n_dropped)
    if output is not None and not json:
        print(f"Model: {output}")


def _parse_grid(words: list[str]) -> dict[str, list[Any]]:
    """``["max_depth=2,3", "criterion=gini,entropy"]`` as a grid."""
    from treewright.cli._options import parse_value

    found: dict[str, list[Any]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not text.strip():
            raise ParameterError(f"--grid takes key=value,value,…, got {word!r}.")
        found[name.strip()] = [parse_value(part) for part in text.split(",")]
    return found


def _parse_within(text: str | None) -> str | float | None:
    if text is None or text == "1se":
        return text
    try:
        return number(text)
    except ValueError:
        raise ParameterError(f"--simplest-within takes 1se or a number, got {text!r}.") from None
