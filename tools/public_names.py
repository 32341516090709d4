"""What users can get hold of: public names, and the classes that these return.

A class is public if it is in ``__all__`` of the package or of a room, or if a public function,
method, property or field is annotated with it. Everything here is read from annotations, so a new
result class is found without being listed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

import treewright

ROOMS = ("pruning", "rules", "datasets", "explain", "scale", "errors", "data", "exporting", "io")
"""Rooms whose names users import."""


@cache
def imported(module: str) -> dict[str, str]:
    """Name to home of what a module imports from the package, for annotations alone too."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("treewright")
        for alias in node.names
    }


def named(word: str, module: str) -> type | None:
    """The class of ours that a word means in a module; None for any other word."""
    home = imported(module).get(word, module)
    value = getattr(importlib.import_module(home), word, None)
    ours = isinstance(value, type) and value.__module__.startswith("treewright")
    return value if ours and not word.startswith("_") else None


def roots() -> dict[str, Any]:
    """What is in ``__all__`` of the package and of its rooms."""
    found = {}
    for home in ("treewright", *(f"treewright.{room}" for room in ROOMS)):
        module = importlib.import_module(home)
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) or inspect.isfunction(value):
                found[f"{home}.{name}"] = value
    return found


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class that are ours, inherited ones too."""
    seen = set()
    for cls in owner.__mro__:
        if not cls.__module__.startswith("treewright"):
            continue
        for name, value in vars(cls).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            plain = function_of(value)
            if inspect.isfunction(plain) and plain.__module__.startswith("treewright"):
                yield name, value


def function_of(value: Any) -> Any:
    """The function behind a method, property or cached property."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        return value.func
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    if hasattr(value, "fn") and inspect.isfunction(value.fn):  # scikit-learn's available_if
        return value.fn
    return value


def annotations(value: Any) -> Iterator[tuple[str, str]]:
    """What a public thing gives, as written, and the module in which it is written."""
    given = [value]
    if isinstance(value, type):
        given = [function_of(member) for _, member in members(value)]
        for cls in value.__mro__:
            if cls.__module__.startswith("treewright"):
                for name, words in inspect.get_annotations(cls).items():
                    if not name.startswith("_"):
                        yield str(words), cls.__module__
    for function in map(inspect.unwrap, given):
        yield str(inspect.get_annotations(function).get("return", "")), function.__module__


def public() -> dict[str, Any]:
    """Qualified name to class or function."""
    found = {f"{value.__module__}.{value.__qualname__}": value for value in roots().values()}
    todo = list(found.values())
    while todo:
        for words, module in annotations(todo.pop()):
            for word in re.findall(r"[A-Za-z_]\w+", words):
                cls = named(word, module)
                if cls and (path := f"{cls.__module__}.{cls.__qualname__}") not in found:
                    found[path] = cls
                    todo.append(cls)
    return found


if __name__ == "__main__":
    for path, value in sorted(public().items()):
        doc = inspect.getdoc(value) or ""
        own = vars(value).get("__doc__") if isinstance(value, type) else doc
        flag = "" if own and ">>>" in own else "-"
        print(f"{flag:2}{path}")
        if isinstance(value, type) and "-v" in sys.argv:
            for name, member in members(value):
                mdoc = function_of(member).__doc__ or ""
                shown = ">>>" in mdoc
                in_class = bool(re.search(rf"\b{name}\b", "\n".join(re.findall(r">>>.*|\.\.\. .*", doc))))
                if not shown and not in_class:
                    kind = "prop" if isinstance(member, property | cached_property) else "meth"
                    print(f"       {kind} {name}: {mdoc.strip().splitlines()[0] if mdoc.strip() else 'NONE'}")
