"""Row weights as users give them, and whether rows and targets belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.frames import refuse_collection
from treewright.errors import DataError

if TYPE_CHECKING:
    from treewright.data.table import Table

__all__ = [
    "EXACT",
    "Settled",
    "check_lengths",
    "counting_factors",
    "counting_scale",
    "counting_weights",
    "distinct_weights",
    "exact_sum",
    "on_scale",
    "read_weights",
    "refuse_overflow",
    "taking_part",
    "without_empty_rows",
]

MOST = 1e100
"""Largest weight; sums of larger ones would overflow."""
LEAST = 1e-100
"""Smallest weight; less counts as nothing, because its products would underflow."""
MOST_COPIES = 2**31
"""Most equal rows that a weight can stand for: a table has fewer rows."""
NEAR = 1e-12
"""How far a multiple may be from a whole number, relative: scaling rounds weights."""
BITS = 40
"""Significant bits of a weight on the scale of counts."""
FEW = 2**16
"""Most distinct weights that are taken for counts; blocks of rows hand on that many."""


def read_weights(
    sample_weight: Any, n_samples: int
) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_] | None]:
    """Weights of the rows that take part, and their mask; None for ones, and for all rows."""
    if sample_weight is None:
        return None, None
    refuse_collection(sample_weight, "sample_weight")
    try:
        if np.asarray(sample_weight).dtype.kind in "mMUS":  # numpy would make numbers of them
            raise TypeError
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "sample_weight must hold numbers, "
            f"got {type(sample_weight).__name__} that cannot be read as such."
        ) from None
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise DataError(
            f"sample_weight must hold one weight for each of the {n_samples} rows, "
            f"got shape {weight.shape}."
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        row = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise DataError(
            f"sample_weight must be finite and at least 0, got {weight[row]} in row {row}; "
            "give a row that is to be left out the weight 0."
        )
    refuse_overflow(float(weight.max(initial=0.0)))
    used = taking_part(weight)
    rows = None
    if not used.all():
        rows = used
        weight = weight[rows]
        if not len(weight):
            raise DataError(
                f"sample_weight must be {LEAST:.0e} or more in at least one row, got zero weight "
                "everywhere, or nearly; scale it, or leave it out to weigh all rows alike."
            )
    return (None if np.all(weight == 1.0) else weight), rows


def taking_part(weight: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask of the rows that weigh enough to be learned from."""
    return np.asarray(weight >= LEAST)


def refuse_overflow(most: float) -> None:
    """Refuse weights whose sums would overflow."""
    if most > MOST:
        raise DataError(f"sample_weight must be at most {MOST:.0e}, got {most:g}; scale it.")


class Settled(np.ndarray[Any, Any]):
    """Weights that are on the scale of rows already, though some are multiples of others.

    Factors of classes of a mean of one, such as 0.4 and 1.6, must not become one row and four.
    """


def counting_weights(weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Weights on the scale on which learners compare them with numbers of rows; None for ones.

    Scaling all weights must not change a tree whose leaves need a weight of two, and a row of
    weight two is two equal rows. So where all weights are multiples of the smallest, that one
    counts as one row; all others are scaled to a mean of one.

    Examples
    --------
    >>> counting_weights(np.array([2000.0, 4000.0, 6000.0]))
    array([1., 2., 3.])
    >>> counting_weights(np.array([0.1, 0.2, 0.3]))
    array([1., 2., 3.])
    >>> counting_weights(np.array([2.0, 3.0, 5.0, 10.0])).round(6)
    array([0.4, 0.6, 1. , 2. ])
    """
    if weight is None:
        return None
    distinct = distinct_weights(weight) if _are_multiples(weight) else None
    counted = on_scale(weight, counting_scale(distinct, exact_sum(weight), len(weight)))
    return None if np.all(counted == 1.0) else counted


def counting_factors(
    factors: NDArray[np.float64], totals: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights of a row of each class on the scale of counts.

    ``totals`` says how many rows each class has, those of a weight of two counted twice.

    Examples
    --------
    >>> counting_factors(np.array([0.5, 2.0]), np.array([30.0, 10.0]))
    array([1., 4.])
    >>> counting_factors(np.array([1.0, 2.5]), np.array([30.0, 10.0])).round(6)
    array([0.727273, 1.818182])
    """
    rows = [int(n) for n in totals]
    each = [exact_sum(np.array([factor])) for factor in factors]
    total = sum(n * own for n, own in zip(rows, each, strict=True))
    return on_scale(factors, counting_scale(np.unique(factors), total, sum(rows)))


def counting_scale(distinct: NDArray[np.float64] | None, total: int, n: int) -> float:
    """What weights are divided by: the smallest, where all are its multiples, or their mean.

    ``distinct`` are the :func:`distinct_weights`, ``total`` their :func:`exact_sum`.
    """
    if distinct is not None and _are_multiples(distinct):
        return float(distinct.min())
    return (total / EXACT) / n


def on_scale(weight: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Weights divided by ``scale``, with :data:`BITS` significant bits.

    Scaling rounds weights in their last bit, which would decide between tests that are equally
    good; what is left after rounding is the same for all scales.
    """
    mantissa, exponent = np.frexp(weight / scale)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS))


def distinct_weights(weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Distinct weights, ascending; None where there are very many."""
    distinct = np.unique(weight)
    return distinct if len(distinct) <= FEW else None


def _are_multiples(weight: NDArray[np.float64]) -> bool:
    times = weight / weight.min()
    if times.max() > MOST_COPIES:  # whole numbers are so close there that every weight is one
        return False
    return bool(np.all(np.abs(times - np.rint(times)) <= NEAR * times))


EXACT = 1 << 1153
"""Units of exact sums in 1."""


def exact_sum(values: NDArray[np.float64]) -> int:
    """The sum of weights without rounding, in units: blocks of rows can be added in any order.

    Examples
    --------
    >>> exact_sum(np.array([1e16, 1.0, 1.0])) / EXACT
    1.0000000000000002e+16
    """
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    total = 0
    for power in np.unique(exponent).tolist():
        own = whole[exponent == power]
        high, low = int((own >> 26).sum()), int((own & (2**26 - 1)).sum())
        total += ((high << 26) + low) << (power + 1100)
    return total


def without_empty_rows(table: Table, sample_weight: Any) -> Any:
    """The weights, 0 for rows of ``table`` that hold nothing but gaps."""
    empty = np.full(table.n_rows, bool(table.has_gaps.all()))
    for column in table.columns if empty.any() else ():
        empty &= np.isnan(column) if column.dtype.kind == "f" else column < 0
    if not empty.any():
        return sample_weight
    if empty.all():
        raise DataError(
            "X must hold a value in at least one row with drop_empty_rows=True, but every cell is "
            "a gap; check how gaps are marked."
        )
    check_lengths(table.n_rows, np.size(sample_weight) if np.ndim(sample_weight) else table.n_rows)
    return np.where(empty, 0.0, 1.0 if sample_weight is None else sample_weight)


def check_lengths(n_rows: int, n_targets: int) -> None:
    """Refuse a table and a target of different lengths."""
    if n_rows != n_targets:
        raise DataError(
            f"X and y must have the same number of rows, got {n_rows} and {n_targets}; "
            "they come from different tables, or one was filtered."
        )
