"""Writing a file whole or not at all, and files that show who still works on what.

The bytes go to a temporary name in the same directory, are synced to disk and then renamed,
so that at every moment the path holds the old file or the new one, complete.

A process that is killed leaves its temporary file behind. While it lives it holds a lock on it,
which the system gives back however the process ends; so a file that can be locked belongs to
nobody, and the next one who writes to that directory removes it. Process ids, which the system
gives out again, are not looked at.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from typing import IO

from treewright.errors import SpaceError

try:
    import fcntl
except ImportError:  # on Windows, where nothing is cleared
    fcntl = None  # type: ignore[assignment]

__all__ = ["only_writer", "replacing", "write_atomically"]

PREFIX, SUFFIX = ".treewright-", ".tmp"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_atomically(path: str, pieces: Iterable[bytes | memoryview]) -> None:
    """Write ``pieces`` to ``path``; an OSError or interrupt leaves what was there before."""
    with replacing(path) as file:
        for piece in pieces:
            file.write(piece)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file for writing that becomes ``path`` when the block ends, or vanishes with an error."""
    target = os.path.realpath(path)  # a link stays a link
    mode = _mode_of_existing(target)
    directory = os.path.dirname(target)
    _clear(directory)
    try:
        temporary, descriptor = _own_temporary(directory)
        try:
            with open(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if mode is not None:
                    os.chmod(temporary, mode)
                if fcntl is None:  # Windows renames no file that is open
                    file.close()
                os.replace(temporary, target)  # while it is locked, so that nobody clears it
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise SpaceError(
            f"{os.fspath(path)!r} cannot be written, as no space is left on the disk; free some, "
            "or choose another place."
        ) from error
    _sync_directory(directory)


@contextlib.contextmanager
def only_writer(path: str | os.PathLike[str]) -> Iterator[bool]:
    """The file ``path`` for as long as the block lasts, with a lock on it.

    It stays behind where the block does not end, so that it shows work that is not finished.
    Yields whether it was there; BlockingIOError if another process is at it.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        was_there = os.path.lexists(path)
        descriptor = os.open(path, flags, 0o666)
        try:
            if not _lock(descriptor):
                raise BlockingIOError(errno.EAGAIN, "another process is at work there")
            if _is_at(descriptor, path):
                break
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # it was removed by the one who had it
    try:
        yield was_there
        os.unlink(path)
    finally:
        os.close(descriptor)


def _own_temporary(directory: str) -> tuple[str, int]:
    """A new file that this process has locked."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = os.path.join(directory, f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}")
        descriptor = os.open(path, flags, 0o666)
        # between the two lines another process may have taken it for one that nobody owns
        if _lock(descriptor) and _is_at(descriptor, path):
            return path, descriptor
        os.close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(path)


def _clear(directory: str) -> None:
    """Remove temporary files that nobody owns."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):  # of another user, or just renamed
                    _clear_one(entry.path)


def _clear_one(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor, unknown=False):
            os.unlink(path)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, unknown: bool = True) -> bool:
    """Whether the file is now ours alone; ``unknown`` where the file system has no locks."""
    if fcntl is None:
        return unknown
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return unknown
    return True


def _is_at(descriptor: int, path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` still names the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


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
