"""How a command ends: the sentence on stderr and the exit code.

0    done
1    a bug of ours
2    usage: a word on the command line breaks its rule
3    data: a file, column or row cannot be used; or a disk is full, wherever the file was to go
4    a model file is missing, damaged, foreign or too new
130  interrupted with Ctrl-C
141  whoever read our output closed it (``treewright show … | head``)
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from treewright.cli._session import printable
from treewright.errors import DataError, ModelFileError, ParameterError, SpaceError

if TYPE_CHECKING:
    import typer

__all__ = ["run"]

BUG, USAGE, DATA, MODEL, INTERRUPTED, PIPE_CLOSED = 1, 2, 3, 4, 130, 141

COMPLETION = "_TREEWRIGHT_COMPLETE"
CODES: tuple[tuple[type[Exception], int], ...] = (
    (ParameterError, USAGE),
    (DataError, DATA),
    (SpaceError, DATA),
    (ModelFileError, MODEL),
)


def run(app: typer.Typer, words: list[str]) -> int:
    """Run the command in ``words`` and return its exit code."""
    import typer

    from treewright.cli._session import SESSION, begin

    if COMPLETION in os.environ:  # a shell asks what may stand here; Typer answers and exits
        app(prog_name="treewright")
    command = typer.main.get_command(app)
    with warnings.catch_warnings():
        warnings.showwarning = _warning_printer()
        try:
            words = begin(words)
            # not command.main(), which has endings of its own that differ between versions
            with command.make_context("treewright", words) as context:
                command.invoke(context)
            sys.stdout.flush()
        except typer.Exit as end:
            return end.exit_code
        except KeyboardInterrupt:
            return _say("Interrupted.", INTERRUPTED)
        except BrokenPipeError:
            # the interpreter flushes once more at its end, which must not fail again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        except Exception as error:
            if SESSION.debug:
                traceback.print_exc()
            return _explain(_known(error), SESSION.debug)
    return 0


def _known(error: Exception) -> Exception:
    """The error; of a full disk that standard output goes to, one of ours."""
    from treewright.io._atomic import FULL

    if isinstance(error, OSError) and error.errno in FULL:
        with contextlib.suppress(OSError):  # the interpreter flushes once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SpaceError("The output cannot be written, as no space is left on the disk.")
    return error


def _explain(error: Exception, show_traceback: bool) -> int:
    code = _code(error)
    if code != BUG:
        return _say(_sentence(error), code)
    hint = "" if show_traceback else " Run the command again with --debug to see where."
    return _say(f"a bug in treewright, {type(error).__name__}: {error}.{hint}", BUG)


def _code(error: Exception) -> int:
    import typer

    # Typer brings its own copy of click or imports it, as its version has it; the class of
    # all its complaints about the command line is an ancestor of BadParameter in both.
    usage_error = typer.BadParameter.__mro__[1]
    # scikit-learn's checks of declared parameter constraints
    if isinstance(error, usage_error) or type(error).__name__ == "InvalidParameterError":
        return USAGE
    return next((code for kind, code in CODES if isinstance(error, kind)), BUG)


def _sentence(error: Exception) -> str:
    format_message = getattr(error, "format_message", None)
    if format_message is None:
        return str(error)
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "treewright"
    said = str(format_message()).rstrip(".").replace("Value error, ", "")  # a word of pydantic's
    if "unexpected extra argument" in said and _writes_file(context):
        said += "; name a file to write with --output"
    return f"{said}{'' if said.endswith('?') else '.'} Try '{where} --help'."


def _writes_file(context: typer.Context | None) -> bool:
    parameters = context.command.params if context is not None else []
    return any(parameter.name == "output" for parameter in parameters)


def _say(sentence: str, code: int) -> int:
    print(printable(f"treewright: {sentence}"), file=sys.stderr)
    return code


def _warning_printer() -> Callable[..., None]:
    """Prints warnings on a line each, and one that comes again (every fold has it) only once."""
    said: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            print(printable(f"treewright: warning: {message}"), file=sys.stderr)

    return show
