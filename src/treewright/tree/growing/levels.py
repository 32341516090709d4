"""Growing a tree level by level, where the rows are not in memory.

A level has *slots*, its nodes that may be split. A store knows the rows: it chooses the tests of
all slots (:meth:`LevelStore.choose`), sends the rows to the children (:meth:`LevelStore.divide`),
and may finish nodes of few rows by itself. When growth stops, and how nodes become a tree, is the
same for all stores and is decided here, as ``core/grow`` decides it in memory: the tree is that
tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature
from treewright.tree.growing.recipe import Recipe
from treewright.tree.growing.significance import class_p_values
from treewright.tree.growing.stopped import Stop
from treewright.tree.split import SplitKind, Splits

__all__ = ["Level", "LevelStore", "NodeSums", "Tests", "Units", "between", "grow_levels"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NodeSums:
    """What is summed over the rows of nodes.

    Parameters
    ----------
    stats
        Scaled class weights; of numbers the weight, and scaled sums of them and of their squares.
    rows
        Rows of each node.
    low, high
        The range of numbers; None for classes.
    """

    stats: Ints
    rows: Ints
    low: Floats | None = None
    high: Floats | None = None

    def of(self, which: NDArray[Any]) -> NodeSums:
        """Those of some nodes."""
        low = None if self.low is None else self.low[which]
        high = None if self.high is None else self.high[which]
        return NodeSums(self.stats[which], self.rows[which], low, high)

    @property
    def weight(self) -> Ints:
        """Scaled weight of each node."""
        return self.stats.sum(axis=1) if self.low is None else self.stats[:, 0]

    @property
    def is_pure(self) -> NDArray[np.bool_]:
        """Whether all rows of a node have the same target."""
        if self.low is None or self.high is None:
            return np.asarray(self.stats.max(axis=1) == self.stats.sum(axis=1))
        return np.asarray(self.low == self.high)


@dataclass(frozen=True)
class Units:
    """What a scaled unit is: of weight, and of numbers and their squares around ``shift``."""

    weight: float = 1.0
    y: float = 1.0
    y2: float = 1.0
    shift: float = 0.0

    def gain(self, root: NodeSums) -> float:
        """Turns a gain of the search into one relative to the total weight."""
        total = float(root.weight[0])
        return 1.0 / total if root.low is None else (self.y / self.weight) ** 2 / total

    def described(self, sums: NodeSums) -> dict[str, NDArray[Any]]:
        """Weight, value and impurity of nodes; impurities of classes follow from the value."""
        weight = sums.weight * self.weight
        if sums.low is None:
            return {
                "weight": weight,
                "value": sums.stats * self.weight,
                "impurity": np.zeros(len(weight)),
            }
        mean = sums.stats[:, 1] * self.y / weight
        impurity = np.maximum(sums.stats[:, 2] * self.y2 / weight - mean * mean, 0.0)
        impurity[sums.is_pure] = 0.0
        return {"weight": weight, "value": (mean + self.shift)[:, None], "impurity": impurity}


@dataclass(frozen=True, eq=False)
class Level:
    """The open nodes of a depth.

    Parameters
    ----------
    base, slot_of
        First node id of the depth, and the slot of each of its nodes; −1 for a leaf.
    sums
        Of each slot.
    depth
        Steps from the root.
    path
        What draws at each slot depend on; empty where nothing is drawn.
    """

    base: int
    slot_of: NDArray[np.int32]
    sums: NodeSums
    depth: int = 0
    path: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))

    @property
    def totals(self) -> Ints:
        """Sums of the target of each slot."""
        return self.sums.stats

    @property
    def rows(self) -> Ints:
        """Rows of each slot."""
        return self.sums.rows

    @property
    def n_slots(self) -> int:
        """Number of open nodes."""
        return len(self.rows)


@dataclass(eq=False)
class Tests:
    """The chosen test of each slot; feature −1 where it becomes a leaf."""

    feature: NDArray[np.int32]
    gain: Floats
    threshold: Floats
    closed: NDArray[np.uint8]
    gap_branch: NDArray[np.uint8]
    n_gaps: Ints
    code_offset: Ints
    codes: NDArray[np.int32]
    branches: NDArray[np.int32]

    @classmethod
    def joined(cls, parts: list[Tests]) -> Tests:
        """The tests of consecutive slots."""
        if len(parts) == 1:
            return parts[0]
        names = [name for name in cls.__dataclass_fields__ if name != "code_offset"]
        arrays = {name: np.concatenate([getattr(p, name) for p in parts]) for name in names}
        lengths = np.concatenate([np.diff(p.code_offset) for p in parts])
        offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(code_offset=offset, **arrays)

    def drop_worthless(self, scale: Floats, recipe: Recipe, gain_unit: float) -> None:
        """Leave out tests that are not worth it; see ``is_worth_it`` of ``core/grow``."""
        noise = 8e-15 * scale
        has = self.feature >= 0
        is_nothing = has & (self.gain <= noise)
        if recipe.zero_gain:
            self.gain[is_nothing & (self.gain >= -noise)] = 0.0
            has &= self.gain >= 0.0
        else:
            has &= ~is_nothing
        self.feature[~(has & ~(self.gain * gain_unit < recipe.min_gain))] = -1


class LevelStore(Protocol):
    """Who knows the rows."""

    few: int
    """Rows up to which a node is finished by :meth:`finish`; 0 where none is."""

    def choose(self, level: Level, gain_unit: float) -> Tests:
        """The best test of each slot."""
        ...

    def divide(self, level: Level, tests: Tests, first_child: NDArray[np.int32]) -> NodeSums:
        """Send rows to the children; sums of the two children of each slot."""
        ...

    def descend(self, level: Level, tests: Tests, is_open: NDArray[np.bool_], below: Level) -> None:
        """Get ready for the next level."""
        ...

    def finish(self, level: Level) -> list[dict[str, Any]]:
        """What the core grows of each of these slots."""
        ...

    def child_paths(self, path: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Paths of the two children of each node."""
        ...


