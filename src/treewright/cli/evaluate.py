"""``treewright evaluate``: how good a model is, on new rows or by holding rows out.

``treewright evaluate model.tw new.csv`` judges a fitted model; ``treewright evaluate data.csv
--target y --learner c45`` fits a learner to parts of the file and judges it on the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treewright.cli._arguments import (
    Categorical,
    Confidence,
    Drop,
    Gaps,
    Jobs,
    Json,
    Ordinal,
    Positive,
    Seed,
    Separator,
)
from treewright.cli.fit import LEARNERS, Task
from treewright.data.text_numbers import number
from treewright.errors import DataError, ParameterError

if TYPE_CHECKING:
    from treewright import Evaluation

__all__ = ["run"]


def run(
    files: Annotated[
        list[Path], typer.Argument(metavar="[MODEL] DATA", help="A model and new rows, or rows.")
    ],
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column to predict; a model knows its own."),
    ] = None,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help=f"Without a model, one of {', '.join(LEARNERS)}.")
    ] = "cart",
    task: Annotated[
        Task, typer.Option(metavar="TASK", help="classification, regression, or by the target.")
    ] = Task.auto,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the learner; repeatable."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="k-fold, repeated, holdout, loo, bootstrap, .632, .632+ or oob."
        ),
    ] = "k-fold",
    folds: Annotated[int, typer.Option(metavar="NUMBER", help="Folds.")] = 10,
    repeats: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Repeats, or bootstrap samples.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Rows of one group stay together.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Learn from the past only.")
    ] = None,
    costs: Annotated[
        list[str] | None,
        typer.Option(metavar="TRUE:SAID=COST", help="Cost of a confusion; repeatable."),
    ] = None,
    positive: Positive = None,
    confidence: Confidence = 0.95,
    interval: Annotated[
        str, typer.Option(metavar="NAME", help="wilson, wald or clopper-pearson.")
    ] = "wilson",
    picture: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND=FILE", help="Draw roc, pr, confusion, …; repeatable."),
    ] = None,
    categorical: Categorical = None,
    ordinal: Ordinal = None,
    drop: Drop = None,
    gaps: Gaps = None,
    separator: Separator = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Judge a model: every figure with its interval, and words where one misleads.

    Examples: treewright evaluate titanic.tw new.csv;
    treewright evaluate titanic.csv --target Survived --learner c45 --seed 1
    """
    from treewright.cli import _judging

    shared = {"confidence": confidence, "interval": interval}
    if len(files) == 2:
        if drop is not None:
            raise ParameterError(
                "--drop is for data that a learner is fitted to, but a model reads the columns "
                "it was fitted with; leave it out."
            )
        result, n_dropped = _new_rows(
            files[0], files[1], target, costs or [], positive, gaps, separator, shared
        )
    elif len(files) == 1:
        if target is None:
            raise ParameterError(
                "--target must name the column to predict where no model is given; add it, or "
                "pass MODEL DATA."
            )
        judged = _judging.read_judged(files[0], target, task, gaps, separator, drop)
        features, columns = _set_aside(judged.features, {"groups": group, "time": time})
        judged = _judging.Judged(features, judged.y, judged.task, judged.n_dropped)
        model = _judging.learner(learner, judged, settings or [], seed, categorical, ordinal)
        result = _held_out(
            model,
            judged,
            method=method,
            folds=folds,
            repeats=repeats,
            n_jobs=jobs,
            random_state=seed,
            progress=_judging.wants_progress(json),
            costs=_read_costs(costs or [], judged.y),
            positive=_judging.class_named(positive, judged.y),
            **columns,
            **shared,
        )
        n_dropped = judged.n_dropped
    else:
        raise ParameterError(f"evaluate takes DATA, or MODEL and DATA, got {len(files)} files.")
    _draw(result, picture or [])
    _judging.show(result, str(result), json, n_dropped)


def _held_out(model: Any, judged: Any, **settings: Any) -> Evaluation:
    import treewright

    return treewright.cross_validate(model, judged.features, judged.y, **settings)


def _new_rows(
    model: Path,
    data: Path,
    target: str | None,
    costs: list[str],
    positive: str | None,
    gaps: str | None,
    separator: str | None,
    shared: dict[str, Any],
) -> tuple[Evaluation, int]:
    """A fitted model on rows of a file, and how many rows had no target."""
    import treewright
    from treewright.cli import _judging
    from treewright.cli._files import load_estimator, read_data, schema_of
    from treewright.cli._options import require_column
    from treewright.cli.fit import drop_gaps

    estimator = load_estimator(model)
    schema = schema_of(estimator)
    table = read_data(data, gaps, separator, schema)
    assert schema.target is not None
    name = schema.target.name if target is None else target
    require_column(name, table.column_names, "--target")
    features, y, n_dropped = drop_gaps(table, name)
    if not schema.target.is_classification:
        y = _numbers(y, name)
    result = treewright.evaluate(
        estimator,
        features,
        y,
        costs=_read_costs(costs, y),
        positive=_judging.class_named(positive, y),
        **shared,
    )
    return result, n_dropped


def _numbers(y: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        return y.cast(pa.float64())
    except pa.ArrowException as error:
        raise DataError(
            f"The target {name!r} must hold numbers, as the model predicts some, but it is "
            f"{y.type}; check the file."
        ) from error


def _set_aside(features: Any, named: dict[str, str | None]) -> tuple[Any, dict[str, Any]]:
    """Columns that say how rows are held out, which are no features."""
    from treewright.cli._options import require_column

    found = {}
    for what, name in named.items():
        if name is not None:
            require_column(name, features.column_names, f"--{what.rstrip('s')}")
            found[what] = features.column(name)
    for name in {name for name in named.values() if name is not None}:
        features = features.drop_columns([name])
    return features, found


def _read_costs(costs: list[str], y: Any) -> dict[Any, dict[Any, float]] | None:
    """``["bad:good=5"]`` as ``{"bad": {"good": 5.0}}``."""
    from treewright.cli import _judging

    found: dict[Any, dict[Any, float]] = {}
    for word in costs:
        pair, equals, cost = word.rpartition("=")
        true, colon, said = pair.partition(":")
        try:
            price = number(cost)
        except ValueError:
            equals = ""
        if not equals or not colon:
            raise ParameterError(f"--costs takes true:said=cost, such as bad:good=5, got {word!r}.")
        row = found.setdefault(_judging.class_named(true.strip(), y), {})
        row[_judging.class_named(said.strip(), y)] = price
    return found or None


def _draw(result: Evaluation, pictures: list[str]) -> None:
    """Write figures to files."""
    for word in pictures:
        kind, equals, name = word.partition("=")
        if not equals or not name.lower().endswith((".png", ".svg", ".pdf")):
            raise ParameterError(
                "--picture takes kind=file with a file in .png, .svg or .pdf, such as "
                f"roc=roc.png, got {word!r}."
            )
        import matplotlib as mpl

        mpl.use("Agg")
        result.plot(kind).figure_.savefig(name, dpi=120)  # type: ignore[arg-type]
