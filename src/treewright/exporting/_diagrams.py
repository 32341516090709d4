"""Graphviz and Mermaid text: the trees of a model as diagrams that other programs lay out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from treewright.errors import ParameterError
from treewright.exporting._names import dot_text, mermaid_text
from treewright.exporting._program import Program
from treewright.tree.conditions import branch_conditions
from treewright.tree.show.describe import Wording, features_with_gaps
from treewright.tree.show.nodes import node_prediction
from treewright.tree.show.words import clip, format_share, format_value
from treewright.tree.tree import Tree

__all__ = ["write_dot", "write_mermaid"]


class Box(NamedTuple):
    """A node as it is drawn: lines of text, and how the branch to it reads."""

    node: int
    parent: int
    lines: list[str]
    edge: str
    is_leaf: bool


def write_dot(program: Program, *, member: int | None = None, max_depth: int | None = None) -> str:
    """A digraph of Graphviz.

    Parameters
    ----------
    program
        What to draw.
    member
        Which tree of an ensemble, from 1; None for all.
    max_depth
        Deepest level drawn; None for all.
    """
    lines = [
        "digraph treewright {",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    for number, tree in _trees(program, member):
        lines.append(f"  subgraph tree{number} {{")
        for box in _boxes(tree, max_depth):
            text = "\\n".join(map(dot_text, box.lines))
            shape = ", style=filled, fillcolor=gray92" if box.is_leaf else ""
            lines.append(f'    t{number}_{box.node} [label="{text}"{shape}];')
            if box.parent >= 0:
                edge = dot_text(box.edge)
                lines.append(
                    f'    t{number}_{box.parent} -> t{number}_{box.node} [label="{edge}"];'
                )
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def write_mermaid(
    program: Program, *, member: int | None = None, max_depth: int | None = None
) -> str:
    """A flowchart of Mermaid, as Markdown pages draw it.

    Parameters
    ----------
    program
        What to draw.
    member
        Which tree of an ensemble, from 1; None for all.
    max_depth
        Deepest level drawn; None for all.
    """
    lines = ["flowchart TD"]
    for number, tree in _trees(program, member):
        for box in _boxes(tree, max_depth):
            text = "<br/>".join(map(mermaid_text, box.lines))
            start, end = ('(["', '"])') if box.is_leaf else ('["', '"]')
            lines.append(f"  t{number}_{box.node}{start}{text}{end}")
            if box.parent >= 0:
                edge = mermaid_text(box.edge)
                lines.append(f'  t{number}_{box.parent} -->|"{edge}"| t{number}_{box.node}')
    return "\n".join([*lines, ""])


def _trees(program: Program, member: int | None) -> Iterator[tuple[int, Tree]]:
    trees = [part.tree for part in program.trees()]
    if not trees:
        raise ParameterError(
            f"dot and mermaid draw trees, but {program.model} has none; export it to another "
            "format."
        )
    if member is not None and not 1 <= member <= len(trees):
        raise ParameterError(
            f"member must be the number of a tree, from 1 to {len(trees)}, got {member}."
        )
    for number, tree in enumerate(trees, 1):
        if member in (None, number):
            yield number, tree


def _boxes(tree: Tree, max_depth: int | None) -> Iterator[Box]:
    conditions = {i: branch_conditions(tree, i) for i in range(tree.n_nodes) if not tree.is_leaf[i]}
    wording = Wording.over(
        (c for found in conditions.values() for c in found),
        pretty=True,
        gap_names=features_with_gaps(tree, None),
    )
    is_class = tree.schema.target is not None and tree.schema.target.is_classification
    label: Callable[[int], str] = lambda i: clip(format_value(node_prediction(tree, i)), 40)  # noqa: E731
    for i in tree.walk(max_depth=max_depth):
        parent = int(tree.parent[i])
        edge = ""
        if parent >= 0:
            edge = wording.label(conditions[parent][i - int(tree.first_child[parent])], 40)
        support = f"n {int(tree.n_samples[i])}"
        if is_class:
            support += f", {format_share(float(tree.probability[i, tree.label[i]]))}"
        lines = [label(i), support]
        if not tree.is_leaf[i]:
            lines = [wording.subject(conditions[i][0], 40), *lines]
        yield Box(i, parent, lines, edge, bool(tree.is_leaf[i]))
