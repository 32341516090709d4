"""What the results of this room share: the choice of a row, numbers of a column."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.errors import ParameterError
from treewright.tree.tables import as_frame, html_table, text_table

__all__ = ["Choice", "as_frame", "choose_row", "html_table", "significant", "text_table"]

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


def significant(values: ArrayLike, digits: int = 5) -> list[str]:
    """Numbers with the same decimals, as many as the most demanding needs for ``digits``.

    This is how R formats a column: 0.17647059, 0.01960784 and 0.01 become 0.176471,
    0.019608 and 0.010000.
    """
    numbers = np.asarray(values, np.float64).tolist()
    decimals = 0
    for number in numbers:
        if np.isfinite(number) and number != 0:
            mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
            used = len(mantissa.partition(".")[2].rstrip("0"))
            decimals = max(decimals, used - int(exponent))
    if decimals > digits + 3:  # where R, too, finds the scientific form shorter
        return [f"{number:.{digits - 1}e}" for number in numbers]
    return [f"{number:.{decimals}f}" for number in numbers]
