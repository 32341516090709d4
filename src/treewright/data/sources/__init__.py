"""Sources: tables that are read block by block, whatever holds them.

A source is pieces in an order that is fixed: row groups of Parquet files, batches of Arrow files,
parts of CSV files, a table in memory, partitions of a Dask collection. A piece knows how many rows
it has, can be read again and again, and can be sent to another process; what it gives are blocks,
tables of at most as many rows as one asks for. All blocks of a source have the same columns of the
same types, so that files that differ are brought together, or refused, before anything is learned.
"""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from treewright.data.frames import is_collection
from treewright.data.readers import ARROW, DELIMITED, PARQUET
from treewright.data.sources.arrow_files import arrow_source, parquet_source
from treewright.data.sources.csv_files import csv_source
from treewright.data.sources.memory import memory_source
from treewright.data.sources.piece import Piece, Source
from treewright.data.textfile import file_error
from treewright.errors import DataError, ParameterError

__all__ = [
    "Piece",
    "Source",
    "is_collection",
    "is_path",
    "is_source",
    "open_source",
    "refuse_without_target",
]

OPENERS = {
    **dict.fromkeys(PARQUET, parquet_source),
    **dict.fromkeys(ARROW, arrow_source),
    **dict.fromkeys(DELIMITED, csv_source),
}


def is_path(X: Any) -> bool:
    """Whether X names files."""
    return isinstance(X, str | os.PathLike)


def is_source(X: Any, y: Any, target: Any) -> bool:
    """Whether X of ``fit`` is to be read in blocks.

    A collection of Dask always is, so that nothing is brought to the driver in silence; names of
    files are where there is no ``y``.
    """
    return target is not None or is_collection(X) or (y is None and is_path(X))


def refuse_without_target(**given: Any) -> None:
    """Refuse arguments of fit that are about blocks where there are none."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{name} is for data that are read in blocks, got it without target=; pass "
                "target='name' with a file, a folder or a table that holds the target."
            )


def open_source(X: Any) -> Source:
    """The source that X names, or that it is.

    Parameters
    ----------
    X
        A file (Parquet, Arrow, Feather, CSV), a folder of such files, where folders called
        ``key=value`` are columns, a pattern such as ``"folder/*.parquet"``, or a table in memory.

    Examples
    --------
    >>> source = open_source({"size": [1.5, 2.0], "colour": ["red", "blue"]})
    >>> source.names, source.n_rows
    (('size', 'colour'), 2)
    """
    if not is_path(X):
        return memory_source(X)
    base, files = _files(os.fspath(X))
    kinds = {file.suffix.lower() for file in files}
    openers = {OPENERS.get(kind) for kind in kinds}
    if None in openers or len(openers) > 1:
        known = ", ".join(OPENERS)
        raise DataError(
            f"{base.name}: files that are read in blocks must be of one kind and end in one of "
            f"{known}, got {', '.join(sorted(kinds))}; name those meant, as in 'folder/*.parquet'."
        )
    opener: Any = openers.pop()
    found: Source = opener(files, base)
    if found.n_rows == 0:
        raise DataError(
            f"{base.name}: there must be rows, but the {len(files)} files have none; check them."
        )
    return found


def _files(name: str) -> tuple[Path, list[Path]]:
    """Files in the order of their names, and the folder that ``key=value`` folders lie in."""
    path = Path(name)
    if path.is_file():
        return path, [path]
    if glob.has_magic(name):
        parts = path.parts
        fixed = next(i for i, part in enumerate(parts) if glob.has_magic(part))
        base = Path(*parts[:fixed]) if fixed else Path(".")
        files = [Path(found) for found in glob.glob(name, recursive=True)]
        files = sorted(file for file in files if file.is_file())
        problem, way_out = "the pattern must fit some file, but fits none", "check the pattern"
    elif path.is_dir():
        base = path
        files = sorted(p for p in path.rglob("*") if p.suffix.lower() in OPENERS and p.is_file())
        files = [f for f in files if not _is_hidden(f.relative_to(base))]
        problem = "a folder must hold Parquet, Arrow or CSV files, but this has none"
        way_out = "check the name"
    else:
        raise DataError(f"{path}: it must be a file or folder, but there is none; check the name.")
    if not files:
        raise file_error(path, problem, way_out)
    return base, files


def _is_hidden(relative: Path) -> bool:
    """Files that Spark and others write beside the data."""
    return any(part.startswith(("_", ".")) for part in relative.parts)
