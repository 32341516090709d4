"""What a report is asked to do, and how much work it does for it.

The amount of work follows from the size of the data and the seconds that were granted, by
figures measured once, and not from a clock: the same command gives the same page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from treewright.errors import ParameterError, suggest
from treewright.evaluation._learners import LEARNERS as NAMED

__all__ = ["LEARNERS", "READABLE", "Plan", "Settings", "Tell", "is_readable", "make_plan"]

Tell = Callable[[str, int, int], None]
"""Told of progress: the step, what is done of it, and all there is."""

LEARNERS = (
    *("adaboost", "bagging", "c45", "c50", "cart", "chaid", "ctree", "extra_trees"),
    *("gradient_boosting", "hunt", "id3", "mars", "oblique", "optimal", "random_forest"),
)
"""Learners that a report can compare; :mod:`treewright.evaluation._learners` has their names."""
READABLE = ("cart", "c45", "c50", "chaid", "ctree", "hunt", "id3", "oblique", "optimal")
"""Learners of one tree."""
WITHOUT_COSTS = ("c45", "id3")
"""Of these, those whose leaves cannot mind costs, so that their trees would show other classes."""

PANEL = {
    True: ("cart", "c50", "ctree", "random_forest", "gradient_boosting"),
    False: ("cart", "ctree", "random_forest", "gradient_boosting"),
}
"""Who is compared, for classes and for numbers, unless somebody else is named."""

CELLS_PER_SECOND = 90_000
"""Rows times columns that the whole panel learns on two cores in a second, measured."""
LEAST_ROWS = 1_000


@dataclass(frozen=True)
class Settings:
    """What was asked for; see :func:`treewright.report`."""

    costs: Any = None
    learners: Sequence[str] | None = None
    seconds: float = 60.0
    test_size: float = 0.25
    metric: str | None = None
    positive: Any = None
    seed: int = 0
    n_jobs: int | None = -1
    max_leaves: int = 30
    drop: Sequence[str] = ()
    task: str = "auto"
    kinds: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """How much work is done.

    Parameters
    ----------
    learners
        Who is compared.
    n_compared, folds, repeats
        Training rows of the comparison, and how often they are divided.
    n_curve
        Training rows of the learning curve.
    n_trees
        Members of ensembles.
    n_explained, n_shuffled
        Rows explained one by one, and rows on which importances are measured.
    """

    learners: tuple[str, ...]
    n_compared: int
    folds: int
    repeats: int
    n_curve: int
    n_trees: int
    n_explained: int = 200
    n_shuffled: int = 1000


def make_plan(
    settings: Settings, n_train: int, n_columns: int, n_classes: int, smallest: int
) -> Plan:
    """Fit the work to the data; ``smallest`` is the number of rows of the rarest class."""
    learners = _learners(settings, n_classes > 0)
    folds = max(2, min(5, smallest)) if n_classes else max(2, min(5, n_train // 2))
    cells = (n_columns + 6) * (1 + max(0, n_classes - 2) / 8)
    budget = CELLS_PER_SECOND * settings.seconds * 0.5  # the other half is for everything else
    affordable = int(budget / (cells * (folds - 1)))
    n_compared = max(min(n_train, LEAST_ROWS), min(n_train, affordable))
    repeats = int(max(1, min(5, affordable // max(n_compared, 1))))
    return Plan(
        learners=learners,
        n_compared=n_compared,
        folds=folds,
        repeats=repeats,
        n_curve=min(n_train, max(LEAST_ROWS, n_compared)),
        n_trees=200 if n_train * cells <= 300_000 else 100,
        n_shuffled=max(200, min(1000, int(2_000_000 / cells / 20))),
    )


def _learners(settings: Settings, is_class: bool) -> tuple[str, ...]:
    names = tuple(settings.learners or PANEL[is_class])
    for name in names:
        if name not in LEARNERS:
            raise ParameterError(
                f"learners names one that does not exist: {name!r}.{suggest(name, list(LEARNERS))}"
            )
        if not is_class and not NAMED[name].regressor:
            raise ParameterError(
                f"learners must predict numbers here, but {name!r} predicts classes; leave it out."
            )
    if len(set(names)) != len(names):
        raise ParameterError(f"learners must name each learner once, got {', '.join(names)}.")
    if not any(is_readable(name, settings) for name in names):
        minding = " that minds costs" if settings.costs is not None else ""
        raise ParameterError(
            f"learners must hold a learner of single trees{minding} to show, got "
            f"{', '.join(names)}; add 'cart'."
        )
    return names


def is_readable(name: str, settings: Settings) -> bool:
    """Whether the tree of a learner says all that the model decides."""
    return name in READABLE and (settings.costs is None or name not in WITHOUT_COSTS)
