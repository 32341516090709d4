"""Writing a file whole or not at all.

The bytes go to a temporary name in the same directory, are synced to disk and then renamed,
so that at every moment the path holds the old file or the new one, complete.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable

__all__ = ["write_atomically"]


def write_atomically(path: str, pieces: Iterable[bytes | memoryview]) -> None:
    """Write ``pieces`` to ``path``; an OSError or interrupt leaves what was there before."""
    target = os.path.realpath(path)  # a link stays a link
    mode = _mode_of_existing(target)
    directory = os.path.dirname(target)
    temporary = os.path.join(directory, f".treewright-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with open(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(directory)


def _mode_of_existing(target: str) -> int | None:
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError("it is a directory")
    if not stat.S_ISREG(mode):
        raise OSError("it is not a regular file")
    return stat.S_IMODE(mode)


def _sync_directory(directory: str) -> None:
    """Make the new name durable, where the system knows how."""
    if os.name != "posix":
        return
    # The file is complete under its name by now. Some network file systems cannot sync a
    # directory, and failing here would wrongly say that nothing was written.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
