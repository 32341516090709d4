"""Columns of any frame brought to a few forms, and from there to floats or codes.

``settle`` looks at the type of a raw column (a numpy array, an Arrow array or ``Coded``) and
says what it is by nature; Python objects are resolved by Arrow's type inference. ``to_floats``
and ``to_coded`` do the work, once the kind of the feature is decided. A date is a continuous
number of days since 1970-01-01, the same to the last bit whatever the unit of the frame.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright import kernels
from treewright.data.categories import Coded, plain_values
from treewright.errors import CellTypeError, DataError

__all__ = ["Column", "Nature", "settle", "to_coded", "to_floats"]

Nature = Literal["number", "boolean", "text", "date", "category", "empty"]

_VALUES = (str, bytes, np.generic, datetime.date, datetime.time, datetime.timedelta)
_UNITS_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """A column whose nature is known; ``data`` is a numpy array, an Arrow array or Coded."""

    name: str
    nature: Nature
    data: Any


def settle(name: str, raw: Any) -> Column:
    """Say what a raw column is by nature."""
    if isinstance(raw, Coded):
        return Column(name, "category", raw)
    if not isinstance(raw, np.ndarray):
        return _settle_arrow(name, _one_chunk(raw))
    kind = raw.dtype.kind
    if kind in "fiu":
        return Column(name, "number", raw)
    if kind == "b":
        return Column(name, "boolean", raw)
    if kind == "O":
        return _settle_objects(name, raw)
    if kind in "USMmT":
        return _settle_arrow(name, _arrow_of_numpy(raw))
    if kind == "c":
        raise complex_error(name)
    raise _type_error(name, str(raw.dtype))


def to_floats(column: Column) -> NDArray[np.floating[Any]]:
    """The column as float32 or float64, NaN for gaps; floats are not copied."""
    name, nature, data = column.name, column.nature, column.data
    if nature == "date":
        return _days(data)
    if nature == "category":
        return _floats_of_categories(name, data)
    if nature == "text" and (isinstance(data, Coded) or data.null_count < len(data)):
        text = data.values[0] if isinstance(data, Coded) else data.drop_null()[0].as_py()
        raise DataError(
            f"Column {name!r} must hold numbers, but holds text such as {text!r}; convert it, or "
            "train with it as a category."
        )
    if nature in ("text", "empty"):
        return np.full(len(data), np.nan)
    if not isinstance(data, np.ndarray):
        data = data.to_numpy(zero_copy_only=False)
    return as_floats(data)


def as_floats(array: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """float32 and float64 as they are, half floats as float32, all else as float64.

    Integers beyond 2**53 lose their last digits.
    """
    if array.dtype == np.float64 or array.dtype == np.float32:
        return array if array.flags.aligned else array.copy()
    if array.dtype.kind == "O":  # bools with gaps, from Arrow
        return np.array([np.nan if value is None else value for value in array], np.float64)
    wanted = np.float32 if array.dtype.kind == "f" and array.itemsize <= 4 else np.float64
    floats: NDArray[np.floating[Any]] = array.astype(wanted)
    return floats


def to_coded(column: Column) -> Coded:
    """The column as codes and values."""
    nature, data = column.nature, column.data
    if isinstance(data, Coded):
        return data
    if nature == "empty":
        return Coded(np.full(len(data), -1, np.int32), ())
    if isinstance(data, np.ndarray):
        data = _arrow_of_numpy(data)
    elif nature == "date":
        data = _microseconds(data)
    return coded_arrow(data.dictionary_encode())


def coded_arrow(array: Any, declared: bool = False) -> Coded:
    """Codes and values of an Arrow dictionary array."""
    import pyarrow as pa

    array = _one_chunk(array)
    codes = array.indices.cast(pa.int32()).fill_null(-1).to_numpy()
    values = _one_chunk(array.dictionary)
    if pa.types.is_temporal(values.type):
        values = _microseconds(values)
    return Coded(codes, values.to_pylist(), bool(array.type.ordered), declared)


def complex_error(name: str) -> DataError:
    """The error for complex numbers, worded as scikit-learn's checks expect."""
    return DataError(
        f"Complex data not supported: column {name!r} must hold real numbers; "
        "pass real and imaginary parts as two columns."
    )


def _type_error(name: str, held: str) -> CellTypeError:
    return CellTypeError(
        f"Column {name!r} must hold numbers, text, booleans, categories or dates, "
        f"but holds {held}; convert or drop it."
    )


def _one_chunk(array: Any) -> Any:
    """A plain Arrow array; strings wide enough that chunks of any size can be joined."""
    import pyarrow as pa

    if pa.types.is_string_view(array.type) or (
        isinstance(array, pa.ChunkedArray) and pa.types.is_string(array.type)
    ):
        array = array.cast(pa.large_string())
    if not isinstance(array, pa.ChunkedArray):
        return array
    if pa.types.is_dictionary(array.type):
        array = array.unify_dictionaries()
    joined = array.combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def _settle_arrow(name: str, array: Any) -> Column:
    import pyarrow as pa

    is_a = pa.types
    kind = array.type
    if is_a.is_dictionary(kind):
        return Column(name, "category", coded_arrow(array))
    if is_a.is_null(kind):
        return Column(name, "empty", array)
    if is_a.is_boolean(kind):
        return Column(name, "boolean", array)
    if is_a.is_decimal(kind):
        return Column(name, "number", array.cast(pa.float64()))
    if is_a.is_integer(kind) or is_a.is_floating(kind):
        return Column(name, "number", array)
    if is_a.is_string(kind) or is_a.is_large_string(kind):
        return Column(name, "text", array)
    if is_a.is_binary(kind) or is_a.is_large_binary(kind) or is_a.is_fixed_size_binary(kind):
        return Column(name, "text", _text_of_binary(name, array))
    if is_a.is_temporal(kind) and not is_a.is_interval(kind):
        return Column(name, "date", array)
    raise _type_error(name, str(kind))


