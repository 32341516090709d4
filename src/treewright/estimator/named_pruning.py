"""Pruning by name: ``pruning="mdl"`` and its kin, on any estimator that fits one tree.

A learner's own method is its own affair (``_own_pruning``); the other names of :data:`METHODS` are
the functions of :mod:`treewright.pruning`, with their numbers in ``pruning_options``. Reduced
error holds rows out before the tree is grown, and may give the leaves the values of all rows
afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from treewright.errors import ParameterError
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.estimator.progress import Progress
    from treewright.estimator.training import Training

__all__ = [
    "METHODS",
    "HeldOut",
    "check_options",
    "hold_out",
    "is_named",
    "prune_by_name",
    "split_rows",
]

Rows = NDArray[np.int64]
REQUIRED = object()

METHODS: dict[str, dict[str, Any]] = {
    "cost_complexity": {
        "ccp_alpha": "cv",
        "cp": None,
        "cv": 10,
        "rule": "min",
        "pruning_risk": "error",
    },
    "reduced_error": {"validation_fraction": 1 / 3, "refit": True},
    "pessimistic": {"penalty": 0.5, "standard_error": False},
    "error_based": {
        "confidence": 0.25,
        "subtree_raising": True,
        "collapse": True,
        "variant": "release8",
    },
    "mdl": {"coding": "full"},
    "chi_squared": {"alpha": 0.05, "corrections": True},
    "minimum_error": {"m": 2.0},
    "critical_value": {"t": REQUIRED, "measure": "gain"},
}
"""The methods, the names of their numbers, and what these are if nothing is said."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that grow a tree, and those that prune it."""

    growing: Rows
    validation: Rows


def is_named(estimator: Any) -> bool:
    """Whether ``pruning`` names a method that is not the learner's own."""
    pruning = getattr(estimator, "pruning", None)
    return isinstance(pruning, str) and pruning != estimator._own_pruning


def check_options(estimator: Any) -> None:
    """Refuse numbers of a method that is not used, or that it does not have."""
    given = getattr(estimator, "pruning_options", None)
    if not is_named(estimator):
        if given is None:
            return
        raise ParameterError(
            f"pruning_options are the numbers of a pruning method by name, got {dict(given)!r} "
            f"beside pruning={estimator.pruning!r}; drop them, or name the method."
        )
    known = METHODS[estimator.pruning]
    for name in given or ():
        if name not in known:
            raise ParameterError(
                f"pruning_options of {estimator.pruning!r} must be among "
                f"{', '.join(map(repr, known))}, got {name!r}."
            )
    for name, value in _options(estimator).items():
        if value is REQUIRED:
            raise ParameterError(
                f"pruning={estimator.pruning!r} needs {name!r} in pruning_options, got none; "
                f"pass pruning_options={{{name!r}: …}}."
            )


def _options(estimator: Any) -> dict[str, Any]:
    given: Mapping[str, Any] = estimator.pruning_options or {}
    options = {**METHODS[estimator.pruning], **given}
    if "cp" in given and "ccp_alpha" not in given:
        options["ccp_alpha"] = 0.0
    return options


def hold_out(estimator: Any, training: Training) -> HeldOut | None:
    """The rows that reduced-error pruning keeps from growth; None for any other method."""
    if not is_named(estimator) or estimator.pruning != "reduced_error":
        return None
    share = float(_options(estimator)["validation_fraction"])
    return split_rows(training.y, share, getattr(estimator, "random_state", None))


def split_rows(y: NDArray[Any], share: float, random_state: Any) -> HeldOut:
    """Hold out a share of the rows, stratified by the target.

    Rows in random order are sorted by target and every so-maniest is taken, so that classes, or
    large and small numbers, have their share in both parts.
    """
    if not isinstance(share, int | float) or not 0.0 < share < 1.0:
        raise ParameterError(
            f"validation_fraction must lie between 0 and 1, got {share!r}; a third is usual."
        )
    n_rows = len(y)
    if n_rows < 2:
        return HeldOut(np.arange(n_rows), np.arange(n_rows))
    order = check_random_state(random_state).permutation(n_rows)
    order = order[np.argsort(y.reshape(n_rows, -1)[order, 0], kind="stable")]
    steps = np.floor(np.arange(n_rows + 1) * share + 0.5)
    taken = np.diff(steps) > 0
    if not taken.any() or taken.all():
        taken[:] = False
        taken[0] = True
    return HeldOut(np.sort(order[~taken]), np.sort(order[taken]))


def prune_by_name(
    estimator: Any,
    tree: Tree,
    training: Training,
    held_out: HeldOut | None,
    progress: Progress | None = None,
) -> Any:
    """Prune by the method that ``pruning`` names; gives what ``_prune`` of a learner gives."""
    from treewright.estimator.base import Pruned

    options = _options(estimator)
    if estimator.pruning == "cost_complexity":
        from treewright.estimator.cost_complexity import prune

        pruned = prune(_WithOptions(estimator, options), tree, training, progress)
        return Pruned(pruned.tree)
    if held_out is not None:
        return Pruned(_by_validation(estimator, tree, training, held_out, options))
    return Pruned(_FUNCTIONS[estimator.pruning](tree, training, options))


def _by_validation(
    estimator: Any, tree: Tree, training: Training, held_out: HeldOut, options: dict[str, Any]
) -> Tree:
    from treewright.estimator.training import threads
    from treewright.pruning._reduced_error import prune_by_validation
    from treewright.pruning._rows import refit

    part = training.take(held_out.validation)
    costs = None if training.costs is None else training.costs.loss
    n_threads = threads(estimator.n_jobs)
    pruned = prune_by_validation(tree, part.table, part.y, part.sample_weight, costs, n_threads)
    if not options["refit"]:
        return pruned
    criterion = getattr(estimator, "criterion", "gini")
    return refit(
        pruned,
        training.table,
        training.y,
        training.sample_weight,
        criterion if criterion in ("gini", "entropy", "error") else "entropy",
        training.costs,
        n_threads,
    )


def _error_based(tree: Tree, training: Training, options: dict[str, Any]) -> Tree:
    from treewright.pruning._error_based import error_based_table

    return error_based_table(tree, training.table, training.y, training.sample_weight, **options)


def _plain(name: str) -> Callable[[Tree, Training, dict[str, Any]], Tree]:
    """A pruner that needs the tree alone."""

    def prune(tree: Tree, training: Training, options: dict[str, Any]) -> Tree:
        from treewright import pruning

        pruned: Tree = getattr(pruning, name)(tree, **options)
        return pruned

    return prune


_FUNCTIONS: dict[str, Callable[[Tree, Training, dict[str, Any]], Tree]] = {
    "error_based": _error_based,
    **{
        name: _plain(name)
        for name in ("pessimistic", "mdl", "chi_squared", "minimum_error", "critical_value")
    },
}


class _WithOptions:
    """An estimator whose numbers of cost-complexity pruning are those of ``pruning_options``."""

    def __init__(self, estimator: Any, options: dict[str, Any]) -> None:
        self._estimator, self._options = estimator, options

    def __getattr__(self, name: str) -> Any:
        options = self.__dict__["_options"]
        if name in options:
            return options[name]
        if name == "random_state":
            return getattr(self._estimator, name, None)
        return getattr(self._estimator, name)
