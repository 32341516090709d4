"""Dates, times of day, instants and durations: days as numbers, and back.

A feature of moments is continuous: days since 1970-01-01, since midnight, or of duration. Its
``Feature.time`` says which of these, and ``Feature.zone`` names the time zone of instants, whose
numbers are in UTC. Both decide how a number is written, and what may come at prediction.
"""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.categories import Coded, listed
from treewright.data.schema import Feature, Time
from treewright.errors import ConversionWarning, DataError

if TYPE_CHECKING:
    from treewright.data.columns import Column

__all__ = [
    "as_moments",
    "check_moments",
    "moment_text",
    "read_moments",
    "time_of",
    "warn_moments",
    "written_moments",
]

_HELD: dict[Time, str] = {
    "": "numbers",
    "date": "dates",
    "datetime": "dates and times",
    "time": "times of day",
    "duration": "durations",
}
_WRITTEN_AS = {"date": "2024-12-31", "datetime": "2024-12-31 14:30", "time": "14:30"}
_MICROSECONDS_PER_DAY = 86_400_000_000


def time_of(kind: Any) -> tuple[Time, str]:
    """What an Arrow type of moments holds, and its time zone ("" for none)."""
    import pyarrow as pa

    if pa.types.is_date(kind):
        return "date", ""
    if pa.types.is_timestamp(kind):
        return "datetime", kind.tz or ""
    return ("time" if pa.types.is_time(kind) else "duration"), ""


_WRITTEN = r"^\s*(\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}|\d\d:\d\d)"
_DOTTED = r"^\d{1,2}\.\d{1,2}\.\d{4}"
_CLOCK = r"^\d\d:\d\d(:\d\d)?$"


def written_moments(column: Column) -> Column:
    """A column of text as one of moments where all its values are written so, else as it is.

    This is the one rule for frames, files and the command line. The first value decides whether
    the others are looked at, so ordinary text costs nothing.
    """
    if column.nature != "text" or not _begins_as_moment(column.data):
        return column
    import pyarrow as pa

    from treewright.data.columns import Column as Settled

    data = column.data
    if not isinstance(data, Coded):
        moments = read_moments(data)
        return column if moments is None else Settled(column.name, "date", moments)
    moments = read_moments(pa.array(data.values, pa.large_string()))
    if moments is None:
        return column
    rows = pa.array(data.codes, mask=data.codes < 0)
    return Settled(column.name, "date", moments.take(rows))


def _begins_as_moment(text: Any) -> bool:
    if isinstance(text, Coded):
        return bool(text.values) and re.match(_WRITTEN, text.values[0]) is not None
    import pyarrow.compute as pc

    first = pc.index(text.is_valid(), True).as_py() if text.null_count else min(len(text), 1) - 1
    return first >= 0 and re.match(_WRITTEN, text[first].as_py()) is not None


