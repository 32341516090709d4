"""Random trees and tables for the predictor, and what a Predictor is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.tree.builders import N, Test, make_tree
from treewright.data.schema import Feature, Schema, Target
from treewright.kernels import Predictor
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SPLIT_DTYPES
from treewright.tree.tree import Tree

TARGET = Target("y", ("a", "b", "c"))
CONTINUOUS = Schema(tuple(Feature(name, "continuous") for name in "abc"), target=TARGET)
# Codes up to 4, 64, 90 and 1000: masks, and bitsets, ranges and lists of codes.
MIXED = Schema(
    (
        *CONTINUOUS.features,
        Feature("size", "ordinal", tuple(range(5))),
        *(Feature(f"n{k}", "nominal", tuple(range(k))) for k in (4, 64, 90, 1000)),
    ),
    target=TARGET,
)
NUMBERS = [-1.0, -0.0, 0.0, 5e-324, 0.1, float(np.float32(0.1)), 1.0, 2.0, 3.0, 16777217.0]
HUGE = [-1.7e308, 1.7e308]
ALL_KINDS = frozenset({"break", "breaks", "codes", "many_codes", "linear"})


def random_test(rng: np.random.Generator, schema: Schema, kinds: Any, width: int) -> Test:
    """A test with at most ``width`` branches."""
    kind = rng.choice(sorted(kinds))
    closed = bool(rng.integers(2))
    cuttable = [i for i, f in enumerate(schema.features) if f.kind != "nominal"]
    nominal = [i for i, f in enumerate(schema.features) if f.kind == "nominal"]
    if kind == "linear":
        terms = rng.choice(cuttable, rng.integers(1, 4), replace=False)
        weights: Any = {int(f): float(rng.choice([-2, 0, 0.5, 1, 1e-3])) for f in terms}
        for f in nominal[:2]:
            weights |= {(f, code): float(rng.choice([-1, 0.5])) for code in (0, 3)}
        return Test(terms=weights, breaks=[float(rng.choice(NUMBERS))], closed=closed,
                    reversed=bool(rng.integers(2)))  # fmt: skip
    if kind in ("codes", "many_codes") and nominal:
        feature = int(rng.choice(nominal))
        n = len(schema.features[feature].categories)
        listed = rng.choice(n, rng.integers(1, min(n, 90) + 1), replace=False)
        if rng.integers(2):
            start = rng.integers(0, n)
            listed = np.arange(start, min(n, start + 1 + rng.integers(90)))
        most = width if kind == "many_codes" else 2
        return Test(feature, codes={int(c): int(rng.integers(most)) for c in listed})
    feature = int(rng.choice(cuttable))
    pool = [0.0, 0.5, 1.0, 2.0, 3.5] if schema.features[feature].categories else NUMBERS + HUGE
    n_breaks = int(rng.integers(1, width)) if kind == "breaks" else 1
    breaks = sorted(set(rng.choice([*pool, np.inf], n_breaks).tolist()))
    one = len(breaks) == 1
    return Test(feature, breaks, closed=closed, reversed=one and bool(rng.integers(2)))


def grow(rng: np.random.Generator, schema: Schema, kinds: Any, gaps: Any, n_inner: int) -> Tree:
    """Split some leaf, again and again."""
    root = N(rng.integers(0, 5, 3).tolist())
    leaves = [root]
    for _ in range(n_inner):
        node = leaves.pop(rng.integers(len(leaves)))
        width = 2 if kinds == {"break"} else int(rng.integers(2, 6))
        node.test = random_test(rng, schema, kinds, width)
        policy = rng.choice(sorted(gaps))
        node.default = {"stop": GAP_STOP, "fraction": GAP_FRACTION}.get(
            policy, int(rng.integers(width))
        )
        if "surrogate" in gaps:
            node.surrogates = [
                (random_test(rng, schema, kinds, width), 1.0, 1.0)
                for _ in range(rng.integers(0, 4))
            ]
        node.children = [
            N((rng.integers(0, 5, 3) * rng.integers(2)).tolist()) for _ in range(width)
        ]
        leaves.extend(node.children)
    return make_tree(schema, root)


def random_columns(rng: np.random.Generator, schema: Schema, n_rows: int) -> tuple[Any, ...]:
    """Columns of hostile values, with a third of gaps."""
    columns = []
    for i, feature in enumerate(schema.features):
        if feature.is_categorical:
            n = len(feature.categories)
            codes = rng.integers(-1, n + 1, n_rows)
            codes[rng.random(n_rows) < 0.1] = rng.choice([-1, -7, n, 2**31 - 1, -(2**31)])
            columns.append(codes.astype(np.int32))
        else:
            values = rng.choice([*NUMBERS, *HUGE, np.nan, np.nan, np.nan], n_rows)
            if i == 1:
                values = np.clip(values, -3e38, 3e38).astype(np.float32)
            columns.append(values)
    return tuple(columns)


@st.composite
def cases(
    draw: st.DrawFn, schema: Schema = MIXED, kinds: Any = ALL_KINDS, n_rows: int = 12
) -> tuple[Tree, tuple[Any, ...]]:
    """A tree and columns for it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.sets(st.sampled_from(sorted(kinds)), min_size=1))
    gaps = draw(st.sets(st.sampled_from(["branch", "fraction", "stop", "surrogate"]), min_size=1))
    tree = grow(rng, schema, kinds, gaps, draw(st.integers(0, 12)))
    return tree, random_columns(rng, schema, n_rows)


