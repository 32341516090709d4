"""Columns that are probably not what their type says, told to the user.

Three mistakes hide in tables without an error: a column of numbers with a stray word is text, and
every number a category; a column of identifiers tells rows apart and nothing else; integers
beyond 2**53 become equal as floats. What is done does not change; the user is told.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.text_numbers import IS_NUMBER
from treewright.errors import PrecisionWarning, SuspectColumnWarning

__all__ = ["warn_lost_digits", "warn_suspect_text"]

SHARE = 0.95
"""Share of the distinct values that must read as numbers, or of the rows that must differ."""
FEWEST_NUMBERS = 10
FEWEST_ROWS = 50
EXACT = 2**53


def warn_suspect_text(name: str, values: Sequence[Any], codes: NDArray[np.int32]) -> None:
    """Warn of text that is nearly all numbers, or nearly all different."""
    n_values = len(values)
    if n_values < FEWEST_NUMBERS or not isinstance(values[0], str):
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    is_number = pc.match_substring_regex(pa.array(values, pa.large_string()), IS_NUMBER)
    is_number = is_number.to_numpy(zero_copy_only=False)
    share = float(np.mean(is_number))
    if share >= SHARE:
        counts = np.bincount(codes[codes >= 0], minlength=n_values)
        strange = [(values[k], int(counts[k])) for k in np.flatnonzero(~is_number).tolist()]
        _warn_numbers(name, strange, n_values)
        return
    n_known = int(np.count_nonzero(codes >= 0))
    if n_known >= FEWEST_ROWS and n_values >= SHARE * n_known:
        warnings.warn(
            f"Column {name!r} has {n_values} different texts in {n_known} rows, as identifiers "
            "have, from which nothing can be learned; drop it (--drop on the "
            "command line), or name it in categorical_features to keep it without this warning.",
            SuspectColumnWarning,
            stacklevel=6,
        )


def _warn_numbers(name: str, strange: list[tuple[str, int]], n_values: int) -> None:
    strange.sort(key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{value!r:.40} ({count})" for value, count in strange[:5])
    rest = f" and {len(strange) - 5} more" if len(strange) > 5 else ""
    share = np.floor(1000 * (1 - len(strange) / n_values)) / 1000  # 1 if all, never else
    numbers = f"{share:.1%} of them read as numbers, all but {shown}{rest}"
    if not strange:
        numbers = "all of them read as numbers"
    warnings.warn(
        f"Column {name!r} is text, and each of its {n_values} values a category, though "
        f"{numbers}; turn it into numbers with gaps (such as "
        'pandas.to_numeric(..., errors="coerce"); --gaps on the command line), or name it in '
        "categorical_features (--categorical) to keep it as it is.",
        SuspectColumnWarning,
        stacklevel=7,
    )


def warn_lost_digits(name: str, column: Any) -> None:
    """Warn of integers, of numpy or Arrow, that float64 cannot tell apart."""
    largest = _largest_integer(column)
    if largest > EXACT:
        warnings.warn(
            f"Column {name!r} holds integers up to {largest}, and beyond 2**53 numbers that lie "
            "close become equal; subtract an offset, or name the column in categorical_features "
            "if its numbers are labels.",
            PrecisionWarning,
            stacklevel=5,
        )


def _largest_integer(column: Any) -> int:
    """The largest magnitude in a column of wide integers; 0 for any other column."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "iu" or column.dtype.itemsize < 8 or not column.size:
            return 0
        return max(int(column.max()), -int(column.min()))
    import pyarrow as pa
    import pyarrow.compute as pc

    if getattr(column, "type", None) not in (pa.int64(), pa.uint64()):
        return 0
    ends = pc.min_max(column).as_py()
    return max(ends["max"] or 0, -(ends["min"] or 0))
