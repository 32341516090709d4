"""The page of a model that is no tree: its parts as tables, in one HTML file without script."""

from __future__ import annotations

from collections.abc import Sequence

from treewright.reporting._html import render

__all__ = ["table_page"]


def table_page(title: str, summary: str, tables: Sequence[str]) -> str:
    """A page with the notebook displays of ``tables``, which are escaped already."""
    from markupsafe import Markup

    body = [Markup(table) for table in tables]
    return render("tables.html", ("base",), None, title=title, summary=summary, tables=body)
