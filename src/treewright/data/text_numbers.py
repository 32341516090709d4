"""Numbers written as text: digits of ASCII, a point, an exponent, and nothing else.

Python's ``float`` also takes ``1_000`` and the digits of other scripts, which no program writes
for a number. Whatever reads a number from text asks here.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["IS_NUMBER", "number", "numbers"]

_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_WORDS = r"[+-]?([iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])"
IS_NUMBER = rf"^\s*{_NUMBER}\s*$"
"""What reads as a number, for Arrow's regular expressions, where ``\\d`` means ASCII."""


def numbers(text: Any, words: bool = False) -> Any:
    """Arrow's texts as numbers; None where a text is none.

    ``words`` takes ``nan`` and ``inf`` as well.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers(pa.array([" 1.5", "-2e3", "1_000", "nan"])).to_pylist()
    [1.5, -2000.0, None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim_whitespace(text)
    form = rf"^({_NUMBER}|{_WORDS})$" if words else IS_NUMBER
    is_number = pc.match_substring_regex(trimmed, form)
    return pc.if_else(is_number, trimmed, pa.scalar(None, trimmed.type)).cast(pa.float64())


def number(text: str) -> float:
    """A text as a number, or ValueError.

    Examples
    --------
    >>> number("1e3")
    1000.0
    """
    if not re.match(IS_NUMBER, text, re.ASCII):
        raise ValueError(f"{text[:40]!r} is no number")
    return float(text)
