"""Read files in a process of its own: ``python -m tests.data.read_copies FOLDER``.

Prints the name of a file before it is read, and after it what went wrong, if anything did: a file
gives a sound table or one sentence, read as a whole and block by block.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from treewright.data import read_table
from treewright.data.sources import OPENERS, open_source
from treewright.errors import DataError, TreewrightWarning

MEMORY = 4 << 30


def read_whole(path: Path) -> None:
    """The table, validated by Arrow."""
    read_table(path).validate(full=True)


def read_blocks(path: Path) -> None:
    """Every block, validated by Arrow."""
    if path.suffix in OPENERS:
        for piece in open_source(path).pieces:
            rows = 0
            for block in piece.read(None, 4):
                block.validate(full=True)
                rows += block.num_rows
            assert rows == piece.n_rows


def fault(read: Callable[[Path], None], path: Path) -> str:
    """What is wrong with how reading ended; empty if nothing is."""
    try:
        read(path)
    except DataError as error:
        text = str(error)
        return "" if "\n" not in text and len(text) < 1000 else f"no sentence: {text!r}"
    except Exception as error:
        return f"{read.__name__}: {type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore", TreewrightWarning)
    for path in sorted(Path(sys.argv[1]).iterdir()):
        with contextlib.redirect_stdout(sys.stderr):
            found = [fault(read, path) for read in (read_whole, read_blocks)]
        print(path.name, *filter(None, found), flush=True)
