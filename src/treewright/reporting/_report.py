"""``treewright.report``: from a table to one page that can be sent to a colleague."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treewright.errors import (
    DataError,
    ParameterError,
    SuspectColumnWarning,
    UnseenCategoriesWarning,
)
from treewright.reporting._progress import teller
from treewright.reporting.steps.choose import Choice, choose
from treewright.reporting.steps.compare import Compared, compare_learners
from treewright.reporting.steps.explain import Explained, explain
from treewright.reporting.steps.hold_out import Held, hold_out
from treewright.reporting.steps.judge import Judged, judge, positive_class
from treewright.reporting.steps.plan import Plan, Settings, make_plan
from treewright.reporting.steps.prune import Pruned, prune
from treewright.reporting.steps.understand import Understanding, understand

__all__ = ["Report", "report"]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Everything a report found; made by :func:`treewright.report`.

    Parameters
    ----------
    title
        Of the page.
    settings, plan
        What was asked for, and how much work was done for it.
    data, held, compared, choice, pruned, judged, explained
        The results of the steps, in their order.
    command
        How to make the report again.

    Examples
    --------
    >>> import treewright
    >>> from treewright.datasets import load_iris
    >>> found = treewright.report(load_iris(), learners=["cart"], time=1)
    >>> len(found.held.test)
    36
    >>> found.to_html()[:15]
    '<!DOCTYPE html>'
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found.save(Path(folder, "iris.html"))
    """

    title: str
    settings: Settings
    plan: Plan
    data: Understanding
    held: Held
    compared: Compared
    choice: Choice
    pruned: Pruned
    judged: Judged
    explained: Explained
    command: str = ""

    @property
    def sentence(self) -> str:
        """The finding in one plain sentence."""
        from treewright.reporting._words import first_sentence

        return first_sentence(self)

    @property
    def readable_model(self) -> Any:
        """The fitted model that the page shows as a tree."""
        return self.choice.models[self.choice.readable]

    @property
    def strong_model(self) -> Any:
        """The fitted model that did best."""
        return self.choice.models[self.choice.strong]

    def to_html(self) -> str:
        """The report as one HTML file that loads nothing."""
        from treewright.reporting._write import report_page

        return report_page(self)

    def save(self, path: str | Path) -> None:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path
            Name of the file.
        """
        from treewright.io._atomic import write_atomically

        write_atomically(str(path), [self.to_html().encode("utf-8")])

    def frame(self) -> Any:
        """The compared learners as a data frame.

        Examples
        --------
        >>> import treewright
        >>> from treewright.datasets import load_iris
        >>> report = treewright.report(load_iris(), learners=["cart", "c45"], time=1)
        >>> sorted(report.frame()["model"])
        ['C4.5', 'CART']
        >>> axes = report.plot()
        """
        if self.compared.comparison is None:
            raise ParameterError("One learner was asked for, so that there is no comparison.")
        return self.compared.comparison.frame()

    def plot(self, ax: Any = None) -> Any:
        """Draw the comparison.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        if self.compared.comparison is None:
            raise ParameterError("One learner was asked for, so that there is no comparison.")
        return self.compared.comparison.plot(ax=ax)

    def __repr__(self) -> str:
        return f"<Report of {self.data.target!r} on {self.data.n_rows} rows>"

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        from treewright.reporting._page import framed

        return framed(self.to_html(), 900)


