"""Random and hostile problems for the split search and the growth loop, and how to check them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.twins.split_search import (
    Best,
    Rows,
    best_way,
    counted,
    gain,
    is_admissible,
    is_gap,
)
from treewright.data.schema import Feature, Schema, Target
from treewright.data.table import Table
from treewright.tree.growing.grow import candidates
from treewright.tree.growing.recipe import ClassCosts, Recipe
from treewright.tree.split import SplitKind

CLASS_CRITERIA = ("gini", "entropy", "error")
NUMBER_CRITERIA = ("squared_error", "absolute_error", "poisson")
POLICIES = ("learned", "surrogate", "fractional", "own_branch", "majority")
GAIN = 1e-9
"""Relative difference of gains that is allowed."""
ROUNDING = 1e-13
"""What rounding may add to it, relative to the scale of the sums at the root."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """Arguments of ``candidates`` and ``grow``."""

    table: Table
    y: np.ndarray
    recipe: Recipe
    target: Target
    sample_weight: np.ndarray | None = None
    costs: ClassCosts | None = None

    def __repr__(self) -> str:
        kinds = [feature.kind for feature in self.table.schema.features]
        columns = [f"{kind} {list(c)}" for kind, c in zip(kinds, self.table.columns, strict=True)]
        plain = Recipe(self.recipe.criterion)
        names = [f.name for f in fields(Recipe)]
        changed = {n: v for n in names if (v := getattr(self.recipe, n)) != getattr(plain, n)}
        weight = None if self.sample_weight is None else self.sample_weight.tolist()
        return (
            f"SearchProblem({self.recipe.criterion}, {columns}, y={self.y.tolist()}, {changed}, "
            f"weight={weight}, costs={self.costs}, classes={self.target.classes})"
        )

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def rows(self) -> Rows:
        n = self.table.n_rows
        weight = np.ones(n) if self.sample_weight is None else self.sample_weight
        return Rows(self.y, weight, self.target, self.recipe, self.costs)

    def keywords(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "sample_weight": self.sample_weight,
            "costs": self.costs,
        }

    def candidates(self) -> list[dict[str, Any]]:
        return candidates(self.table, self.y, self.recipe, **self.keywords())

    def change(self, **fields: Any) -> SearchProblem:
        """The same with other fields of the recipe."""
        return replace(self, recipe=replace(self.recipe, **fields))


def make_table(*columns: np.ndarray, kinds: tuple[str, ...] | None = None) -> Table:
    """A table of float and code columns; codes are nominal unless ``kinds`` says otherwise."""
    features = []
    for i, column in enumerate(columns):
        kind = kinds[i] if kinds else "continuous" if column.dtype.kind == "f" else "nominal"
        size = 0 if kind == "continuous" else max(int(column.max(initial=0)) + 1, 1)
        features.append(Feature(f"x{i}", kind, tuple(range(size))))
    gaps = np.array([is_gap(column).any() for column in columns])
    return Table(Schema(tuple(features)), len(columns[0]), gaps, columns)


# -- strategies ----------------------------------------------------------------------------

# Few values make ties and constants; neighbouring floats and extremes make trouble.
_VALUES = st.one_of(
    st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
    st.sampled_from([1.0, float(np.nextafter(np.float32(1), np.float32(2))), -0.0, 1e-38, 3e38]),
    st.floats(-1e6, 1e6, width=32),
)


@st.composite
def _column(draw: Any, n: int) -> tuple[str, np.ndarray]:
    kind = draw(st.sampled_from(["continuous", "continuous", "ordinal", "nominal"]))
    missing = draw(st.sampled_from([0.0, 0.0, 0.3, 0.9]))
    is_missing = np.array(draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))) < missing
    if kind == "continuous":
        values = st.sampled_from(draw(st.lists(_VALUES, min_size=1, max_size=n)))
        dtype = draw(st.sampled_from([np.float32, np.float64]))
        column = np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype)
        column[is_missing] = np.nan
    else:
        codes = st.integers(0, draw(st.integers(0, 4)))
        column = np.array(draw(st.lists(codes, min_size=n, max_size=n)), np.int32)
        column[is_missing] = -1
    return kind, column


@st.composite
def _weights(draw: Any, n: int) -> np.ndarray | None:
    each = draw(
        st.sampled_from(
            [
                None,
                st.integers(1, 3).map(float),
                st.integers(1, 20).map(lambda k: k / 8),
                st.floats(0.05, 20),
            ]
        )
    )
    return None if each is None else np.array(draw(st.lists(each, min_size=n, max_size=n)))


@st.composite
def _numbers(draw: Any, n: int, criterion: str) -> np.ndarray:
    outputs = draw(st.sampled_from([1, 1, 1, 2]))
    small = st.integers(0 if criterion == "poisson" else -5, 5).map(float)
    values = draw(st.sampled_from([small, st.floats(0, 1).map(lambda v: round(v, 6))]))
    y = np.array(draw(st.lists(values, min_size=n * outputs, max_size=n * outputs)))
    scale = 10.0 ** draw(st.sampled_from([0, 0, 0, -60, 60]))
    offset = draw(st.sampled_from([0.0, 0.0, 1e3]))
    return ((y + offset) * scale).reshape((n, outputs))


@st.composite
def search_problems(draw: Any, criterion: str, max_rows: int = 14) -> SearchProblem:
    """A small problem for a criterion ("generalized_gini" among them)."""
    n = draw(st.integers(2, max_rows))
    kinds, columns = zip(*[draw(_column(n)) for _ in range(draw(st.integers(1, 3)))], strict=True)
    sample_weight, costs = draw(_weights(n)), None
    name = "gini" if criterion == "generalized_gini" else criterion
    if criterion in NUMBER_CRITERIA:
        y = draw(_numbers(n, criterion))
        target = Target("y", n_outputs=y.shape[1])
    else:
        n_classes = draw(st.integers(2, 4))
        classes = st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)
        y, target = np.array(draw(classes), np.int32), Target("y", tuple(range(n_classes)))
        costs = draw(_costs(n_classes, criterion == "generalized_gini"))
    recipe = Recipe(
        name,
        missing=draw(st.sampled_from(POLICIES)),
        nominal_split=draw(st.sampled_from(["subset", "subset", "multiway"])),
        ordinal_split=draw(st.sampled_from(["cut", "cut", "multiway"])),
        continuous_split=draw(st.sampled_from(["below", "at_most"])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 1, 2, 3])),
        min_weight_leaf=draw(st.sampled_from([0.0, 0.0, 0.0, 1.5])),
    )
    return SearchProblem(make_table(*columns, kinds=kinds), y, recipe, target, sample_weight, costs)


@st.composite
def _costs(draw: Any, n_classes: int, generalized: bool) -> ClassCosts | None:
    if not generalized and draw(st.booleans()):
        return None
    factor = st.sampled_from([0.25, 0.3, 1.0, 2.0, 7.5])
    factors = np.array(draw(st.lists(factor, min_size=n_classes, max_size=n_classes)))
    entry = st.sampled_from([1.0, 1.0, 0.5, 2.0, 10.0])
    loss = np.array(draw(st.lists(entry, min_size=n_classes**2, max_size=n_classes**2)))
    loss = loss.reshape(n_classes, n_classes) * (1 - np.eye(n_classes))
    return ClassCosts(factors, np.ones(n_classes), loss, generalized)


# -- checks --------------------------------------------------------------------------------


def is_complete(problem: SearchProblem, feature: Feature) -> bool:
    """Whether the kernel promises the best of all ways for a feature.

    A nominal feature is cut in the order of its categories' rates where that is known to hold
    the best subset: two classes or one number, unless a leaf must meet further conditions.
    """
    recipe, target = problem.recipe, problem.target
    if feature.kind != "nominal" or recipe.nominal_split == "multiway":
        return True
    if recipe.criterion == "absolute_error":
        return False
    if len(target.classes) > 2 or target.n_outputs > 1:
        return len(feature.categories) <= recipe.max_exhaustive
    has_conditions = recipe.min_samples_leaf > 1 or recipe.min_weight_leaf > 0
    return not has_conditions and recipe.criterion != "poisson"


def routed(candidate: dict[str, Any], column: np.ndarray, recipe: Recipe) -> list[np.ndarray]:
    """The ways that a candidate may mean: one, or one per branch that the gaps may have joined."""
    gaps = is_gap(column)
    if candidate["kind"] == SplitKind.CODES:
        branch = dict(zip(candidate["codes"], candidate["branches"], strict=True))
        way = np.array([branch.get(code, -1) for code in column.tolist()])
    else:
        (at,) = candidate["breaks"]
        x = column.astype(np.float64)  # a float32 column would round the break
        way = (x > at if recipe.continuous_split == "at_most" else x >= at).astype(int)
    way[gaps] = -1
    n_branches = candidate["n_branches"]
    if not gaps.any() or recipe.missing not in ("learned", "own_branch"):
        return [way]
    if recipe.missing == "own_branch":
        return [np.where(gaps, n_branches, way)]
    if n_branches == 2 and len(candidate["codes"]) != 2:
        return [np.where(gaps, 0 if candidate["gaps_left"] else 1, way)]
    return [np.where(gaps, to, way) for to in range(n_branches)]


def least_scale(problem: SearchProblem) -> float:
    """What rounding may be relative to where the rows are all alike and cost nothing."""
    if problem.target.is_classification:
        return 1e-16
    size = float(np.abs(problem.y).max())
    return 1e-16 * (size**2 if problem.recipe.criterion == "squared_error" else size)


def close(a: float, b: float, scale: float) -> bool:
    return abs(a - b) <= GAIN * max(abs(a), abs(b)) + ROUNDING * scale


def check_candidate(problem: SearchProblem, feature: int, found: dict[str, Any]) -> None:
    """A candidate is the twin's, and its split has the gain that it claims."""
    rows, column = problem.rows(), problem.table.columns[feature]
    schema = problem.table.schema.features[feature]
    best: Best | None = best_way(rows, column, schema)
    complete = is_complete(problem, schema)
    if best is None:
        assert not found["found"]
        return
    if not found["found"]:
        assert not complete, f"the twin found gain {best.gain}"
        return
    scale = best.scale + least_scale(problem)
    ways = routed(found, column, problem.recipe)
    counts = counted(is_gap(column), schema, problem.recipe)
    allowed = [way for way in ways if is_admissible(rows, way, counts)]
    assert allowed, "the split is not admissible"
    claimed = max(gain(rows, way) for way in allowed)
    assert close(found["gain"], claimed, scale), (found["gain"], claimed)
    if complete:
        assert close(found["gain"], best.gain, scale), (found["gain"], best.gain)
    else:
        assert found["gain"] <= best.gain + GAIN * abs(best.gain) + ROUNDING * scale
