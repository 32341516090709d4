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
    png = "png"
    html = "html"


ENDINGS = {"": Form.text, ".txt": Form.text, ".md": Form.text, ".htm": Form.html} | {
    f".{form.value}": form for form in (Form.svg, Form.png, Form.html)
}


def run(
    model: ModelFile,
    form: Annotated[
        Form | None,
        typer.Option(
            "--as",
            metavar="FORM",
            help="text, rules, svg, png or html; by default what the ending of --output says.",
        ),
    ] = None,
    member: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=1, help="Which tree of an ensemble, from 1."),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=0, help="Leave out what lies deeper (not html)."),
    ] = None,
    pruning: Annotated[
        bool, typer.Option("--pruning", help="What was cut and why, instead of the tree.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File; stdout by default.")
    ] = None,
    force: Force = False,
) -> None:
    """Show a saved tree as text, rules, picture or interactive page; others as text or page.

    Examples: treewright show titanic.tw --max-depth 3;
    treewright show titanic.tw --as svg --output titanic.svg
    """
    from treewright.cli._files import check_output, write_bytes

    form = form or _form_of(output)
    own = {Form.svg: "<svg", Form.png: "\x89PNG", Form.html: "<!DOCTYPE html>"}.get(form, "")
    check_output(output, [model], force=force, own=own)
    if form is Form.html:
        shown: str | bytes = _page(model, member, max_depth, pruning)
    else:
        shown = _text_or_picture(model, member, form, max_depth, pruning)
    write_bytes(f"{shown.rstrip()}\n".encode() if isinstance(shown, str) else shown, output)
    if output is not None:
        print(f"Tree as {form.value}: {output}")


def _form_of(output: Path | None) -> Form:
    """What the ending of the file says."""
    ending = "" if output is None else output.suffix.lower()
    if ending not in ENDINGS:
        raise ParameterError(
            f"--output must end in one of {', '.join(filter(None, ENDINGS))}, which says the form, "
            f"got {str(output)!r}; rename it, or name the form with --as."
        )
    return ENDINGS[ending]


def _text_or_picture(
    path: Path, member: int | None, form: Form, max_depth: int | None, pruning: bool
) -> str | bytes:
    """The model in any form but that of a page."""
    from treewright.cli._files import load_readable, page_width
    from treewright.rules import RuleSet

    found = load_readable(path, member, as_rules=form is Form.rules)
    if pruning:
        if form is not Form.text or max_depth is not None:
            raise ParameterError("--pruning shows a table, so --as and --max-depth have no say.")
        return _pruning_log(found, path)
    if isinstance(found, str):
        if form is not Form.text or max_depth is not None:
            raise ParameterError(
                f"--as and --max-depth are for one tree, but {path} holds many, or a MARS model; "
                "choose one with --member, or leave them out."
            )
        return found
    if isinstance(found, RuleSet):
        if form in (Form.svg, Form.png) or max_depth is not None:
            raise ParameterError(
                f"--as {form.value} and --max-depth are for trees, but {path} holds rules; leave "
                "them out."
            )
        return found.to_text(width=page_width())
    if form is Form.rules:
        if max_depth is not None:
            raise ParameterError("--as rules has a rule per leaf, so --max-depth has no say.")
        return found.rules().to_text(width=page_width())
    if form is Form.text:
        return found.to_text(max_depth=max_depth, width=page_width())
    return (found.to_png if form is Form.png else found.to_svg)(max_depth=max_depth)


def _page(path: Path, member: int | None, max_depth: int | None, pruning: bool) -> str:
    """The interactive page of a model, or of one of its members."""
    import treewright
    from treewright.cli._files import load_readable
    from treewright.tree.tree import Tree

    if max_depth is not None or pruning:
        raise ParameterError(
            "--as html shows the whole tree and its sizes, so --max-depth and --pruning have no "
            "say; leave them out."
        )
    model = treewright.load(path) if member is None else load_readable(path, member)
    if not isinstance(model, Tree) and not hasattr(model, "to_html"):
        raise ParameterError(f"--as html is for trees, but {path} holds none; take --as text.")
    page: str = model.to_html()
    return page


def _pruning_log(found: object, model: Path) -> str:
    from treewright.tree.tree import Tree

    if not isinstance(found, Tree):
        raise ParameterError(
            f"--pruning is for single trees, but {model} holds no such; choose one with --member."
        )
    log = found.pruning_log
    return "Nothing was pruned." if log is None else str(log)