def between(feature: Feature, below: Floats, above: Floats, closed: bool = False) -> Floats:
    """Where the cut between two neighbouring values lies; closed: it goes with those below."""
    if feature.kind == "ordinal":  # never on a category: one in the middle goes with those below
        return np.asarray((below + above) // 2 + 0.5)
    middle = below / 2 + above / 2
    if closed:
        return np.where((middle >= below) & (middle < above), middle, below)
    return np.where((middle > below) & (middle <= above), middle, above)


def grow_levels(
    store: LevelStore,
    features: tuple[Feature, ...],
    root: NodeSums,
    recipe: Recipe,
    units: Units,
    *,
    path: NDArray[np.uint64] | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """The arrays of a grown tree, as the core returns them.

    Parameters
    ----------
    store
        The rows.
    features
        The columns.
    root
        Sums of all rows.
    recipe
        Of it the numbers of stopping.
    units
        What sums are counted in.
    path
        That of the root, where features are drawn.
    """
    nodes = _Nodes()
    sums, n_rows = root, int(root.rows[0])
    base, depth, ended = 0, 0, 0
    gain_unit = units.gain(root)
    above: tuple[Level, Tests] | None = None
    path = np.empty(0, np.uint64) if path is None else path
    is_chance = np.zeros(1, np.bool_)  # below a split that may be chance, and is not made
    while True:
        stopped = _why_terminal(sums, depth, recipe)
        stopped[is_chance] = Stop.EMPTY
        is_open = stopped == Stop.IS_SPLIT
        is_few = is_open & (sums.rows <= store.few)
        nodes.add(n_samples=sums.rows, stopped=stopped, **units.described(sums))
        if np.any(is_few):
            grown = store.finish(_level(base, is_few, sums, depth, path))
            nodes.finished += list(
                zip((base + np.flatnonzero(is_few)).tolist(), grown, strict=True)
            )
            is_open = is_open & ~is_few
        level = _level(base, is_open, sums, depth, path)
        if above is not None:
            store.descend(*above, is_open, level)
        if progress is not None:
            ended += int(sums.rows[~is_open].sum())
            progress(min(1.0, ended / n_rows))
        if not level.n_slots:
            nodes.add_leaves(len(sums.rows))
            nodes.add(p_value=np.full(len(sums.rows), np.nan))
            break
        tests = store.choose(level, gain_unit)
        is_split = tests.feature >= 0
        first_child = np.full(level.n_slots, -1, np.int32)
        next_base = base + len(sums.rows)
        first_child[is_split] = next_base + 2 * np.arange(np.count_nonzero(is_split))
        children = store.divide(level, tests, first_child)
        _settle_gaps(tests, children.weight)
        p = _p_values(children, units, is_split, recipe)
        limit = 1.0 if recipe.min_significance is None else recipe.min_significance
        chance = is_split & (p > limit)
        stopped[is_open] = _why_whole(tests, is_split, chance, recipe)
        nodes.add(p_value=np.where(is_open, p[level.slot_of], np.nan))
        made = np.where(chance, -1, first_child).astype(np.int32)
        nodes.add_tests(tests, made, level.slot_of)
        of_split = np.repeat(is_split, 2)
        sums, is_chance = children.of(of_split), np.repeat(chance, 2)[of_split]
        if len(path):
            path = store.child_paths(level.path)[of_split]
        above, base, depth = (level, tests), next_base, depth + 1
    return nodes.arrays(features, recipe, gain_unit)


def _level(
    base: int, is_open: NDArray[np.bool_], sums: NodeSums, depth: int, path: NDArray[np.uint64]
) -> Level:
    slot_of = np.where(is_open, np.cumsum(is_open) - 1, -1).astype(np.int32)
    return Level(base, slot_of, sums.of(is_open), depth, path[is_open] if len(path) else path)


def _why_terminal(sums: NodeSums, depth: int, recipe: Recipe) -> NDArray[np.uint8]:
    """As ``why_terminal`` of ``core/grow/stopping.hpp``."""
    rows = sums.rows
    rules = [
        (rows == 0, Stop.EMPTY),
        (sums.is_pure, Stop.PURE),
        (recipe.max_depth is not None and depth >= recipe.max_depth, Stop.DEPTH),
        (rows < 2 * recipe.min_samples_leaf, Stop.LEAF_ROWS),
        (rows < recipe.min_samples_split, Stop.SPLIT_ROWS),
    ]
    held = [np.broadcast_to(rule, len(rows)) for rule, _ in rules]
    return np.select(held, [stop for _, stop in rules], Stop.IS_SPLIT).astype(np.uint8)


def _p_values(
    children: NodeSums, units: Units, is_split: NDArray[np.bool_], recipe: Recipe
) -> Floats:
    """P-values of the tests of a level, where they are asked for; NaN elsewhere."""
    if recipe.min_significance is None:
        return np.full(len(is_split), np.nan)
    parent = np.repeat(np.arange(len(is_split)), 2)
    counts = np.asarray(children.stats * units.weight, np.float64)
    return np.where(is_split, class_p_values(parent, counts, len(is_split)), np.nan)


def _why_whole(
    tests: Tests, is_split: NDArray[np.bool_], chance: NDArray[np.bool_], recipe: Recipe
) -> NDArray[np.uint8]:
    """Why slots of a level stay leaves."""
    # any two values may be divided where a leaf may have one row
    none = Stop.VALUES if recipe.min_samples_leaf == 1 else Stop.NO_TEST
    why = np.where(np.isfinite(tests.gain), Stop.GAIN, none)
    why = np.where(is_split, Stop.IS_SPLIT, why)
    return np.where(chance, Stop.SIGNIFICANCE, why).astype(np.uint8)


def _settle_gaps(tests: Tests, weight: Ints) -> None:
    """Without a gap in training, gaps go with the heavier child."""
    pairs = weight.reshape(-1, 2)
    heavier = (pairs[:, 1] > pairs[:, 0]).astype(np.uint8)
    tests.gap_branch = np.where(tests.n_gaps > 0, tests.gap_branch, heavier).astype(np.uint8)


@dataclass(eq=False)
class _Nodes:
    """Nodes in the order of levels, as columns that are joined in the end.

    ``finished`` are nodes that a store grew to their leaves, with what the core returned.
    """

    parts: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    finished: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    def add(self, **columns: NDArray[Any]) -> None:
        for name, column in columns.items():
            self.parts.setdefault(name, []).append(column)

    def add_tests(
        self, tests: Tests, first_child: NDArray[np.int32], slot_of: NDArray[np.int32]
    ) -> None:
        """Add the columns of a level's tests, with leaves where there is none."""
        is_split = (slot_of >= 0) & (first_child[slot_of] >= 0)
        slot = np.where(is_split, slot_of, 0)

        def column(values: NDArray[Any], at_leaf: Any) -> NDArray[Any]:
            return np.where(is_split, values[slot], at_leaf)

        self.add(
            first_child=column(first_child, -1),
            feature=column(tests.feature, -1),
            gain=column(tests.gain, 0.0),
            threshold=column(tests.threshold, 0.0),
            closed=column(tests.closed, 0).astype(np.bool_),
            default=column(tests.gap_branch.astype(np.int32), -2),
            n_gaps=column(tests.n_gaps, 0),
            n_codes=column(np.diff(tests.code_offset), 0),
            codes=tests.codes,
            branches=tests.branches,
        )

    def add_leaves(self, n: int) -> None:
        self.add(
            first_child=np.full(n, -1, np.int32),
            feature=np.full(n, -1, np.int32),
            gain=np.zeros(n),
            threshold=np.zeros(n),
            closed=np.zeros(n, np.bool_),
            default=np.full(n, -2, np.int32),
            n_gaps=np.zeros(n, np.int64),
            n_codes=np.zeros(n, np.int64),
            codes=np.empty(0, np.int32),
            branches=np.empty(0, np.int32),
        )

    def columns(self, gain_unit: float) -> dict[str, NDArray[Any]]:
        """All nodes: those of the levels first, then those below nodes that were finished."""
        joined = {name: np.concatenate(parts) for name, parts in self.parts.items()}
        joined["gain"] = joined["gain"] * gain_unit
        if not self.finished:
            return joined
        own = [_columns_of(grown) for _, grown in self.finished]
        roots = np.array([node for node, _ in self.finished])
        sizes = np.array([len(each["feature"]) for each in own])
        # the root of a part takes the place of the node; what is below comes behind all others
        first = len(joined["feature"]) + np.concatenate([[0], np.cumsum(sizes[:-1] - 1)]) - 1
        for each, start in zip(own, first.tolist(), strict=True):
            inner = each["first_child"] >= 0
            each["first_child"] = np.where(inner, each["first_child"] + start, -1)
        out = {}
        for name in ("codes", "branches"):
            out[name] = np.concatenate([joined[name], *(each[name] for each in own)])
        # codes lie in the order of nodes, so those of finished roots need a place of their own
        code_start = np.cumsum(joined["n_codes"]) - joined["n_codes"]
        n_known = len(joined["codes"])
        starts, at = [code_start], n_known
        for each in own:
            starts.append(at + np.cumsum(each["n_codes"]) - each["n_codes"])
            at += len(each["codes"])
        for name, column in (*joined.items(), ("code_start", code_start)):
            if name in out:
                continue
            parts = starts[1:] if name == "code_start" else [each[name] for each in own]
            whole = column.astype(np.result_type(column, *parts[:1]), copy=True)
            whole[roots] = [part[0] for part in parts]
            out[name] = np.concatenate([whole, *(part[1:] for part in parts)])
        return out

    def arrays(
        self, features: tuple[Feature, ...], recipe: Recipe, gain_unit: float
    ) -> dict[str, Any]:
        """The columns in their final order."""
        columns = self.columns(gain_unit)
        n_codes = columns["n_codes"]
        code_start = columns.get("code_start", np.cumsum(n_codes) - n_codes)
        old_first = columns["first_child"]
        order = _families(old_first)
        new_id = np.zeros(len(old_first), np.int64)
        new_id[order] = np.arange(len(order))
        first = old_first[order]
        inner = first >= 0
        first_child = np.full(len(order), -1, np.int32)
        first_child[inner] = new_id[first[inner]]
        feature = columns["feature"][order]
        nominal = np.array([f.kind == "nominal" for f in features])
        is_codes = inner & nominal[feature]
        is_breaks = inner & ~is_codes
        length = np.where(is_codes, n_codes[order], 0)
        code_offset = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        at = np.repeat(code_start[order] - code_offset[:-1], length) + np.arange(code_offset[-1])
        kind = np.where(
            is_codes, SplitKind.CODES, np.where(is_breaks, SplitKind.BREAKS, SplitKind.LEAF)
        )
        n = len(order)
        return {
            "first_child": first_child,
            "n_children": np.where(inner, 2, 0).astype(np.int32),
            "default": columns["default"][order].astype(np.int32),
            "n_gaps": columns["n_gaps"][order].astype(np.int32),
            "python_id": np.full(n, -1, np.int32),
            "stopped": columns["stopped"][order].astype(np.uint8),
            "p_value": columns["p_value"][order] if recipe.min_significance else np.empty(0),
            "splits": {
                **Splits.empty().arrays(),
                "kind": kind.astype(np.uint8),
                "feature": feature.astype(np.int32),
                "closed": columns["closed"][order] & is_breaks,
                "reversed": np.zeros(n, np.bool_),
                "break_offset": np.concatenate([[0], np.cumsum(is_breaks)]).astype(np.int64),
                "breaks": columns["threshold"][order][is_breaks],
                "code_offset": code_offset,
                "codes": columns["codes"][at],
                "branches": columns["branches"][at],
                "term_offset": np.zeros(n + 1, np.int64),
            },
            "surrogates": Splits.empty().arrays(),
            "surrogate_offset": np.zeros(n + 1, np.int64),
            "surrogate_agreement": np.empty(0),
            "surrogate_adjusted": np.empty(0),
            "n_samples": columns["n_samples"][order],
            "weight": columns["weight"][order],
            "value": columns["value"][order],
            "impurity": columns["impurity"][order],
            "gain": np.where(inner, columns["gain"][order], 0.0),
        }


def _columns_of(grown: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """What the core returned, as columns of nodes with at most one break each."""
    splits = grown["splits"]
    has_break = np.diff(splits["break_offset"]) > 0
    threshold = np.zeros(len(has_break))
    threshold[has_break] = splits["breaks"]
    return {
        "first_child": grown["first_child"].astype(np.int64),
        "feature": splits["feature"],
        "gain": grown["gain"],
        "threshold": threshold,
        "closed": np.asarray(splits["closed"], np.bool_),
        "default": grown["default"],
        "n_gaps": grown["n_gaps"],
        "stopped": grown["stopped"],
        "p_value": grown["p_value"] if len(grown["p_value"]) else np.full(len(threshold), np.nan),
        "n_codes": np.diff(splits["code_offset"]),
        "codes": splits["codes"],
        "branches": splits["branches"],
        "n_samples": grown["n_samples"],
        "weight": grown["weight"],
        "value": grown["value"],
        "impurity": grown["impurity"],
    }


def _families(first_child: NDArray[Any]) -> Ints:
    """Old ids in the order of ``core/grow``: depth first, siblings adjacent.

    Nodes that nobody is the parent of are left out.
    """
    is_inner = first_child >= 0
    levels = [np.zeros(1, np.int64)]  # of these the inner nodes, in the end
    while True:
        levels[-1] = levels[-1][is_inner[levels[-1]]]
        left = first_child[levels[-1]].astype(np.int64)
        if not len(left):
            break
        levels.append(np.stack([left, left + 1], axis=1).ravel())
    # one pass up counts what is below a node, one down places it
    below = is_inner.astype(np.int64)
    for at in reversed(levels):
        below[at] += below[first_child[at]] + below[first_child[at] + 1]
    order = np.zeros(1 + 2 * below[0], np.int64)
    place = np.zeros(len(first_child), np.int64)  # inner nodes that are visited before this one
    for at in levels:
        left = first_child[at]
        place[left] = place[at] + 1
        place[left + 1] = place[at] + 1 + below[left]
        order[1 + 2 * place[at]] = left
        order[2 + 2 * place[at]] = left + 1
    return order
