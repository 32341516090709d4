"""JSON, and the Python and JavaScript files that hold the same words beside an evaluator."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from treewright.exporting._describe import describe
from treewright.exporting._program import MOST_WHOLE, Program

__all__ = ["write_javascript", "write_json", "write_python"]


def write_json(program: Program) -> str:
    """The program as JSON; ``program.schema.json`` beside this module is its schema."""
    return _lines(describe(program), _json) + "\n"


def write_python(program: Program) -> str:
    """A Python module with ``predict`` and ``predict_proba`` that needs nothing but Python."""
    text = runtime("evaluate.py.txt")
    text = text.replace("MODEL-DOCSTRING", "A model made by treewright: predict(row).")
    return text.replace("MODEL = {}\n", f"MODEL = {_lines(describe(program), repr)}\n")


def write_javascript(program: Program) -> str:
    """A script for browsers and node with ``predict`` and ``predict_proba``."""
    program.check_integers(MOST_WHOLE, "JavaScript")
    text = runtime("evaluate.js").replace("MODEL-COMMENT", "A model made by treewright.")
    return text.replace("MODEL = {};\n", f"MODEL = {_lines(describe(program), _json)};\n")


def runtime(name: str) -> str:
    """The text of a file in ``runtimes``."""
    return (files("treewright.exporting") / "runtimes" / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _lines(value: Any, write: Any, indent: str = "") -> str:
    """Dicts and lists of dicts with one entry to a line; what is short or flat on one."""
    deeper = indent + "  "
    if isinstance(value, dict) and any(isinstance(v, dict | list) for v in value.values()):
        if len(text := write(value)) <= 96:
            return str(text)
        inside = [f"{deeper}{write(k)}: {_lines(v, write, deeper)}" for k, v in value.items()]
        return "{\n" + ",\n".join(inside) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return "[\n" + ",\n".join(deeper + _lines(v, write, deeper) for v in value) + f"\n{indent}]"
    return str(write(value))
