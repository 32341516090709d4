"""Small hand-built trees, one per thing that a tree can hold.

``make_tree`` turns nested ``N`` records into the flat arrays; the named functions below are
the examples that several tests share.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treewright.data.schema import Feature, Schema, Target
from treewright.tree.node_tests import NodeTests
from treewright.tree.split import GAP_FRACTION, GAP_STOP, NO_CODE, SPLIT_DTYPES, SplitKind, Splits
from treewright.tree.tree import Tree


@dataclass
class Test:
    """One split: breaks, codes with their branches, or linear terms with one break."""

    __test__ = False  # not a test case of pytest

    feature: int = -1
    breaks: list[float] = field(default_factory=list)
    codes: dict[int, int] = field(default_factory=dict)
    terms: dict[Any, float] = field(default_factory=dict)  # by feature, or feature and code
    closed: bool = False
    reversed: bool = False

    @property
    def kind(self) -> SplitKind:
        if self.terms:
            return SplitKind.LINEAR
        if self.codes:
            return SplitKind.CODES
        return SplitKind.BREAKS if self.breaks else SplitKind.LEAF


@dataclass
class N:
    """One node: class weights or means, and below an inner node its test and children."""

    value: list[float]
    test: Test = field(default_factory=Test)
    children: list[N] = field(default_factory=list)
    default: int = GAP_STOP
    surrogates: list[tuple[Test, float, float]] = field(default_factory=list)
    n: int | None = None
    gain: float = 0.0
    impurity: float = 0.0


def make_splits(tests: list[Test]) -> Splits:
    """A structure of arrays over ``tests``."""
    arrays: dict[str, Any] = {
        "kind": [t.kind for t in tests],
        "feature": [t.feature for t in tests],
        "closed": [t.closed for t in tests],
        "reversed": [t.reversed for t in tests],
        "break_offset": np.cumsum([0] + [len(t.breaks) for t in tests]),
        "breaks": [b for t in tests for b in t.breaks],
        "code_offset": np.cumsum([0] + [len(t.codes) for t in tests]),
        "codes": [c for t in tests for c in sorted(t.codes)],
        "branches": [t.codes[c] for t in tests for c in sorted(t.codes)],
        "term_offset": np.cumsum([0] + [len(t.terms) for t in tests]),
        "term_feature": [f[0] if isinstance(f, tuple) else f for t in tests for f in t.terms],
        "term_weight": [w for t in tests for w in t.terms.values()],
        "term_code": [f[1] if isinstance(f, tuple) else NO_CODE for t in tests for f in t.terms],
    }
    return Splits(**{k: np.asarray(v, SPLIT_DTYPES[k]) for k, v in arrays.items()})


def make_tree(schema: Schema, root: N, **extras: np.ndarray) -> Tree:
    """Number the nodes breadth first and flatten them."""
    nodes, first_child = [], []
    queue, next_id = deque([root]), 1
    while queue:
        node = queue.popleft()
        nodes.append(node)
        queue.extend(node.children)
        first_child.append(next_id if node.children else -1)
        next_id += len(node.children)
    is_class = schema.target is not None and schema.target.is_classification
    value = np.array([node.value for node in nodes], np.float64)
    n = [int(sum(v.value)) if v.n is None else v.n for v in nodes]
    surrogates = [s for node in nodes for s in node.surrogates]
    weight = value.sum(axis=1) if is_class else np.array(n, np.float64)
    top = value.max(axis=1) if is_class else 0.0
    return Tree(
        schema=schema,
        first_child=np.array(first_child, np.int32),
        n_children=np.array([len(v.children) for v in nodes], np.int32),
        splits=make_splits([v.test for v in nodes]),
        default=np.array([v.default for v in nodes], np.int32),
        surrogate_offset=np.cumsum([0] + [len(v.surrogates) for v in nodes]).astype(np.int64),
        surrogates=make_splits([s[0] for s in surrogates]),
        surrogate_agreement=np.array([s[1] for s in surrogates], np.float64),
        surrogate_adjusted=np.array([s[2] for s in surrogates], np.float64),
        n_samples=np.array(n, np.int64),
        weight=weight,
        value=value,
        label=value.argmax(axis=1).astype(np.int32) if is_class else np.zeros(0, np.int32),
        impurity=np.array([v.impurity for v in nodes], np.float64),
        gain=np.array([v.gain for v in nodes], np.float64),
        risk=(weight - top) / max(weight[0], 1.0),
        extras=extras,
    )


def play_tennis() -> Tree:
    """The ID3 tree of worked example 3: Outlook, then Humidity or Wind."""
    schema = Schema(
        (
            Feature("outlook", "nominal", ("overcast", "rain", "sunny")),
            Feature("temperature", "nominal", ("cool", "hot", "mild")),
            Feature("humidity", "nominal", ("high", "normal")),
            Feature("wind", "nominal", ("strong", "weak")),
        ),
        target=Target("play", ("No", "Yes")),
    )
    rain = N([2, 3], Test(3, codes={0: 0, 1: 1}), [N([2, 0]), N([0, 3])], gain=0.34676)
    sunny = N([3, 2], Test(2, codes={0: 0, 1: 1}), [N([3, 0]), N([0, 2])], gain=0.34676)
    root = N([5, 9], Test(0, codes={0: 0, 1: 1, 2: 2}), [N([0, 4]), rain, sunny], gain=0.24675)
    return make_tree(schema, root)


def cheat() -> Tree:
    """The deck's tree of worked example 9: Refund, Marital status, Taxable income."""
    schema = Schema(
        (
            Feature("Refund", "nominal", ("No", "Yes")),
            Feature("MaritalStatus", "nominal", ("Divorced", "Married", "Single")),
            Feature("TaxableIncome", "continuous"),
        ),
        target=Target("Cheat", ("No", "Yes")),
    )
    income = N([1, 3], Test(2, [80.0]), [N([1, 0]), N([0, 3])], default=1)
    marital = N([4, 3], Test(1, codes={0: 0, 2: 0, 1: 1}), [income, N([3, 0])], default=0)
    return make_tree(
        schema, N([7, 3], Test(0, codes={0: 0, 1: 1}), [marital, N([3, 0])], default=0)
    )


