"""Constants of classes and defaults of fields do not take the docstring of their type.

An object that is inspected, ``criterion = "gini"``, has the docstring of ``str``. Without one it is
left out of the reference, where the parameters of its class say what it means.
"""

from __future__ import annotations

import inspect

from griffe import Attribute, Extension

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
