"""``treewright fit --stream - --target y``: learn from lines as they come, in bounded memory.

The first line holds the names. The first block of lines says what the columns are: numbers, or
text. Each block is answered before it is learned, so that the error printed in the end is that of
rows that were new.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from treewright.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["fit_stream", "run_stream"]

BLOCK_LINES = 1000
GAPS = ("", "NA", "?")


def run_stream(
    data: Path,
    target: str,
    estimator: Any,
    gaps: str | None,
    separator: str | None,
    classes: str | None,
    output: Path | None,
    *,
    force: bool,
) -> None:
    """Learn a stream, save the model and say how it went."""
    import treewright
    from treewright.cli._files import MODEL_START, check_output
    from treewright.cli._options import parse_list

    name = "stream" if str(data) == "-" else data.name.split(".")[0]
    path = output or Path(f"{name}.tw")
    check_output(path, [data], force=force, own=MODEL_START)
    words = parse_list(gaps), separator, parse_list(classes)
    summary = fit_stream(data, target, estimator, *words)
    treewright.save(estimator, path)
    print(summary)
    print(f"Model: {path}")


def fit_stream(
    data: Path,
    target: str,
    estimator: Any,
    gaps: list[str] | None,
    separator: str | None,
    classes: list[str] | None,
) -> str:
    """Learn all lines of a CSV file, or of standard input (``-``); the summary."""
    import numpy as np
    import pyarrow.compute as pc

    n_rows, n_blocks, n_dropped, wrong, squares = 0, 0, 0, 0, 0.0
    is_classifier = hasattr(estimator, "predict_proba")
    known_classes = {"classes": classes} if is_classifier and classes else {}
    for table in _tables(data, target, is_classifier, tuple(gaps or GAPS), separator or ","):
        known = table.filter(pc.is_valid(table.column(target)))
        n_dropped += table.num_rows - known.num_rows
        if not known.num_rows:
            continue
        X, column = known.drop_columns([target]), known.column(target)
        y = np.array(column.to_pylist(), object) if is_classifier else column.to_numpy()
        answers = estimator.predict_then_learn(X, y, **known_classes)
        n_rows, n_blocks = n_rows + len(y), n_blocks + 1
        if is_classifier:
            wrong += int(np.count_nonzero(answers.astype(object) != y))
        else:
            squares += float(((answers - y) ** 2).sum())
    if not n_rows:
        raise DataError(f"The stream must hold rows with a target {target!r}, but has none.")
    tree = estimator.tree_
    left_out = f"{n_dropped} rows without a target left out.\n" if n_dropped else ""
    error = f"{wrong / n_rows:.1%}" if is_classifier else f"{(squares / n_rows) ** 0.5:.6g} (rms)"
    return (
        f"{left_out}{type(estimator).__name__} of {target!r} on a stream of {n_rows} rows\n"
        f"Size: {tree.n_leaves} leaves, depth {tree.depth}\n"
        f"Error on rows before they were learned: {error}"
    )


def _tables(
    data: Path, target: str, is_classifier: bool, gaps: tuple[str, ...], separator: str
) -> Iterator[pa.Table]:
    """Blocks of lines as Arrow tables of one schema."""
    import io

    import pyarrow as pa
    from pyarrow import csv

    types: dict[str, pa.DataType] = {}
    with _opened(data) as stream:
        header = stream.readline()
        while lines := _lines(stream):
            try:
                table = csv.read_csv(
                    io.BytesIO(header + lines),
                    parse_options=csv.ParseOptions(delimiter=separator),
                    convert_options=csv.ConvertOptions(
                        column_types=types, null_values=list(gaps), strings_can_be_null=True
                    ),
                )
            except pa.ArrowException as error:
                said = str(error).splitlines()[0].rstrip(".")
                raise DataError(f"A block of the stream cannot be read: {said}.") from error
            if target not in table.column_names:
                raise DataError(
                    f"--target must name a column of the stream, got {target!r}; there are "
                    f"{', '.join(map(repr, table.column_names[:12]))}."
                )
            if not types:
                types = {f.name: _kind(f.type) for f in table.schema}
                if is_classifier:  # a class is known by its word
                    types[target] = pa.string()
            yield table.cast(pa.schema(list(types.items())))


def _kind(kind: pa.DataType) -> pa.DataType:
    """What a column of the first block is from then on: whole numbers may become others."""
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pa.float64()
    return pa.string()


def _lines(stream: IO[bytes]) -> bytes:
    return b"".join(line for _, line in zip(range(BLOCK_LINES), stream, strict=False))


def _opened(data: Path) -> IO[bytes]:
    if str(data) == "-":
        return sys.stdin.buffer
    try:
        return data.open("rb")
    except OSError as error:
        raise DataError(f"{str(data)!r} cannot be read ({error.strerror}).") from error
