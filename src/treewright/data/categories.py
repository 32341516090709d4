"""Categories: values known by what they are, never by the code a frame gave them.

A column of categories arrives as ``Coded``: codes and the values they stand for. Values are
reduced to plain Python ones first (:func:`plain_values`), so that 1, 1.0 and ``np.int64(1)`` are
one category and a date is its ISO text; from there a dict does the matching, because Python's
own equality already says that an integral float equals the integer. Work per row is numpy's;
Python only loops over distinct values.
"""

from __future__ import annotations

import datetime
import difflib
import math
import numbers
import reprlib
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import DataError, SchemaError, UnseenCategoriesWarning

__all__ = ["Coded", "learn", "levels_error", "listed", "match", "plain_values", "warn_unseen"]


MOST_WHOLE = 2**64 - 1
"""Largest integer that is a category; a model file holds no more bits."""


@dataclass(frozen=True, eq=False, slots=True)
class Coded:
    """Codes (−1 is a gap) and the values they stand for, not yet unique or plain.

    ``declared`` says that the order of ``values`` was somebody's intention, ``ordered`` that
    it carries meaning.
    """

    codes: NDArray[Any]
    values: Sequence[Any]
    ordered: bool = False
    declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)


def plain_values(values: Iterable[Any], name: str) -> list[Any]:
    """The values as str, bool, int or float; None for a gap.

    Examples
    --------
    >>> plain_values(["a", 1.0, float("nan"), True], "column")
    ['a', 1, None, True]
    """
    values = list(values)
    if set(map(type, values)) == {str}:
        return values
    return [_plain(value, name) for value in values]


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool):
        return value
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas, without importing it
        return None
    if isinstance(value, numbers.Real | Decimal):
        return _plain_number(value, name)
    if isinstance(value, bytes):
        return decoded(value, name)
    if isinstance(value, datetime.date | datetime.time):
        return _date_text(value)
    return str(value)  # intervals of pandas.cut and the like


def _plain_number(value: Any, name: str) -> int | float | None:
    if isinstance(value, numbers.Integral):
        whole = int(value)
        if abs(whole) > MOST_WHOLE:
            raise DataError(
                f"Column {name!r} must have categories that are whole numbers of at most 64 bits, "
                f"or text, got one of {whole.bit_length()} bits; turn them into text."
            )
        return whole
    number = float(value)
    if math.isnan(number):
        return None
    if math.isinf(number):
        raise infinity_error([name])
    return int(number) if number.is_integer() and abs(number) <= MOST_WHOLE else number


def _date_text(value: datetime.date | datetime.time) -> str:
    """ISO text; midnight is left out, so that a date column of any frame reads the same."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        # pandas' Timestamp is a datetime too, and writes nanoseconds of its own.
        if value.time() == datetime.time(0):
            return value.date().isoformat()
    return value.isoformat()


def decoded(value: bytes, name: str) -> str:
    """Text of a bytes category."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise DataError(
            f"Column {name!r} must hold text in UTF-8, but a value is {value[:20]!r}; "
            "decode it first."
        ) from None


def infinity_error(names: Sequence[str]) -> DataError:
    """The error for columns that hold ±inf."""
    return DataError(
        f"X must hold finite numbers or gaps, but {listed(names, 'column')} "
        f"{'contains' if len(names) == 1 else 'contain'} infinity; "
        "replace it by a finite number or by NaN."
    )


