"""Names and texts from the data, quoted for each language so that none of them can end early."""

from __future__ import annotations

import html
import keyword
import re
from typing import Any

from treewright.errors import ParameterError

__all__ = [
    "c_text",
    "dot_text",
    "excel_text",
    "identifier",
    "mermaid_text",
    "sql_name",
    "sql_text",
    "xml_text",
]

C_KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
    ]
)


def identifier(name: str) -> str:
    """A name that is one in every language; anything else is an error."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,60}", name) and not (
        name in C_KEYWORDS or keyword.iskeyword(name)
    ):
        return name
    raise ParameterError(
        f"name must be letters, digits and underscores, begin with a letter and be no keyword, got "
        f"{name!r}; choose another."
    )


def _without_nul(text: str, what: str) -> str:
    """The text, refused where a language would end it at a NUL."""
    if "\0" in text:
        raise ParameterError(
            f"{what} cannot hold the character NUL, but a name or category of the model does; "
            "rename it, or export to another format."
        )
    return text


def c_text(text: str) -> str:
    """A C string literal of UTF-8 bytes; everything but plain characters in octal."""
    safe = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in _without_nul(text, "C").encode("utf-8", "surrogatepass")
    )
    return f'"{safe}"'


def sql_name(name: str) -> str:
    """A quoted identifier of SQL."""
    if not name:
        raise ParameterError(
            "SQL has no column of an empty name, but a column of the model has one; name it, or "
            "export to another format."
        )
    return '"' + _without_nul(name, "SQL").replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """A string literal of standard SQL."""
    return "'" + _without_nul(text, "SQL").replace("'", "''") + "'"


def excel_text(text: str) -> str:
    """A string of an Excel formula."""
    shown = _without_nul(text, "Excel").replace('"', '""')
    if len(shown) > 255:
        raise ParameterError(
            "Excel takes texts of at most 255 characters in a formula, but a category of the model "
            "is longer; export to another format."
        )
    return f'"{shown}"'


def dot_text(text: str) -> str:
    """A quoted string of Graphviz; line breaks of ours are ``\\n`` and added after quoting."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    # Graphviz reads entities of HTML
    return clean.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def mermaid_text(text: str) -> str:
    """Text inside a quoted Mermaid label: everything that has a meaning there as an entity.

    Also a colon, since "style…:…;" loses its end there; and a space of no width stands between a
    backslash and an n, since both together break the line.
    """
    clean = "".join(c if c.isprintable() else " " for c in text).replace("\\n", "\\\u200bn")
    return re.sub(r"[^\w .,+()≤≥…/-]", lambda m: f"#{ord(m.group())};", clean)


def xml_text(value: Any) -> str:
    """A value as text that XML can hold."""
    text = str(value)
    bad = re.search("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    if bad:
        raise ParameterError(
            f"XML cannot hold the character U+{ord(bad.group()):04X}, but a name or category of "
            "the model does; rename it, or export to another format."
        )
    return html.escape(text).replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")
