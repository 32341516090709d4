"""``treewright predict model.tw new.csv``: predictions for new rows, as CSV."""

from __future__ import annotations

import contextlib
import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from treewright.cli._arguments import DataFile, Force, Gaps, ModelFile, Separator
from treewright.cli._session import SESSION
from treewright.data.textfile import no_formula
from treewright.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["run"]


def run(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="CSV file; stdout by default. For a folder of data, a folder of Parquet files.",
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add class probabilities.")] = False,
    keep: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Columns of DATA to write before the predictions."),
    ] = None,
    gaps: Gaps = None,
    separator: Separator = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Read in blocks, in at most so much memory: 1GB."),
    ] = None,
    force: Force = False,
) -> None:
    """Predict new rows; one line each, in the order of the file.

    Text that a spreadsheet would take for a formula gets an apostrophe in front.

    Examples: treewright predict titanic.tw new.csv --keep PassengerId --output said.csv;
    cat new.csv | treewright predict titanic.tw - --proba
    """
    from treewright.cli._blocks import is_blocks, predict_blocks
    from treewright.cli._files import (
        STANDARD,
        check_output,
        load_estimator,
        read_data,
        schema_of,
        write_text,
    )

    if memory is not None and output is None:
        raise ParameterError("--memory writes a folder of files, so name it with --output.")
    if output is not None and (data.is_dir() or is_blocks(data, memory)):
        if keep or gaps or separator or force:
            raise ParameterError(
                "--keep, --gaps, --separator and --force are for data that are read whole, got one "
                "with --memory, a pattern or a folder; leave it out."
            )
        print(predict_blocks(load_estimator(model), data, output, proba, memory))
        return
    check_output(output, [model, data], force=force, own="prediction")
    estimator = load_estimator(model)
    schema = schema_of(estimator)
    target = schema.target
    assert target is not None
    if proba and not target.is_classification:
        raise ParameterError("--proba needs a model of classes, but this one predicts a number.")
    table = read_data(data, gaps, separator, schema)
    kept = _kept(table, keep)
    if target.name in table.column_names:
        table = table.drop_columns([target.name])
    table = _without_extra(table, kept, schema)
    write_text(_as_csv(estimator, table, proba, kept), output)
    if output is not None and str(output) != STANDARD and not SESSION.quiet:
        print(f"{table.num_rows} predictions: {output}")


def _kept(table: pa.Table, keep: str | None) -> dict[str, list[Any]]:
    """The columns that go into the answer as they came."""
    from treewright.cli._options import parse_list, require_column

    names = parse_list(keep) or []
    for name in names:
        require_column(name, table.column_names, "--keep")
    return {name: _as_written(table.column(name)) for name in names}


def _as_written(column: pa.ChunkedArray) -> list[Any]:
    """Whole numbers without a point: columns of the model are read as floats."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        with contextlib.suppress(pa.ArrowInvalid):  # some are not whole
            column = column.cast(pa.int64())
    return cast(list[Any], column.to_pylist())


def _without_extra(table: pa.Table, kept: dict[str, Any], schema: Any) -> pa.Table:
    """Columns that are only kept are no surprise to the model."""
    known = set(schema.names)
    extra = [name for name in kept if name not in known]
    return table.drop_columns([name for name in extra if name in table.column_names])


def _as_csv(estimator: Any, table: pa.Table, proba: bool, kept: dict[str, list[Any]]) -> str:
    header = [*kept, "prediction"]
    columns = [*kept.values(), estimator.predict(table).tolist()]
    columns = [list(map(no_formula, column)) for column in columns]
    if proba:
        header += [f"probability({label})" for label in estimator.classes_.tolist()]
        columns += estimator.predict_proba(table).T.tolist()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(no_formula, header))
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()
