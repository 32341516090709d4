"""The second step: rows that no model sees until the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.reporting.steps.plan import Settings
from treewright.reporting.steps.understand import Understanding

__all__ = ["Held", "hold_out"]


@dataclass(frozen=True, eq=False)
class Held:
    """Training rows and test rows, by number, and both as tables."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]


def hold_out(data: Understanding, settings: Settings) -> Held:
    """Hold out a share of the rows, of every class alike; rows of lone classes train."""
    if not 0 < settings.test_size < 1:
        raise ParameterError(f"test_size must lie between 0 and 1, got {settings.test_size!r}.")
    rng = np.random.default_rng(settings.seed)
    rows = rng.permutation(data.n_rows)
    if data.is_class:
        test = np.concatenate(
            [
                _share(rows[data.codes[rows] == k], settings.test_size)
                for k in range(len(data.classes))
            ]
        )
    else:
        test = _share(rows, settings.test_size)
    is_test = np.zeros(data.n_rows, bool)
    is_test[test] = True
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    return Held(
        train,
        test,
        data.features.take(train),
        data.y[train],
        data.features.take(test),
        data.y[test],
    )


def _share(rows: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """The first rows, at least one of two or more."""
    n = round(share * len(rows))
    return rows[: max(n, 1) if len(rows) > 1 else 0]
