"""Numbers, names and categories as they are printed, the same everywhere.

Every name and value comes from somebody's data, so nothing passes here unescaped: control
characters, line breaks, direction marks and lone surrogates are written as escapes.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = [
    "align_points",
    "clean",
    "clip",
    "clip_middle",
    "display_width",
    "exact",
    "format_category",
    "format_number",
    "format_share",
    "format_value",
    "separate",
]

UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
JOINERS = "\u200c\u200d"  # of Persian, Indic scripts and emoji: harmless


@lru_cache(1024)  # a picture asks for the same names again and again
def clean(text: str) -> str:
    r"""``text`` on one line, with anything that does not print as an escape.

    Examples
    --------
    >>> clean("two\nlines")
    'two\\nlines'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape", "surrogatepass").decode("ascii")
        if unicodedata.category(char) in UNSAFE and char not in JOINERS
        else char
        for char in text
    )


@lru_cache(4096)
def display_width(text: str) -> int:
    """Columns of a terminal that ``text`` takes."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(c) or c in JOINERS
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


def clip(text: str, room: int, ellipsis: str = "…") -> str:
    """``text`` shortened at its end to ``room`` columns."""
    if display_width(text) <= room:
        return text
    room -= len(ellipsis)
    width = 0
    for end, char in enumerate(text):
        width += display_width(char)
        if width > room:
            return text[:end].rstrip() + ellipsis
    return text


def format_number(x: float, digits: int = 6) -> str:
    """``x`` with at most ``digits`` significant digits, but every digit before the point.

    Halves of whole numbers, the midpoints of integer columns, are written in full.

    Examples
    --------
    >>> format_number(2.4500000476837158)
    '2.45'
    >>> format_number(1234567.5)
    '1234567.5'
    """
    if not math.isfinite(x):
        return str(x)
    if x == 0:
        return "0"
    size = abs(x)
    if size >= 1e15 or size < 1e-5:
        mantissa, _, exponent = f"{x:.{digits - 1}e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{exponent}"
    if (2 * x).is_integer():
        return f"{x:.1f}".removesuffix(".0")
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    text = f"{x:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def separate(values: Iterable[float], digits: int = 6) -> dict[float, str]:
    """Words for numbers, no two alike: those that would be get more digits.

    Examples
    --------
    >>> separate([0.1234561, 0.1234562, 0.5])
    {0.5: '0.5', 0.1234561: '0.1234561', 0.1234562: '0.1234562'}
    """
    words: dict[float, str] = {}
    pending = sorted(set(values))
    while pending and digits <= 18:
        by_word = defaultdict(list)
        for value in pending:
            by_word[format_number(value, digits)].append(value)
        words.update({alike[0]: word for word, alike in by_word.items() if len(alike) == 1})
        pending = [value for alike in by_word.values() if len(alike) > 1 for value in alike]
        digits += 1
    return words | {value: repr(value) for value in pending}


def format_value(value: Any, digits: int = 6) -> str:
    """A category, class or prediction on one line."""
    if isinstance(value, tuple):
        return "(" + ", ".join(format_value(part, digits) for part in value) + ")"
    if isinstance(value, float | np.floating):
        return format_number(float(value), digits)
    return clean(str(value))


def exact(value: Any) -> str:
    """A category or class on one line; numbers with as many digits as tell them from all others.

    Examples
    --------
    >>> exact(0.3), exact(0.1 + 0.2), exact(2.0)
    ('0.3', '0.30000000000000004', '2')
    """
    if not isinstance(value, float | np.floating):
        return format_value(value)
    word = format_number(float(value))
    return word if float(word) == float(value) else repr(float(value))


def clip_middle(text: str, room: int, ellipsis: str = "…") -> str:
    """``text`` shortened in its middle to ``room`` columns: names often differ at their ends.

    Examples
    --------
    >>> clip_middle("num-of-cylinders", 10)
    'num-of…ers'
    """
    if display_width(text) <= room:
        return text
    tail = max(0, (room - len(ellipsis)) * 2 // 5)
    end = ""
    for char in reversed(text[-room:] if room > 0 else ""):
        if display_width(char + end) > tail:
            break
        end = char + end
    return clip(text, room - display_width(end), ellipsis) + end


def format_category(value: Any, room: int = 10**9, ellipsis: str = "…") -> str:
    """A category for use in a list, in quotes where it could be misread."""
    word = exact(value)
    if isinstance(value, str) and (word != word.strip() or not word or set(word) & set(',{}<>="')):
        escaped = clip(word, room - 2, ellipsis).replace('"', '\\"')
        return f'"{escaped}"'
    return clip(word, room, ellipsis)


def align_points(numbers: list[str]) -> list[str]:
    """Numbers padded on both sides so that their points stand below each other.

    Examples
    --------
    >>> align_points(["1.25", "10", "0.5"])
    [' 1.25', '10   ', ' 0.5 ']
    """
    parts = [number.partition(".") for number in numbers]
    before = max((len(whole) for whole, _, _ in parts), default=0)
    after = max((len(point + rest) for _, point, rest in parts), default=0)
    return [f"{whole:>{before}}{point + rest:<{after}}" for whole, point, rest in parts]


def format_share(share: float) -> str:
    """A share in four columns; only exact zeros and ones look like them.

    Examples
    --------
    >>> [format_share(p) for p in (0.0, 0.001, 0.5, 0.999, 1.0)]
    ['0.00', '<.01', '0.50', '>.99', '1.00']
    """
    text = f"{share:.2f}"
    if text == "0.00" and share > 0:
        return "<.01"
    if text == "1.00" and share < 1:
        return ">.99"
    return text
