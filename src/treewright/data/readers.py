"""read_table: a file as an Arrow table, by its extension.

Types stay as rich as the format allows (numbers, booleans, dates, dictionaries with declared
values); what they mean for a learner is decided in :mod:`treewright.data.encode`.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from treewright.data.arff import read_arff
from treewright.data.delimited import read_delimited
from treewright.data.from_arrow import from_arrow
from treewright.data.schema import Schema
from treewright.data.textfile import file_error, read_bytes
from treewright.errors import DataError, ParameterError

__all__ = ["read_table"]

DELIMITED = (".csv", ".tsv", ".tab", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
ARFF = (".arff",)
PACKED = (".gz", ".bz2", ".xz", ".zip")


def read_table(
    path: str | os.PathLike[str],
    *,
    gaps: Collection[str] = ("", "NA", "?"),
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str = "utf-8",
    as_text: Collection[str] = (),
    schema: Schema | None = None,
) -> Any:
    """Read a CSV, Parquet, Arrow, Feather or ARFF file.

    Parameters
    ----------
    path
        A file ending in .csv, .tsv, .tab, .txt or .arff (also packed: .gz, .bz2, .xz, .zip),
        .parquet, .arrow or .feather, or a folder of Parquet files. A packed file may hold 256 MB,
        or 100 times its size where that is more.
    gaps
        Cells of a delimited file that are gaps.
    separator
        Of a delimited file; None to find out whether it is a comma, tab, semicolon or bar.
    decimal
        ``"."`` or ``","``; None for a comma only where numbers are written with it and it is
        not the separator.
    encoding
        Of a text file. A byte order mark is skipped.
    as_text
        Columns of a delimited file to read as text although they look like numbers or dates,
        such as postal codes.
    schema
        The schema of a model that shall predict: its categories are read with the type they
        had in training.

    Returns
    -------
    pyarrow.Table
        In delimited files, numbers, ``true``/``false`` and ISO dates get their own types, and
        so do dates such as 08.05.2023 and amounts of one unit such as ``12 %`` or ``1.200,50 €``;
        the first line holds the names.

    Examples
    --------
    >>> from treewright.data import read_table
    >>> from pathlib import Path
    >>> _ = Path("weather.csv").write_text("day;humid\\n2024-01-05;?\\n2024-01-06;true\\n")
    >>> read_table("weather.csv").column("humid").to_pylist()
    [None, True]
    >>> Path("weather.csv").unlink()
    """
    path = Path(path)
    _check_arguments(gaps, as_text)
    options = {
        "gaps": gaps,
        "separator": separator,
        "decimal": decimal,
        "encoding": encoding,
        "as_text": as_text,
        "schema": schema,
    }
    try:
        return _read_folder(path) if path.is_dir() else _read_file(path, options)
    except FileNotFoundError:
        raise DataError(
            f"{path}: the file must exist, but there is none; check the name."
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise file_error(path, f"cannot be read ({reason})", "check its permissions") from None


def _read_file(path: Path, options: dict[str, Any]) -> Any:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-1] if suffixes else ""
    if kind in PACKED and len(suffixes) > 1:
        kind = suffixes[-2] if suffixes[-2] in DELIMITED + ARFF else "".join(suffixes[-2:])
    if path.stat().st_size == 0:
        raise file_error(path, "the file must hold a table, but is empty", "write data to it first")
    if kind in DELIMITED:
        return read_delimited(path, **options)
    if kind in ARFF:
        return read_arff(path, options["encoding"])
    if kind in PARQUET:
        return _read_parquet([path], path)
    if kind in ARROW:
        return _read_arrow(path)
    known = ", ".join(DELIMITED + PARQUET + ARROW + ARFF)
    raise file_error(
        path, f"the name must end in one of {known}, got {kind!r}", "convert or rename it"
    )


def _check_arguments(gaps: Collection[str], as_text: Collection[str]) -> None:
    for name, value in (("gaps", gaps), ("as_text", as_text)):
        if isinstance(value, str) or not all(isinstance(item, str) for item in value):
            raise ParameterError(f"{name} must be a list of strings, got {value!r}; write a list.")


def _read_folder(folder: Path) -> Any:
    """All Parquet files below a folder, with ``key=value`` folders as columns."""
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in PARQUET and p.is_file())
    files = [file for file in files if not _is_hidden(file.relative_to(folder))]
    if not files:
        raise file_error(
            folder, "a folder must hold Parquet files, but this has none", "pass a single file"
        )
    return _read_parquet(files, folder)


def _is_hidden(relative: Path) -> bool:
    """Files that Spark and others write beside the data."""
    return any(part.startswith(("_", ".")) for part in relative.parts)


def _read_parquet(files: list[Path], path: Path) -> Any:
    is_folder = path.is_dir()

    def read() -> Any:
        import pyarrow.dataset as ds

        dataset = ds.dataset(
            [str(file) for file in files],
            format="parquet",
            partitioning="hive" if is_folder else None,
            partition_base_dir=str(path) if is_folder else None,
        )
        return dataset.to_table()

    return from_arrow(path, "Parquet", read)


def _read_arrow(path: Path) -> Any:
    import pyarrow as pa

    data = read_bytes(path)
    if data[:4] == b"FEA1":  # Arrow does not check it: a wrong byte ends the process
        raise file_error(
            path,
            "cannot be read as Arrow (it has the first format of Feather)",
            "write it in the second, or as Parquet",
        )

    def read() -> Any:
        opened = pa.ipc.open_file if data[:6] == b"ARROW1" else pa.ipc.open_stream
        with opened(pa.BufferReader(data)) as reader:
            return reader.read_all()

    return from_arrow(path, "Arrow", read)
