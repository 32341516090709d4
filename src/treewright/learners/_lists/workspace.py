"""Where lists are kept: in memory as far as the limit allows, otherwise in temporary files.

A :class:`Stream` is an array of fixed length that is read and written in parts. A file is unlinked
as soon as it is open, so that nothing is left behind, however the process ends. A full disk is one
sentence.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import tempfile
from types import TracebackType
from typing import IO, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from treewright.errors import ParameterError, SpaceError
from treewright.kernels.lists import trim_heap

__all__ = ["Stream", "Workspace", "parse_memory"]

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}

LEAST_CHUNK, MOST_CHUNK = 1 << 11, 1 << 18
"""Entries of a list that are looked at together; more no longer fit the nearer caches."""
CHUNK_BYTES = 64
"""What an entry takes while its chunk is worked on: value, row, class, order and copies."""
STREAM_SHARE = 0.4
"""Share of the limit that streams may take; chunks, searches and sorting need the rest."""


def parse_memory(limit: int | str | None) -> int | None:
    """Bytes of ``"1GB"``, ``"512MiB"`` or a number; None for no limit.

    Examples
    --------
    >>> parse_memory("1.5GB")
    1500000000
    """
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", limit)
        unit = None if match is None else UNITS.get(match[2].upper())
        if match is None or unit is None:
            raise ParameterError(
                'memory_limit must be bytes, or a number with a unit such as "1GB" or "512MiB", '
                f"got {limit!r}."
            )
        limit = int(float(match[1]) * unit)
    if limit <= 0:
        raise ParameterError(f'memory_limit must be above 0, got {limit!r}; "1GB" is usual.')
    return int(limit)


class Workspace:
    """Memory and temporary files of one fit; a context manager that closes the files.

    Parameters
    ----------
    limit
        Bytes that lists and buffers may take together; None for no limit.
    temp_dir
        Where files go; None for the system's own folder.
    n_threads
        Lists that are worked on at the same time.
    """

    def __init__(
        self, limit: int | None, temp_dir: str | os.PathLike[str] | None = None, n_threads: int = 1
    ) -> None:
        self.limit, self.n_threads = limit, n_threads
        self._temp_dir = temp_dir
        self._used = 0
        self._open: set[_InFile] = set()
        self.bytes_written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for stream in list(self._open):
            stream.close()

    @property
    def chunk(self) -> int:
        """Entries of a list that are read at a time."""
        if self.limit is None:
            return MOST_CHUNK
        entries = self.limit // (8 * CHUNK_BYTES * self.n_threads)
        return int(np.clip(entries, LEAST_CHUNK, MOST_CHUNK))

    @property
    def sort_run(self) -> int:
        """Entries of a list that are sorted in memory at once."""
        if self.limit is None:
            return 1 << 62
        return max(LEAST_CHUNK, self.limit // (4 * CHUNK_BYTES * self.n_threads))

    def claim(self, n_bytes: int) -> None:
        """Take memory that is needed whatever the limit says."""
        self._used += n_bytes

    def fits(self, n_bytes: int) -> bool:
        """Whether a stream of this size stays in memory."""
        return self.limit is None or self._used + n_bytes <= STREAM_SHARE * self.limit

    def stream(self, dtype: DTypeLike, n: int) -> Stream:
        """A new stream of ``n`` entries."""
        size = n * np.dtype(dtype).itemsize
        if self.fits(size):
            self._used += size
            return _InMemory(self, np.empty(n, dtype) if self.limit is None else _mapped(n, dtype))
        stream = _InFile(self, np.dtype(dtype), n, self._new_file())
        self._open.add(stream)
        return stream

    def forget(self, stream: _InFile) -> None:
        """A file that its stream closed."""
        self._open.discard(stream)

    def _new_file(self) -> IO[bytes]:
        try:
            return tempfile.TemporaryFile(buffering=0, prefix="treewright-", dir=self._temp_dir)
        except OSError as error:
            raise SpaceError(
                f"temp_dir must be a folder that files can be made in, got {self._temp_dir!r} "
                f"({error.strerror}); name another one."
            ) from error

    def no_space(self) -> SpaceError:
        """The error of a full disk."""
        where = self._temp_dir or tempfile.gettempdir()
        return SpaceError(
            f"No space is left in {str(where)!r} for the attribute lists, of which "
            f"{self.bytes_written / 1e6:.1f} MB were written; free some, or name another folder "
            "with temp_dir."
        )

    def trim(self) -> None:
        """Give freed memory back to the system, which would count as held otherwise.

        Buffers of chunks come and go by the thousand, and the allocator keeps them per thread:
        4 million rows of nine columns took 278 MB under a limit of 100 MB without this.
        """
        if self.limit is not None:
            trim_heap()

    def release(self, n_bytes: int) -> None:
        """Give memory of a stream back."""
        self._used -= n_bytes


def _mapped(n: int, dtype: DTypeLike) -> NDArray[Any]:
    """An array that goes back to the system when it is freed, as the allocator's may not."""
    size = n * np.dtype(dtype).itemsize
    memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, np.uint8, size).view(dtype)


class Stream:
    """An array of fixed length and type that is read and written in parts."""

    dtype: np.dtype[Any]
    n: int

    def read(self, begin: int, end: int) -> NDArray[Any]:
        """Entries from ``begin`` to before ``end``."""
        raise NotImplementedError

    def write(self, begin: int, values: NDArray[Any]) -> None:
        """Put ``values`` at ``begin``."""
        raise NotImplementedError

    def close(self) -> None:
        """Give back what it takes."""
        raise NotImplementedError


class _InMemory(Stream):
    def __init__(self, space: Workspace, array: NDArray[Any]) -> None:
        self._space, self._array = space, array
        self.dtype, self.n = array.dtype, len(array)

    def read(self, begin: int, end: int) -> NDArray[Any]:
        return self._array[begin:end]

    def write(self, begin: int, values: NDArray[Any]) -> None:
        self._array[begin : begin + len(values)] = values

    def close(self) -> None:
        self._space.release(self._array.nbytes)
        self._array = np.empty(0, self.dtype)  # a part of it would keep the whole


class _InFile(Stream):
    def __init__(self, space: Workspace, dtype: np.dtype[Any], n: int, file: IO[bytes]) -> None:
        self._space, self.dtype, self.n = space, dtype, n
        self._opened, self._file = file, file.fileno()

    def read(self, begin: int, end: int) -> NDArray[Any]:
        end = min(end, self.n)
        values = np.empty(max(end - begin, 0), self.dtype)
        left = memoryview(cast(Any, values)).cast("B")
        at = begin * self.dtype.itemsize
        while len(left):
            got = os.preadv(self._file, [left], at)
            if got == 0:
                raise SpaceError("A temporary file of lists ended early; fit again.")
            left, at = left[got:], at + got
        return values

    def write(self, begin: int, values: NDArray[Any]) -> None:
        left = memoryview(cast(Any, np.ascontiguousarray(values, self.dtype))).cast("B")
        at = begin * self.dtype.itemsize
        try:
            while len(left):
                done = os.pwrite(self._file, left, at)
                left, at = left[done:], at + done
                self._space.bytes_written += done
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise self._space.no_space() from error
            raise

    def close(self) -> None:
        self._space.forget(self)
        self._opened.close()
