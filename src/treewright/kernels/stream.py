"""Trees that learn from a stream, behind their checks; see ``core/stream``."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import treewright.kernels._core as _compiled

__all__ = ["StreamTree"]

_core = cast(Any, _compiled)

Floats = NDArray[np.float64]


class StreamTree:
    """A compiled stream tree; rows and targets are checked before it sees them."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._n_classes = options["n_classes"]
        self._n_codes = list(options["n_codes"])
        self._tree = _core.StreamTree(options)

    def set_codes(self, n_codes: list[int]) -> None:
        """Allow for more categories; kinds stay."""
        if [n > 0 for n in n_codes] != [n > 0 for n in self._n_codes]:
            raise ValueError("features must keep their kinds")
        self._n_codes = list(n_codes)
        self._tree.set_codes(self._n_codes)

    def learn(self, rows: Floats, y: Floats, weight: Floats | None, want: bool) -> Any:
        """Learn rows; see ``core/stream/tree.hpp``."""
        self._check(rows)
        if len(y) != len(rows) or (weight is not None and len(weight) != len(rows)):
            raise ValueError("every row needs a target and a weight")
        if self._n_classes and len(y) and not (y.min() >= 0 and y.max() < self._n_classes):
            raise ValueError("a class code is out of range")
        return self._tree.learn(rows, y, weight, want)

    def answer(self, rows: Floats) -> Any:
        """Class probabilities or numbers of new rows."""
        self._check(rows)
        return self._tree.answer(rows)

    def _check(self, rows: Floats) -> None:
        if rows.ndim != 2 or rows.shape[1] != len(self._n_codes):
            raise ValueError("rows must have one number for each feature")
        for j, n in enumerate(self._n_codes):
            if (
                n
                and len(rows)
                and (np.nanmax(rows[:, j], initial=0) >= n or np.any(rows[:, j] < 0))
            ):
                raise ValueError("a category code is out of range")

    def arrays(self) -> dict[str, Any]:
        """The columns of an ordinary tree."""
        return cast(dict[str, Any], self._tree.arrays())

    def state(self) -> Any:
        """All that was learned, as one row of numbers."""
        return self._tree.state()

    def restore(self, numbers: Floats) -> None:
        """Take back what :meth:`state` gave, after checking all of it."""
        self._tree.restore(numbers)

    @property
    def n_active(self) -> int:
        """Nodes that remember more than their totals."""
        return int(self._tree.n_active)
