"""Growing: prepares a table and a recipe for the core and wraps what comes back as a Tree.

The growth loop is compiled (``core/grow/grow.cpp``). Its seam is ``choose(node)``: a compiled
search, or a Python chooser (:mod:`treewright.tree.growing.choosing`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import kernels
from treewright.criteria import row_of
from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.tree.growing.choosing import ChooserBridge
from treewright.tree.growing.recipe import ClassCosts, Recipe
from treewright.tree.growing.stopped import NOTED, Stopping
from treewright.tree.growing.values import class_nodes, clip_rates, label_empty
from treewright.tree.split import Splits
from treewright.tree.tree import Tree

__all__ = ["candidates", "grow", "grow_part", "growth_parameters", "wrap_grown"]


def grow(
    table: Table,
    y: NDArray[Any],
    recipe: Recipe,
    *,
    target: Target,
    sample_weight: NDArray[np.float64] | None = None,
    costs: ClassCosts | None = None,
    seed: int = 0,
    n_threads: int = 1,
    progress: Callable[[float], None] | None = None,
    cut_values: Sequence[NDArray[np.float64]] = (),
) -> Tree:
    """Grow a tree by ``recipe``; ``y`` holds class codes (int32) or numbers (float64).

    ``cut_values`` are the values, ascending, that thresholds may take, one array per feature,
    where the rows are a part of a training set; see ``Recipe.threshold``.
    """
    y, unit = _in_range(y, target)
    params = _core_params(table, y, recipe, target, sample_weight, costs, seed, n_threads, progress)
    params["cut_values"] = list(cut_values)
    bridge = None
    if recipe.choose is not None:
        bridge = params["choose"] = ChooserBridge(recipe.choose, table.schema)
    grown = kernels.grow(table.columns, params)
    if unit != 1.0:
        _restore_unit(grown, unit, row_of(recipe.criterion).unit_power)
    return wrap_grown(grown, table.schema, target, recipe, costs, bridge)


def grow_part(
    table: Table,
    y: NDArray[Any],
    recipe: Recipe,
    *,
    target: Target,
    sample_weight: NDArray[np.float64] | None = None,
    seed: int = 0,
    path: int = 0,
) -> dict[str, Any]:
    """What the core returns of a part of a tree: rows of a node with this ``path``."""
    params = _core_params(table, y, recipe, target, sample_weight, None, seed, 1, None)
    return kernels.grow(table.columns, params | {"root_path": path})


def growth_parameters(
    table: Table,
    y: NDArray[np.int32],
    recipe: Recipe,
    *,
    target: Target,
    sample_weight: NDArray[np.float64] | None = None,
    n_threads: int = 1,
    cut_values: Sequence[NDArray[np.float64]] = (),
) -> dict[str, Any]:
    """What the core needs to grow class trees from some of these rows, when it comes to that."""
    params = _core_params(table, y, recipe, target, sample_weight, None, 0, n_threads, None)
    return params | {"cut_values": list(cut_values)}


def _in_range(y: NDArray[Any], target: Target) -> tuple[NDArray[Any], float]:
    """Numbers near the ends of the float range, brought to about one by a power of two.

    The core squares and scales them; a power of two changes no digit.
    """
    if target.is_classification:
        return y, 1.0
    largest = float(np.abs(y).max(initial=0.0))
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return y, 1.0
    unit = 2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000)
    return y / unit, float(unit)


def _restore_unit(grown: dict[str, Any], unit: float, power: int) -> None:
    """Undo :func:`_in_range` in what the core returned."""
    grown["value"] = grown["value"] * unit
    for name in ("impurity", "gain"):
        with np.errstate(over="ignore"):  # squares of huge numbers may be infinite
            for _ in range(power):
                grown[name] = grown[name] * unit


def candidates(
    table: Table,
    y: NDArray[Any],
    recipe: Recipe,
    *,
    target: Target,
    sample_weight: NDArray[np.float64] | None = None,
    costs: ClassCosts | None = None,
    primary: int = -1,
) -> list[dict[str, Any]]:
    """The best split of every feature over all rows of ``table``, surrogates of ``primary``."""
    params = _core_params(table, y, recipe, target, sample_weight, costs, 0, 1, None)
    return kernels.candidates(table.columns, params, primary)


def _core_params(
    table: Table,
    y: NDArray[Any],
    recipe: Recipe,
    target: Target,
    sample_weight: NDArray[np.float64] | None,
    costs: ClassCosts | None,
    seed: int,
    n_threads: int,
    progress: Callable[[float], None] | None,
) -> dict[str, Any]:
    """Everything the core reads, as plain values and flat arrays."""
    features = table.schema.features
    classification = target.is_classification
    criterion, user = _criterion(recipe, costs)
    return {
        "classification": classification,
        "criterion": criterion,
        "user": user,
        "choose": None,
        "progress": progress,
        "n_categories": [len(f.categories) for f in features],
        "ordered": [f.kind != "nominal" for f in features],
        "multiway": [
            (f.kind == "nominal" and recipe.nominal_split == "multiway")
            or (f.kind == "ordinal" and recipe.ordinal_split == "multiway")
            for f in features
        ],
        "y": np.ascontiguousarray(y, np.int32 if classification else np.float64),
        "n_classes": len(target.classes),
        "n_outputs": target.n_outputs,
        "weight": None
        if sample_weight is None
        else np.ascontiguousarray(sample_weight, np.float64),
        **_cost_params(costs),
        **recipe.core_values(),
        "cut_values": [],
        "seed": seed,
        "root_path": 0,
        "n_threads": n_threads,
    }


def _criterion(recipe: Recipe, costs: ClassCosts | None) -> tuple[str, Any]:
    """Name of the core's criterion, and the user's own if that is what it is."""
    if not isinstance(recipe.criterion, str):
        return "user", getattr(recipe.criterion, "address", recipe.criterion)
    if recipe.quinlan is not None:
        return "quinlan", None
    if costs is not None and costs.generalized:
        return "generalized_gini", None
    return recipe.criterion, None


def _cost_params(costs: ClassCosts | None) -> dict[str, list[float]]:
    """Class factors and losses as flat lists; empty where they are all one."""
    if costs is None:
        return {"split_factor": [], "risk_factor": [], "loss": [], "criterion_loss": []}

    def factors(values: NDArray[np.float64]) -> list[float]:
        return [] if np.all(values == 1.0) else [float(v) for v in values]

    loss = [] if costs.loss is None else [float(v) for v in costs.loss.ravel()]
    symmetric = (
        [] if costs.loss is None else [float(v) for v in (costs.loss + costs.loss.T).ravel() / 2]
    )
    return {
        "split_factor": factors(costs.split_factor),
        "risk_factor": factors(costs.proba_factor),
        "loss": loss,
        "criterion_loss": symmetric if costs.generalized else [],
    }


def wrap_grown(
    grown: dict[str, Any],
    schema: Schema,
    target: Target,
    recipe: Recipe,
    costs: ClassCosts | None = None,
    bridge: ChooserBridge | None = None,
) -> Tree:
    """Turn the arrays that a growth loop returns into a Tree."""
    said = grown.pop("python_id")
    weight, value = grown["weight"], grown["value"]
    share = weight / weight[0] if weight[0] > 0 else weight
    if target.is_classification:
        clipped = clip_rates(value, grown.pop("clipped", None), costs)
        label, impurity, risk = class_nodes(value, clipped, recipe.criterion, costs)
        label = label_empty(label, weight, grown["first_child"], grown["n_children"])
        grown |= {"impurity": impurity, "value": clipped}
        if costs is not None:  # impurities are of weights times these factors, and so are shares
            altered = value @ np.asarray(costs.split_factor)
            share = altered / altered[0]
    else:
        label = np.empty(0, np.int32)
        risk = grown["impurity"] * share
    grown["gain"] = _with_decreases(grown, share)
    return Tree(
        schema=Schema(schema.features, schema.named, target),
        splits=Splits(**grown.pop("splits")),
        surrogates=Splits(**grown.pop("surrogates")),
        label=label,
        risk=risk,
        extras=_extras(grown) | ({} if bridge is None else bridge.extras(said)),
        tests=None if bridge is None else bridge.tests(said),
        stopping=Stopping.of(recipe),
        **grown,
    )


def _extras(grown: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """What growth noted of nodes, taken out of what it returned."""
    noted = {name: grown.pop(core, ()) for name, core in NOTED.items()}
    return {name: np.asarray(column) for name, column in noted.items() if len(column)}


def _with_decreases(grown: dict[str, Any], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gains, with the decrease of impurity where a Python chooser gave none."""
    gain: NDArray[np.float64] = grown["gain"]
    unknown = np.flatnonzero(np.isnan(gain))
    if not len(unknown):
        return gain
    gain = gain.copy()
    part = grown["impurity"] * share
    first, count = grown["first_child"][unknown], grown["n_children"][unknown]
    below = np.concatenate([[0.0], np.cumsum(part)])
    with np.errstate(invalid="ignore"):  # squares of huge numbers are infinite
        decrease = part[unknown] - (below[first + count] - below[first])
    gain[unknown] = np.where(np.isnan(decrease), np.inf, decrease)
    return gain
