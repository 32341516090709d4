"""The tree that the search found, grown again by the growth loop into an ordinary Tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright.data.table import Table
from treewright.kernels.optimal import FoundTree
from treewright.learners._optimal.candidates import Candidates
from treewright.tree.growing.choosing import GrowingNode, ProposedSplit

__all__ = ["Replay"]


class Replay:
    """A chooser that knows the answers: at every node the test of the found tree."""

    no_split = "no test here makes a better tree"

    def __init__(self, table: Table, candidates: Candidates, found: FoundTree) -> None:
        self._table = table
        self._candidates = candidates
        self._found = found
        self._at = self._node_of_rows()

    def __call__(self, node: GrowingNode) -> ProposedSplit | None:
        if node.depth >= len(self._at):
            return None
        test = int(self._found.test[self._at[node.depth][node.rows[0]]])
        if test < 0:
            return None
        split = self._candidates.splits[test]
        if not split.codes:
            return split
        # A category that the node does not see counts as a gap there.
        seen = set(np.unique(self._table.columns[split.feature][node.rows]).tolist())
        kept = [
            (code, branch)
            for code, branch in zip(split.codes, split.branches, strict=True)
            if code in seen
        ]
        codes, branches = zip(*kept, strict=True)
        return replace(split, codes=codes, branches=branches)

    def _node_of_rows(self) -> list[NDArray[np.int32]]:
        """Per depth, the node of the found tree that each row is at."""
        found = self._found
        levels = [np.zeros(len(self._candidates.bins), np.int32)]
        while True:
            here = levels[-1]
            below = here.copy()
            for node in np.unique(here).tolist():
                test = int(found.test[node])
                if test >= 0:
                    rows = here == node
                    left = self._candidates.passes(test)
                    below[rows & left] = found.left[node]
                    below[rows & ~left] = found.right[node]
            if np.array_equal(below, here):
                return levels
            levels.append(below)
