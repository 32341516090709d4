"""``treewright export model.tw --to sql``: the model in a language or format of others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from treewright.cli._arguments import Force, ModelFile
from treewright.errors import ParameterError

__all__ = ["run"]


def run(
    model: ModelFile,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="onnx, pmml, sql, python, c, javascript, excel, json, dot or mermaid; "
            "by default what the ending of --output says.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File; stdout by default.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="duckdb, postgresql or sqlite (sql).")
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="Table that the query reads (sql).")
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Other columns that the query passes on (sql)."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Prefix of the functions (c).")
    ] = None,
    member: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=1, help="Which tree, from 1 (dot, mermaid)."),
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=0, help="Deepest level (dot, mermaid).")
    ] = None,
    force: Force = False,
) -> None:
    """Write a saved model so that it runs without treewright.

    Examples: treewright export titanic.tw --output titanic.onnx;
    treewright export titanic.tw --to sql --table passengers
    """
    import treewright
    from treewright.cli._files import check_output, write_bytes
    from treewright.cli._options import parse_list

    check_output(output, [model], force=force)
    if to is None and output is None:
        raise ParameterError("--to or --output must say the format, got neither; add --to sql.")
    given = {
        "dialect": dialect,
        "table": table,
        "keep": parse_list(keep),
        "name": name,
        "member": member,
        "max_depth": max_depth,
    }
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    found = treewright.load(model)
    if output is not None:
        treewright.export(found, output, format=to, **options)
        print(f"Model: {output}")
        return
    content = treewright.export(found, format=to, **options)
    write_bytes(content if isinstance(content, bytes) else str(content).encode(), None)
