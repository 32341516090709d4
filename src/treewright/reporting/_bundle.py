"""Puts the modules of the page's script into one script, and the style sheets into one.

Every module becomes a function of its own that gives back what it exports, in an order in
which each comes after those that it imports; so names of different modules cannot collide, and
the page needs neither a server nor a build. ``python -m treewright.reporting._bundle`` prints
the script.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

__all__ = ["script", "style"]

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let) (\w+))", re.MULTILINE)


def _text(folder: str, name: str) -> str:
    return (files("treewright.reporting.page") / folder / name).read_text(encoding="utf-8")


@cache
def script(entry: str = "main") -> str:
    """The script that begins with module ``entry``."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        source = _text("modules", f"{name}.js")
        for _, other in IMPORT.findall(source):
            if other not in done:
                add(other)
        body = IMPORT.sub(lambda m: f"const {{{m[1]}}} = {m[2]}_js;\n", source)
        exported = ", ".join(EXPORT.findall(body))
        body = re.sub(r"\n{2,}", "\n", _without_comments(EXPORT.sub("", body))).strip()
        done[name] = f"const {name}_js = (() => {{\n{body}\nreturn {{{exported}}};\n}})();"

    add(entry)
    return '"use strict";\n(() => {\n' + "\n".join(done.values()) + "\n})();\n"


def _without_comments(source: str) -> str:
    """Lines that are comments left out; a comment after code stays."""
    without_blocks = re.sub(r"^\s*/\*\*.*?\*/\n", "", source, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^\s*//.*\n", "", without_blocks, flags=re.MULTILINE)


@cache
def style(*names: str) -> str:
    """Style sheets one after another, comments left out."""
    sheets = "\n".join(_text("styles", f"{name}.css") for name in names)
    return re.sub(r"/\*.*?\*/\n?", "", sheets, flags=re.DOTALL)


if __name__ == "__main__":
    print(script())
