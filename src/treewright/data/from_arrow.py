"""Tables that Arrow reads from files, validated before anything else looks at them.

Arrow trusts the offsets and counts in a file: a table whose offsets lead outside its buffers is
read without complaint and ends the process later. So every table, batch and scanned block of a
file comes through :func:`from_arrow`, which has Arrow check all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from treewright.data.textfile import file_error

__all__ = ["from_arrow"]

Found = TypeVar("Found")
_WORDS = 200


def from_arrow(path: Path, kind: str, read: Callable[[], Found], full: bool = True) -> Found:
    """Result of ``read``, a function that calls Arrow; its table or batch is validated.

    ``full=False`` leaves out what takes time in proportion to the rows, for a caller that only
    counts them. Whatever goes wrong has the file as its cause: Arrow raises a dozen types.
    """
    try:
        found: Any = read()
        if hasattr(found, "validate"):
            found.validate(full=full)
            found.schema.names  # noqa: B018  (decodes them, which validate does not)
    except Exception as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0].rstrip(".")
        reason = re.sub(r"^.*Could not open [^:]*: ", "", reason)  # paths, told already
        problem = f"cannot be read as {kind} ({reason[:_WORDS]})"
        raise file_error(path, problem, "write it again") from None
    return found  # type: ignore[no-any-return]
