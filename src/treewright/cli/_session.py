"""Options that every command takes, before or after its name.

They are taken out of the words before the commands see them, so that none has to declare them.
"""

from __future__ import annotations

from dataclasses import dataclass

from treewright.errors import ParameterError

__all__ = ["SESSION", "Session", "begin", "printable"]


@dataclass
class Session:
    """How this run of the command line reads and speaks."""

    encoding: str = "utf-8"
    width: int | None = None
    quiet: bool = False
    debug: bool = False


SESSION = Session()
"""The session of the command that runs now."""

_FLAGS = {"--quiet": "quiet", "--debug": "debug", "--traceback": "debug"}
_VALUES = {"--encoding": "encoding", "--width": "width"}


def begin(words: list[str]) -> list[str]:
    """Start a session and return the words that are left for the command."""
    fresh = Session()
    left: list[str] = []
    todo = iter(words)
    for word in todo:
        name, equals, value = word.partition("=")
        if word in _FLAGS:
            setattr(fresh, _FLAGS[word], True)
        elif name in _VALUES:
            given = value if equals else next(todo, None)
            if given is None:
                raise ParameterError(f"{name} needs a value, got none; write {name} VALUE.")
            setattr(fresh, _VALUES[name], _read(name, given))
        else:
            left.append(word)
    SESSION.__dict__.update(fresh.__dict__)
    return left


def _read(name: str, given: str) -> str | int:
    if name == "--encoding":
        return given
    if not given.isdecimal() or not 40 <= int(given) <= 10_000:
        raise ParameterError(
            f"--width must be a number of columns from 40 to 10000, got {given!r}."
        )
    return int(given)


def printable(text: str) -> str:
    """Text without what would steer a terminal: control characters as Python writes them."""
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
