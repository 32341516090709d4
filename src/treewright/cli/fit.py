"""``treewright fit data.csv --target y``: learn a tree and save it."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treewright.cli._arguments import DataFile, Drop, Force, Gaps, Json, Separator
from treewright.cli._session import SESSION
from treewright.cli._waiting import waiting
from treewright.errors import DataError, OutOfBagWarning, ParameterError, SuspectColumnWarning
from treewright.evaluation._learners import LEARNERS as ALL

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LEARNERS", "Task", "choose_task", "declare_kinds", "drop_gaps", "make", "run", "sow"]


class Task(StrEnum):
    """What is to be predicted."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


LEARNERS: dict[str, dict[Task, str]] = {
    name: {
        task: maker
        for task, maker in (
            (Task.classification, learner.classifier),
            (Task.regression, learner.regressor),
        )
        if maker
    }
    for name, learner in ALL.items()
}

MOST_NUMBERED_CLASSES = 10
"""A column of integers with more values than this is taken for a quantity, not a class."""


def run(
    data: DataFile,
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")],
    learner: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"One of {', '.join(LEARNERS)}; by default cart."),
    ] = None,
    task: Annotated[
        Task, typer.Option(metavar="TASK", help="classification, regression, or by the target.")
    ] = Task.auto,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the learner; repeatable."),
    ] = None,
    categorical: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns of numbers that are categories.")
    ] = None,
    ordinal: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=A<B<C", help="A column whose order counts; repeatable."),
    ] = None,
    drop: Drop = None,
    gaps: Gaps = None,
    separator: Separator = None,
    seed: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Seed of the learner and of the folds.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Threads; -1 for all cores.")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Read in blocks, in at most so much memory: 1GB."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The model; by default DATA's name with .tw, here.",
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, help="To judge the model by; 0 for not at all.")
    ] = 10,
    json: Json = False,
    force: Force = False,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Learn lines as they come (hoeffding); DATA - is the input."),
    ] = False,
    classes: Annotated[
        str | None, typer.Option(metavar="A,B", help="Of a stream: all classes that may come.")
    ] = None,
) -> None:
    """Learn a model from a file, save it, and say how good it is on rows it has not seen.

    Examples: treewright fit titanic.csv --target Survived;
    treewright fit sales.csv.gz --target price --learner random_forest --set n_estimators=300
    """
    if stream:
        if drop is not None:
            raise ParameterError("--drop is for files, but --stream was given; leave it out.")
        from treewright.cli._stream import run_stream

        chosen = learner or "hoeffding"
        if chosen != "hoeffding":
            raise ParameterError(f"--stream is for --learner hoeffding, got {learner!r}.")
        kind = Task.classification if task is Task.auto else task
        estimator = make(chosen, kind, settings or [], random_state=seed, n_jobs=jobs)
        run_stream(data, target, estimator, gaps, separator, classes, output, force=force)
        return
    import treewright
    from treewright.cli._blocks import fit_blocks, is_blocks
    from treewright.cli._files import MODEL_START, STANDARD, check_output, read_data
    from treewright.cli._fit_report import FitReport, show_report
    from treewright.cli._options import leave_out, require_column
    from treewright.cli._target import name_target

    stem = "model" if str(data) == STANDARD else data.name.split(".")[0]
    path = Path(f"{stem}.tw") if output is None else output
    to_stdout = str(path) == STANDARD
    check_output(path, [data], force=force, own=MODEL_START)
    if is_blocks(data, memory):
        if any(given for given in (categorical, ordinal, drop, gaps, separator)):
            raise ParameterError(
                "--categorical, --ordinal, --drop, --gaps and --separator are for data that are "
                "read whole, got one with --memory or a pattern; leave it out."
            )
        estimator, summary = fit_blocks(
            data, target, learner, task, settings or [], memory, random_state=seed, n_jobs=jobs
        )
        treewright.save(estimator, path)
        print(summary)
        print(f"Model: {path}")
        return
    learner = learner or "cart"
    table = read_data(data, gaps, separator)
    require_column(target, table.column_names, "--target")
    features, y, n_dropped = drop_gaps(leave_out(table, drop, target), target)
    task = choose_task(task, y)
    estimator = make(learner, task, settings or [], n_jobs=jobs)
    if not sow(estimator, seed) and seed is not None and folds == 0:
        raise ParameterError(
            f"--seed is for random numbers, but {type(estimator).__name__} draws none, nor are "
            "there folds with --folds 0; leave it out."
        )
    declare_kinds(estimator, features, categorical, ordinal or [])
    with warnings.catch_warnings(), waiting(f"Fitting {type(estimator).__name__}"):
        # the summary says how many rows the out-of-bag error is of
        warnings.simplefilter("ignore", OutOfBagWarning)
        estimator.fit(features, y)
    name_target(estimator, target)
    _save(estimator, path, to_stdout)
    if n_dropped and not (json or SESSION.quiet or to_stdout):
        print(f"{n_dropped} {'row' if n_dropped == 1 else 'rows'} without a target left out.")
    report = FitReport(estimator, features, y, target, path, folds, seed)
    show_report(report, json, SESSION.quiet, to_stdout)


