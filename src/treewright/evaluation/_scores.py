"""One figure per fold: what comparisons, searches and selections are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import DataError, ParameterError, suggest
from treewright.evaluation._data import Rows
from treewright.evaluation._figures import FIGURES, figure_values
from treewright.evaluation._folds import FoldRun, Said, Split, pooled

__all__ = ["default_metric", "fold_scores", "is_higher_better", "said_score", "share_tested"]

Floats = NDArray[np.float64]


def default_metric(rows: Rows, metric: str | None, costs: Any = None) -> str:
    """The metric asked for, checked; else accuracy, mean cost or RMSE."""
    if metric is None:
        if rows.classes is None:
            return "rmse"
        return "accuracy" if costs is None else "mean_cost"
    if metric not in FIGURES:
        raise ParameterError(
            f"metric must be a figure of an evaluation, got {metric!r}."
            f"{suggest(str(metric), list(FIGURES))}"
        )
    if metric in ("mean_cost", "total_cost") and costs is None:
        raise ParameterError(f'metric="{metric}" needs costs, which were not passed.')
    return metric


def is_higher_better(metric: str) -> bool:
    """Whether more of a figure is better."""
    return FIGURES[metric].better == "high"


def fold_scores(
    run: FoldRun,
    metric: str,
    costs: Floats | None = None,
    positive: int | None = None,
    name: str = "the model",
) -> Floats:
    """The metric on the rows held out by each split."""
    pairs = zip(run.splits, run.answers, strict=True)
    return np.array(
        [
            said_score(run.rows, split.test, answer.test, metric, costs, positive, name)
            for split, answer in pairs
        ]
    )


def said_score(
    rows: Rows,
    places: NDArray[np.int64],
    said: Said,
    metric: str,
    costs: Floats | None = None,
    positive: int | None = None,
    name: str = "the model",
) -> float:
    """The metric of what one model said of some rows."""
    truth = rows.truth[places]
    if metric == "accuracy" and rows.classes is not None:
        return float(np.mean(truth == said.predicted))
    if metric == "rmse" and rows.classes is None:
        return float(np.sqrt(np.mean((truth - said.predicted) ** 2)))
    found = pooled(rows, places, [said], np.zeros(len(places)))
    confusion = None if rows.classes is None else found.confusion
    values = figure_values(confusion, found, costs, positive)
    if metric not in values or not np.isfinite(values[metric]):
        raise DataError(_why_not(rows, metric, said, name, positive, list(values)))
    return values[metric]


def _why_not(
    rows: Rows, metric: str, said: Said, name: str, positive: int | None, known: list[str]
) -> str:
    """Why a figure cannot be had."""
    if metric in known:
        return (
            f'metric="{metric}" cannot be told on a fold of {len(said.predicted)} rows, where it '
            "is not a number; use fewer folds or another metric."
        )
    if (rows.classes is None) != (metric in ("rmse", "mae", "r2", "coverage", "width")):
        kind = "numbers" if rows.classes is None else "classes"
        return f'metric="{metric}" is not one of models that predict {kind}; use {known[0]!r}.'
    if positive is None and f"{metric}_macro" in known:
        return (
            f'metric="{metric}" is of one class against the rest; name it with positive=, or use '
            f"'{metric}_macro'."
        )
    if said.proba is None or not said.is_probability:
        return f'metric="{metric}" needs probabilities, which {name} does not give.'
    return f'metric="{metric}" cannot be told here.{suggest(metric, known)}'


def share_tested(splits: Sequence[Split]) -> float:
    """Rows tested per row trained on, on average."""
    return float(np.mean([len(split.test) / len(split.train) for split in splits]))
