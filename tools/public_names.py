"""What users can get hold of: public names, and the classes of what these return.

A class is public if a room exports it, or if a public function, method, property or field is
annotated with it: a new result class is found without being listed anywhere.

    python tools/public_names.py      what has no example that runs
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

ROOMS = (
    "",
    ".criteria",
    ".data",
    ".data.encode",
    ".datasets",
    ".errors",
    ".explain",
    ".exporting",
    ".io",
    ".pruning",
    ".rules",
    ".scale",
)
"""Modules whose ``__all__`` is public."""

INSIDE = (
    "treewright.estimator.training",
    "treewright.evaluation._data",
    "treewright.evaluation._folds",
    "treewright.evaluation._predictions",
    "treewright.evaluation._search",
    "treewright.reporting._book",
    "treewright.reporting.steps",
    "treewright.tree.growing",
    "treewright.tree.node_tests.NodeTests",
    "treewright.tree.split_counts",
)
"""Modules of classes that results carry for the library's own use."""

STANDARD = {
    "decision_function",
    "fit",
    "get_depth",
    "get_feature_names_out",
    "get_metadata_routing",
    "get_n_leaves",
    "get_support",
    "predict",
    "predict_log_proba",
    "predict_proba",
    "score",
    "set_callbacks",
    "size",
    "transform",
}
"""Methods that every user of scikit-learn knows, or that say all in one line."""

OWN_USE = {
    "arrays",
    "columns",
    "empty",
    "from_sequence",
    "join",
    "joined",
    "labels_of",
    "matches_of",
    "of",
    "of_node",
    "of_tree",
    "over_trees",
    "p_of_nodes",
    "probability_of",
    "renumbered",
    "stored",
    "take",
    "then",
}
"""Methods by which the library makes its results and puts them into files."""


def function_of(value: Any) -> Any:
    """The function behind a method, a property or what scikit-learn shows on a condition."""
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, cached_property):
        value = value.func
    elif isinstance(value, staticmethod | classmethod):
        value = value.__func__
    elif inspect.isfunction(getattr(value, "fn", None)):  # available_if
        value = value.fn
    return inspect.unwrap(value) if callable(value) else value


def is_property(value: Any) -> bool:
    return isinstance(value, property | cached_property)


def members(owner: type) -> dict[str, Any]:
    """Public methods and properties of a class that are ours, inherited ones too."""
    found: dict[str, Any] = {}
    for cls in owner.__mro__:
        for name, value in vars(cls).items():
            function = function_of(value)
            if inspect.isfunction(function) and function.__module__.startswith("treewright"):
                found.setdefault(name, value)
    return {name: value for name, value in found.items() if not name.startswith("_")}


@cache
def _imports(module: str) -> dict[str, str]:
    """Name to home of what a module imports from the package, for annotations too."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    return {
        alias.asname or alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("treewright")
        for alias in node.names
    }


def _class_named(word: str, module: str) -> type | None:
    """The class of ours that a word means in a module, if it means one."""
    home = importlib.import_module(_imports(module).get(word, module))
    value = getattr(home, word, None)
    is_ours = isinstance(value, type) and value.__module__.startswith("treewright")
    return value if is_ours and not word.startswith("_") else None


def _annotations(value: Any) -> Iterator[tuple[str, str]]:
    """What a public thing gives, as written, and the module that it is written in."""
    functions = [value]
    if isinstance(value, type):
        functions = [function_of(member) for member in members(value).values()]
        for cls in value.__mro__:
            if cls.__module__.startswith("treewright"):
                for name, words in inspect.get_annotations(cls).items():
                    if not name.startswith("_"):
                        yield str(words), cls.__module__
    for function in map(inspect.unwrap, functions):
        yield str(inspect.get_annotations(function).get("return", "")), function.__module__


@cache
def public() -> dict[str, Any]:
    """Every public class and function, by the path that it is defined at."""
    found: dict[str, Any] = {}

    def add(value: Any) -> None:
        path = f"{value.__module__}.{value.__qualname__}"
        if path in found or path.startswith(INSIDE):
            return
        found[path] = value
        for words, module in _annotations(value):
            for word in re.findall(r"[A-Za-z_]\w+", words):
                if cls := _class_named(word, module):
                    add(cls)

    for room in ROOMS:
        module = importlib.import_module(f"treewright{room}")
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) or inspect.isfunction(value):
                add(value)
    return dict(sorted(found.items()))


@cache
def methods() -> dict[str, tuple[Any, list[type]]]:
    """Every public method and property, by the path that it is defined at, and whose it is."""
    found: dict[str, tuple[Any, list[type]]] = {}
    for cls in public().values():
        if isinstance(cls, type):
            for member in members(cls).values():
                function = function_of(member)
                path = f"{function.__module__}.{function.__qualname__}"
                found.setdefault(path, (member, []))[1].append(cls)
    return dict(sorted(found.items()))


def code_of(value: Any) -> str:
    """The code of a docstring's examples."""
    doc = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
    return "\n".join(re.findall(r"^\s*(?:>>>|\.\.\.) (.*)", doc or "", re.M))


def examples() -> dict[str, Any]:
    """What has an example of its own: classes, functions, and the functions behind methods."""
    found = {path: function_of(member) for path, (member, _) in methods().items()}
    found |= public()
    return {
        path.removeprefix("treewright."): value
        for path, value in sorted(found.items())
        if code_of(value)
    }


def without_example() -> list[str]:
    """Classes and functions without an example, and methods that no example calls."""
    missing = [path for path, value in public().items() if not code_of(value)]
    for path, (member, owners) in methods().items():
        function = function_of(member)
        name = function.__name__
        if is_property(member) or name in STANDARD | OWN_USE or code_of(function):
            continue
        shown = [code_of(value) for cls in owners for value in (cls, *_functions(cls))]
        if not re.search(rf"\.{name}\(", "\n".join(shown)):
            missing.append(path)
    return missing


def _functions(cls: type) -> list[Any]:
    return [function_of(member) for member in members(cls).values()]


if __name__ == "__main__":
    print("\n".join(without_example()))
