"""``treewright compare data.csv --target y``: several learners on the same folds."""

from __future__ import annotations

from typing import Annotated

import typer

from treewright.cli._arguments import (
    Categorical,
    Confidence,
    DataFile,
    Drop,
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
from treewright.errors import ParameterError

__all__ = ["run"]


def run(
    data: DataFile,
    target: Target,
    learners: Annotated[
        str | None,
        typer.Option(metavar="A,B", help=f"Two or more of {', '.join(LEARNERS)}; five by default."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="LEARNER.KEY=VALUE", help="Parameter of a learner; repeatable."
        ),
    ] = None,
    task: Annotated[
        Task, typer.Option(metavar="TASK", help="classification, regression, or by the target.")
    ] = Task.auto,
    test: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="corrected_t (default), 5x2cv, bayes, mcnemar, …"),
    ] = None,
    correction: Annotated[
        str, typer.Option(metavar="NAME", help="holm, bonferroni, fdr or none.")
    ] = "holm",
    metric: Metric = None,
    folds: Annotated[int | None, typer.Option(metavar="NUMBER", help="Folds; 10.")] = None,
    repeats: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="How often folds are made anew; 10.")
    ] = None,
    positive: Positive = None,
    confidence: Confidence = 0.95,
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
    """Compare learners on the same folds, and say in one sentence what may be concluded.

    Example: treewright compare titanic.csv --target Survived --learners cart,c45,random_forest
    """
    import treewright
    from treewright.cli import _judging
    from treewright.cli._options import parse_list

    judged = _judging.read_judged(data, target, task, gaps, separator, drop)
    names = parse_list(learners) or _judging.default_learners(judged.task)
    given = _by_learner(settings or [], names)
    models = [
        (name, _judging.learner(name, judged, given.get(name, []), seed, categorical, ordinal))
        for name in names
    ]
    result = treewright.compare(
        models,
        judged.features,
        judged.y,
        folds=folds,
        repeats=repeats,
        test=test,  # type: ignore[arg-type]
        correction=None if correction == "none" else correction,  # type: ignore[arg-type]
        metric=metric,
        positive=_judging.class_named(positive, judged.y),
        confidence=confidence,
        random_state=seed,
        n_jobs=jobs,
        progress=_judging.wants_progress(json),
    )
    _judging.draw(result, picture)
    _judging.show(result, str(result), json, judged.n_dropped)


def _by_learner(settings: list[str], names: list[str]) -> dict[str, list[str]]:
    """``cart.max_depth=3`` as a setting of cart."""
    from treewright.errors import suggest

    found: dict[str, list[str]] = {}
    for setting in settings:
        name, dot, rest = setting.partition(".")
        if not dot or "=" not in rest or "=" in name:
            raise ParameterError(f"--set takes learner.key=value here, got {setting!r}.")
        if name not in names:
            raise ParameterError(
                f"--set names a learner that is not compared: {name!r}.{suggest(name, names)}"
            )
        found.setdefault(name, []).append(rest)
    return found
