"""Blocks as bytes: bins, targets, scores and room for growing, in memory or in files.

A file is unlinked as soon as it is open, so that nothing is left behind, however the process ends,
and its room on the disk is taken before it is written, so that a full disk is an error, no crash.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import DataError

__all__ = ["BlockLayout", "Layout", "Store", "StoredBlock", "TreeLayout"]

LINE = 64


class Layout(ABC):
    """What a block holds of each row."""

    @abstractmethod
    def parts(self, n: int) -> list[tuple[str, Any, tuple[int, ...]]]:
        """Name, type and shape of the arrays of a block of ``n`` rows."""

    def size(self, n: int) -> int:
        """Bytes of a block of ``n`` rows."""
        return sum(_padded(_bytes(kind, shape)) for _, kind, shape in self.parts(n))


@dataclass(frozen=True)
class BlockLayout(Layout):
    """What boosting holds of each row.

    Parameters
    ----------
    width
        Bytes of its bins.
    n_columns, n_targets
        Columns of scores, and of targets.
    small_targets
        Whether targets are whole numbers (classes), which single precision holds.
    has_counts, has_factors
        Whether rows count several times, and whether they have weights.
    sum_bytes
        Bytes of a packed slope; 0 for rows that only follow.
    has_probability
        Whether probabilities of all classes are kept (several classes).
    """

    width: int
    n_columns: int
    n_targets: int
    small_targets: bool
    has_counts: bool
    has_factors: bool
    sum_bytes: int
    has_probability: bool

    def parts(self, n: int) -> list[tuple[str, Any, tuple[int, ...]]]:
        """Name, type and shape of the arrays of a block of ``n`` rows."""
        target = "small_y" if self.small_targets else "y"
        kind: Any = np.float32 if self.small_targets else np.float64
        out: list[tuple[str, Any, tuple[int, ...]]] = [
            ("bins", np.uint8, (n, self.width)),
            (target, kind, (self.n_targets, n)),
            ("score", np.float64, (self.n_columns, n)),
        ]
        if self.has_counts:
            out.append(("count", np.int32, (n,)))
        if self.has_factors:
            out.append(("factor", np.float64, (n,)))
        if self.sum_bytes:
            out += [("sums", np.uint8, (n * self.sum_bytes,)), ("rows", np.uint32, (n,))]
            if self.has_probability:
                out.append(("probability", np.float32, (self.n_columns, n)))
        return out


@dataclass(frozen=True)
class TreeLayout(Layout):
    """What single trees and forests hold of each row.

    Parameters
    ----------
    width
        Bytes of its bins.
    is_classes
        Whether the target is classes.
    draws
        Whether rows are drawn for each tree.
    weighs
        Whether rows have weights, or chances to be drawn.
    """

    width: int
    is_classes: bool
    draws: bool
    weighs: bool

    def parts(self, n: int) -> list[tuple[str, Any, tuple[int, ...]]]:
        """Name, type and shape of the arrays of a block of ``n`` rows."""
        out: list[tuple[str, Any, tuple[int, ...]]] = [
            ("bins", np.uint8, (n, self.width)),
            ("label", np.uint16, (n,)) if self.is_classes else ("y", np.float64, (n,)),
            ("node", np.int32, (n,)),
        ]
        if self.weighs:
            out.append(("weight", np.int64, (n,)))
        return [*out, ("count", np.uint16, (n,))] if self.draws else out


@dataclass(frozen=True, eq=False)
class StoredBlock:
    """The arrays of a block, and the number of its first row."""

    arrays: dict[str, NDArray[Any]]
    first_row: int
    is_mapped: bool

    @property
    def n_rows(self) -> int:
        """Rows of the block."""
        return len(self.arrays["bins"])

    @property
    def y(self) -> NDArray[Any]:
        """Targets, by column."""
        return self.arrays["small_y" if "small_y" in self.arrays else "y"]


@dataclass(eq=False)
class Store:
    """Makes blocks, in memory up to ``resident`` bytes, then in files in ``temp_dir``."""

    layout: Layout
    resident: int
    temp_dir: str | None = None
    blocks: list[StoredBlock] = field(default_factory=list)
    n_held: int = 0
    n_filed: int = 0

    def add(self, n: int, first_row: int) -> StoredBlock:
        """Room for ``n`` rows."""
        size = self.layout.size(n)
        is_mapped = self.n_held + size > self.resident
        if is_mapped:
            self.n_filed += size
            memory = _file_memory(size, self.temp_dir)
        else:
            self.n_held += size
            memory = _aligned(size)
        arrays, at = {}, 0
        for name, kind, shape in self.layout.parts(n):
            length = _bytes(kind, shape)
            arrays[name] = memory[at : at + length].view(kind).reshape(shape)
            at += _padded(length)
        if is_mapped:
            arrays["map"] = memory
        block = StoredBlock(arrays, first_row, is_mapped)
        self.blocks.append(block)
        return block


def _bytes(kind: Any, shape: tuple[int, ...]) -> int:
    return math.prod(shape) * int(np.dtype(kind).itemsize)


def _padded(n: int) -> int:
    return (n + LINE - 1) // LINE * LINE


def _aligned(size: int) -> NDArray[np.uint8]:
    memory = np.empty(size + LINE, np.uint8)
    skipped = -memory.ctypes.data % LINE
    return memory[skipped : skipped + size]


def _file_memory(size: int, folder: str | None) -> NDArray[np.uint8]:
    """Memory that is a file without a name."""
    try:
        with tempfile.TemporaryFile(dir=folder, prefix="treewright-") as file:
            os.posix_fallocate(file.fileno(), 0, size)
            return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)
    except OSError as error:
        where = folder or tempfile.gettempdir()
        raise DataError(
            f"Blocks that do not fit into memory are kept in files, but {where!r} cannot hold "
            f"them ({(error.strerror or str(error)).lower()}); make room, or pass another temp_dir."
        ) from None