IRIS = Schema(
    tuple(
        Feature(name, "continuous")
        for name in ("sepal_length", "sepal_width", "petal_length", "petal_width")
    ),
    target=Target("species", ("setosa", "versicolor", "virginica")),
)


def iris() -> Tree:
    """rpart's tree of iris, with its surrogates at the root."""
    right = N(
        [0, 50, 50],
        Test(3, [1.75]),
        [N([0, 49, 5]), N([0, 1, 45])],
        default=0,
        surrogates=[(Test(2, [4.75]), 0.91, 0.804)],
        gain=0.26,
    )
    root = N(
        [50, 50, 50],
        Test(2, [2.45]),
        [N([50, 0, 0]), right],
        default=1,
        surrogates=[
            (Test(3, [0.8]), 1.0, 1.0),
            (Test(0, [5.45]), 0.92, 0.76),
            (Test(1, [3.35], reversed=True), 0.833, 0.5),
        ],
        gain=1 / 3,
    )
    return make_tree(IRIS, root)


def salaries() -> Tree:
    """Worked example 14: baseball salaries, three leaves, regression."""
    schema = Schema(
        (Feature("Years", "continuous"), Feature("Hits", "continuous")), target=Target("LogSalary")
    )
    right = N([6.354], Test(1, [117.5]), [N([5.998], n=90), N([6.74], n=83)], n=173, gain=0.15)
    root = N([5.927], Test(0, [4.5]), [N([5.107], n=90), right], n=263, gain=0.35, impurity=0.788)
    return make_tree(schema, root)


MIXED = Schema(
    (
        Feature("age", "continuous"),
        Feature("income", "continuous"),
        Feature("size", "ordinal", ("small", "medium", "large", "huge")),
        Feature("colour", "nominal", ("red", "green", "blue", "grey")),
    ),
    target=Target("buys", ("no", "yes")),
)


def n_ary_breaks() -> Tree:
    """A CHAID-like node of four intervals, closed on the right, on age."""
    children = [N([8, 2]), N([5, 5]), N([3, 7]), N([1, 9])]
    return make_tree(MIXED, N([17, 23], Test(0, [20, 35.5, 50], closed=True), children, default=2))


def ordinal() -> Tree:
    """Cuts between ordinal codes, one of them below another."""
    upper = N([2, 9], Test(2, [2.5]), [N([2, 4]), N([0, 5])], default=0)
    return make_tree(MIXED, N([10, 11], Test(2, [0.5]), [N([8, 2]), upper], default=1))


def linear() -> Tree:
    """An oblique test of two features; gaps go down every branch."""
    test = Test(terms={0: 0.5, 1: -2.0}, breaks=[3.1], closed=True)
    return make_tree(MIXED, N([10, 10], test, [N([9, 1]), N([1, 9])], default=GAP_FRACTION))


