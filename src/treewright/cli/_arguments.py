"""Arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["DataFile", "Force", "Gaps", "ModelFile", "Separator"]

DataFile = Annotated[Path, typer.Argument(metavar="DATA", help="CSV, Parquet, Arrow or ARFF file.")]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file written by treewright fit.")
]
Gaps = Annotated[str | None, typer.Option(metavar="A,B", help="Words that mark a gap.")]
Separator = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="Between the fields of a CSV.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite a file that treewright did not write.")
]