def read_moments(text: Any) -> Any:
    """Texts as an Arrow array of moments; None if any of them is none.

    Moments are ISO dates, dates with a time of day, or times of day, as Arrow finds them in CSV
    files, and 8.5.2023 or 08.05.2023 14:30: with dots the day comes first everywhere. 08/05/2023
    is two dates, so it stays text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if text.null_count == len(text):
        return None
    text = pc.utf8_trim_whitespace(text)
    if _all_match(text, _DOTTED):
        return _dotted(text)
    if _all_match(text, _CLOCK):
        day, blank = pa.scalar("1970-01-01", text.type), pa.scalar(" ", text.type)
        text = pc.binary_join_element_wise(day, text, blank)
        try:
            return text.cast(pa.timestamp("s")).cast(pa.time32("s"))
        except pa.ArrowInvalid:
            return None
    for kind in (pa.date32(), *(pa.timestamp(u, z) for z in (None, "UTC") for u in ("s", "ns"))):
        try:
            return text.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _all_match(text: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(text, pattern)).as_py())


def _dotted(text: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    for form, kind in (("", pa.date32()), (" %H:%M", None), (" %H:%M:%S", None)):
        try:
            moments = pc.strptime(text, format=f"%d.%m.%Y{form}", unit="s")
        except pa.ArrowInvalid:
            continue
        day = pc.struct_field(pc.extract_regex(text, r"^(?P<day>\d{1,2})\."), "day")
        if not pc.all(pc.equal(pc.day(moments), day.cast(pa.int64()))).as_py():
            return None  # 31.02.2020 would become another day
        return moments if kind is None else moments.cast(kind)
    return None


def warn_moments(names: Sequence[str], level: int = 4) -> None:
    """Tell that columns of moments became days."""
    warnings.warn(
        "Dates and times, also as text, become continuous features, in days (since 1970-01-01): "
        f"{listed(names, 'column')}; turn them into numbers yourself to silence this, or name "
        "them in categorical_features (--categorical) to keep each as a category.",
        ConversionWarning,
        stacklevel=level,
    )


def check_moments(column: Column, feature: Feature) -> None:
    """Raise if the column holds moments where training had numbers, or the other way round."""
    if column.nature == "date":
        time, zone = time_of(column.data.type)
        is_known = column.data.null_count < len(column.data)
    elif column.nature == "number" and feature.time:
        time, zone = "", ""
        is_known = not _only_gaps(column.data)
    elif column.nature == "text" and feature.time:
        _refuse_text(column, feature)
        return
    else:
        return
    if not is_known or _agree(time, zone, feature):
        return
    held, meant = _HELD[time], _HELD[feature.time]
    if held == meant or (zone and feature.time) or (feature.zone and time):
        held, meant = (f"{'with' if z else 'without'} a time zone" for z in (zone, feature.zone))
        raise DataError(
            f"Column {feature.name!r} must hold dates and times {meant}, as in training, but holds "
            f"some {held}; convert it, for example with pandas' tz_localize or tz_convert."
        )
    raise DataError(
        f"Column {feature.name!r} must hold {meant}, as in training, but holds {held}; "
        "convert it to what training had."
    )


def _refuse_text(column: Column, feature: Feature) -> None:
    """Name the first text that is no moment, or is written otherwise than those before it."""
    import pyarrow as pa

    from treewright.data.columns import to_coded

    texts = pa.array(to_coded(column).values, pa.large_string())
    if not len(texts) or read_moments(texts) is not None:
        return
    sound, wrong = 0, len(texts)  # of so many texts all can be read, and not all
    while wrong - sound > 1:
        middle = (sound + wrong) // 2
        if read_moments(texts[:middle]) is None:
            wrong = middle
        else:
            sound = middle
    form = _WRITTEN_AS.get(feature.time)
    raise DataError(
        f"Column {feature.name!r} must hold {_HELD[feature.time]}, as in training, but holds text "
        f"such as {texts[sound].as_py()!r:.40}; "
        + (f"write all as {form}, or leave gaps." if form else "convert it to what training had.")
    )


def _agree(time: Time, zone: str, feature: Feature) -> bool:
    """Whether numbers made of the one and the other mean the same."""
    days = ("date", "datetime")
    same = time == feature.time or (time in days and feature.time in days)
    return same and bool(zone) == bool(feature.zone)


def _only_gaps(numbers: Any) -> bool:
    if isinstance(numbers, np.ndarray):
        return numbers.dtype.kind == "f" and bool(np.isnan(numbers).all())
    return bool(numbers.null_count == len(numbers))


def as_moments(days: NDArray[np.floating[Any]], feature: Feature) -> Any:
    """Numbers of a feature of moments as an Arrow array of them; NaN becomes a gap.

    Examples
    --------
    >>> as_moments(np.array([0.5, np.nan]), Feature("at", "continuous", time="time")).to_pylist()
    [datetime.time(12, 0), None]
    """
    import pyarrow as pa

    known = np.isfinite(days)
    ticks = np.rint(np.where(known, days, 0) * _MICROSECONDS_PER_DAY)
    ticks = np.clip(ticks, -(2.0**62), 2.0**62)
    if feature.time == "time":
        ticks = np.clip(ticks, 0, _MICROSECONDS_PER_DAY - 1)
    types = {
        "date": pa.timestamp("us"),  # a cut may lie within a day
        "datetime": pa.timestamp("us", feature.zone or None),
        "time": pa.time64("us"),
        "duration": pa.duration("us"),
    }
    return pa.array(ticks.astype(np.int64), mask=~known).cast(types[feature.time])


def moment_text(days: float, feature: Feature) -> str:
    """A number of a feature of moments as people write it.

    Examples
    --------
    >>> moment_text(19754.0, Feature("when", "continuous", time="date"))
    '2024-02-01'
    >>> moment_text(19753.5, Feature("when", "continuous", time="datetime", zone="Europe/Berlin"))
    '2024-01-31 13:00+01:00'
    """
    try:
        value = as_moments(np.array([days]), feature)[0].as_py()
    except (ArithmeticError, ValueError):  # before the year 1, or after 9999
        return f"day {days:g}"
    if feature.time == "duration":
        return str(value)
    is_local = feature.time == "date" or (feature.time == "datetime" and not feature.zone)
    if is_local and value.time() == datetime.time():
        return str(value.date().isoformat())
    seconds = value.microsecond or value.second
    how = {"timespec": "auto" if seconds else "minutes"}
    return str(value.isoformat(**how) if feature.time == "time" else value.isoformat(" ", **how))
