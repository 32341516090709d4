"""How wide words are, and how they are made to fit.

Which font a reader has is not known. Widths are those of DejaVu Sans, the widest of the fonts that
stand in for Helvetica, so that words stay in their boxes everywhere. Names may have any length:
nothing here looks at more characters than can be shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

__all__ = ["fit_name", "fit_text", "text_width", "wrap_text"]

_ADVANCE = {
    **dict.fromkeys("ijl'IJ", 0.29),
    **dict.fromkeys(",. ·/:;\\|f-", 0.35),
    **dict.fromkeys("t()[]!²r", 0.41),
    **dict.fromkeys('"*_`sz?c', 0.53),
    **dict.fromkeys("ABRVXZCK", 0.69),
    **dict.fromkeys("DGHNOQU&", 0.77),
    **dict.fromkeys("w#+<=>^~≤≥−×≠→M", 0.84),
    **dict.fromkeys("mW@…%", 0.98),
}
"""Widths in units of the font size; 0.63, that of digits and most letters, for the rest."""
BOLD = 1.12
TAIL = 0.4
"""Share of a shortened name that its end gets: names often differ there."""

LONGEST = 400
"""Characters of a name that are looked at; no line has room for more."""


def _advance(char: str) -> float:
    if char in _ADVANCE:
        return _ADVANCE[char]
    if char.isascii():
        return 0.63
    if unicodedata.combining(char) or char == "\u200d":
        return 0.0
    return 1.05 if unicodedata.east_asian_width(char) in "WF" else 0.66


@lru_cache(maxsize=8192)
def text_width(words: str, size: float, is_bold: bool = False) -> float:
    """Estimated width of ``words``."""
    return sum(map(_advance, words)) * size * (BOLD if is_bold else 1.0)


def fit_text(words: str, size: float, room: float, is_bold: bool = False) -> str:
    """``words`` shortened at the end to fit ``room``; at least one character stays."""
    if len(words) <= LONGEST and text_width(words, size, is_bold) <= room:
        return words
    left = room - text_width("…", size, is_bold)
    for end, char in enumerate(words):
        left -= text_width(char, size, is_bold)
        if left < 0:
            return words[: max(end, 1)].rstrip(" …") + "…"
    return words


def fit_name(words: str, size: float, room: float, is_bold: bool = False) -> str:
    """A name shortened in its middle to fit ``room``, so that its end tells it from others."""
    if len(words) <= LONGEST and text_width(words, size, is_bold) <= room:
        return words
    left = room - text_width("…", size, is_bold)
    end = _last_that_fit(words, size, TAIL * left, is_bold)
    head = fit_text(words, size, room - text_width(end, size, is_bold), is_bold)
    return head.removesuffix("…") + "…" + end if len(head) > len(end) else head


def _last_that_fit(words: str, size: float, room: float, is_bold: bool) -> str:
    n = 0
    for char in reversed(words[-LONGEST:]):
        room -= text_width(char, size, is_bold)
        if room < 0:
            break
        n += 1
    return words[len(words) - n :].lstrip(" ,…")


def wrap_text(
    words: str,
    size: float,
    room: float,
    max_lines: int,
    is_bold: bool = False,
    shorten: Callable[[str, float, float, bool], str] = fit_name,
) -> list[str]:
    """``words`` on several lines, the last one shortened.

    They break after spaces; a word without room for itself also at its joints and humps.
    """
    lines = [""]
    words = words[: max_lines * LONGEST]
    pieces = []
    for word in re.findall(r"\S+\s*|\s+", words):
        is_long = text_width(word.rstrip()[:LONGEST], size, is_bold) > room
        pieces += (
            re.split(r"(?<=[_/\-.])(?=[^_/\-.])|(?<=[a-z])(?=[A-Z])", word) if is_long else [word]
        )
    for piece in pieces:
        longer = lines[-1] + piece
        is_last = len(lines) == max_lines
        if not lines[-1] or is_last or text_width(longer.rstrip(), size, is_bold) <= room:
            lines[-1] = longer
        else:
            lines.append(piece)
    if text_width(lines[-1].strip()[:LONGEST], size, is_bold) > room:
        before, cut, _ = lines[-1].partition("…")  # one mark is enough, and it belongs to the end
        lines[-1] = before + cut
    return [shorten(line.strip(), size, room, is_bold) for line in lines]
