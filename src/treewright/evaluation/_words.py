"""Plain words where a figure misleads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.evaluation._intervals import Interval, proportion_interval

__all__ = ["class_words", "number_words"]

FEW_ROWS = 100
FEW_OF_CLASS = 30
RARE = 0.1
"""A class with a smaller share of the rows than this makes accuracy misleading."""


def class_words(
    confusion: NDArray[np.float64], classes: Sequence[Any], n: float, interval: Interval
) -> list[str]:
    """What the confusion matrix of ``n`` rows does not say by itself."""
    true, said = confusion.sum(axis=1), confusion.sum(axis=0)
    total, right = confusion.sum(), np.trace(confusion)
    top = int(true.argmax())
    words = [*_imbalance(confusion, classes), *_few(true, classes, n, right / total)]
    share = true[top] / total
    if right / total <= share + 1e-12 and (true > 0).sum() > 1:
        words.append(
            f"No better than the majority: always saying {classes[top]!r} would be right in "
            f"{share:.1%} of the rows, this is right in {right / total:.1%}."
        )
    elif interval.low <= share and (true > 0).sum() > 1:
        words.append(
            f"Not shown to be better than the majority: always saying {classes[top]!r} would be "
            f"right in {share:.1%} of the rows, which the interval of accuracy holds."
        )
    never = [repr(classes[c]) for c in np.flatnonzero((said == 0) & (true > 0)).tolist()]
    if never:
        words.append(
            f"No row was called {_listed(never)}: precision is not defined there and counts as 0."
        )
    absent = [repr(classes[c]) for c in np.flatnonzero(true == 0).tolist()]
    if absent:
        words.append(f"No row is {_listed(absent)}: recall is not defined there.")
    return words


def _imbalance(confusion: NDArray[np.float64], classes: Sequence[Any]) -> list[str]:
    true = confusion.sum(axis=1)
    total, top = true.sum(), int(true.argmax())
    rare = [c for c in np.flatnonzero((true > 0) & (true < RARE * total)).tolist() if c != top]
    if not rare or true[top] < 0.5 * total:
        return []
    worst = min(rare, key=lambda c: confusion[c, c] / true[c])
    recall = confusion[worst, worst] / true[worst]
    return [
        f"The classes are out of balance: {true[top] / total:.1%} of the rows are "
        f"{classes[top]!r}, so that accuracy says little about {classes[worst]!r}, of which "
        f"{_count(confusion[worst, worst])} of {_count(true[worst])} rows were found "
        f"(recall {recall:.3g}); look at recall, balanced accuracy and cost."
    ]


def _few(true: NDArray[np.float64], classes: Sequence[Any], n: float, accuracy: float) -> list[str]:
    if n < FEW_ROWS:
        low, high, _ = proportion_interval(accuracy * n, n, "wilson", 0.95)
        return [
            f"Few test rows: on {_count(n)} rows an accuracy of {accuracy:.1%} may be anything "
            f"from {low:.0%} to {high:.0%}."
        ]
    few = np.flatnonzero((true > 0) & (true < FEW_OF_CLASS)).tolist()
    if not few:
        return []
    listed = _listed([f"{classes[c]!r} ({_count(true[c])})" for c in few])
    return [f"Few rows of {listed}: recall and F1 of so few are rough."]


def number_words(values: Mapping[str, float], n: int) -> list[str]:
    """What the figures of a regression do not say by themselves."""
    words = []
    if n < FEW_ROWS:
        words.append(f"Few test rows: {n}; look at the intervals.")
    if values["r2"] <= 0:
        words.append(
            f"No better than the mean: R² is {values['r2']:.3f}, and always saying the mean of "
            "these rows would give 0."
        )
    return words


def _count(weight: float) -> str:
    return f"{weight:.10g}" if abs(weight - round(weight)) < 1e-6 else f"{weight:.1f}"


def _listed(names: list[str]) -> str:
    shown = names[:5]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(shown) + more
