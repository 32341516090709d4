"""A rule set as a dict that JSON can hold, and back.

Written to be read: conditions name their feature and list values, not codes. Floats pass as
Python floats, whose repr is exact; the end of a range that has none is null. Reading trusts
nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from treewright.data.schema import Feature, Schema
from treewright.errors import ModelFileError, ParameterError
from treewright.rules._rule_set import RuleSet
from treewright.tree.conditions import Bounds, Condition, Interval, Linear, Members
from treewright.tree.serialize import schema_from_dict, schema_to_dict
from treewright.tree.show.rules import Rule
from treewright.tree.split import NO_CODE

__all__ = ["body_from_dict", "body_to_dict", "rules_from_dict", "rules_from_json", "rules_to_dict"]

FORMAT = 1
"""Number of the layout; a reader refuses higher ones."""


def rules_to_dict(rules: RuleSet) -> dict[str, Any]:
    """See :meth:`RuleSet.to_dict`."""
    return {"format": FORMAT, "schema": schema_to_dict(rules.schema), **body_to_dict(rules)}


def rules_from_dict(data: Mapping[str, Any]) -> RuleSet:
    """See :meth:`RuleSet.from_dict`."""
    version = _get(data, "format", int)
    if version > FORMAT:
        raise ModelFileError(
            f"The rule set has format {version}, but this release reads formats up to {FORMAT}: "
            "use a newer treewright."
        )
    _require(version >= 1, f"format must be a positive integer, got {version}")
    return body_from_dict(data, schema_from_dict(_get(data, "schema", Mapping)))


def rules_from_json(text: str) -> RuleSet:
    """See :meth:`RuleSet.from_json`."""
    try:
        data = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise ModelFileError(
            f"A rule set must be JSON as to_json writes it, but this is not: {error}."
        ) from None
    return rules_from_dict(data)


def body_to_dict(rules: RuleSet) -> dict[str, Any]:
    """All but the schema."""
    return {
        "decision": rules.decision,
        "default": _outcome_out(rules.default),
        "default_value": [float(x) for x in rules.default_value],
        "gap_names": None if rules.gap_names is None else list(rules.gap_names),
        "rules": [_rule_out(rule) for rule in rules],
    }


def body_from_dict(data: Mapping[str, Any], schema: Schema) -> RuleSet:
    """What :func:`body_to_dict` gave, put together with its schema."""
    features = {feature.name: feature for feature in schema.features}
    assert schema.target is not None
    is_class = schema.target.is_classification
    classes = _known(schema.target.classes)
    read = _class_in(classes) if is_class else _number_in
    try:
        return RuleSet(
            schema,
            tuple(_rule_in(entry, features, read) for entry in _get(data, "rules", list)),
            read(data.get("default")),
            _numbers(data, "default_value"),
            _get(data, "decision", str),
            _gap_names(data.get("gap_names"), features),
        )
    except ParameterError as error:
        _fail(str(error).rstrip("."))


# -- writing -------------------------------------------------------------------------------


def _rule_out(rule: Rule) -> dict[str, Any]:
    return {
        "if": [_condition_out(condition) for condition in rule.conditions],
        "then": _outcome_out(rule.outcome),
        "n_samples": int(rule.n_samples),
        "weight": float(rule.weight),
        "value": [float(x) for x in rule.value],
        "errors": _optional(rule.errors),
        "confidence": _optional(rule.confidence),
        "lift": _optional(rule.lift),
        "vote": float(rule.vote),
        "node": int(rule.node),
    }


def _condition_out(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, Members):
        values = condition.feature.categories
        return {
            "feature": condition.feature.name,
            "in": [_plain(values[code]) for code in condition.codes],
            "not_in": [_plain(values[code]) for code in condition.excluded],
            "gap": condition.gap,
        }
    subject: dict[str, Any]
    if isinstance(condition, Linear):
        subject = {"terms": [_term_out(*term) for term in condition.terms]}
    else:
        subject = {"feature": condition.feature.name}
    bounds = condition.bounds
    return {
        **subject,
        "low": None if bounds.low == -math.inf else _plain(bounds.low),
        "high": None if bounds.high == math.inf else _plain(bounds.high),
        "includes_low": bounds.includes_low,
        "includes_high": bounds.includes_high,
        "gap": condition.gap,
    }


def _term_out(feature: Feature, weight: float, code: int) -> list[Any]:
    category = [] if code == NO_CODE else [_plain(feature.categories[code])]
    return [feature.name, weight, *category]


def _outcome_out(outcome: Any) -> Any:
    return [float(x) for x in outcome] if isinstance(outcome, tuple) else _plain(outcome)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def _optional(x: float | None) -> float | None:
    return None if x is None else float(x)


# -- reading -------------------------------------------------------------------------------


def _rule_in(entry: Any, features: Mapping[str, Feature], read: Callable[[Any], Any]) -> Rule:
    conditions = tuple(_condition_in(c, features) for c in _get(entry, "if", list))
    n_samples, node = _get(entry, "n_samples", int), _get(entry, "node", int)
    weight, vote = _number(entry.get("weight")), _number(entry.get("vote"))
    _require(n_samples >= 0 and weight >= 0 and vote >= 0, "a rule has negative support")
    return Rule(
        conditions=conditions,
        outcome=read(entry.get("then")),
        n_samples=n_samples,
        weight=weight,
        value=_numbers(entry, "value"),
        errors=_maybe(entry, "errors"),
        confidence=_maybe(entry, "confidence"),
        lift=_maybe(entry, "lift"),
        vote=vote,
        node=node,
    )


def _condition_in(entry: Any, features: Mapping[str, Feature]) -> Condition:
    gap = _get(entry, "gap", bool)
    if "terms" in entry:
        terms = tuple(_term_in(term, features) for term in _get(entry, "terms", list))
        _require(len(terms) > 0, "a weighted sum has no terms")
        return Linear(terms, _bounds_in(entry), gap)
    feature = _feature(entry.get("feature"), features)
    if "in" not in entry:
        _require(feature.kind != "nominal", "a nominal feature lies between bounds")
        return Interval(feature, _bounds_in(entry), gap)
    _require(feature.is_categorical, "a continuous feature is one of some values")
    codes = _known(feature.categories)
    listed, other = (_codes_in(_get(entry, key, list), codes) for key in ("in", "not_in"))
    return Members(feature, listed, other, gap)


def _term_in(term: Any, features: Mapping[str, Feature]) -> tuple[Feature, float, int]:
    _require(isinstance(term, list) and len(term) in (2, 3), "a term is not a name and a weight")
    feature = _feature(term[0], features)
    is_nominal = feature.kind == "nominal"
    _require(is_nominal == (len(term) == 3), "a term of a nominal feature needs a category")
    code = _codes_in(term[2:], _known(feature.categories))[0] if is_nominal else NO_CODE
    return feature, _number(term[1]), code


def _feature(name: Any, features: Mapping[str, Feature]) -> Feature:
    if not isinstance(name, str) or name not in features:
        _fail(f"a condition is about {name!r:.80}, which is no feature of its schema")
    return features[name]


def _gap_names(names: Any, features: Mapping[str, Feature]) -> tuple[str, ...] | None:
    if names is None:
        return None
    _require(isinstance(names, list), "gap_names must be a list")
    return tuple(_feature(name, features).name for name in names)


def _bounds_in(entry: Mapping[str, Any]) -> Bounds:
    low, high = entry.get("low"), entry.get("high")
    return Bounds(
        -math.inf if low is None else _end(low),
        math.inf if high is None else _end(high),
        _get(entry, "includes_low", bool),
        _get(entry, "includes_high", bool),
    )


def _end(value: Any) -> float:
    """An end of a range; it is infinite where only gaps, or no rows at all, lie inside."""
    return _infinite(value) if isinstance(value, Mapping) else _number(value)


def _infinite(value: Mapping[str, Any]) -> float:
    word = value.get("float")
    _require(word in ("inf", "-inf"), "a value is none that a column can hold")
    return float(str(word))


def _known(values: tuple[Any, ...]) -> dict[tuple[bool, Any], int]:
    """Value → code; True and 1 stay apart."""
    return {(isinstance(value, bool), value): code for code, value in enumerate(values)}


def _look_up(value: Any, codes: Mapping[tuple[bool, Any], int]) -> int:
    if isinstance(value, Mapping):
        value = _infinite(value)
    if not isinstance(value, str | int | float | bool):
        _fail("a value is none that a column can hold")
    code = codes.get((isinstance(value, bool), value))
    if code is None:
        _fail(f"a value is not in its schema: {value!r:.80}")
    return code


def _codes_in(values: list[Any], codes: Mapping[tuple[bool, Any], int]) -> tuple[int, ...]:
    return tuple(_look_up(value, codes) for value in values)


def _class_in(classes: dict[tuple[bool, Any], int]) -> Callable[[Any], Any]:
    names = [value for _, value in classes]
    return lambda value: names[_look_up(value, classes)]


def _number_in(value: Any) -> Any:
    return tuple(_number(x) for x in value) if isinstance(value, list) else _number(value)


def _number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        _fail(f"a number must be finite, got {value!r:.40}")
    return float(value)


def _numbers(entry: Mapping[str, Any], key: str) -> tuple[float, ...]:
    return tuple(_number(value) for value in _get(entry, key, list))


def _maybe(entry: Mapping[str, Any], key: str) -> float | None:
    value = entry.get(key)
    return None if value is None else _number(value)


def _get(data: Any, key: str, kind: type[Any]) -> Any:
    if not isinstance(data, Mapping) or key not in data:
        _fail(f"an entry {key!r} is not there")
    value = data[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        _fail(f"{key!r} must be a {kind.__name__.lower()}, got {type(value).__name__}")
    return value


def _require(holds: bool, what: str) -> None:
    if not holds:
        _fail(what)


def _fail(what: str) -> NoReturn:
    raise ModelFileError(f"The rule set is damaged: {what}. Save the model again from its source.")
