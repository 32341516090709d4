"""Values of parameters, drawn from the rules that every estimator declares.

A value is a Python expression: it can be evaluated, sent to another process and printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions, make_constraint

import treewright as tw
from tests.contract.estimators import NAMES
from tests.matrix.tables import CLASSES, MATRICES, Description

ESTIMATORS = [*NAMES, "CostSensitiveClassifier"]
UNTRIED = {"verbose", "teach", "snapshot", "temp_dir", "n_jobs"}
"""Parameters that print or write; ``n_jobs`` is tried by an act of its own."""

WORK = {
    "n_estimators",
    "trials",
    "n_resamples",
    "n_restarts",
    "n_jumps",
    "max_terms",
    "n_iter_no_change",
}
"""Counts that the time of a fit is proportional to."""

CLASSIFIERS = (
    "CARTClassifier(max_depth=2)",
    "CARTClassifier(missing='surrogate')",
    "C45Classifier()",
    "C50Classifier(rules=True)",
    "CTreeClassifier()",
    "CHAIDClassifier()",
    "HuntClassifier(missing='fractional')",
    "ObliqueTreeClassifier(max_depth=2)",
    "MARSClassifier()",
    "RandomForestClassifier(n_estimators=3)",
    "GradientBoostingClassifier(n_estimators=4)",
)
REGRESSORS = (
    "CARTRegressor(max_depth=2)",
    "CARTRegressor(missing='surrogate')",
    "CTreeRegressor()",
    "CHAIDRegressor()",
    "HuntRegressor(missing='fractional')",
    "ObliqueTreeRegressor(max_depth=2)",
    "MARSRegressor()",
    "RandomForestRegressor(n_estimators=3)",
    "GradientBoostingRegressor(n_estimators=4)",
)
PRUNING_OPTIONS = (
    "{'validation_fraction': 0.3}",
    "{'confidence': 0.1}",
    "{'m': 1.0}",
    "{'alpha': 0.2}",
    "{'t': 0.01}",
    "{'penalty': 1.0}",
)
SCORINGS = ("'neg_log_loss'", "'accuracy'", "'r2'", "'neg_mean_absolute_error'")


def draw_parameters(random: np.random.Generator, name: str, table: Description) -> dict[str, str]:
    """None to three parameters away from their defaults, and few members."""
    constraints = getattr(tw, name)._parameter_constraints
    tried = sorted(set(constraints) - UNTRIED - {"estimators"})
    n = min(int(random.choice([0, 1, 2, 2, 3])), len(tried))
    chosen = [str(p) for p in random.choice(tried, n, replace=False)]
    found = {p: value(random, p, constraints[p], name, table) for p in chosen}
    if "n_estimators" in constraints:
        found.setdefault("n_estimators", "4")
    if name.startswith("Optimal") and {"max_cuts", "max_depth"} & set(found):
        found.setdefault("time_limit", "2.0")  # what else there is to try takes hours
    if "random_state" in constraints:
        found.setdefault("random_state", "0")
    if "estimators" in constraints:
        found["estimators"] = _team(random, name)
    if name == "CostSensitiveClassifier":
        found.setdefault("estimator", _settled(str(random.choice(CLASSIFIERS))))
        found.setdefault("costs", _costs(random, table))
    return found


def value(
    random: np.random.Generator, parameter: str, rules: list[Any], name: str, table: Description
) -> str:
    """An expression that the rules of a parameter allow, or that has their form at least."""
    special = SPECIAL.get(parameter)
    if special and random.random() < 0.7:
        return special(random, table, name)
    drawn = [e for rule in rules for e in _allowed(random, parameter, rule, name)]
    if not drawn:
        return special(random, table, name) if special else "None"
    return str(random.choice(drawn))


def _allowed(random: np.random.Generator, parameter: str, rule: Any, name: str) -> list[str]:
    if rule is None:
        return ["None"]
    if rule in ("boolean", bool):
        return ["True", "False"]
    if rule == "random_state":
        return ["0", "7"]
    if rule == "cv_object":
        return ["2", "3"]
    constraint = make_constraint(rule)
    if isinstance(constraint, Interval):
        return _numbers(random, constraint, parameter)
    if isinstance(constraint, StrOptions | Options):
        return [repr(option) for option in sorted(constraint.options, key=str)]
    if "fit" in str(constraint):
        known = CLASSIFIERS if name.endswith(("Classifier", "Rules")) else REGRESSORS
        return [_settled(str(random.choice(known)))]
    return []


def _settled(member: str) -> str:
    """A member with random numbers of its own, where it draws any."""
    name, _, rest = member.partition("(")
    if "random_state" not in getattr(tw, name)._parameter_constraints:
        return f"tw.{member}"
    return f"tw.{name}(random_state=0{', ' if rest != ')' else ''}{rest}"


def _numbers(random: np.random.Generator, interval: Interval, parameter: str) -> list[str]:
    """Numbers at the bounds of an interval, just inside them, and ordinary ones."""
    low, high = interval.left, interval.right
    if interval.type.__name__ == "Integral":
        most = 12 if parameter in WORK else 2**31 - 1
        bottom = -most if low is None else int(low) + (interval.closed in ("right", "neither"))
        top = most if high is None else min(int(high), most)
        found = {bottom, bottom + 1, 3, 7, top - 1, top}
        return [str(number) for number in sorted(found) if bottom <= number <= top]
    bounds = [b for b in (low, high) if b is not None and math.isfinite(b)]
    inside = [math.nextafter(b, 0.5 if b != 0.5 else 0.25) for b in bounds]
    found = {*map(float, bounds), *inside, 1e-9, 0.05, 0.3, 0.5, 0.9, 1.5, 10.0, 1e9, 1e300}
    return [repr(number) for number in sorted(found) if number in interval]


def _labels(table: Description) -> list[Any]:
    return CLASSES.get(table.target, ["common", "rare"])


def _costs(random: np.random.Generator, table: Description, name: str = "") -> str:
    n = len(_labels(table))
    costs = random.integers(0, 5, (n, n)).astype(float)
    np.fill_diagonal(costs, 0.0)
    return repr(costs.tolist())


def _class_weight(random: np.random.Generator, table: Description, name: str) -> str:
    return repr({label: float(random.choice([0.5, 1.0, 3.0])) for label in _labels(table)})


def _priors(random: np.random.Generator, table: Description, name: str) -> str:
    shares = random.integers(1, 9, len(_labels(table)))
    return repr({c: float(p) for c, p in zip(_labels(table), shares / shares.sum(), strict=True)})


def _columns(random: np.random.Generator, table: Description) -> list[Any]:
    if table.container in MATRICES:
        return list(range(len(table.columns)))
    return [name for name, _ in table.columns]


def _categorical(random: np.random.Generator, table: Description, name: str) -> str:
    columns = _columns(random, table)
    return repr([columns[int(random.integers(len(columns)))]])


def _ordinal(random: np.random.Generator, table: Description, name: str) -> str:
    columns = _columns(random, table)
    orders = (["red", "green", "blue"], [0, 1], [False, True], [-1.5, 2.25], ["only"])
    order = orders[int(random.integers(len(orders)))]
    return repr({columns[int(random.integers(len(columns)))]: order})


def _monotonic(random: np.random.Generator, table: Description, name: str) -> str:
    return repr([int(sign) for sign in random.integers(-1, 2, len(table.columns))])


def _interaction(random: np.random.Generator, table: Description, name: str) -> str:
    columns = _columns(random, table)
    return repr([columns[: len(columns) // 2 + 1], columns[len(columns) // 2 :]])


def _member(random: np.random.Generator, table: Description, name: str) -> str:
    known = CLASSIFIERS if name.endswith(("Classifier", "Rules")) else REGRESSORS
    return _settled(str(random.choice(known)))


def _team(random: np.random.Generator, name: str) -> str:
    known = CLASSIFIERS if name.endswith("Classifier") else REGRESSORS
    members = random.choice(known, int(random.integers(1, 4)), replace=False)
    return "[" + ", ".join(f"('m{i}', {_settled(str(m))})" for i, m in enumerate(members)) + "]"


def _one_of(*expressions: str) -> Callable[[np.random.Generator, Description, str], str]:
    return lambda random, table, name: str(random.choice(expressions))


SPECIAL: dict[str, Callable[[np.random.Generator, Description, str], str]] = {
    "costs": _costs,
    "class_weight": _class_weight,
    "priors": _priors,
    "categorical_features": _categorical,
    "ordinal_features": _ordinal,
    "monotonic_cst": _monotonic,
    "interaction_cst": _interaction,
    "estimator": _member,
    "base": _member,
    "init": _one_of("'prior'", "'zero'"),
    "pruning_options": _one_of(*PRUNING_OPTIONS),
    "scoring": _one_of(*SCORINGS, "'loss'"),
    "memory_limit": _one_of("'1MB'", "'100MB'", "None"),
    "weights": lambda random, table, name: str(random.choice(["None", "'learned'"])),
    "class_order": _one_of("None", "'from_dtype'"),
    "class_scores": _one_of("None"),
    "allowed": _one_of("None"),
    "linear_features": lambda random, table, name: _categorical(random, table, name),
    "time_limit": _one_of("2.0", "0.001"),
}
"""Parameters whose values depend on the table, or that a rule does not describe."""
