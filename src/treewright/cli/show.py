"""``treewright show model.tw``: the tree as text, rules or a picture."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from treewright.cli._arguments import Force, ModelFile
from treewright.errors import ParameterError

__all__ = ["run"]


class Form(StrEnum):
    """How a tree can be shown."""

    text = "text"
    rules = "rules"
    svg = "svg"


def run(
    model: ModelFile,
    form: Annotated[
        Form, typer.Option("--as", metavar="FORM", help="text, rules or svg.")
    ] = Form.text,
    member: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=1, help="Which tree of an ensemble, from 1."),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=0, help="Leave out what lies deeper (text and svg)."),
    ] = None,
    pruning: Annotated[
        bool, typer.Option("--pruning", help="What was cut and why, instead of the tree.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File; stdout by default.")
    ] = None,
    force: Force = False,
) -> None:
    """Show a saved tree as text, as rules or as an SVG picture; others as text."""
    from treewright.cli._files import check_output, load_readable, page_width, write_text
    from treewright.rules import RuleSet

    check_output(output, [model], force=force, own="<svg" if form is Form.svg else "")
    found = load_readable(model, member)
    if pruning:
        if form is not Form.text or max_depth is not None:
            raise ParameterError("--pruning shows a table, so --as and --max-depth have no say.")
        shown = _pruning_log(found, model)
    elif isinstance(found, str):
        if form is not Form.text or max_depth is not None:
            raise ParameterError(
                f"--as and --max-depth are for one tree, but {model} holds many, or a MARS model; "
                "choose one with --member, or leave them out."
            )
        shown = found
    elif isinstance(found, RuleSet):
        if form is Form.svg or max_depth is not None:
            raise ParameterError(
                f"--as svg and --max-depth are for trees, but {model} holds rules; leave them out."
            )
        shown = found.to_text(width=page_width())
    elif form is Form.text:
        shown = found.to_text(max_depth=max_depth, width=page_width())
    elif form is Form.rules:
        shown = found.rules().to_text(width=page_width())
    else:
        shown = found.to_svg(max_depth=max_depth)
    write_text(f"{shown.rstrip()}\n", output)
    if output is not None:
        print(f"Tree as {form.value}: {output}")


def _pruning_log(found: object, model: Path) -> str:
    from treewright.tree.tree import Tree

    if not isinstance(found, Tree):
        raise ParameterError(
            f"--pruning is for single trees, but {model} holds no such; choose one with --member."
        )
    log = found.pruning_log
    return "Nothing was pruned." if log is None else str(log)
