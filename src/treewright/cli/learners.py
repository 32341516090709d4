"""``treewright learners``: what can be fitted; ``treewright learners c45``: its parameters."""

from __future__ import annotations

import inspect
import json as json_text
import re
from typing import Annotated, Any

import typer

from treewright.cli._arguments import Json
from treewright.cli.fit import LEARNERS
from treewright.errors import ParameterError, suggest

__all__ = ["run"]


def run(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A learner, for its parameters.")
    ] = None,
    json: Json = False,
) -> None:
    """List the learners, or the parameters of one with their defaults.

    Examples: treewright learners; treewright learners c45
    """
    if name is not None and name not in LEARNERS:
        raise ParameterError(
            f"NAME must be a learner, but there is no {name!r}.{suggest(name, list(LEARNERS))}"
        )
    rows = _learners() if name is None else _parameters(name)
    if json:
        print(json_text.dumps(rows, indent=2, default=str))
        return
    print(_table(rows))
    if name is None:
        print("\ntreewright learners NAME lists the parameters of one, for --set KEY=VALUE.")


def _learners() -> list[dict[str, str]]:
    import treewright

    return [
        {
            "learner": name,
            "predicts": " and ".join(
                {"classification": "classes", "regression": "numbers"}[task.value] for task in tasks
            ),
            "about": _first_line(getattr(treewright, next(iter(tasks.values())))),
        }
        for name, tasks in LEARNERS.items()
    ]


def _first_line(cls: type) -> str:
    return _plain((inspect.getdoc(cls) or "").partition("\n")[0].rstrip("."))


def _parameters(name: str) -> list[dict[str, Any]]:
    import treewright

    found: dict[str, dict[str, Any]] = {}
    for estimator in LEARNERS[name].values():
        cls = getattr(treewright, estimator)
        meanings = _meanings(inspect.getdoc(cls) or "")
        for parameter in inspect.signature(cls).parameters.values():
            text = meanings.get(parameter.name, "")
            default = "required" if parameter.default is parameter.empty else parameter.default
            row = {"parameter": parameter.name, "default": default, "about": text}
            found.setdefault(parameter.name, row)
    return list(found.values())


def _meanings(document: str) -> dict[str, str]:
    """Parameter → its first sentence, from the section of a numpydoc text."""
    section = document.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    found: dict[str, list[str]] = {}
    name = ""
    for line in section.splitlines():
        if line and not line.startswith(" "):
            name = line.partition(" :")[0]
        elif name:
            found.setdefault(name, []).append(line.strip())
    return {key: _sentence(" ".join(lines)) for key, lines in found.items()}


def _sentence(text: str) -> str:
    end = text.find(". ")
    return _plain((text if end < 0 else text[:end]).rstrip("."))


def _plain(text: str) -> str:
    """Without the marks of reStructuredText: roles such as those of modules, and quotes of code."""
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "")


def _table(rows: list[dict[str, Any]]) -> str:
    """Columns side by side, the last one wrapped to the page."""
    import textwrap

    from treewright.cli._files import page_width

    heads = list(rows[0])
    cells = [[repr(v) if h == "default" else str(v) for h, v in row.items()] for row in rows]
    widths = [min(28, max(map(len, column))) for column in zip(heads, *cells, strict=True)][:-1]
    indent = sum(widths) + 2 * len(widths)
    lines = []
    for line in [heads, *cells]:
        start = "".join(f"{text:<{w}}  " for text, w in zip(line[:-1], widths, strict=True))
        room = max(30, page_width() - indent)
        about = textwrap.wrap(line[-1], room) or [""]
        lines.append((start + about[0]).rstrip())
        lines += [" " * indent + more for more in about[1:]]
    return "\n".join(lines)
