"""From templates and data to one HTML file that loads nothing.

Templates escape every value; data for the script is JSON in which no character can end the
element or the line. Only the script whose hash the page names may run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from typing import Any

from treewright.reporting._bundle import script, style

__all__ = ["render", "script_json"]

UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def script_json(data: Any) -> str:
    """``data`` as JSON that may stand inside a script element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # lone surrogates have no bytes in UTF-8
    return text.translate(UNSAFE).encode("utf-8", "backslashreplace").decode("utf-8")


def render(template: str, sheets: tuple[str, ...], book: Any, **values: Any) -> str:
    """Fill a template; ``book`` is what the script reads."""
    from markupsafe import Markup

    import treewright

    code = script()
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    filled = _templates().get_template(template)
    page: str = filled.render(
        script=Markup(code),
        script_hash=f"'sha256-{digest}'",
        style=Markup(style(*sheets)),
        book=Markup(script_json(book)),
        version=treewright.__version__,
        **values,
    )
    return page


@cache
def _templates() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("treewright.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
