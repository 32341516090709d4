"""Formulas and predicates of PMML; see :class:`treewright.exporting._formulas.Words`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from treewright.data.schema import Feature
from treewright.errors import ParameterError
from treewright.exporting._names import xml_text
from treewright.exporting._program import HIGHEST, Program

__all__ = ["FieldWords", "PredicateWords", "data_type", "element", "real"]

FUNCTIONS = {
    "<=": "lessOrEqual",
    "<": "lessThan",
    ">": "greaterThan",
    ">=": "greaterOrEqual",
    "=": "equal",
}


def element(tag: str, /, *content: str, **attributes: str) -> str:
    """An element of XML with quoted attributes."""
    own = "".join(f' {key}="{xml_text(value)}"' for key, value in attributes.items())
    return f"<{tag}{own}>{''.join(content)}</{tag}>" if content else f"<{tag}{own}/>"


def real(value: float) -> str:
    """A number that reads back as the same double."""
    return repr(float(value))


def data_type(values: Sequence[Any]) -> str:
    """The type of PMML that categories have; integers have 32 bits."""
    kinds = {float if type(v) is int and abs(v) >= 2**31 else type(v) for v in values}
    return {
        frozenset({bool}): "boolean",
        frozenset({int}): "integer",
        frozenset({float}): "double",
        frozenset({int, float}): "double",
    }.get(frozenset(kinds), "string")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Names:
    """Names of derived fields that no input has."""

    def __init__(self, program: Program) -> None:
        self.prefix = "treewright_"
        while any(f.name.startswith(self.prefix) for f in program.inputs):
            self.prefix += "_"
        self.n = 0

    def new(self, hint: str) -> str:
        self.n += 1
        return f"{self.prefix}{hint}_{self.n}"


class PredicateWords:
    """Tests as predicates: false or unknown on a gap."""

    yes, no = "<True/>", "<False/>"
    most = sys.maxsize
    deepest: int | None = None

    def __init__(self, program: Program) -> None:
        self.inputs = program.inputs
        self.taken = _Names(program)
        self.sums: dict[str, str] = {}  # derived fields of weighted sums, by their formula

    def fields(self) -> list[str]:
        """Derived fields that the predicates since the last call need."""
        found = [_derived(name, formula) for formula, name in self.sums.items()]
        self.sums = {}
        return found

    def number(self, value: float) -> str:
        return element("Constant", real(value), dataType="double")

    def value(self, feature: int) -> str:
        return element("FieldRef", field=self.inputs[feature].name)

    def times(self, parts: Sequence[str]) -> str:
        return element("Apply", *parts, function="*")

    def add(self, parts: Sequence[str]) -> str:
        total = parts[0]
        for part in parts[1:]:
            total = element("Apply", total, part, function="+")
        return total

    def cut(self, value: str, sign: str, at: float, features: Sequence[int]) -> str:
        if self.inputs[features[0]].kind == "ordinal":
            codes = range(len(self.inputs[features[0]].categories))
            return self.member(features[0], [c for c in codes if _holds(c, sign, at)])
        if len(features) == 1 and value == self.value(features[0]):
            name = self.inputs[features[0]].name
        else:
            if value not in self.sums:
                self.sums[value] = self.taken.new("sum")
            name = self.sums[value]
        if abs(at) >= HIGHEST:
            return element("SimplePredicate", field=name, operator="isNotMissing")
        return element("SimplePredicate", field=name, operator=FUNCTIONS[sign], value=real(at))

    def member(self, feature: int, codes: Sequence[int]) -> str:
        known = self.inputs[feature]
        parts = [
            element(
                "SimplePredicate",
                field=known.name,
                operator="equal",
                value=_text(known.categories[code]),
            )
            for code in codes
        ]
        return self.either(parts) if parts else self.no

    def indicator(self, feature: int, code: int) -> str:
        return _indicator(self.inputs[feature], code)

    def unlisted(self, feature: int, codes: Sequence[int]) -> str:
        known = self.inputs[feature]
        if not codes:
            return self.yes
        others = [c for c in range(len(known.categories)) if c not in set(codes)]
        missing = self.gap([feature])
        return self.either([missing, self.member(feature, others)]) if others else missing

    def gap(self, features: Sequence[int]) -> str:
        parts = [
            element("SimplePredicate", field=self.inputs[f].name, operator="isMissing")
            for f in dict.fromkeys(features)
        ]
        return self.either(parts)

    def both(self, conditions: Sequence[str]) -> str:
        return self._joined("and", conditions)

    def either(self, conditions: Sequence[str]) -> str:
        return self._joined("or", conditions)

    def _joined(self, operator: str, parts: Sequence[str]) -> str:
        if len(parts) == 1:
            return parts[0]
        return element("CompoundPredicate", *parts, booleanOperator=operator)


def _indicator(known: Feature, code: int) -> str:
    raise ParameterError(
        f"PMML takes weighted sums of numbers, but a test sums categories of {known.name!r}: "
        "export to another format, or fit with nominal_terms=None."
    )


def _holds(code: int, sign: str, at: float) -> bool:
    return {"<=": code <= at, "<": code < at, ">": code > at, ">=": code >= at}[sign]


def _derived(name: str, formula: str, is_whole: bool = False) -> str:
    kind = "integer" if is_whole else "double"
    return element("DerivedField", formula, name=name, optype="continuous", dataType=kind)


class FieldWords:
    """Formulas as expressions of derived fields; conditions on a gap are false."""

    yes = element("Constant", "true", dataType="boolean")
    no = element("Constant", "false", dataType="boolean")
    most = sys.maxsize
    deepest: int | None = None

    def __init__(self, program: Program, names: Any) -> None:
        self.inputs = program.inputs
        self.taken = names
        self.fields: list[str] = []
        self.codes: dict[int, str] = {}

    def transformations(self) -> str:
        """All fields that were defined."""
        return element("LocalTransformations", *self.fields)

    def define(self, formula: str, level: int, hint: str, is_whole: bool = False) -> str:
        name = self.taken.new(hint)
        is_whole = is_whole or hint.endswith(("leaf", "rule", "class"))
        self.fields.append(_derived(name, formula, is_whole))
        return element("FieldRef", field=name)

    def name_of(self, ref: str) -> str:
        """The name behind a reference."""
        return ref.split('"')[1]

    # Words

    def number(self, value: float) -> str:
        return element("Constant", real(value), dataType="double")

    def whole(self, value: int) -> str:
        return element("Constant", str(value), dataType="integer")

    def _apply(self, function: str, *parts: str, missing: str | None = None) -> str:
        if missing is None:
            return element("Apply", *parts, function=function)
        return element("Apply", *parts, function=function, mapMissingTo=missing)

    def value(self, feature: int) -> str:
        known = self.inputs[feature]
        if known.kind != "ordinal":
            return element("FieldRef", field=known.name)
        if feature not in self.codes:
            choices = [
                (self.member(feature, [k]), self.number(float(k)))
                for k in range(len(known.categories))
            ]
            formula = "" if not choices else self._open_case(choices)
            self.codes[feature] = self.define(formula, 0, "code")
        return self.codes[feature]

    def _open_case(self, choices: Sequence[tuple[str, str]]) -> str:
        """A choice without an end: missing where nothing holds."""
        formula = ""
        for when, then in reversed(choices):
            formula = self._apply("if", when, then, *([formula] if formula else []))
        return formula

    def cut(self, value: str, sign: str, at: float, features: Sequence[int]) -> str:
        if abs(at) >= HIGHEST:
            return self._apply("not", self.gap(features))
        return self._apply(FUNCTIONS[sign], value, self.number(at), missing="false")

    def member(self, feature: int, codes: Sequence[int]) -> str:
        known = self.inputs[feature]
        kind = data_type(known.categories)
        listed = [
            element("Constant", xml_text(_text(known.categories[code])), dataType=kind)
            for code in codes
        ]
        ref = element("FieldRef", field=known.name)
        return self._apply("isIn", ref, *listed, missing="false") if listed else self.no

    def indicator(self, feature: int, code: int) -> str:
        return _indicator(self.inputs[feature], code)

    def unlisted(self, feature: int, codes: Sequence[int]) -> str:
        return self._apply("not", self.member(feature, codes)) if codes else self.yes

    def categories(self, feature: int) -> int | None:
        known = self.inputs[feature]
        return len(known.categories) if known.kind == "nominal" else None

    def gap(self, features: Sequence[int]) -> str:
        parts = [self._apply("isMissing", self.value(f)) for f in dict.fromkeys(features)]
        return self.either(parts)

    def both(self, conditions: Sequence[str]) -> str:
        return self._apply("and", *conditions) if len(conditions) > 1 else conditions[0]

    def either(self, conditions: Sequence[str]) -> str:
        return self._apply("or", *conditions) if len(conditions) > 1 else conditions[0]

    def compare(self, left: str, sign: str, right: str) -> str:
        return self._apply(FUNCTIONS[sign], left, right)

    def _folded(self, function: str, parts: Sequence[str]) -> str:
        total = parts[0]
        for part in parts[1:]:
            total = self._apply(function, total, part)
        return total

    def add(self, parts: Sequence[str]) -> str:
        return self._folded("+", parts)

    def times(self, parts: Sequence[str]) -> str:
        return self._folded("*", parts)

    def minus(self, left: str, right: str) -> str:
        return self._apply("-", left, right)

    def over(self, left: str, right: str) -> str:
        return self._apply("/", left, right)

    def exp(self, value: str) -> str:
        return self._apply("exp", value)

    def case(self, choices: Sequence[tuple[str, str]], otherwise: str) -> str:
        formula = otherwise
        for when, then in reversed(choices):
            formula = self._apply("if", when, then, formula)
        return formula

    def lookup(self, place: str, entries: Sequence[str], start: int = 0) -> str:
        """By halves, so that a thousand leaves are ten questions deep."""
        if len(set(entries)) == 1:
            return entries[0]
        half = len(entries) // 2
        return self._apply(
            "if",
            self._apply("lessThan", place, self.whole(start + half)),
            self.lookup(place, entries[:half], start),
            self.lookup(place, entries[half:], start + half),
        )
