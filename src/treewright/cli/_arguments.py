"""Arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Categorical",
    "Confidence",
    "DataFile",
    "Drop",
    "Force",
    "Gaps",
    "Jobs",
    "Json",
    "Metric",
    "ModelFile",
    "Ordinal",
    "Picture",
    "Positive",
    "Seed",
    "Separator",
    "Target",
]

DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help="CSV, Parquet, Arrow or ARFF file; - is stdin.")
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file written by treewright fit.")
]
Drop = Annotated[str | None, typer.Option(metavar="A,B", help="Columns to leave out.")]
Gaps = Annotated[str | None, typer.Option(metavar="A,B", help="Words that mark a gap.")]
Separator = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="Between the fields of a CSV; \\t is a tab.")
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")]
Categorical = Annotated[
    str | None, typer.Option(metavar="A,B", help="Columns of numbers that are categories.")
]
Ordinal = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=A<B<C", help="A column whose order counts; repeatable."),
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Seed of the random numbers.")]
Jobs = Annotated[
    int | None, typer.Option(metavar="NUMBER", help="Fits at a time; -1 for all cores.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Metric = Annotated[
    str | None, typer.Option(metavar="NAME", help="accuracy, roc_auc, f1, log_loss, rmse, …")
]
Positive = Annotated[
    str | None,
    typer.Option(metavar="CLASS", help="The class of interest, for recall etc."),
]
Confidence = Annotated[float, typer.Option(metavar="SHARE", help="Of the intervals.")]
Picture = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the result as .png, .svg or .pdf.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite a file that treewright did not write.")
]