def report(
    data: Any,
    target: str | None = None,
    *,
    costs: Any = None,
    learners: Sequence[str] | None = None,
    time: float = 60.0,
    test_size: float = 0.25,
    metric: str | None = None,
    positive: Any = None,
    max_leaves: int = 30,
    drop: Sequence[str] = (),
    task: str = "auto",
    categorical_features: Any = None,
    ordinal_features: Any = None,
    title: str | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    progress: Any = None,
    command: str = "",
) -> Report:
    """Understand a table, compare learners, choose a readable and a strong one, explain both.

    A share of the rows is held out until the end. The readable model is the smallest tree that
    is not shown to be worse than the best tree; the strong one is the best of all. The same
    call gives the same page, its time stamp aside.

    Parameters
    ----------
    data : str, Path, data frame, Arrow table or Dataset
        A file that :func:`treewright.data.read_table` reads, or a table with the target in it.
    target : str, default=None
        The column to predict; None only for a Dataset, which names its own.
    costs : array-like of shape (n_classes, n_classes) or dict of dicts, default=None
        ``costs[i][j]`` is the cost of calling a row of class i class j.
    learners : sequence of str, default=None
        Who is compared, by the names of the command line; some of each kind by default.
    time : float, default=60.0
        Seconds, about, that the work may take on two cores. It sets how many rows and folds
        are used, by the size of the data and not by a clock.
    test_size : float, default=0.25
        Share of the rows that is held out.
    metric : str, default=None
        Figure that learners are compared by; by default mean cost, ROC AUC of two very unequal
        classes, accuracy, or RMSE.
    positive : object, default=None
        The class of interest of two; by default the rarer one.
    max_leaves : int, default=30
        Leaves up to which a tree counts as readable.
    drop : sequence of str, default=()
        Columns to leave out.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target is a class; by default texts and few whole numbers are.
    categorical_features, ordinal_features
        As for the estimators.
    title : str, default=None
        Title of the page.
    seed : int, default=0
        Of everything that is drawn.
    n_jobs : int, default=-1
        Fits at a time.
    progress : bool or callable, default=None
        True for bars on stderr, or ``progress(step, done, total)``.
    command : str, default=""
        How the page says it can be made again.

    Returns
    -------
    Report

    Examples
    --------
    >>> import treewright
    >>> from treewright.datasets import load_iris
    >>> report = treewright.report(load_iris(), learners=["cart", "random_forest"], time=1)
    >>> report
    <Report of 'Species' on 150 rows>
    >>> report.save("iris.html")
    """
    table, target, hints, name = _read(data, target)
    kinds = dict(hints)
    if categorical_features is not None:
        kinds["categorical_features"] = categorical_features
    if ordinal_features is not None:
        kinds["ordinal_features"] = ordinal_features
    if not time > 0:
        raise ParameterError(f"time must be a positive number of seconds, got {time!r}.")
    settings = Settings(
        costs=costs,
        learners=learners,
        seconds=float(time),
        test_size=test_size,
        metric=metric,
        positive=positive,
        seed=seed,
        n_jobs=n_jobs,
        max_leaves=max_leaves,
        drop=tuple(drop),
        task=task,
        kinds=kinds,
    )
    with warnings.catch_warnings(), teller(progress) as tell:
        # rows are held out from each other here, which says nothing about how they are written
        warnings.simplefilter("ignore", UnseenCategoriesWarning)
        warnings.simplefilter("ignore", SuspectColumnWarning)  # noted once, of all rows
        found = _run(table, target, settings, tell)
    title = title or f"{target} in {name}"
    command = command or f"treewright.report(data, {target!r}, seed={seed}, time={time:g}, …)"
    return Report(title=title, settings=settings, command=command, **found)


def _run(table: Any, target: str, settings: Settings, tell: Any) -> dict[str, Any]:
    """The steps in their order."""
    tell("understand", 0, 1)
    data = understand(table, target, settings)
    tell("understand", 1, 1)
    if settings.costs is not None and not data.is_class:
        raise ParameterError(f"costs are for classes, but the target {target!r} holds numbers.")
    held = hold_out(data, settings)
    smallest = min(data.counts, default=0)
    plan = make_plan(settings, len(held.train), len(data.table.schema), len(data.classes), smallest)
    positive = positive_class(data, settings)
    compared = compare_learners(data, held, plan, settings, positive, tell)
    choice = choose(compared, data, held, plan, settings, tell)
    pruned = prune(choice, data, held)
    judged = judge(data, held, compared, choice, plan, settings, positive, tell)
    explained = explain(data, held, compared, choice, pruned, judged, plan, settings, tell)
    return {
        "plan": plan,
        "data": data,
        "held": held,
        "compared": compared,
        "choice": choice,
        "pruned": pruned,
        "judged": judged,
        "explained": explained,
    }


def _read(data: Any, target: str | None) -> tuple[Any, str, dict[str, Any], str]:
    """An Arrow table, its target, what is known of its columns, and a name for it."""
    from treewright.data.frames import to_arrow
    from treewright.data.readers import read_table
    from treewright.datasets._dataset import Dataset

    if isinstance(data, Dataset):
        import pyarrow as pa

        column = pa.array(data.target.tolist())
        table = data.data.append_column(data.target_name, column)
        return table, target or data.target_name, dict(data.schema_hints), data.name
    if target is None:
        raise ParameterError("report needs the name of the column to predict; pass target=.")
    if isinstance(data, str | Path):
        return read_table(data), target, {}, Path(data).name
    table = to_arrow(data)
    if len(set(table.column_names)) != len(table.column_names):
        raise DataError("The columns of the table must have different names; rename those alike.")
    return table, target, {}, "the data"
