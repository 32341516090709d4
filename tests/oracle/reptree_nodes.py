"""A recorded REPTree walked node by node: where ours would test otherwise, both scores.

The rows go down by the recorded tests, so that a difference above does not hide those below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from tests.oracle.reptree import Chooser

LINE = re.compile(r"(?P<bars>(?:\|   )*)(?P<column>.*?) (?:<|>=|=) (?P<value>\S+)(?P<leaf> : )?")


@dataclass
class Printed:
    """A node as printed: the column and the value of its first branch, if it is not a leaf."""

    column: str | None = None
    value: str = ""
    children: list[Printed] = field(default_factory=list)


@dataclass
class Reached:
    """The rows at a node, as the chooser wants them."""

    rows: np.ndarray
    weights: np.ndarray


@dataclass
class Difference:
    """A node that ours tests otherwise: the gain of both tests (of a leaf: None)."""

    path: tuple[str, ...]
    recorded: float | None
    ours: float | None


def parsed(text):
    """The tree of a printed REPTree."""
    ways = [Printed()]
    for line in text.split("============\n")[1].splitlines():
        found = LINE.match(line)
        if not found:
            continue
        del ways[len(found["bars"]) // 4 + 1 :]
        if not ways[-1].children:
            ways[-1].column, ways[-1].value = found["column"], found["value"]
        ways[-1].children.append(Printed())
        ways.append(ways[-1].children[-1])
    return ways[0]


def differences(training, text):
    """Every node of the recorded tree where ours, given its rows, would do otherwise."""
    n = training.n_rows
    return list(_differing(Chooser(training), parsed(text), Reached(np.arange(n), np.ones(n)), ()))


def _differing(choose, printed, node, path):
    features = choose.training.table.schema.features
    ours, theirs, gain = choose(node), None, None
    if printed.children:
        f = [feature.name for feature in features].index(printed.column)
        value = float(printed.value) if features[f].kind == "continuous" else None
        gain, _, theirs = choose.candidate(f, node, value)
        assert theirs is not None, f"no test of {printed.column} prints {printed.value}"
    if _key(ours) != _key(theirs):
        best = None if ours is None else choose.candidate(ours.feature, node)[0]
        yield Difference(path, gain, best)
    if theirs is not None:
        branches = _sent_down(choose, theirs, node)
        for k, (child, reached) in enumerate(zip(printed.children, branches, strict=True)):
            yield from _differing(choose, child, reached, (*path, f"{printed.column}[{k}]"))


def _key(proposal):
    return None if proposal is None else (proposal.feature, tuple(proposal.breaks))


def _sent_down(choose, proposal, node):
    """The rows of every branch, gaps in all of them by what the known rows weigh."""
    column = choose.training.table.columns[proposal.feature][node.rows]
    if proposal.breaks:
        known, branch, n = ~np.isnan(column), (column >= proposal.breaks[0]).astype(int), 2
    else:
        known, branch, n = column >= 0, column, len(proposal.codes)
    sizes = np.bincount(branch[known], node.weights[known], n)
    for k, share in enumerate(sizes / sizes.sum()):
        weight = node.weights * np.where(known, branch == k, share)
        yield Reached(node.rows[weight > 0], weight[weight > 0])