def own_gap_branches() -> Tree:
    """Gaps have branches of their own: beside one break, beside codes, behind an infinite break."""
    infinite = N([4, 6], Test(1, [np.inf]), [N([4, 1]), N([0, 5])], default=1)
    codes = N(
        [9, 6], Test(3, codes={0: 0, 1: 1, 2: 0}), [N([5, 0]), N([0, 5]), N([4, 1])], default=2
    )
    root = N([23, 12], Test(0, [30]), [infinite, codes, N([10, 0])], default=2)
    return make_tree(MIXED, root)


def wide_categories(n: int = 40) -> Tree:
    """A subset test of many long category names."""
    names = tuple(f"District of Number {k:02d}, upper part" for k in range(n))
    schema = Schema(
        (Feature("district", "nominal", names),), target=Target("vote", ("left", "right"))
    )
    test = Test(0, codes={k: k % 2 for k in range(n)})
    return make_tree(schema, N([300, 200], test, [N([280, 20]), N([20, 180])], default=0))


EXAMPLES = {
    "play_tennis": play_tennis,
    "cheat": cheat,
    "iris": iris,
    "salaries": salaries,
    "n_ary_breaks": n_ary_breaks,
    "ordinal": ordinal,
    "linear": linear,
    "own_gap_branches": own_gap_branches,
    "wide_categories": wide_categories,
}


def random_tree(seed: int, n_inner: int = 12, target: Target | None = None) -> Tree:
    """A random tree over mixed features with every kind of split, default and surrogate."""
    rng = np.random.default_rng(seed)
    target = target or Target("y", ("a", "b", "c"))
    schema = Schema(MIXED.features, target=target)
    width = len(target.classes) or target.n_outputs
    root = N(rng.integers(1, 50, width).tolist(), n=int(rng.integers(1, 200)))
    leaves = [root]
    for _ in range(n_inner):
        node = leaves.pop(rng.integers(len(leaves)))
        node.test, n_branches = _random_test(rng, int(rng.integers(2, 5)))
        own = bool(rng.random() < 0.3)
        node.default = n_branches if own else int(rng.integers(-2, n_branches))
        if n_branches == 2:
            node.surrogates = [
                (_random_test(rng, 2, surrogate=True)[0], float(rng.random()), float(rng.random()))
                for _ in range(rng.integers(0, 3))
            ]
        node.gain = float(rng.random())
        node.children = [
            N(rng.integers(0, 50, width).tolist(), n=int(rng.integers(0, 200)))
            for _ in range(n_branches + own)
        ]
        leaves.extend(node.children)
    n_nodes = 1 + sum(1 for _ in _below(root))
    return make_tree(schema, root, statistic=rng.random(n_nodes), rank=np.arange(n_nodes) % 7)


def with_tests(tree: Tree, seed: int = 0) -> Tree:
    """The tree with tests of a few features at about two nodes in three."""
    rng = np.random.default_rng(seed)
    parts = []
    for node in np.flatnonzero(rng.random(tree.n_nodes) < 0.67).tolist():
        features = np.flatnonzero(rng.random(len(tree.schema)) < 0.8)
        log_p = -rng.exponential(size=(2, len(features)))
        log_p[:, rng.random(len(features)) < 0.1] = np.nan
        figures = rng.random((2, len(features)))
        parts.append((node, NodeTests.of_node(features, *figures, *log_p)))
    return replace(tree, tests=NodeTests.join(parts))


def _below(node: N) -> Any:
    for child in node.children:
        yield child
        yield from _below(child)


def _random_test(
    rng: np.random.Generator, n_branches: int, surrogate: bool = False
) -> tuple[Test, int]:
    kind = rng.integers(4)
    closed = bool(rng.random() < 0.5)
    if kind == 0:
        breaks = np.unique(rng.normal(30, 15, n_branches - 1)).tolist()
        reverse = len(breaks) == 1 and bool(rng.random() < 0.3)
        return Test(int(rng.integers(2)), breaks, closed=closed, reversed=reverse), n_branches
    if kind == 1:
        breaks = sorted(rng.choice([0.5, 1.5, 2.5], min(n_branches, 4) - 1, replace=False).tolist())
        return Test(2, breaks, closed=closed), n_branches
    if kind == 2:
        branches = [*range(n_branches), *rng.integers(0, n_branches, 4 - n_branches).tolist()]
        codes = rng.permutation(4).tolist()
        test = Test(3, codes=dict(zip(codes, branches, strict=True)))
        if n_branches < 4 and rng.random() < 0.5:
            del test.codes[codes[-1]]
        return test, n_branches
    weights: dict[Any, float] = {0: float(rng.normal()), 1: float(rng.normal())}
    if rng.random() < 0.5:
        weights |= {(3, code): float(rng.normal(0, 20)) for code in (1, 2)}
    return Test(terms=weights, breaks=[float(rng.normal(0, 20))], closed=closed), 2
