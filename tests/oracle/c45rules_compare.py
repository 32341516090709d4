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
from tests.twins.rule_learning import subset_cost
from treewright import C45Rules
from treewright.data.encode import encode
from treewright.rules._candidates import (
    Candidates,
    ErrorRules,
    TrainingRows,
    choose_candidates,
    generalised_rules,
)
from treewright.tree.conditions import Interval, Members, merge_conditions

Test = tuple[str, str, Any]
Said = tuple[frozenset[Test], int]
"""A rule: its tests and the number of its class."""


@dataclass(frozen=True)
class Comparison:
    """What both programs say of a data set.

    Of the ``n_printed`` rules of c4.5rules, ``n_generalised`` are among the rules that we choose
    from, with the same conditions and percentage. ``extra_bits`` is what our choice takes more than
    theirs in each class, by our count of bits (before rules are dropped for their errors).
    """

    name: str
    theirs: Output
    ours: list[Said]
    their_rules: list[Said]
    default: tuple[int, int]
    n_errors: int
    n_printed: int
    n_generalised: int
    extra_bits: list[float]

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
    """Fit one data set and read what c4.5rules said of it.

    Classes are numbers in the order that C4.5 had them in, which decides ties.
    """
    name = recorded.name
    theirs = parse_output(recorded.runs["default"]["c45rules_text"])
    place = {str(value): i for i, value in enumerate(classes)}
    y = np.array([place[str(value)] for value in recorded.y])
    model = C45Rules(variant="release8", **recorded.hints).fit(recorded.X, y)
    kept = {rule.number: rule for rule in theirs.rules}
    found, rows = _candidates(model, recorded.X, y)
    said = [
        (_our_tests(merge_conditions(found.conditions(i))), int(label))
        for i, label in enumerate(found.label)
    ]
    accuracy_of = dict(zip(said, 100 * (1 - found.rate), strict=True))
    printed = [(_their_tests(rule, recorded), rule.label, rule.accuracy) for rule in theirs.rules]
    return Comparison(
        name=name,
        theirs=theirs,
        ours=[(_our_tests(rule.conditions), int(rule.outcome)) for rule in model.rules_],
        their_rules=[
            (_their_tests(kept[number], recorded), kept[number].label) for number in theirs.used
        ],
        default=(int(model.rules_.default), theirs.default),
        n_errors=int(np.count_nonzero(model.predict(recorded.X) != y)),
        n_printed=len(printed),
        n_generalised=sum(
            abs(accuracy_of.get((tests, label), np.inf) - accuracy) < 0.051
            for tests, label, accuracy in printed
        ),
        extra_bits=_extra_bits(found, rows, {(tests, label) for tests, label, _ in printed}, said),
    )


def _candidates(model: C45Rules, X: pd.DataFrame, y: np.ndarray) -> tuple[Candidates, TrainingRows]:
    """The generalised rules of a model's tree, and the rows that they were made from."""
    table = encode(X, schema=model.tree_.schema)
    rows = TrainingRows(table, y.astype(np.int32), None, int(y.max()) + 1)
    return generalised_rules(model.tree_, rows, ErrorRules(0.25, 0.6925, 0.67)), rows


def _extra_bits(
    found: Candidates, rows: TrainingRows, printed: set[Said], said: list[Said]
) -> list[float]:
    covers = found.coverage(rows).toarray().T
    chosen = choose_candidates(found, rows, 0.5)
    ours = {(tests, int(label)) for tests, label in zip(chosen.tests, chosen.label, strict=True)}
    extra = []
    for label in np.unique(found.label):
        own = np.flatnonzero(found.label == label)
        flags = (
            np.array([(found.tests[i], int(label)) in ours for i in own]),
            np.array([said[i] in printed for i in own]),
        )
        our_cost, their_cost = (
            subset_cost(covers[own], rows.y == label, np.ones(len(rows.y)), found.bits[own], 0.5, f)
            for f in flags
        )
        extra.append(our_cost - their_cost)
    return extra


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
