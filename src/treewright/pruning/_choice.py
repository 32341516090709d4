"""What the results of this room share: the choice of a row."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.errors import ParameterError

__all__ = ["Choice", "choose_row"]

Choice = Literal["min", "1se"]


def choose_row(
    sizes: ArrayLike, errors: NDArray[np.float64], std: NDArray[np.float64], rule: Choice
) -> int:
    """The smallest tree whose error is the least, or within one standard error of it."""
    if rule not in ("min", "1se"):
        raise ParameterError(f'rule must be "min" or "1se", got {rule!r}; choose one of them.')
    size = np.asarray(sizes)
    least = np.flatnonzero(errors == errors.min())
    best = least[np.argmin(size[least])]
    limit = errors[best] + (std[best] if rule == "1se" else 0.0)
    allowed = np.flatnonzero(errors <= limit)
    return int(allowed[np.argmin(size[allowed])])
