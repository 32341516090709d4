"""``treewright select data.csv --target y``: which columns tell something about the target."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from treewright.cli._arguments import (
    Categorical,
    DataFile,
    Drop,
    Gaps,
    Jobs,
    Json,
    Ordinal,
    Picture,
    Seed,
    Separator,
    Target,
)
from treewright.cli.fit import Task

__all__ = ["run"]


def run(
    data: DataFile,
    target: Target,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="chi2, information_gain, gain_ratio, relief, forward, backward, permutation or "
            "boruta.",
        ),
    ] = "information_gain",
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="NUMBER", help="Columns to keep; the method decides if not."),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Model of forward, backward, permutation and boruta."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the learner; repeatable."),
    ] = None,
    task: Annotated[
        Task, typer.Option(metavar="TASK", help="classification, regression, or by the target.")
    ] = Task.auto,
    categorical: Categorical = None,
    ordinal: Ordinal = None,
    drop: Drop = None,
    gaps: Gaps = None,
    separator: Separator = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    picture: Picture = None,
    json: Json = False,
) -> None:
    """Score the columns and choose those that tell something about the target.

    Example: treewright select titanic.csv --target Survived --method relief --k 3
    """
    import treewright
    from treewright.cli import _judging
    from treewright.cli.fit import declare_kinds
    from treewright.errors import ParameterError
    from treewright.evaluation._names import choice
    from treewright.evaluation.selection.selector import METHODS

    choice("--method", method, list(METHODS))
    judged = _judging.read_judged(data, target, task, gaps, separator, drop)
    model: Any = None
    if learner is not None:
        model = _judging.learner(learner, judged, settings or [], seed, categorical, ordinal)
    elif settings:
        raise ParameterError("--set is for --learner, which was not given; name one.")
    selector = treewright.FeatureSelector(
        method,  # type: ignore[arg-type]
        k,
        model=model,
        task=judged.task.value,
        random_state=seed,
        n_jobs=jobs,
    )
    declare_kinds(selector, judged.features, categorical, list(ordinal or []))
    if _judging.wants_progress(json):
        _with_bar(selector, judged)
    else:
        selector.fit(judged.features, judged.y)
    _judging.draw(selector, picture)
    _judging.show(selector, selector.summary(), json, judged.n_dropped)


def _with_bar(selector: Any, judged: Any) -> None:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        step = bar.add_task("Choosing", total=None)
        selector._fit(
            judged.features,
            judged.y,
            lambda done, n: bar.update(step, completed=done, total=n),
        )
