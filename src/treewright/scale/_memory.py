"""How much memory there is, and what of it one block may take."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from treewright.errors import ParameterError

__all__ = ["Budget", "make_budget", "read_size"]

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
MOST_ROWS = 1 << 17
"""Rows of a block where memory does not ask for fewer: sums and bins of these fit a cache."""
LEAST_ROWS = 2048


def read_size(size: Any) -> int:
    """Bytes from a number, or a text such as ``"1GB"`` or ``"512 MiB"``.

    Examples
    --------
    >>> read_size("1.5GB"), read_size("64KiB"), read_size(100)
    (1500000000, 65536, 100)
    """
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", size.lower())
        known = {**UNITS, **BINARY}
        if match and match[2] in known and float(match[1]) > 0:
            return int(float(match[1]) * known[match[2]])
    elif isinstance(size, int | float) and not isinstance(size, bool) and size >= 1:
        return int(size)
    raise ParameterError(
        f"memory_limit must be a number of bytes or a text such as '1GB' or '512MB', got {size!r}."
    )


@dataclass(frozen=True)
class Budget:
    """What a fit may take.

    Parameters
    ----------
    rows
        Rows of a block.
    resident
        Bytes of blocks that may stay in memory; blocks beyond it are kept in files.
    """

    rows: int
    resident: int


def make_budget(
    limit: Any, row_bytes: int, n_columns: int, n_places: int, n_threads: int
) -> Budget:
    """Sizes for rows of ``row_bytes`` bytes as they are read, under a limit for the process."""
    if limit is None:
        return Budget(MOST_ROWS, _available() // 2)
    free = read_size(limit) - _held()
    # A row is held as it was read, as columns of the table, and as bins with sums and scores.
    each = 2 * row_bytes + 12 * n_columns + 64
    histograms = 160 * 16 * n_places * n_threads
    room = free - histograms - (8 << 20)
    rows = min(MOST_ROWS, room // (2 * each * n_threads))
    if rows < LEAST_ROWS:
        least = read_size(limit) - room + 2 * each * n_threads * LEAST_ROWS
        raise ParameterError(
            f"memory_limit must leave room for one block of {LEAST_ROWS} rows, which takes "
            f"{_shown(least)} with what the process holds already, got {_shown(read_size(limit))}; "
            "raise it, or read fewer columns."
        )
    return Budget(int(rows), int(max(0, room - 2 * each * rows * n_threads)))


def _shown(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.{0 if n_bytes > 10e6 else 1}f} MB"


def _held() -> int:
    """Bytes that the process holds in memory."""
    try:
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration, ValueError):
        import resource

        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


def _available() -> int:
    """Bytes that could be taken without making others leave."""
    try:
        with open("/proc/meminfo") as file:
            line = next(line for line in file if line.startswith("MemAvailable"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration, ValueError):
        return 4 << 30
