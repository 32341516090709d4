"""Constants and fields do not take the docstring of their type; types are written out.

An object that is inspected, ``criterion = "gini"``, has the docstring of ``str``. Without one it is
left out of the reference, where the parameters of its class say what it means. A type that a module
has a name for, ``Kind = Literal["a", "b"]``, would be shown as ``Literal``.
"""

from __future__ import annotations

import inspect
import re
import sys
from types import UnionType
from typing import Literal, Union, get_args, get_origin

from griffe import Attribute, Extension, Function

OF_TYPES = {
    inspect.getdoc(kind)
    for kind in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)
}


class OwnDocstrings(Extension):
    """Takes docstrings of built-in types and of fields of named tuples away."""

    def on_attribute_instance(self, *, attr: Attribute, **kwargs: object) -> None:
        words = inspect.cleandoc(attr.docstring.value) if attr.docstring else ""
        if words in OF_TYPES or words.startswith("Alias for field number"):
            attr.docstring = None

    def on_function_instance(self, *, func: Function, **kwargs: object) -> None:
        for parameter in func.parameters:
            if parameter.annotation is not None:
                parameter.annotation = written_out(parameter.annotation, func.module.path)


def written_out(annotation: object, module: str) -> object:
    """A type that says what is allowed; none for ``Any``, the same object if nothing changes."""
    there = vars(sys.modules.get(module, object))
    before = str(annotation)
    if before == "Any":
        return None
    values = r"Literal\[([^\]]*)\]"
    text = re.sub(values, lambda found: found[1].replace(", ", " | "), before)
    text = re.sub(r"[A-Za-z_][\w.]*", lambda found: of_name(found[0], there), text)
    return annotation if text == before else text


def of_name(name: str, there: dict[str, object]) -> str:
    """What a module's own name for a type stands for."""
    meant = there.get(name)
    if get_origin(meant) is Literal:
        return " | ".join(map(repr, get_args(meant)))
    is_union = get_origin(meant) in (Union, UnionType)
    return "array-like" if is_union and "array" in name.lower() else name
