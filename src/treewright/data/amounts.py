"""Amounts written as text: 1.200,50 €, 12 %, USD 1,200.50.

A text column is a column of numbers if all its values have the same unit and read as numbers with
a decimal comma or with a decimal point, but not with both; without a unit if some have both marks.
A value such as 1.200 € may be two amounts, so a column of nothing but such values stays text, as
does one where $5 stands beside 5 $.
"""

from __future__ import annotations

import warnings
from typing import Any

from treewright.errors import ConversionWarning

__all__ = ["amounts"]

_BLANK = r"[\s\x{a0}\x{202f}]*"
_UNIT = r"%|‰|\p{Sc}|EUR|USD|GBP|CHF|JPY"
_WHOLE = r"\d+"
_COMMA = r"(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?"
_POINT = r"(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?"


def _form(digits: str) -> str:
    parts = (
        f"(?P<before>{_UNIT})?",
        f"(?P<number>[+-]?{digits})",
        f"(?P<after>{_UNIT})?",
    )
    return f"^{_BLANK}{_BLANK.join(parts)}{_BLANK}$"


_BOTH_MARKS = r"\.\d{3},\d|,\d{3}\.\d"
_FORMS = {",": _form(_COMMA), ".": _form(_POINT)}


def amounts(name: str, text: Any) -> Any:
    """Texts of column ``name`` that are amounts as an Arrow array of numbers; None if any is none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> warnings.simplefilter("ignore", ConversionWarning)
    >>> amounts("price", pa.array(["1.200,50 €", None, "7 €"])).to_pylist()
    [1200.5, None, 7.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if text.null_count == len(text):
        return None
    decimals = [
        decimal
        for decimal, form in _FORMS.items()
        if pc.all(pc.match_substring_regex(text, form)).as_py()
    ]
    is_whole = pc.match_substring_regex(text, _form(_WHOLE))
    if not decimals or (len(decimals) == 2 and not pc.all(is_whole).as_py()):
        return None
    parts = pc.extract_regex(text, _FORMS[decimals[0]])
    sides = [pc.unique(pc.struct_field(parts, side).drop_null()) for side in ("before", "after")]
    if any(len(units) > 1 for units in sides):
        return None
    has_unit = any(units[0].as_py() for units in sides)
    if not has_unit and not pc.any(pc.match_substring_regex(text, _BOTH_MARKS)).as_py():
        return None
    number = pc.struct_field(parts, "number")
    if decimals[0] == ",":
        number = pc.replace_substring(pc.replace_substring(number, ".", ""), ",", ".")
    numbers = pc.replace_substring(number, ",", "").cast(pa.float64())
    _warn(name, text.drop_null()[0].as_py(), numbers.drop_null()[0].as_py())
    return numbers


def _warn(name: str, example: str, number: float) -> None:
    warnings.warn(
        f"Column {name!r} holds amounts such as {example!r:.40}, read as numbers such as "
        f"{number:.15g}; write them as numbers to silence this, or name the column in as_text= "
        "(--categorical on the command line) if they are labels.",
        ConversionWarning,
        stacklevel=4,
    )
