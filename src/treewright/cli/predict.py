"""``treewright predict model.tw new.csv``: predictions for new rows, as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treewright.cli._arguments import DataFile, Force, Gaps, ModelFile, Separator
from treewright.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["run"]


def run(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV file; stdout by default.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add class probabilities.")] = False,
    gaps: Gaps = None,
    separator: Separator = None,
    force: Force = False,
) -> None:
    """Predict new rows; one line each, in the order of the file."""
    from treewright.cli._files import (
        check_output,
        load_estimator,
        read_data,
        schema_of,
        write_text,
    )

    check_output(output, [model, data], force=force, own="prediction")
    estimator = load_estimator(model)
    schema = schema_of(estimator)
    target = schema.target
    assert target is not None
    if proba and not target.is_classification:
        raise ParameterError("--proba needs a model of classes, but this one predicts a number.")
    table = read_data(data, gaps, separator, schema)
    if target.name in table.column_names:
        table = table.drop_columns([target.name])
    write_text(_as_csv(estimator, table, proba), output)
    if output is not None:
        print(f"{table.num_rows} predictions: {output}")


def _as_csv(estimator: Any, table: pa.Table, proba: bool) -> str:
    header = ["prediction"]
    columns = [estimator.predict(table).tolist()]
    if proba:
        header += [f"probability({label})" for label in estimator.classes_.tolist()]
        columns += estimator.predict_proba(table).T.tolist()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()
