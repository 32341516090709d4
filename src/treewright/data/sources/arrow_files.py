"""Parquet and Arrow files as sources; folders called ``key=value`` are columns (Hive's manner)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from treewright.data.categories import listed
from treewright.data.from_arrow import from_arrow
from treewright.data.sources.piece import Source, common_types, conform
from treewright.data.textfile import file_error
from treewright.errors import DataError

__all__ = ["arrow_source", "parquet_source"]

ROWS_OF_PIECE = 1 << 20
"""Rows from which a piece ends with its row group."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
Folders = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False)
class ParquetPiece:
    """Row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]
    n_rows: int
    folders: Folders
    types: Any

    def read(self, columns: Sequence[str] | None, most: int) -> Iterator[Any]:
        """Blocks of the row groups, one behind the other."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = _chosen(self.types, columns)
        in_file = [name for name in types.names if name not in dict(self.folders)]
        path = Path(self.path)

        def opened() -> Any:
            # without pre_buffer=False all row groups are read before the first block is there
            return pq.ParquetFile(path, memory_map=False, buffer_size=1 << 18, pre_buffer=False)

        try:
            with from_arrow(path, "Parquet", opened) as file:
                batches = file.iter_batches(
                    most, row_groups=list(self.groups), columns=in_file, use_threads=False
                )
                read = partial(next, batches, None)
                n_rows = 0
                while (batch := from_arrow(path, "Parquet", read)) is not None:
                    n_rows += batch.num_rows
                    yield _completed(pa.Table.from_batches([batch]), self.folders, types)
                if n_rows != self.n_rows:
                    problem = f"must have {self.n_rows} rows as its end says, but has {n_rows}"
                    raise file_error(path, problem, "write it again")
        finally:
            pa.default_memory_pool().release_unused()


@dataclass(frozen=True, eq=False)
class ArrowPiece:
    """Record batches of an Arrow file."""

    path: str
    batches: tuple[int, ...]
    n_rows: int
    folders: Folders
    types: Any

    def read(self, columns: Sequence[str] | None, most: int) -> Iterator[Any]:
        """Blocks of the batches, one behind the other."""
        import pyarrow as pa

        types = _chosen(self.types, columns)
        path = Path(self.path)
        with _mapped(path) as file:
            for number in self.batches:
                batch = from_arrow(path, "Arrow", partial(file.get_batch, number))
                for start in range(0, batch.num_rows, most):
                    part = pa.Table.from_batches([batch.slice(start, most)])
                    yield _completed(part, self.folders, types)


def parquet_source(files: list[Path], base: Path) -> Source:
    """Parquet files, row group by row group."""
    import pyarrow.parquet as pq

    found, schemas = [], []
    for file in files:

        def read(file: Path = file) -> tuple[Any, list[tuple[int, int]]]:
            with pq.ParquetFile(file) as opened:
                about, schema = opened.metadata, opened.schema_arrow.remove_metadata()
            schema.names  # noqa: B018  (decodes them)
            return schema, [(k, about.row_group(k).num_rows) for k in range(about.num_row_groups)]

        schema, groups = from_arrow(file, "Parquet", read)
        found.append((file, _runs(groups)))
        schemas.append((_shown(file, base), schema))
    return _source(ParquetPiece, found, schemas, base)


def arrow_source(files: list[Path], base: Path) -> Source:
    """Arrow files, batch by batch."""
    found, schemas = [], []
    for file in files:
        with _mapped(file) as opened:
            batches = [
                (k, from_arrow(file, "Arrow", partial(opened.get_batch, k), full=False).num_rows)
                for k in range(opened.num_record_batches)
            ]
            schemas.append((_shown(file, base), opened.schema.remove_metadata()))
        found.append((file, _runs(batches)))
    return _source(ArrowPiece, found, schemas, base)


@contextmanager
def _mapped(path: Path) -> Iterator[Any]:
    """An Arrow file that is read where it lies."""
    import pyarrow as pa

    with from_arrow(path, "Arrow", partial(pa.memory_map, str(path))) as memory:
        yield from_arrow(path, "Arrow", partial(pa.ipc.open_file, memory))


def _source(kind: Any, found: Any, schemas: Any, base: Path) -> Source:
    import pyarrow as pa

    types = common_types(schemas)
    folders = _folder_values([file for file, _ in found], base)
    keys = [name for name, _ in folders[0]] if folders else []
    for name in keys:
        if name in types.names:
            raise DataError(
                f"A folder's key must not be a column too, but {name!r} is both; rename one."
            )
        values = [dict(each)[name] for each in folders]
        is_number = all(value is None or isinstance(value, int) for value in values)
        types = types.append(pa.field(name, pa.int32() if is_number else pa.string()))
    pieces = tuple(
        kind(str(file), tuple(numbers), n_rows, each, types)
        for (file, runs), each in zip(found, folders, strict=True)
        for numbers, n_rows in runs
        if n_rows
    )
    return Source(tuple(types.names), pieces, types, _row_bytes(types))


def _runs(parts: list[tuple[int, int]]) -> list[tuple[list[int], int]]:
    """Numbers of neighbours that make a piece, and their rows."""
    runs: list[tuple[list[int], int]] = []
    for number, n_rows in parts:
        if runs and runs[-1][1] + n_rows <= ROWS_OF_PIECE:
            runs[-1] = ([*runs[-1][0], number], runs[-1][1] + n_rows)
        else:
            runs.append(([number], n_rows))
    return runs


def _folder_values(files: list[Path], base: Path) -> list[Folders]:
    """Keys and values of the folders that each file lies in, as numbers where all are."""
    texts = []
    for file in files:
        folders = file.parent.parts[len(base.parts) :] if base.is_dir() or base == Path(".") else ()
        pairs = [folder.split("=", 1) for folder in folders if "=" in folder]
        texts.append([(unquote(key), unquote(value)) for key, value in pairs])
    keys = [[key for key, _ in each] for each in texts]
    if any(each != keys[0] for each in keys):
        other = next(each for each in keys if each != keys[0])
        raise DataError(
            f"Files must lie in folders of the same keys, got {listed(keys[0]) or 'none'} and "
            f"{listed(other) or 'none'}; move them, or name those meant."
        )
    numbers = {
        key
        for j, key in enumerate(keys[0])
        if all(_is_integer(each[j][1]) or each[j][1] == NO_VALUE for each in texts)
    }
    return [
        tuple((k, None if v == NO_VALUE else int(v) if k in numbers else v) for k, v in each)
        for each in texts
    ]


def _is_integer(text: str) -> bool:
    return re.fullmatch("-?[0-9]{1,10}", text) is not None and abs(int(text)) < 2**31


def _chosen(types: Any, columns: Sequence[str] | None) -> Any:
    import pyarrow as pa

    return types if columns is None else pa.schema([types.field(name) for name in columns])


def _completed(table: Any, folders: Folders, types: Any) -> Any:
    """The table with the columns that its folders stand for."""
    import pyarrow as pa

    for name, value in folders:
        if name in types.names:
            kind = types.field(name).type
            column = pa.repeat(pa.scalar(value, kind), table.num_rows)
            table = table.append_column(name, column)
    return conform(table, types)


def _row_bytes(types: Any) -> int:
    total = 0
    for field in types:
        try:
            total += max(1, field.type.bit_width // 8)
        except ValueError:
            total += 24  # text
    return total


def _shown(file: Path, base: Path) -> str:
    return str(file.relative_to(base)) if base.is_dir() else file.name