def arguments(tree: Tree) -> dict[str, Any]:
    """What a Predictor is made of."""
    features = tree.schema.features
    counts = [len(f.categories) if f.is_categorical else -1 for f in features]
    return {
        "n_categories": np.array(counts, np.int32),
        "first_child": tree.first_child,
        "n_children": tree.n_children,
        "default": tree.default,
        "weight": tree.weight,
        "surrogate_offset": tree.surrogate_offset,
        "splits": tuple(getattr(tree.splits, name) for name in SPLIT_DTYPES),
        "surrogates": tuple(getattr(tree.surrogates, name) for name in SPLIT_DTYPES),
    }


def make(tree: Tree) -> Predictor:
    return Predictor(**arguments(tree))


def stump(test: Test, default: int = 0, schema: Schema = CONTINUOUS) -> Tree:
    return make_tree(schema, N([2, 2, 0], test, [N([2, 0, 0]), N([0, 2, 0])], default=default))


def chain(n: int, default: int) -> dict[str, Any]:
    """Arguments of a tree in which every right child is split again: x < 0, x < 1, ..."""
    inner = np.arange(2 * n + 1) % 2 == 0
    inner[-1] = False
    first = np.where(inner, np.arange(2 * n + 1) + 1, -1).astype(np.int32)
    size = len(first)
    none = np.zeros(size + 1, np.int64)
    codes = np.zeros(0, np.int32)
    splits = (
        inner.astype(np.uint8),
        np.where(inner, 0, -1).astype(np.int32),
        np.zeros(size, np.bool_),
        np.zeros(size, np.bool_),
        np.concatenate([[0], np.cumsum(inner)]),
        np.arange(n, dtype=np.float64),
        *(none, codes, codes),
        *(none, codes, np.zeros(0), codes),
    )
    return {
        "n_categories": np.full(1, -1, np.int32),
        "first_child": first,
        "n_children": np.where(inner, 2, 0).astype(np.int32),
        "default": np.where(inner, default, -2).astype(np.int32),
        "weight": np.ones(size),
        "surrogate_offset": none,
        "splits": splits,
        "surrogates": tuple(
            np.zeros(int(name.endswith("offset")), dtype) for name, dtype in SPLIT_DTYPES.items()
        ),
    }