def _save(estimator: Any, path: Path, to_stdout: bool) -> None:
    """Write the model to its file, or its bytes to stdout."""
    import sys
    from tempfile import TemporaryDirectory

    import treewright

    if not to_stdout:
        treewright.save(estimator, path)
        return
    with TemporaryDirectory() as folder:
        treewright.save(estimator, Path(folder) / "model.tw")
        sys.stdout.buffer.write((Path(folder) / "model.tw").read_bytes())
        sys.stdout.buffer.flush()


def drop_gaps(table: pa.Table, target: str) -> tuple[pa.Table, pa.ChunkedArray, int]:
    import pyarrow.compute as pc

    known = table.filter(pc.invert(table.column(target).is_null(nan_is_null=True)))
    if known.num_rows == 0:
        raise DataError(
            f"The target {target!r} must be known in some rows, but all {table.num_rows} are "
            f"gaps; check --target and --gaps."
        )
    column = known.column(target)
    return known.drop_columns([target]), column, table.num_rows - known.num_rows


def choose_task(task: Task, y: pa.ChunkedArray) -> Task:
    """The task asked for, or the one that the values of the target speak for."""
    import pyarrow.types as kinds

    if task is not Task.auto:
        return task
    is_number = kinds.is_integer(y.type) or kinds.is_floating(y.type) or kinds.is_decimal(y.type)
    is_code = kinds.is_integer(y.type) and len(y.unique()) <= MOST_NUMBERED_CLASSES
    if is_number and not is_code:
        return Task.regression
    _check_classes(y)
    return Task.classification


def _check_classes(y: pa.ChunkedArray) -> None:
    """Refuse identifiers as classes, and point at classes that are probably one."""
    values = y.unique().to_pylist()
    if len(values) == len(y) > 2:
        raise DataError(
            f"The target must have classes of several rows, but its {len(y)} values all differ, "
            "as identifiers do; name another column with --target."
        )
    first: dict[str, str] = {}
    for value in sorted(v for v in values if isinstance(v, str)):
        same = first.setdefault(value.strip().casefold(), value)
        if same != value:
            warnings.warn(
                f"The classes {same!r} and {value!r} of the target differ in case or blanks only, "
                "and count as two; write them alike if they are one.",
                SuspectColumnWarning,
                stacklevel=2,
            )


def make(learner: str, task: Task, settings: list[str], **options: Any) -> Any:
    import treewright
    from treewright.cli._options import parse_settings, suggest

    if learner not in LEARNERS:
        raise ParameterError(f"There is no learner {learner!r}.{suggest(learner, list(LEARNERS))}")
    if task not in LEARNERS[learner]:
        raise ParameterError(
            f"--learner {learner} predicts classes, but the target asks for {task.value}; take "
            f"--learner cart, or --task classification."
        )
    name = LEARNERS[learner][task]
    estimator = getattr(treewright, name)()
    given = {key: value for key, value in options.items() if value is not None}
    if not given.keys() <= estimator.get_params().keys():
        raise ParameterError(f"--seed is for random numbers, but {name} draws none; leave it out.")
    given.update(parse_settings(settings, estimator.get_params(), name))
    for inner in {"estimator", "base"} & given.keys():
        if isinstance(given[inner], str):
            given[inner] = make(given[inner], task, [])
    if _draws_rows({**estimator.get_params(deep=False), **given}):
        given.setdefault("oob_score", True)  # an honest error costs nothing there
    return estimator.set_params(**given)


def sow(estimator: Any, seed: int | None) -> bool:
    """Give the seed to a learner that draws and has none of its own; whether it draws."""
    own = estimator.get_params(deep=False)
    if own.get("random_state", 0) is None:
        estimator.set_params(random_state=seed)
    return "random_state" in own


def _draws_rows(parameters: dict[str, Any]) -> bool:
    """Whether an ensemble leaves rows out by which it can be judged."""
    if "oob_score" not in parameters:
        return False
    method = parameters.get("method")
    return bool(parameters.get("bootstrap", False)) if method is None else method != "subspaces"


def declare_kinds(
    estimator: Any, features: pa.Table, categorical: str | None, ordinal: list[str]
) -> None:
    from treewright.cli._options import parse_list, parse_orders, require_column

    nominal = parse_list(categorical)
    orders: dict[str, list[Any]] = {}
    for name, levels in parse_orders(ordinal).items():
        require_column(name, features.column_names, "--ordinal")
        orders[name] = _typed_levels(name, levels, features.column(name))
    for name in nominal or ():
        require_column(name, features.column_names, "--categorical")
    if orders:
        estimator.set_params(ordinal_features=orders)
    if nominal:
        estimator.set_params(categorical_features=nominal)


def _typed_levels(name: str, levels: list[str], column: pa.ChunkedArray) -> list[Any]:
    """The levels as values of the column's own type: 1, not "1", where it holds integers."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    try:
        return list(pa.array(levels).cast(kind).to_pylist())
    except pa.ArrowException as error:
        raise DataError(
            f"The levels of --ordinal must be values of the column, but {name!r} is {kind} and "
            f"the levels are {'<'.join(levels)}."
        ) from error