def _settle_objects(name: str, values: NDArray[Any] | Sequence[Any]) -> Column:
    """Resolve Python objects: text, Arrow's inference, numbers of mixed types, else an error."""
    found = kernels.text_codes(values)
    if found is not None:
        return Column(name, "text", Coded(*found))
    import pyarrow as pa

    try:
        array = pa.array(values, from_pandas=True)
        if pa.types.is_date32(array.type) and _any_datetime(values):
            # Arrow would cut the time of day off datetimes that follow a date.
            array = pa.array([_as_datetime(value) for value in values], pa.timestamp("us"))
    except UnicodeEncodeError:
        raise DataError(
            f"Column {name!r} must hold text that UTF-8 can encode, but holds a lone surrogate; "
            "replace it."
        ) from None
    except (pa.ArrowException, OverflowError, TypeError):
        return Column(name, "number", _mixed_numbers(name, values))
    if pa.types.is_null(array.type) and any(isinstance(v, float | np.floating) for v in values):
        return Column(name, "number", np.full(len(values), np.nan))
    return _settle_arrow(name, array)


def _mixed_numbers(name: str, values: NDArray[Any] | Sequence[Any]) -> NDArray[np.float64]:
    """Floats of integers of any size, booleans and fractions side by side."""
    if any(isinstance(value, complex | np.complexfloating) for value in values):
        raise complex_error(name)
    held = {type(v): v for v in values if not _is_gap(v)}
    others = [t for t in held if not issubclass(t, numbers.Real | np.bool_ | Decimal)]
    strange = [t for t in others if not issubclass(t, _VALUES)]
    if strange:
        raise CellTypeError(
            f"Column {name!r} holds {strange[0].__name__} objects, but in every cell the argument "
            "must be a string or a number; convert or drop the column."
        )
    if others and len(held) == len(others) == 1:
        raise _type_error(name, f"{others[0].__name__} objects")
    if others:
        names = sorted({t.__name__ for t in held})
        raise DataError(
            f"Column {name!r} must hold values of one type, but mixes {' and '.join(names)}; "
            "turn it into text, into numbers, or into a category with declared values."
        )
    try:
        return np.array([np.nan if _is_gap(v) else float(v) for v in values], np.float64)
    except OverflowError:
        raise DataError(
            f"Column {name!r} must hold numbers that float64 can, but one is too large, as good "
            "as infinity; scale it."
        ) from None


def _is_gap(value: Any) -> bool:
    if isinstance(value, float | np.floating | Decimal):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _any_datetime(values: NDArray[Any] | Sequence[Any]) -> bool:
    return any(isinstance(value, datetime.datetime) for value in values)


def _as_datetime(value: Any) -> Any:
    if _is_gap(value):
        return None
    if isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.combine(value, datetime.time())


def _arrow_of_numpy(array: NDArray[Any]) -> Any:
    """Arrow's view of a numpy column; NaN and NaT become nulls."""
    import pyarrow as pa

    kind = array.dtype.kind
    if kind in "Mm":
        unit = np.datetime_data(array.dtype)[0]
        if unit not in _UNITS_PER_DAY:
            array = array.astype(f"{kind}8[s]")
    elif kind in "TS":
        array = array.astype(object)
    elif kind == "f" and array.dtype.char not in "fd":
        array = as_floats(array)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return pa.array(array, from_pandas=True)


def _text_of_binary(name: str, array: Any) -> Any:
    import pyarrow as pa

    try:
        return array.cast(pa.binary()).cast(pa.string())
    except pa.ArrowException:
        raise DataError(
            f"Column {name!r} must hold text in UTF-8, but holds other bytes; decode it first."
        ) from None


def _days(array: Any) -> NDArray[np.float64]:
    """Days since 1970-01-01 (dates), since midnight (times) or of duration."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date(kind):
        unit = 1 if kind == pa.date32() else 86_400_000
    else:
        unit = _UNITS_PER_DAY[kind.unit]
    integer = pa.int32() if kind.bit_width == 32 else pa.int64()
    ticks = array.cast(integer).cast(pa.int64()).fill_null(0).to_numpy()
    # Whole days and remainder apart: both are exact, so every unit gives the same sum.
    quotient, remainder = np.divmod(ticks, unit)
    days: NDArray[np.float64] = quotient + remainder / unit
    days[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return days


def _microseconds(array: Any) -> Any:
    """Dates and times as Python can hold them: microseconds, instants in UTC."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_timestamp(kind):
        return array.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.timestamp("us"))
    if pa.types.is_time64(kind):
        return array.cast(pa.time64("us"), safe=False)
    if pa.types.is_duration(kind):
        return array.cast(pa.duration("us"), safe=False)
    return array


def _floats_of_categories(name: str, coded: Coded) -> NDArray[np.float64]:
    values = plain_values(coded.values, name)
    used = np.bincount(coded.codes[coded.codes >= 0], minlength=len(values)) > 0
    for value, is_used in zip(values, used, strict=True):
        if is_used and isinstance(value, str):
            raise DataError(
                f"Column {name!r} must hold numbers, but holds the category {value!r}; "
                "convert it, or train with it as a category."
            )
    floats = [np.nan if v is None or isinstance(v, str) else float(v) for v in values]
    result: NDArray[np.float64] = np.array([*floats, np.nan])[coded.codes]
    return result
