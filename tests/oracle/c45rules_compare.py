"""C45Rules beside c4.5rules: the rules of both as sets of conditions.

The tree is grown anew, so a tree that differs from C4.5's by a tie shows up here as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from tests.oracle.c45rules_parse import Output, PrintedRule, parse_output
from tests.oracle.recorded import (
    SMALL,
    Recorded,
    load_recorded,
    load_runs,
    load_small,
    recorded_datasets,
)
from treewright import C45Rules
from treewright.data.encode import encode
from treewright.data.target import class_codes
from treewright.rules._candidates import ErrorRules, TrainingRows, generalised_rules
from treewright.tree.conditions import Interval, Members, merge_conditions

Test = tuple[str, str, Any]


@dataclass(frozen=True)
class Comparison:
    """What both programs say of a data set.

    Of the ``n_printed`` rules of c4.5rules, ``n_generalised`` are among the rules that we choose
    from, with the same conditions and percentage.
    """

    name: str
    theirs: Output
    ours: list[tuple[frozenset[Test], str]]
    their_rules: list[tuple[frozenset[Test], str]]
    default: tuple[str, str]
    n_errors: int
    n_printed: int
    n_generalised: int

    @property
    def n_shared(self) -> int:
        """Rules that both have."""
        return len(set(self.ours) & set(self.their_rules))

    @property
    def verdict(self) -> str:
        """``equal``: the same rules in the same order, and default; ``order``: only their order
        differs; ``different`` otherwise."""
        if self.default[0] != self.default[1] or set(self.ours) != set(self.their_rules):
            return "different"
        return "equal" if self.ours == self.their_rules else "order"


def datasets_with_rules(shared: Any) -> list[str]:
    """Data sets with output of c4.5rules."""
    return [
        name
        for name in recorded_datasets(shared, "c45")
        if "c45rules_text" in load_runs(shared, "c45", name)["runs"]["default"]
    ]


def compare_shared(shared: Any, name: str) -> Comparison:
    """Compare on a data set of the shared folder."""
    classes = load_runs(shared, "c45", name)["classes"]
    return compare(load_recorded(shared, "c45", name), classes)


def compare_small(name: str) -> Comparison:
    """Compare on a bundled data set, with the output kept in this repository."""
    held = load_runs(SMALL, "c45rules", name)
    recorded = load_small("c45rules", name)
    levels = {
        column: pd.Categorical(recorded.X[column].map(str, na_action="ignore"), values)
        for column, values in held["levels"].items()
    }
    X = recorded.X.assign(**levels)[held["columns"]]
    return compare(replace(recorded, X=X, hints={}), held["classes"])


def compare(recorded: Recorded, classes: list[str]) -> Comparison:
    """Fit one data set and read what c4.5rules said of it."""
    name = recorded.name
    theirs = parse_output(recorded.runs["default"]["c45rules_text"])
    model = C45Rules(variant="release8", **recorded.hints).fit(recorded.X, recorded.y)
    kept = {rule.number: rule for rule in theirs.rules}
    candidates = _candidates(model, recorded)
    printed = [
        (_their_tests(rule, recorded), str(classes[rule.label]), rule.accuracy)
        for rule in theirs.rules
    ]
    return Comparison(
        name=name,
        theirs=theirs,
        ours=[(_our_tests(rule.conditions), str(rule.outcome)) for rule in model.rules_],
        their_rules=[
            (_their_tests(kept[number], recorded), str(classes[kept[number].label]))
            for number in theirs.used
        ],
        default=(str(model.rules_.default), str(classes[theirs.default])),
        n_errors=int(np.count_nonzero(model.predict(recorded.X) != recorded.y)),
        n_printed=len(printed),
        n_generalised=sum(
            abs(candidates.get((tests, label), np.inf) - accuracy) < 0.051
            for tests, label, accuracy in printed
        ),
    )


def _candidates(model: C45Rules, recorded: Recorded) -> dict[tuple[frozenset[Test], str], float]:
    """The generalised rules of a model's tree, and their percentages."""
    codes, classes = class_codes(recorded.y)
    rows = TrainingRows(encode(recorded.X, schema=model.tree_.schema), codes, None, len(classes))
    found = generalised_rules(model.tree_, rows, ErrorRules(0.25, 0.6925, 0.67))
    return {
        (_our_tests(merge_conditions(found.conditions(i))), str(classes[label])): 100 * (1 - rate)
        for i, (label, rate) in enumerate(zip(found.label, found.rate, strict=True))
    }


def _our_tests(conditions: Any) -> frozenset[Test]:
    tests: set[Test] = set()
    for condition in conditions:
        name = condition.feature.name
        if isinstance(condition, Members):
            values = (condition.feature.categories[code] for code in condition.codes)
            tests.add((name, "=", frozenset(map(str, values))))
        elif isinstance(condition, Interval):
            if np.isfinite(condition.bounds.low):
                tests.add((name, ">", _printed(condition.bounds.low)))
            if np.isfinite(condition.bounds.high):
                tests.add((name, "<=", _printed(condition.bounds.high)))
    return frozenset(tests)


def _their_tests(rule: PrintedRule, recorded: Recorded) -> frozenset[Test]:
    """The tests of a rule, of two on the same side of a feature the tighter."""
    names = list(recorded.X.columns)
    tests: dict[tuple[str, str], Any] = {}
    for column, sign, value in rule.conditions:
        name = names[column]
        if sign in ("=", "in"):
            levels = list(recorded.X[name].cat.categories)
            codes = [int(code) for code in re.findall(r"v(\d+)", value)]
            tests[name, "="] = frozenset(str(levels[code]) for code in codes)
        else:
            tighter = min if sign == "<=" else max
            tests[name, sign] = tighter(float(value), tests.get((name, sign), float(value)))
    return frozenset(
        (name, sign, _printed(value) if sign != "=" else value)
        for (name, sign), value in tests.items()
    )


def _printed(cut: float) -> str:
    """A cut to the six digits that c4.5rules prints."""
    return f"{float(np.float32(cut)):.6g}"
