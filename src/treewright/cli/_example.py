"""``treewright demo --data titanic.csv``: a file to try the other commands on."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from treewright.errors import ParameterError, suggest

__all__ = ["write_example"]


def write_example(wanted: Path) -> None:
    """Write the bundled data set of that name to ``wanted``.

    Raises
    ------
    ParameterError
        If there is none of that name, or the file exists and holds something else.
    """
    from treewright.cli._files import check_output, write_text

    folder = files("treewright.datasets") / "data"
    names = sorted(f.name for f in folder.iterdir() if f.name.endswith(".csv"))
    if wanted.name not in names:
        raise ParameterError(
            f"--data must name a bundled data set, one of {', '.join(names)}, got "
            f"{wanted.name!r}.{suggest(wanted.name, names)}"
        )
    text = (folder / wanted.name).read_text(encoding="utf-8")
    check_output(wanted, own=text[:200].encode().decode("latin-1"))
    write_text(text, wanted)
    print(f"Data: {wanted}")
