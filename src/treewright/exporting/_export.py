"""export: a model as a text or file that runs without treewright."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from treewright.errors import ParameterError, SpaceError, suggest
from treewright.exporting._build import program_of

__all__ = ["FORMATS", "export"]


class Format(NamedTuple):
    """A format: who writes it, and the endings of its files."""

    module: str
    function: str
    endings: tuple[str, ...]
    says: str

    @property
    def write(self) -> Callable[..., str | bytes]:
        """The writer."""
        found: Callable[..., str | bytes] = getattr(
            import_module(f"treewright.exporting.{self.module}"), self.function
        )
        return found


FORMATS: dict[str, Format] = {
    "onnx": Format("_onnx", "write_onnx", (".onnx",), "a model for onnxruntime"),
    "json": Format("_json", "write_json", (".json",), "the program of the model, with a schema"),
    "python": Format("_json", "write_python", (".py",), "a Python module without dependencies"),
    "javascript": Format("_json", "write_javascript", (".js", ".cjs"), "a script"),
    "pmml": Format("_pmml", "write_pmml", (".pmml", ".xml"), "PMML 4.4"),
    "sql": Format("_sql", "write_sql", (".sql",), "a SELECT for DuckDB, PostgreSQL or SQLite"),
    "excel": Format("_excel", "write_excel", (".tsv",), "cells to paste into a sheet"),
    "dot": Format("_diagrams", "write_dot", (".dot", ".gv"), "Graphviz text"),
    "mermaid": Format("_diagrams", "write_mermaid", (".mmd", ".mermaid"), "Mermaid text"),
    "c": Format("_c", "write_c", (".c",), "a C99 file"),
}


def export(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    format: str | None = None,
    **options: Any,
) -> str | bytes | Path:
    """Write a model so that it runs without treewright.

    Parameters
    ----------
    model : estimator, Tree or RuleSet
        Fitted.
    path : str or path, default=None
        File to write; None returns its content.
    format : str, default=None
        "onnx", "json", "python", "javascript", "pmml", "sql", "excel", "dot", "mermaid" or "c";
        None takes it from the ending of ``path``.
    **options
        Of the format: ``dialect`` and ``table``, and ``keep``, columns to select as well (sql);
        ``name`` of the function (c); ``row`` of the sheet that the formulas are for (excel);
        ``member``, a tree of an ensemble, and ``max_depth`` (dot, mermaid).

    Returns
    -------
    content : str, bytes (onnx) or Path
        What was written, or where to.

    Examples
    --------
    >>> import treewright
    >>> model = treewright.CARTClassifier().fit([[1.0], [2.0]], ["no", "yes"])
    >>> source = treewright.export(model, format="python")
    >>> found = {}
    >>> exec(source, found)
    >>> found["predict"]([1.7])
    'yes'
    """
    name = _format_name(path, format)
    write = FORMATS[name].write
    known = [option for option in signature(write).parameters if option != "program"]
    for option in options:
        if option not in known:
            takes = f"takes {', '.join(known)}" if known else "takes none"
            raise ParameterError(f"The format {name!r} has no option {option!r}; it {takes}.")
    content = write(program_of(model), **options)
    if path is None:
        return content
    from treewright.io._atomic import write_atomically

    try:
        write_atomically(str(path), [content if isinstance(content, bytes) else content.encode()])
    except SpaceError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise ParameterError(f"export cannot write {str(path)!r}: {reason}.") from None
    return Path(path)


def _format_name(path: Any, format: str | None) -> str:
    if format is None and path is None:
        raise ParameterError(
            "export needs a path or a format, got neither; name one of " + ", ".join(FORMATS) + "."
        )
    if format is not None:
        if format not in FORMATS:
            raise ParameterError(
                f"export has no format {format!r}.{suggest(format, list(FORMATS))}"
            )
        return format
    ending = Path(path).suffix.lower()
    for name, known in FORMATS.items():
        if ending in known.endings:
            return name
    endings = ", ".join(end for known in FORMATS.values() for end in known.endings)
    raise ParameterError(
        f"export knows a format by the ending of the file ({endings}), got {str(path)!r}; "
        "name the format (format= or --to)."
    )
