"""Trees in ONNX: the operator for ensembles where it can say them, plain operators elsewhere.

``TreeEnsemble`` (ai.onnx.ml 5) holds binary tests with a branch for gaps, in doubles. A leaf of it
has one number, so for leaves of several it gives the row of a table that is looked up afterwards.
Other trees are worked out for all nodes at once: which branch each test gives, what share of a row
each branch takes, and by levels what share reaches each node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treewright.exporting._onnx_graph import Graph
from treewright.exporting._program import HIGHEST, Floats, Node, Test, TreePart
from treewright.tree.split import GAP_STOP, NO_CODE, SplitKind

__all__ = ["any_tree", "fits_ensemble", "tests", "tree_ensemble", "weighted_sums"]

LEQ, LT, MEMBER = 0, 1, 6
NOTHING = -2.0  # a code that no category has
Ints = NDArray[np.int64]


def fits_ensemble(part: object) -> bool:
    """Whether the operator for ensembles can hold a tree."""
    if not isinstance(part, TreePart) or not part.is_plain:
        return False
    splits, inner = part.tree.splits, ~part.tree.is_leaf
    one = np.diff(splits.break_offset)[inner] == 1
    return bool(np.all(one | (splits.kind[inner] == SplitKind.CODES)))


def tree_ensemble(graph: Graph, x: str, parts: Sequence[TreePart], n_scores: int) -> str:
    """Sum of what trees give, of shape (rows, scores)."""
    wide = any(part.width > 1 for part in parts)
    leaf_target, leaf_weight, tables = [], [], []
    base = 0
    for k, part in enumerate(parts):
        rows = part.value_of[part.tree.is_leaf]
        leaf_target.append(np.full(len(rows), k if wide else part.column))
        leaf_weight.append(rows + float(base) if wide else part.values[rows, 0])
        tables.append(part.values)
        base += len(part.values)
    found = graph.op(
        "TreeEnsemble",
        x,
        domain="ai.onnx.ml",
        n_targets=len(parts) if wide else n_scores,
        aggregate_function=1,  # sum
        post_transform=0,
        leaf_targetids=np.concatenate(leaf_target).tolist(),
        leaf_weights=graph.tensor(np.concatenate(leaf_weight).astype(np.float64)),
        **_tests_of_ensemble(graph, parts),
    )
    if not wide:
        return found
    table = graph.constant(np.concatenate(tables))
    looked_up = graph.op("Gather", table, graph.integer(found), axis=0)
    return graph.total(looked_up, 1)


def _tests_of_ensemble(graph: Graph, parts: Sequence[TreePart]) -> dict[str, object]:
    """The attributes of all inner nodes; nodes and leaves are numbered one after another."""
    names = ("feature", "split", "mode", "yes", "yes_leaf", "no", "no_leaf", "missing")
    columns: dict[str, list[NDArray[np.generic]]] = {name: [] for name in names}
    members: list[Floats] = []
    roots = []
    n_inner = n_leaves = 0
    for part in parts:
        roots.append(n_inner)
        found, listed = _tests_of_tree(part, n_inner, n_leaves)
        for name, column in found.items():
            columns[name].append(column)
        members.append(listed)
        n_inner += len(found["mode"])
        n_leaves += part.tree.n_leaves
    whole = {name: np.concatenate(found) for name, found in columns.items()}
    attributes: dict[str, object] = {
        "tree_roots": roots,
        "nodes_featureids": whole["feature"].tolist(),
        "nodes_splits": graph.tensor(whole["split"].astype(np.float64)),
        "nodes_modes": graph.tensor(whole["mode"].astype(np.uint8)),
        "nodes_truenodeids": whole["yes"].tolist(),
        "nodes_trueleafs": whole["yes_leaf"].astype(int).tolist(),
        "nodes_falsenodeids": whole["no"].tolist(),
        "nodes_falseleafs": whole["no_leaf"].astype(int).tolist(),
        "nodes_missing_value_tracks_true": whole["missing"].astype(int).tolist(),
    }
    values = np.concatenate(members)
    if len(values):
        attributes["membership_values"] = graph.tensor(values)
    return attributes


def _tests_of_tree(
    part: TreePart, n_inner: int, n_leaves: int
) -> tuple[dict[str, NDArray[np.generic]], Floats]:
    tree, splits = part.tree, part.tree.splits
    is_leaf = tree.is_leaf
    if is_leaf[0]:  # a tree has at least one test here: both ways lead to the only leaf
        one = np.array([0])
        leaf, yes = np.array([n_leaves]), np.array([1])
        return {
            "feature": one, "split": one, "mode": one, "yes": leaf, "yes_leaf": yes, "no": leaf,
            "no_leaf": yes, "missing": one,
        }, np.empty(0)  # fmt: skip
    inner = np.flatnonzero(~is_leaf)
    place = np.empty(tree.n_nodes, np.int64)
    place[inner] = n_inner + np.arange(len(inner))
    place[is_leaf] = n_leaves + np.arange(tree.n_nodes - len(inner))
    is_codes = splits.kind[inner] == SplitKind.CODES
    gap = tree.default[inner]
    # of codes those that do not go with the gaps are listed, and everything else is "no"
    yes_branch = np.where(is_codes, 1 - gap, 0)
    yes, no = tree.first_child[inner] + yes_branch, tree.first_child[inner] + 1 - yes_branch
    split = np.zeros(len(inner))
    split[~is_codes] = splits.breaks[splits.break_offset[:-1][inner[~is_codes]]]
    found: dict[str, NDArray[np.generic]] = {
        "feature": splits.feature[inner],
        "split": np.clip(split, -HIGHEST, HIGHEST),
        "mode": np.where(is_codes, MEMBER, np.where(splits.closed[inner], LEQ, LT)),
        "yes": place[yes],
        "yes_leaf": is_leaf[yes],
        "no": place[no],
        "no_leaf": is_leaf[no],
        "missing": ~is_codes & (gap == 0),
    }
    listed = []
    for node, branch in zip(inner[is_codes], yes_branch[is_codes], strict=True):
        codes = splits.node_codes(node)[splits.node_branches(node) == branch]
        # a list may not be empty: where only gaps and unknown categories are told apart, no code
        listed += [*(codes.tolist() or [NOTHING]), np.nan]
    return found, np.array(listed, np.float64)


# Plain operators


def weighted_sums(graph: Graph, x: str, sums: Sequence[Sequence[tuple[int, float, int]]]) -> str:
    """Weighted sums of inputs, a column each, added from left to right as the library does."""
    most = max(len(terms) for terms in sums)
    # terms that are not there read a column of zeros at the end
    padded = graph.op("Concat", x, graph.like(x, np.zeros(1)), axis=1)
    total = graph.like(x, np.zeros(len(sums)))
    for k in range(most):
        own = [terms[k] if k < len(terms) else (-1, 0.0, NO_CODE) for terms in sums]
        weights = np.array([weight for _, weight, _ in own])
        column = graph.take(padded, [feature for feature, _, _ in own])
        codes = np.array([float(code) for _, _, code in own])
        if np.any(codes != NO_CODE):
            here = graph.double(graph.op("Equal", column, graph.constant(codes)))
            # a gap stays one, and a term without a code its value
            as_it_is = graph.op(
                "Or",
                graph.op("IsNaN", column),
                graph.op("Equal", graph.constant(codes), graph.number(float(NO_CODE))),
            )
            column = graph.where(as_it_is, column, here)
        one = graph.scaled(column, weights[0]) if len(own) == 1 else ""
        total = graph.op("Add", total, one or graph.op("Mul", column, graph.constant(weights)))
    return total


def tests(graph: Graph, x: str, asked: Sequence[Test], n_categories: Sequence[int]) -> str:
    """The branch that each test gives each row, −1 where it is not decided."""
    parts = []
    coded = [i for i, test in enumerate(asked) if test.codes is not None]
    linear = [i for i, test in enumerate(asked) if test.terms]
    single = [i for i, test in enumerate(asked) if test.codes is None and not test.terms]
    if single:
        value = graph.take(x, [asked[i].feature for i in single])
        parts.append(_cut(graph, value, [asked[i] for i in single]))
    if linear:
        value = weighted_sums(graph, x, [asked[i].terms for i in linear])
        parts.append(_cut(graph, value, [asked[i] for i in linear]))
    if coded:
        parts.append(_look_up(graph, x, [asked[i] for i in coded], n_categories))
    order = [*single, *linear, *coded]
    return graph.take(graph.join(parts), np.argsort(order))


def _cut(graph: Graph, value: str, asked: Sequence[Test]) -> str:
    most = max(len(test.breaks) for test in asked)
    cuts = np.full((len(asked), most), np.inf)
    for row, test in zip(cuts, asked, strict=True):
        breaks = np.array(test.breaks)
        row[: len(breaks)] = breaks if test.closed else np.nextafter(breaks, -np.inf)
    above = graph.op("Greater", graph.op("Unsqueeze", value, graph.ints([2])), graph.constant(cuts))
    count = graph.total(graph.double(above), 2)
    # of two branches the second may come first
    sign = np.array([1.0 if test.branches[0] <= test.branches[-1] else -1.0 for test in asked])
    first = np.array([float(test.branches[0]) for test in asked])
    branch = graph.op("Add", graph.op("Mul", count, graph.constant(sign)), graph.constant(first))
    return graph.where(graph.op("IsNaN", value), graph.number(-1.0), branch)


def _look_up(graph: Graph, x: str, asked: Sequence[Test], n_categories: Sequence[int]) -> str:
    """Tables of all categories, one after another; the last entry of each is for a gap."""
    table: list[float] = []
    offset, gap = [], []
    for test in asked:
        own = np.full(n_categories[test.feature] + 1, -1.0)
        own[list(test.codes or ())] = test.branches
        offset.append(len(table))
        gap.append(float(len(own) - 1))
        table.extend(own.tolist())
    value = graph.take(x, [test.feature for test in asked])
    code = graph.where(graph.op("IsNaN", value), graph.constant(np.array(gap)), value)
    place = graph.op("Add", graph.integer(code), graph.ints(offset))
    return graph.op("Gather", graph.constant(np.array(table)), place, axis=0)


def any_tree(graph: Graph, x: str, part: TreePart, n_categories: Sequence[int]) -> str:
    """What a tree gives, by plain operators: shares of the nodes where a row ends, times values."""
    nodes = list(part.nodes())
    inner = [i for i, node in enumerate(nodes) if node.test is not None]
    if not inner:
        return graph.like(x, part.values[nodes[0].value])
    branch = _branches(graph, x, [nodes[i] for i in inner], n_categories)
    share = _edge_shares(graph, x, [nodes[i] for i in inner], branch)
    reach, place = _reach(graph, x, part, nodes, inner, share)
    leaves = [i for i, node in enumerate(nodes) if node.test is None]
    ends = [graph.take(reach, [place[i] for i in leaves])]
    at = list(leaves)
    stops = [k for k, i in enumerate(inner) if nodes[i].gap == GAP_STOP]
    if stops:
        here = graph.take(reach, [place[inner[k]] for k in stops])
        undecided = graph.op("Less", graph.take(branch, stops), graph.number(0.0))
        ends.append(graph.op("Mul", here, graph.double(undecided)))
        at += [inner[k] for k in stops]
    reached, values = graph.join(ends), part.values[[nodes[i].value for i in at]]
    if not any(node.shares or node.soft for node in nodes):  # one end per row: nothing is added
        return graph.op("MatMul", reached, graph.constant(values))
    turn = {node: k for k, node in enumerate(_depth_first(nodes))}
    order = sorted(range(len(at)), key=lambda k: turn[at[k]])
    return graph.sums(graph.take(reached, order), values[order])


def _depth_first(nodes: list[Node]) -> list[int]:
    """Places of the nodes, each before its children and these from left to right."""
    found, stack = [], [0]
    while stack:
        found.append(stack.pop())
        stack += reversed(nodes[found[-1]].children)
    return found


def _branches(graph: Graph, x: str, inner: list[Node], n_categories: Sequence[int]) -> str:
    """The branch of every inner node, by its test or else its surrogates."""
    primary = [node.test for node in inner if node.test is not None]
    branch = tests(graph, x, primary, n_categories)
    for turn in range(max(len(node.surrogates) for node in inner)):
        have = [k for k, node in enumerate(inner) if turn < len(node.surrogates)]
        said = tests(graph, x, [inner[k].surrogates[turn] for k in have], n_categories)
        none = graph.like(x, np.array([-1.0]))
        column = np.full(len(inner), len(have))
        column[have] = np.arange(len(have))
        spread = graph.take(graph.join([said, none]), column)
        undecided = graph.op("Less", branch, graph.number(0.0))
        branch = graph.where(undecided, spread, branch)
    return branch


def _edge_shares(graph: Graph, x: str, inner: list[Node], branch: str) -> str:
    """What share of a row at a node each branch takes, over all branches of all nodes."""
    edges = [(k, b) for k, node in enumerate(inner) for b in range(len(node.children))]
    own = graph.take(branch, [k for k, _ in edges])
    number = np.array([float(b) for _, b in edges])
    late = np.zeros(len(edges))
    for e, (k, b) in enumerate(edges):
        node = inner[k]
        late[e] = node.shares[b] if node.shares else float(node.gap == b)
    taken = graph.double(graph.op("Equal", own, graph.constant(number)))
    undecided = graph.op("Less", own, graph.number(0.0))
    share = graph.where(undecided, graph.constant(late), taken)
    if any(node.soft is not None for node in inner):
        share = _soften(graph, x, inner, edges, share)
    return share


def _soften(
    graph: Graph, x: str, inner: list[Node], edges: list[tuple[int, int]], share: str
) -> str:
    """Values between the bounds of a soft cut take both branches."""
    low, middle, high = np.array(
        [inner[k].soft or (np.inf, np.inf, np.inf) for k, _ in edges], np.float64
    ).T
    feature = [inner[k].test.feature if inner[k].soft else 0 for k, _ in edges]  # type: ignore[union-attr]
    value = graph.take(x, feature)
    bound = [graph.constant(b) for b in (low, middle, high)]
    with np.errstate(invalid="ignore"):
        below = graph.constant(np.where(np.isfinite(low), middle - low, 1.0))
        above = graph.constant(np.where(np.isfinite(low), high - middle, 1.0))
    half, one = graph.number(0.5), graph.number(1.0)

    def part(first: str, second: str, size: str) -> str:
        gone = graph.op("Mul", half, graph.op("Sub", first, second))
        return graph.op("Div", gone, size)

    lower = graph.op("Sub", one, part(value, bound[0], below))
    upper = part(bound[2], value, above)
    first = graph.where(graph.op("Less", value, bound[1]), lower, upper)
    is_second = graph.constant(np.array([b == 1 for _, b in edges]))
    soft = graph.where(is_second, graph.op("Sub", one, first), first)
    inside = graph.op(
        "And", graph.op("Greater", value, bound[0]), graph.op("Less", value, bound[2])
    )
    return graph.where(inside, soft, share)


def _reach(
    graph: Graph, x: str, part: TreePart, nodes: list[Node], inner: list[int], share: str
) -> tuple[str, list[int]]:
    """Share of each row that reaches each node, level by level, and where each node stands."""
    edge_of: dict[int, int] = {}
    for i in inner:
        for child in nodes[i].children:
            edge_of[child] = len(edge_of)
    depth = part.tree.node_depth
    level = np.array([0])
    reached = graph.like(x, np.ones(1))
    parts, order = [reached], [0]
    for d in range(1, part.tree.depth + 1):
        below = np.flatnonzero(depth == d)
        position = {int(node): k for k, node in enumerate(level)}
        above = graph.take(reached, [position[int(part.tree.parent[i])] for i in below])
        own = graph.take(share, [edge_of[int(i)] for i in below])
        reached = graph.op("Mul", above, own)
        parts.append(reached)
        order += below.tolist()
        level = below
    place = np.empty(len(nodes), np.int64)
    place[order] = np.arange(len(order))
    return graph.join(parts), place.tolist()
