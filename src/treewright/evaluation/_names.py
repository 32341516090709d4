"""A name out of a list, and one sentence for any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treewright.errors import ParameterError, suggest

__all__ = ["choice"]


def choice(name: str, value: Any, options: Sequence[Any]) -> None:
    """Refuse a value that is none of the options, with those that come close.

    Examples
    --------
    >>> choice("search", "gird", ["grid", "random"])
    Traceback (most recent call last):
    ...
    treewright.errors.ParameterError: search must be one of the known ones, got 'gird'. Did you \
mean 'grid'?
    """
    if value in options:
        return
    words = [option for option in options if isinstance(option, str)]
    shown = suggest(str(value), words)
    if None in options and shown.startswith(" There are"):
        shown = f"{shown[:-1]} and None."
    raise ParameterError(f"{name} must be one of the known ones, got {value!r}.{shown}")
