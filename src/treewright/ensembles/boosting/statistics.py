"""Ordered target statistics: nominal columns of very many categories, read as numbers.

A category becomes the mean target of its training rows (for more than two classes the share of
each class, for several outputs the mean of each), pulled towards the mean of all rows, which counts
for ``categorical_smoothing`` rows. A training row sees only the rows of its category that come
before it in a drawn order, so that its own target never tells trees what it is. Gaps stay gaps
where training had some; where it had none they are what the first row of a category is: the mean of
all.

Reference: Prokhorenkova et al. (2018), *CatBoost: unbiased boosting with categorical features*,
section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Schema, Target
from treewright.data.sparse import SparseTable
from treewright.data.table import Table
from treewright.ensembles.boosting.material import Material
from treewright.errors import ModelFileError

__all__ = ["Statistics", "add_statistics", "many_categories", "restored"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Statistics:
    """What became of the columns.

    Parameters
    ----------
    outer, schema
        The features as they came, and as the trees see them.
    owner
        For each feature of ``schema`` the one of ``outer`` that it is made of.
    values
        For a feature of ``outer`` a row for each category and one for gaps, a column for each
        statistic.
    """

    outer: Schema
    schema: Schema
    owner: NDArray[np.int64]
    values: dict[int, Floats]

    def table(self, table: Table, ordered: Mapping[int, Floats] | None = None) -> Table:
        """The rows as trees see them; ``ordered`` has the statistics of training rows."""
        columns: list[NDArray[Any]] = []
        for k, column in enumerate(table.columns):
            if k not in self.values:
                columns.append(column)
                continue
            own = self.values[k][column] if ordered is None else ordered[k]
            columns += [np.ascontiguousarray(each) for each in own.T]
        gaps = np.array(
            [np.isnan(c).any() if c.dtype.kind == "f" else (c < 0).any() for c in columns]
        )
        return Table(self.schema, table.n_rows, gaps, tuple(columns))

    def adapt(self, signs: list[int], groups: list[list[int]]) -> tuple[list[int], list[list[int]]]:
        """Constraints on features as they came, for those that trees see."""
        places = [np.flatnonzero(self.owner == k).tolist() for k in range(len(self.outer))]
        seen = [[place for k in group for place in places[k]] for group in groups]
        return [signs[k] for k in self.owner] if signs else [], seen

    def gather(self, each: NDArray[Any]) -> Floats:
        """Numbers of features that trees see, summed for those that came."""
        return np.asarray(np.bincount(self.owner, each, len(self.outer)), np.float64)

    def state(self) -> list[Any]:
        """Number of each feature and its values, for a model file."""
        return [[k, values] for k, values in self.values.items()]


def many_categories(schema: Schema, bound: int | None) -> list[int]:
    """Nominal features of more than ``bound`` categories."""
    if bound is None:
        return []
    features = enumerate(schema.features)
    return [k for k, f in features if f.kind == "nominal" and len(f.categories) > bound]


def add_statistics(
    estimator: Any, learn: Material, aside: Material | None, seed: int
) -> tuple[Statistics | None, Material, Material | None]:
    """Learn statistics where columns need them; both materials as trees see them."""
    schema = learn.table.schema
    is_exact = estimator.tree_method == "exact"  # looks at every category by itself
    places = many_categories(schema, None if is_exact else estimator.max_categories)
    if not places or isinstance(learn.table, SparseTable):
        return None, learn, aside
    targets = _targets(learn)
    weight = np.ones(learn.table.n_rows) if learn.weight is None else learn.weight
    draw = np.random.Generator(np.random.Philox(key=seed & (2**63 - 1)))
    order = draw.permutation(learn.table.n_rows)
    smoothing = float(estimator.categorical_smoothing)
    values, ordered = {}, {}
    for k in places:
        codes = learn.table.columns[k]
        n = len(schema.features[k].categories)
        values[k] = _all_rows(codes, n, targets, weight, smoothing)
        ordered[k] = _rows_before(codes, order, targets, weight, smoothing)
    found = _statistics_of(schema, learn.target, values)
    if aside is not None:
        aside = replace(aside, seen=found.table(aside.table))
    return found, replace(learn, seen=found.table(learn.table, ordered)), aside


def restored(schema: Schema, state: Any) -> Statistics | None:
    """What ``Statistics.state`` gave, checked; ``schema`` has the target."""
    if state is None:
        return None
    assert schema.target is not None
    n = len(schema.target.classes)
    width = {0: schema.target.n_outputs, 2: 1}.get(n, n)
    values: dict[int, Floats] = {}
    items: list[Any] = state if type(state) is list else [None]
    for item in items:
        if not _is_entry(schema, item, width):
            raise ModelFileError("the booster in it is damaged: its statistics fit no column")
        values[item[0]] = item[1]
    return _statistics_of(replace(schema, target=None), schema.target, values)


def _is_entry(schema: Schema, item: Any, width: int) -> bool:
    if type(item) is not list or len(item) != 2 or type(item[0]) is not int:
        return False
    k, values = item
    if not 0 <= k < len(schema) or schema.features[k].kind != "nominal":
        return False
    shape = (len(schema.features[k].categories) + 1, width)
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.shape == shape
        and bool(np.all(np.isfinite(values[:-1])))
        and not bool(np.any(np.isinf(values[-1])))
    )


def _statistics_of(schema: Schema, target: Target, values: dict[int, Floats]) -> Statistics:
    """Statistics of features by number; ``schema`` is that of the data."""
    features: list[Feature] = []
    owner: list[int] = []
    for k, feature in enumerate(schema.features):
        made = [feature]
        if k in values:
            names = _names(feature.name, target, values[k].shape[1])
            made = [Feature(name, "continuous") for name in names]
        features += made
        owner += [k] * len(made)
    return Statistics(
        schema, Schema(tuple(features), schema.named), np.array(owner, np.int64), values
    )


def _names(name: str, target: Target, n: int) -> list[str]:
    if target.is_classification:
        return [f"{name} (share of {c!s})" for c in target.classes[-n:]]
    if n == 1:
        return [f"{name} (mean target)"]
    return [f"{name} (mean of target {k + 1})" for k in range(n)]


def _targets(learn: Material) -> Floats:
    """What is averaged: a column for each statistic."""
    n = len(learn.target.classes)
    if n == 0:
        return np.asarray(learn.y, np.float64).reshape(len(learn.y), -1)
    if n == 2:
        return np.asarray(learn.y, np.float64)[:, None]
    return np.asarray(np.eye(n)[learn.y])


def _all_rows(
    codes: NDArray[np.int32], n: int, targets: Floats, weight: Floats, smoothing: float
) -> Floats:
    """Statistics of every category from all of its rows; the last row is for gaps."""
    prior = weight @ targets / weight.sum()
    count = smoothing + np.bincount(codes + 1, weight, n + 1)
    count[count == 0] = 1.0  # no rows: the mean of all
    found = np.empty((n + 1, targets.shape[1]))
    for k, away in enumerate((targets - prior).T):
        found[:, k] = prior[k] + np.bincount(codes + 1, weight * away, n + 1) / count
    found[0] = np.nan if (codes < 0).any() else prior
    return np.roll(found, -1, axis=0)


def _rows_before(
    codes: NDArray[np.int32],
    order: NDArray[np.int64],
    targets: Floats,
    weight: Floats,
    smoothing: float,
) -> Floats:
    """The statistic of each row from the rows of its category before it in ``order``."""
    prior = weight @ targets / weight.sum()
    rows = order[np.argsort(codes[order], kind="stable")]  # by category, then in the drawn order
    own = codes[rows]
    first = np.flatnonzero(np.diff(own, prepend=own[0] - 1))  # where categories begin
    begins = np.repeat(first, np.diff(first, append=len(own)))
    count = smoothing + _sum_before(weight[rows], begins)
    count[count == 0] = 1.0
    found = np.empty(targets.shape)
    for k, away in enumerate((targets - prior).T):
        found[rows, k] = prior[k] + _sum_before((weight * away)[rows], begins) / count
    found[codes < 0] = np.nan
    return found


def _sum_before(values: Floats, begins: NDArray[np.int64]) -> Floats:
    """Sum of the values between where its group begins and each place."""
    before = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(before[:-1] - before[begins])
