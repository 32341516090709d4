"""Files that a command reads and writes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treewright.cli._options import parse_list
from treewright.cli._session import SESSION
from treewright.errors import ModelFileError, ParameterError, SpaceError

if TYPE_CHECKING:
    import pyarrow as pa

    from treewright.data.schema import Schema
    from treewright.rules import RuleSet
    from treewright.tree.tree import Tree

STANDARD = "-"
"""The name of standard input and output."""

MODEL_START = "\x89TWM"
"""The first characters of a model file."""

__all__ = [
    "MODEL_START",
    "check_output",
    "load_estimator",
    "load_readable",
    "make_folder",
    "page_width",
    "read_data",
    "schema_of",
    "write_bytes",
    "write_text",
]


def read_data(
    path: Path, gaps: str | None, separator: str | None, schema: Schema | None = None
) -> pa.Table:
    """The table in ``path``, with the types of ``schema`` where a model is to read it."""
    from treewright.data.readers import read_table

    marks = parse_list(gaps)
    options: dict[str, Any] = {"encoding": SESSION.encoding, "schema": schema}
    options["separator"] = {"\\t": "\t", "tab": "\t"}.get(separator or "", separator)
    if marks is not None:
        options["gaps"] = marks
    if str(path) == STANDARD:
        table = _read_stdin(options)
    else:
        table = read_table(path, **options)
    if marks is not None:
        return table
    from treewright.data.gap_words import clear_gap_words

    features = () if schema is None else schema.features
    table, found = clear_gap_words(table, {f.name for f in features if f.is_categorical})
    if found and not SESSION.quiet:
        columns = ", ".join(f"{name!r:.40} ({n})" for name, n in list(found.items())[:5])
        rest = f" and {len(found) - 5} more columns" if len(found) > 5 else ""
        print(
            f"treewright: {sum(found.values())} words such as N/A or null taken for gaps: "
            f"{columns}{rest}; --gaps names others.",
            file=sys.stderr,
        )
    return table


def _read_stdin(options: dict[str, Any]) -> pa.Table:
    """The table that comes through a pipe: CSV, or what its first bytes say."""
    from tempfile import TemporaryDirectory

    from treewright.data.readers import read_table

    data = sys.stdin.buffer.read()
    kinds = {b"PAR1": ".parquet", b"ARRO": ".arrow", b"FEA1": ".feather"}
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"stdin{kinds.get(data[:4], '.csv')}"
        path.write_bytes(data)
        return read_table(path, **options)


def load_estimator(path: Path) -> Any:
    """The estimator in a model file."""
    import treewright

    model = treewright.load(path)
    if isinstance(model, treewright.Tree):
        raise ModelFileError(
            f"A model that predicts must be an estimator, but {str(path)!r} holds a bare tree; "
            f"save the estimator instead of its tree_."
        )
    return model


def schema_of(estimator: Any) -> Schema:
    """What the columns and the target of a fitted estimator are."""
    schema: Schema = estimator.tree_.schema if hasattr(estimator, "tree_") else estimator._schema
    return schema


def load_readable(
    path: Path, member: int | None = None, *, as_rules: bool = False
) -> Tree | RuleSet | str:
    """The tree or the rules in a model file, bare, of an estimator or of a member of it.

    Of MARS, and of an ensemble without the number of a member, its summary.
    """
    import treewright

    model = treewright.load(path)
    members = getattr(model, "estimators_", None) if hasattr(model, "summary") else None
    if member is not None:
        if members is None or not 1 <= member <= len(members):
            raise ParameterError(
                f"--member must be the number of a member of the model, got {member}; it has "
                + (f"{len(members)}, from 1." if members else "none, so leave --member out.")
            )
        model = members[member - 1]
    elif hasattr(model, "basis_") or (members is not None and not hasattr(model, "tree_")):
        return str(model.summary())
    if isinstance(model, treewright.Tree | treewright.rules.RuleSet):
        return model
    if hasattr(model, "rules_"):
        rules: RuleSet = model.rules_
        return rules
    found: Tree = model._whole_tree("--as rules") if as_rules else model.tree_
    return found


def check_output(
    path: Path | None, inputs: Sequence[Path] = (), *, force: bool = False, own: str = ""
) -> None:
    """Refuse a place that cannot be written to, or that holds something else, before the work.

    ``inputs`` are never written to. Another file that exists is written to with ``force``, or if
    it begins with ``own``, as what this command wrote before does.
    """
    if path is not None and str(path) == STANDARD:
        return
    if path is not None and not path.parent.is_dir():
        raise ParameterError(
            f"--output must lie in a folder that exists, got {str(path)!r}; "
            f"make the folder {str(path.parent)!r} first."
        )
    if path is not None and path.is_dir():
        raise ParameterError(f"--output must be a file, got the folder {str(path)!r}.")
    if path is None or not path.exists():
        return
    if any(given.exists() and path.samefile(given) for given in inputs):
        raise ParameterError(
            f"--output must not be a file that is read, got {str(path)!r}; choose another name."
        )
    with path.open("rb") as file:
        is_ours = bool(own) and file.read(len(own)) == own.encode("latin-1")
    if not (force or is_ours or path.stat().st_size == 0):
        raise ParameterError(
            f"--output names a file that exists and is not one of treewright's: {str(path)!r}; "
            "choose another name, or add --force to overwrite it."
        )


def make_folder(path: Path) -> None:
    """Make the folder ``path`` unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(path, error) from error


def write_text(text: str, path: Path | None) -> None:
    """Write ``text`` to ``path`` whole or not at all; without a path, to stdout."""
    write_bytes(text.encode(), path)


def write_bytes(data: bytes, path: Path | None) -> None:
    """Write a file whole or not at all; without a path, to stdout."""
    if path is None or str(path) == STANDARD:
        if sys.stdout.isatty() and b"\0" in data:
            raise ParameterError("a file of bytes is not for a terminal; name it with --output.")
        sys.stdout.buffer.write(data)
        return
    from treewright.io._atomic import write_atomically

    try:
        write_atomically(str(path), [data])
    except SpaceError:
        raise
    except OSError as error:
        raise _cannot_write(path, error) from error


def page_width() -> int:
    """Columns for text: those of the terminal, 80 where there is none."""
    return SESSION.width or max(60, shutil.get_terminal_size((80, 24)).columns)


def _cannot_write(path: Path, error: OSError) -> ParameterError:
    reason = (error.strerror or str(error)).lower().rstrip(".")
    return ParameterError(f"{str(path)!r} cannot be written: {reason}; choose another place.")
