"""Comparing our trees with recorded trees of C4.5 and J48, node by node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from treewright.tree.tree import Tree


def differences(tree: Tree, recorded: dict[str, Any], tolerance: float) -> Iterator[str]:
    """What differs between a tree of ours and a recorded one, in words, nearest the root first."""
    classes = [str(c) for c in tree.schema.target.classes]
    pending = [(0, recorded, "")]
    while pending:
        node, theirs, path = pending.pop()
        # C4.5 gives an empty branch the counts of its parent, but no items.
        counts = np.array(theirs["counts"]) * (theirs.get("items", 1.0) > 0)
        if not np.allclose(tree.value[node], counts, rtol=tolerance, atol=tolerance):
            yield f"{path or 'root'}: counts {tree.value[node]} against {counts}"
        label = theirs.get("class", theirs.get("majority"))
        if classes[tree.label[node]] != label and not is_tie(counts, tolerance):
            yield f"{path or 'root'}: class {classes[tree.label[node]]} against {label}"
        branches = theirs.get("branches", [])
        if tree.is_leaf[node] != theirs["leaf"]:
            ours = "a leaf" if tree.is_leaf[node] else our_test(tree, node)
            yield f"{path or 'root'}: {ours} against {their_test(theirs)}"
        elif branches and our_test(tree, node) != their_test(theirs):
            yield f"{path or 'root'}: {our_test(tree, node)} against {their_test(theirs)}"
        elif branches:
            children = list(tree.children(node))
            for child, branch in zip(children, branches, strict=True):
                step = f"{path}/{our_test(tree, node)}#{child - children[0]}"
                pending.append((child, branch["child"], step))


def is_tie(counts: np.ndarray, tolerance: float) -> bool:
    """Whether two classes share the largest count: the label is then a matter of order."""
    return len(counts) > 1 and np.diff(np.sort(counts)[-2:])[0] <= tolerance * (1 + counts.max())


def our_test(tree: Tree, node: int) -> str:
    """The test of a node of ours as one short text."""
    name = tree.schema.features[tree.splits.feature[node]].name
    breaks = tree.splits.node_breaks(node)
    if len(breaks):
        return f"{name} <= {np.float32(breaks[0]):.6g}"
    groups: dict[int, list[str]] = {}
    categories = tree.schema.features[tree.splits.feature[node]].categories
    pairs = zip(tree.splits.node_codes(node), tree.splits.node_branches(node), strict=True)
    for code, branch in pairs:
        groups.setdefault(int(branch), []).append(str(categories[code]))
    return f"{name} in {[sorted(groups[b]) for b in sorted(groups)]}"


def their_test(node: dict[str, Any]) -> str:
    """The test of a recorded node in the same words."""
    if node["leaf"]:
        return "a leaf"
    cut = node.get("cut", node.get("split_point"))
    if cut is not None:
        return f"{node['attribute']} <= {np.float32(cut):.6g}"
    groups = []
    for branch in node["branches"]:
        if "values" in branch:
            groups.append(sorted(branch["values"]))
        else:
            value = branch.get("value", branch.get("test", "").split(" = ", 1)[-1])
            groups.append([value])
    return f"{node['attribute']} in {groups}"
