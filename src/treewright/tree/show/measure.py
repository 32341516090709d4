"""How wide words are, and how they are made to fit.

Without a font at hand the width is estimated from the proportions that Helvetica, Arial and their
free twins share; boxes leave room for the error. Names may have any length: nothing here looks at
more characters than can be shown.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["fit_text", "text_width", "wrap_text"]

_ADVANCE = {
    **dict.fromkeys("ijl'|", 0.23),
    **dict.fromkeys("I.,:;/\\! tf()[]", 0.28),
    **dict.fromkeys('-r{}"*·', 0.34),
    **dict.fromkeys("cksvxyzJ", 0.5),
    **dict.fromkeys("<>=+≤≥−~", 0.585),
    **dict.fromkeys("ABEKPSVXY&", 0.667),
    **dict.fromkeys("CDHNRUw", 0.722),
    **dict.fromkeys("GOQ", 0.778),
    **dict.fromkeys("mM%", 0.86),
    **dict.fromkeys("W@…", 0.98),
}
"""Widths in units of the font size; 0.556, that of digits and most small letters, for the rest."""

LONGEST = 400
"""Characters of a name that are looked at; no line has room for more."""


def _advance(char: str) -> float:
    if char in _ADVANCE:
        return _ADVANCE[char]
    if char.isascii():
        return 0.556
    if unicodedata.combining(char) or char == "\u200d":
        return 0.0
    return 1.05 if unicodedata.east_asian_width(char) in "WF" else 0.62


@lru_cache(maxsize=8192)
def text_width(words: str, size: float, is_bold: bool = False) -> float:
    """Estimated width of ``words``."""
    return sum(map(_advance, words)) * size * (1.07 if is_bold else 1.0)


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


def wrap_text(
    words: str, size: float, room: float, max_lines: int, is_bold: bool = False
) -> list[str]:
    """``words`` on several lines, broken after spaces and joints, the last one shortened."""
    lines = [""]
    words = words[: max_lines * LONGEST]
    for piece in re.findall(r"[^\s_/\-]*[\s_/\-]*", words):
        longer = lines[-1] + piece
        is_last = len(lines) == max_lines
        if not lines[-1] or is_last or text_width(longer.rstrip(), size, is_bold) <= room:
            lines[-1] = longer
        else:
            lines.append(piece)
    if text_width(lines[-1].strip()[:LONGEST], size, is_bold) > room:
        before, cut, _ = lines[-1].partition("…")  # one mark is enough, and it belongs to the end
        lines[-1] = before + cut
    return [fit_text(line.strip(), size, room, is_bold) for line in lines]
