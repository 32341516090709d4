"""``treewright fit data.csv --target y``: learn a tree and save it."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treewright.cli._arguments import DataFile, Force, Gaps, Separator
from treewright.errors import DataError, OutOfBagWarning, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LEARNERS", "Task", "choose_task", "declare_kinds", "drop_gaps", "make", "run"]


class Task(StrEnum):
    """What is to be predicted."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


LEARNERS: dict[str, dict[Task, str]] = {
    "adaboost": {Task.classification: "AdaBoostClassifier", Task.regression: "AdaBoostRegressor"},
    "bagging": {Task.classification: "BaggingClassifier", Task.regression: "BaggingRegressor"},
    "c45": {Task.classification: "C45Classifier"},
    "c45rules": {Task.classification: "C45Rules"},
    "c50": {Task.classification: "C50Classifier"},
    "cart": {Task.classification: "CARTClassifier", Task.regression: "CARTRegressor"},
    "chaid": {Task.classification: "CHAIDClassifier", Task.regression: "CHAIDRegressor"},
    "ctree": {Task.classification: "CTreeClassifier", Task.regression: "CTreeRegressor"},
    "extra_trees": {
        Task.classification: "ExtraTreesClassifier",
        Task.regression: "ExtraTreesRegressor",
    },
    "gradient_boosting": {
        Task.classification: "GradientBoostingClassifier",
        Task.regression: "GradientBoostingRegressor",
    },
    "id3": {Task.classification: "ID3Classifier"},
    "hunt": {Task.classification: "HuntClassifier", Task.regression: "HuntRegressor"},
    "mars": {Task.classification: "MARSClassifier", Task.regression: "MARSRegressor"},
    "oblique": {
        Task.classification: "ObliqueTreeClassifier",
        Task.regression: "ObliqueTreeRegressor",
    },
    "optimal": {
        Task.classification: "OptimalTreeClassifier",
        Task.regression: "OptimalTreeRegressor",
    },
    "random_forest": {
        Task.classification: "RandomForestClassifier",
        Task.regression: "RandomForestRegressor",
    },
}

MOST_NUMBERED_CLASSES = 10
"""A column of integers with more values than this is taken for a quantity, not a class."""


def run(
    data: DataFile,
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")],
    learner: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {', '.join(LEARNERS)}.")
    ] = "cart",
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
    gaps: Gaps = None,
    separator: Separator = None,
    seed: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Seed of the random numbers.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Threads; -1 for all cores.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The model; by default DATA's name with .tw, here."),
    ] = None,
    force: Force = False,
) -> None:
    """Learn a tree from a file and save it."""
    import treewright
    from treewright.cli._files import MODEL_START, check_output, read_data
    from treewright.cli._options import require_column
    from treewright.cli._target import name_target

    path = Path(f"{data.name.split('.')[0]}.tw") if output is None else output
    check_output(path, [data], force=force, own=MODEL_START)
    table = read_data(data, gaps, separator)
    require_column(target, table.column_names, "--target")
    features, y, n_dropped = drop_gaps(table, target)
    task = choose_task(task, y)
    estimator = make(learner, task, settings or [], random_state=seed, n_jobs=jobs)
    declare_kinds(estimator, features, categorical, ordinal or [])
    with warnings.catch_warnings():
        # the summary says how many rows the out-of-bag error is of
        warnings.simplefilter("ignore", OutOfBagWarning)
        estimator.fit(features, y)
    name_target(estimator, target)
    treewright.save(estimator, path)
    if n_dropped:
        print(f"{n_dropped} {'row' if n_dropped == 1 else 'rows'} without a target left out.")
    print(_summary(estimator, features, y, target))
    print(f"Model: {path}")


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
    return Task.classification if is_code or not is_number else Task.regression


def make(learner: str, task: Task, settings: list[str], **options: Any) -> Any:
    import treewright
    from treewright.cli._options import parse_settings, suggest

    if learner not in LEARNERS:
        raise ParameterError(
            f"--learner names one that does not exist: {learner!r}."
            f"{suggest(learner, list(LEARNERS))}"
        )
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


def _summary(estimator: Any, features: pa.Table, y: pa.ChunkedArray, target: str) -> str:
    import numpy as np

    rows, columns = features.shape
    predicted = estimator.predict(features)
    truth = np.array(y.to_pylist(), dtype=predicted.dtype)
    lines = [
        f"{type(estimator).__name__} of {target!r} on {rows} rows and {columns} features",
        f"Size: {_size(estimator)}",
    ]
    if hasattr(estimator, "classes_"):
        wrong = int(np.count_nonzero(predicted != truth))
        lines.append(f"Training error: {wrong / rows:.1%} ({wrong} of {rows} rows)")
    else:
        squared = float(np.mean((predicted - truth) ** 2))
        spread = float(np.var(truth))
        explained = f", R² {1 - squared / spread:.3f}" if spread > 0 else ""
        lines.append(f"Training error: {squared**0.5:.6g} (root mean square{explained})")
    if hasattr(estimator, "oob_score_"):
        lines.append(_out_of_bag(estimator, truth))
    return "\n".join(lines)


def _size(estimator: Any) -> str:
    if hasattr(estimator, "rules_"):
        return f"{len(estimator.rules_)} rules"
    if hasattr(estimator, "tree_"):
        return f"{estimator.tree_.n_leaves} leaves, depth {estimator.tree_.depth}"
    size: str = estimator.size()
    return size


def _out_of_bag(estimator: Any, truth: Any) -> str:
    """The error on the rows that members did not see."""
    import numpy as np

    if hasattr(estimator, "classes_"):
        known = int(np.count_nonzero(~np.isnan(estimator.oob_decision_function_[:, 0])))
        return f"Out-of-bag error: {1 - estimator.oob_score_:.1%} (of {known} rows)"
    squared = float(np.nanmean((estimator.oob_prediction_ - truth) ** 2))
    return f"Out-of-bag error: {squared**0.5:.6g} (root mean square, R² {estimator.oob_score_:.3f})"
