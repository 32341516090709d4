"""Tables of results as text, HTML and data frames."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["as_frame", "html_table", "in_house_style", "significant", "text_table"]


def text_table(columns: Mapping[str, Sequence[str]], index: bool = False, left: int = 0) -> str:
    """Right-aligned columns under their names, optionally with row numbers from 1.

    The first ``left`` columns are aligned at the left.
    """
    shown = dict(columns)
    if index:
        n_rows = len(next(iter(columns.values())))
        shown = {"": [str(i + 1) for i in range(n_rows)], **columns}
    widths = [max(len(name), *map(len, cells)) for name, cells in shown.items()]
    lines = [shown.keys(), *zip(*shown.values(), strict=True)]
    return "\n".join(
        " ".join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


_RULE = "border-bottom:1px solid color-mix(in srgb,currentColor 22%,transparent)"
STYLE = (
    ".treewright{overflow-x:auto}"
    ".treewright table{border-collapse:collapse;font:14px/1.45 system-ui,sans-serif;"
    "font-variant-numeric:tabular-nums;background:none;border:0;margin:.4em 0}"
    ".treewright caption{text-align:left;font-weight:600;padding:.3em 0;color:inherit}"
    f".treewright th,.treewright td{{text-align:left;padding:.25em .9em .25em 0;border:0;{_RULE};"
    "background:none}"
    ".treewright th{font-size:.85em;opacity:.8}"
)


def html_table(columns: Mapping[str, Sequence[str]], caption: str) -> str:
    """The same table for a notebook."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
        for line in zip(*columns.values(), strict=True)
    )
    return in_house_style(
        f"<table><caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def in_house_style(table: str) -> str:
    """A table as pages and reports show it, on light and dark ground."""
    return f'<div class="treewright"><style>{STYLE}</style>{table}</div>'


def as_frame(columns: Mapping[str, Any]) -> Any:
    """A pandas frame if pandas is installed, otherwise an Arrow table."""
    import narwhals as nw

    try:
        import pandas  # noqa: F401
    except ImportError:
        return nw.from_dict(dict(columns), backend="pyarrow").to_native()
    return nw.from_dict(dict(columns), backend="pandas").to_native()


def significant(values: ArrayLike, digits: int = 5) -> list[str]:
    """Numbers with the same decimals, as many as the most demanding needs for ``digits``.

    This is how R formats a column: 0.17647059, 0.01960784 and 0.01 become 0.176471,
    0.019608 and 0.010000.
    """
    numbers = np.asarray(values, np.float64).tolist()
    decimals = 0
    for number in numbers:
        if np.isfinite(number) and number != 0:
            mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
            used = len(mantissa.partition(".")[2].rstrip("0"))
            decimals = max(decimals, used - int(exponent))
    if decimals > digits + 3:  # where R, too, finds the scientific form shorter
        return [f"{number:.{digits - 1}e}" for number in numbers]
    return [f"{number:.{decimals}f}" for number in numbers]
