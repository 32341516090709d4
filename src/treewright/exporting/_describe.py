"""A program as plain lists and dicts: what the JSON, Python and JavaScript exports hold.

``program.schema.json`` beside this file documents every word of it.
"""

from __future__ import annotations

import math
from typing import Any

from treewright.exporting._program import (
    Decide,
    Node,
    Part,
    Program,
    ProgramPart,
    RulesPart,
    TermsPart,
    Test,
    TreePart,
)
from treewright.mars._basis import Factor
from treewright.mars._predictors import Predictor
from treewright.tree.conditions import Bounds, Condition, Interval, Members
from treewright.tree.split import GAP_FRACTION, GAP_STOP, NO_CODE

__all__ = ["FORMAT", "VERSION", "describe"]

FORMAT, VERSION = "treewright.program", 1
GAPS = {GAP_FRACTION: "divide", GAP_STOP: "stop"}
FACTORS = {1: "above", -1: "below", 2: "itself"}


def describe(program: Program) -> dict[str, Any]:
    """The program in words that JSON has."""
    return {"format": FORMAT, "version": VERSION, **_program(program)}


def _program(program: Program) -> dict[str, Any]:
    target = program.target
    said: dict[str, Any] = {
        "model": program.model,
        "inputs": [
            {"name": f.name, "kind": f.kind, "categories": list(f.categories)}
            for f in program.inputs
        ],
        "target": {
            "name": target.name,
            "classes": list(target.classes) if target.is_classification else None,
            "numbers": program.n_numbers,
        },
        "parts": [_part(part, program) for part in program.parts],
        "combine": program.combine,
        "start": list(program.start) or [0.0] * program.n_scores,
        "finish": program.finish._asdict(),
        "decide": None if program.decide is None else _decide(program.decide),
    }
    if program.combine == "median":
        said["weights"] = list(program.weights)
    return said


def _decide(decide: Decide) -> dict[str, Any]:
    said: dict[str, Any] = {"kind": decide.kind, "of": decide.of}
    if decide.costs is not None:
        said["costs"] = decide.costs.tolist()
    return said


def _part(part: Part, program: Program) -> dict[str, Any]:
    said: dict[str, Any]
    if isinstance(part, TreePart):
        said = {
            "kind": "tree",
            "nodes": [_node(node) for node in part.nodes()],
            "values": part.values.tolist(),
        }
    elif isinstance(part, RulesPart):
        place = {feature.name: i for i, feature in enumerate(program.inputs)}
        said = {
            "kind": "rules",
            "rules": [[_condition(c, place) for c in rule] for rule in part.rules],
            "values": part.values.tolist(),
            "votes": None if part.votes is None else part.votes.tolist(),
            "labelled": part.is_labelled,
        }
    elif isinstance(part, TermsPart):
        said = {
            "kind": "terms",
            "predictors": [_predictor(p) for p in part.predictors],
            "terms": [[_factor(f) for f in term] for term in part.terms],
            "weights": part.weights.tolist(),
        }
    else:
        said = _said_by_program(part)
    return {**said, "column": part.column}


def _said_by_program(part: ProgramPart) -> dict[str, Any]:
    inner = _program(part.program)
    del inner["inputs"]
    return {
        "kind": "program",
        "program": inner,
        "say": part.say,
        "columns": list(part.columns),
        "width": part.width,
        "on": part.on,
        "off": part.off,
    }


def test_words(test: Test) -> dict[str, Any]:
    """A test as a dict."""
    if test.codes is not None:
        return {
            "feature": test.feature,
            "codes": list(test.codes),
            "branches": list(test.branches),
        }
    said: dict[str, Any] = {"feature": test.feature}
    if test.terms:
        said = {"terms": [_term(*term) for term in test.terms]}
    said["at_most" if test.closed else "below"] = list(test.breaks)
    if test.branches != tuple(range(len(test.breaks) + 1)):
        said["branches"] = list(test.branches)
    return said


def _term(place: int, weight: float, code: int) -> list[float]:
    return [place, weight] if code == NO_CODE else [place, weight, code]


def _node(node: Node) -> dict[str, Any]:
    if node.test is None:
        return {"value": node.value}
    said = test_words(node.test)
    said["children"] = list(node.children)
    said["gap"] = GAPS.get(node.gap, node.gap)
    if node.surrogates:
        said["surrogates"] = [test_words(test) for test in node.surrogates]
    if node.shares:
        said["shares"] = list(node.shares)
    if node.soft is not None:
        said["soft"] = list(node.soft)
    if node.value >= 0:
        said["value"] = node.value
    return said


def _condition(condition: Condition, place: dict[str, int]) -> dict[str, Any]:
    if isinstance(condition, Members):
        # A code that the node did not see is a gap there, so with the gaps go all others.
        word, codes = (
            ("not_codes", condition.excluded) if condition.gap else ("codes", condition.codes)
        )
        return {"feature": place[condition.feature.name], word: list(codes)}
    said: dict[str, Any] = {}
    if isinstance(condition, Interval):
        said["feature"] = place[condition.feature.name]
    else:
        said["terms"] = [_term(place[f.name], weight, code) for f, weight, code in condition.terms]
    said.update(_bounds(condition.bounds))
    said["gap"] = condition.gap
    return said


def _bounds(bounds: Bounds) -> dict[str, float]:
    """Both ends by the names of their comparisons; no number lies in an empty interval."""
    if bounds.is_empty:
        return {"at_least": 1.0, "at_most": 0.0}
    said = {}
    if bounds.low > -math.inf:
        said["at_least" if bounds.includes_low else "above"] = bounds.low
    if bounds.high < math.inf:
        said["at_most" if bounds.includes_high else "below"] = bounds.high
    return said


def _predictor(predictor: Predictor) -> dict[str, Any]:
    said: dict[str, Any] = {"feature": predictor.feature, "role": predictor.role}
    if predictor.role == "category":
        said["code"] = predictor.code
    elif predictor.role == "value":
        said["fill"] = predictor.fill
    return said


def _factor(factor: Factor) -> dict[str, Any]:
    said: dict[str, Any] = {"predictor": factor.predictor, "kind": FACTORS[factor.kind]}
    if factor.kind != 2:
        said["knot"] = factor.knot
    return said
