"""Columns that are probably not what their type says, told to the user.

Three mistakes hide in tables without an error: a column of numbers or dates with a stray word is
text, and every value a category; categories with a row or two each, such as identifiers, tell
rows apart and nothing else; integers beyond 2**53 become equal as floats. What is done does not
change; the user is told.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.text_numbers import IS_NUMBER
from treewright.errors import ManyCategoriesWarning, PrecisionWarning, SuspectColumnWarning

__all__ = ["warn_lost_digits", "warn_many_categories", "warn_suspect_text"]

IS_DATE = r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ]|$)"
"""What looks like a date, in whatever order."""

SHARE = 0.95
"""Share of the distinct values that must read as numbers or dates, or of the rows that differ."""
MOST = 3
"""Rows that there must be for each category."""
FEWEST_NUMBERS = 10
FEWEST_ROWS = 50
EXACT = 2**53


def warn_suspect_text(name: str, values: Sequence[Any], codes: NDArray[np.int32]) -> bool:
    """Warn of text that is nearly all numbers or dates; whether it is."""
    if len(values) < FEWEST_NUMBERS or not isinstance(values[0], str):
        return False
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.array(values, pa.large_string())
    for kind, pattern in (("numbers", IS_NUMBER), ("dates", IS_DATE)):
        reads = pc.match_substring_regex(text, pattern).to_numpy(zero_copy_only=False)
        if np.mean(reads) >= SHARE:
            counts = np.bincount(codes[codes >= 0], minlength=len(values))
            strange = [(values[k], int(counts[k])) for k in np.flatnonzero(~reads).tolist()]
            _warn_kind(name, kind, strange, len(values))
            return True
    return False


def warn_many_categories(name: str, values: Sequence[Any], codes: NDArray[np.int32]) -> None:
    """Warn of categories that are more than a third of the rows."""
    n_rows = len(codes)
    if n_rows < FEWEST_ROWS or len(values) * MOST <= n_rows:
        return
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    n_used, n_known = int(np.count_nonzero(counts)), int(counts.sum())
    if n_used * MOST <= n_rows:
        return
    how = "fewer than three rows for each, from which little can be learned"
    if n_used >= SHARE * n_known:
        how = "as identifiers have, from which nothing can be learned"
    warnings.warn(
        f"Column {name!r} has {n_used} categories in {n_known} rows, {how}; "
        "drop it (--drop on the command line), turn it into numbers or dates, or "
        "name it in categorical_features (--categorical) to keep it without this warning.",
        ManyCategoriesWarning,
        stacklevel=6,
    )


def _warn_kind(name: str, kind: str, strange: list[tuple[str, int]], n_values: int) -> None:
    strange.sort(key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{value!r:.40} ({count})" for value, count in strange[:5])
    rest = f" and {len(strange) - 5} more" if len(strange) > 5 else ""
    share = np.floor(1000 * (1 - len(strange) / n_values)) / 1000  # 1 if all, never else
    reading = f"{share:.1%} of them read as {kind}, all but {shown}{rest}"
    if not strange:
        reading = f"all of them read as {kind}"
    example = "to_numeric" if kind == "numbers" else "to_datetime"
    warnings.warn(
        f"Column {name!r} is text, and each of its {n_values} values a category, though "
        f"{reading}; turn it into {kind} with gaps (such as "
        f'pandas.{example}(..., errors="coerce"); --gaps on the command line), or name it in '
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
