"""The Typer application: all commands, and the options before them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from treewright.cli import (
    _export,
    compare,
    demo,
    evaluate,
    fit,
    learners,
    predict,
    report,
    select,
    show,
    tune,
)

__all__ = ["build_app"]

COMMANDS: dict[str, Callable[..., None]] = {
    "fit": fit.run,
    "predict": predict.run,
    "show": show.run,
    "evaluate": evaluate.run,
    "compare": compare.run,
    "tune": tune.run,
    "select": select.run,
    "export": _export.run,
    "learners": learners.run,
    "report": report.run,
    "demo": demo.run,
}


def build_app() -> typer.Typer:
    """The application; plain text where no person is looking."""
    app = typer.Typer(
        name="treewright",
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if sys.stdout.isatty() else None,
    )
    app.callback()(_options)
    for name, command in COMMANDS.items():
        app.command(name)(command)
    return app


def _print_version(is_asked: bool) -> None:
    if is_asked:
        import treewright

        print(f"treewright {treewright.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Of text files, such as latin-1.")
    ] = "utf-8",
    width: Annotated[
        int | None, typer.Option(metavar="COLUMNS", help="Of printed text; the terminal's.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but results.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Decision trees of the textbooks: fit, read, prune and use them.

    Start with: treewright demo --data titanic.csv, then
    treewright fit titanic.csv --target Survived.
    """
