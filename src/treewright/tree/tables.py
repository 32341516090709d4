"""Tables of results as text, HTML and data frames."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["as_frame", "html_table", "text_table"]


def text_table(columns: Mapping[str, Sequence[str]], index: bool = False) -> str:
    """Right-aligned columns under their names, optionally with row numbers from 1."""
    shown = dict(columns)
    if index:
        n_rows = len(next(iter(columns.values())))
        shown = {"": [str(i + 1) for i in range(n_rows)], **columns}
    widths = [max(len(name), *map(len, cells)) for name, cells in shown.items()]
    lines = [shown.keys(), *zip(*shown.values(), strict=True)]
    return "\n".join(
        " ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def html_table(columns: Mapping[str, Sequence[str]], caption: str) -> str:
    """The same table for a notebook."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
        for line in zip(*columns.values(), strict=True)
    )
    return (
        f"<table><caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def as_frame(columns: Mapping[str, Any]) -> Any:
    """A pandas frame if pandas is installed, otherwise an Arrow table."""
    import narwhals as nw

    try:
        import pandas  # noqa: F401
    except ImportError:
        return nw.from_dict(dict(columns), backend="pyarrow").to_native()
    return nw.from_dict(dict(columns), backend="pandas").to_native()