def listed(names: Sequence[Any], noun: str = "", most: int = 5) -> str:
    """``'a', 'b' and 3 more``, after the noun in its right number; long names lose their middle."""
    shown = ", ".join(_SHORT.repr(name) for name in names[:most])
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    plural = "s" if len(names) > 1 else ""
    return f"{noun}{plural} {shown}{rest}" if noun else f"{shown}{rest}"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def repeats_error(names: Sequence[Any]) -> DataError:
    """The error for column names that occur more than once."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    return DataError(
        f"Column names must be unique, but {listed(repeated)} comes more than once; rename them."
    )


def levels_error(name: str) -> DataError:
    """The error for ordered categories that parts of the data declare differently."""
    return DataError(
        f"Ordered categories of column {name!r} must be the same in all blocks, got others; pass "
        "their order as ordinal_features."
    )


def learn(coded: Coded, name: str) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """Categories in their order, and the codes that follow it.

    Declared categories keep their order and stay even when no row has them; others are those
    that occur, sorted.
    """
    values, codes = _distinct(coded, name)
    if coded.declared or coded.ordered:
        return tuple(values), codes
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    used = np.flatnonzero(counts).tolist()
    try:
        order = sorted(used, key=values.__getitem__)
    except TypeError:  # text and numbers in one unordered dictionary: numbers first
        order = sorted(used, key=lambda k: (isinstance(values[k], str), values[k]))
    return tuple(values[k] for k in order), _recode(codes, order, range(len(order)), len(values))


def match(
    coded: Coded, categories: tuple[Any, ...], name: str, *, complete: bool = False
) -> NDArray[np.int32]:
    """Codes of known ``categories``; a value that is not among them is a gap.

    With ``complete``, such a value is an error. So is, always, a value of a type that no
    category has (text among numbers): it would quietly turn the column into gaps.
    """
    values, codes = _distinct(coded, name)
    known = _positions(categories)
    found = [known.get(value, -1) for value in values]
    if -1 in found and categories:
        used = np.bincount(codes[codes >= 0], minlength=len(values)) > 0
        strange = [v for v, f, u in zip(values, found, used, strict=True) if f < 0 and u]
        _check_strange(strange, categories, name, complete)
    return _recode(codes, range(len(values)), found, len(values))


MOST_UNSEEN = 0.05
"""Share of the rows that may have categories unknown to training before the user is told."""
FEWEST_UNSEEN = 10
"""Rows it takes: of a handful of new rows one is often new."""


def warn_unseen(
    coded: Coded, codes: NDArray[np.int32], categories: tuple[Any, ...], name: str
) -> None:
    """Warn where many rows have categories that training did not have."""
    is_unseen = (codes < 0) & (np.asarray(coded.codes) >= 0)
    n_unseen = int(np.count_nonzero(is_unseen))
    if not categories or n_unseen < max(FEWEST_UNSEEN, MOST_UNSEEN * len(codes)):
        return
    values = plain_values(coded.values, name)
    counts = Counter(values[k] for k in np.asarray(coded.codes)[is_unseen])
    counts.pop(None, None)  # a gap is no category
    n_unseen = sum(counts.values())
    if n_unseen < max(FEWEST_UNSEEN, MOST_UNSEEN * len(codes)):
        return
    common = sorted(counts, key=lambda value: (-counts[value], str(value)))[:5]
    shown = ", ".join(f"{value!r:.40}{_nearest(value, categories)}" for value in common)
    rest = f" and {len(counts) - 5} more" if len(counts) > 5 else ""
    warnings.warn(
        f"Column {name!r} has categories that training did not have in {n_unseen} of "
        f"{len(codes)} rows, which count as gaps: {shown}{rest}; write them as in training.",
        UnseenCategoriesWarning,
        stacklevel=6,
    )


def _nearest(value: Any, categories: tuple[Any, ...]) -> str:
    """`` (for 'yes'?)`` where a known category differs in case, blanks or a letter."""
    if not isinstance(value, str):
        return ""
    plain = {str(c).strip().casefold(): c for c in categories[:1000] if isinstance(c, str)}
    close = difflib.get_close_matches(value.strip().casefold(), plain, 1)
    return f" (for {plain[close[0]]!r:.40}?)" if close else ""


def _check_strange(
    strange: list[Any], categories: tuple[Any, ...], name: str, complete: bool
) -> None:
    if complete and strange:
        raise DataError(
            f"ordinal_features must list every value of column {name!r}, "
            f"but lacks {listed(strange)}; add it to the order."
        )
    families = {isinstance(category, str) for category in categories}
    alien = [value for value in strange if isinstance(value, str) not in families]
    if alien:
        held, trained = ("text", "numbers") if isinstance(alien[0], str) else ("numbers", "text")
        raise SchemaError(
            f"Column {name!r} must hold {trained} as in training, "
            f"but holds {held} such as {_SHORT.repr(alien[0])}; convert it."
        )


def _distinct(coded: Coded, name: str) -> tuple[list[Any], NDArray[np.int32]]:
    """Plain values without repeats or gaps, and the codes that point at them."""
    values = plain_values(coded.values, name)
    position: dict[Any, int] = {}
    target = [-1 if v is None else position.setdefault(v, len(position)) for v in values]
    codes = coded.codes.astype(np.int32, copy=False)
    if len(position) == len(values):
        return values, codes
    return list(position), _recode(codes, range(len(values)), target, len(values))


def _recode(
    codes: NDArray[np.int32], old: Iterable[int], new: Iterable[int], n_values: int
) -> NDArray[np.int32]:
    """Replace each code in ``old`` by the one in ``new``; all others become gaps."""
    table = np.full(n_values + 1, -1, np.int32)  # the last entry answers for code -1
    table[np.fromiter(old, np.int64)] = np.fromiter(new, np.int32)
    result: NDArray[np.int32] = table[codes]
    return result


# Category tuples of live schemas with their dicts, so that predicting one row does not build a
# dict of 100 000 categories. The tuple is kept beside its dict, so its id stays its own.
_CACHE: dict[int, tuple[tuple[Any, ...], dict[Any, int]]] = {}
_CACHE_SIZE = 256


def _positions(categories: tuple[Any, ...]) -> dict[Any, int]:
    entry = _CACHE.get(id(categories))
    if entry is not None and entry[0] is categories:
        return entry[1]
    positions = {category: k for k, category in enumerate(categories)}
    if len(_CACHE) >= _CACHE_SIZE:
        _CACHE.clear()
    _CACHE[id(categories)] = (categories, positions)
    return positions
