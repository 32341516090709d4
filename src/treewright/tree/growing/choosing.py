"""The Python side of the growth loop's seam: what a chooser sees, and what it answers.

A chooser is called with one node and returns a :class:`ProposedSplit`, or :class:`NoSplit` or
None for a leaf. One that has a method ``choose_level`` gets all nodes of a level at once
instead: most nodes are small, and a step in Python costs more than their work.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.tree.node_tests import NodeTests
from treewright.tree.split import GAP_STOP, NO_CODE, SplitKind

__all__ = [
    "ChooserBridge",
    "GrowingLevel",
    "GrowingNode",
    "LevelAnswer",
    "LevelChooser",
    "NoSplit",
    "ProposedSplit",
    "ProposedSurrogate",
]


@dataclass(frozen=True, slots=True)
class GrowingNode:
    """What a Python chooser sees of a node; ``weights`` is None where all are one.

    ``path`` is a number of the node's own, the same however the tree is grown, for random draws.
    """

    rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    depth: int
    path: int


@dataclass(frozen=True, slots=True)
class GrowingLevel:
    """Nodes of one depth: node i has ``rows[begin[i]:end[i]]``, likewise ``weights``."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    depth: int
    path: Sequence[int]

    def __len__(self) -> int:
        return len(self.path)

    def __getitem__(self, i: int) -> GrowingNode:
        own = slice(int(self.begin[i]), int(self.end[i]))
        weights = None if self.weights is None else self.weights[own]
        return GrowingNode(self.rows[own], weights, self.depth, self.path[i])

    def __iter__(self) -> Iterator[GrowingNode]:
        return (self[i] for i in range(len(self)))

    def take(self, places: NDArray[np.int64]) -> GrowingLevel:
        """Some of the nodes."""
        if len(places) == len(self):
            return self
        path = [self.path[i] for i in places.tolist()]
        return replace(self, begin=self.begin[places], end=self.end[places], path=path)


@dataclass(frozen=True, slots=True)
class ProposedSurrogate:
    """A split that stands in for another; ``is_reversed`` swaps the sides of its break."""

    feature: int
    breaks: tuple[float, ...] = ()
    closed: bool = True
    codes: tuple[int, ...] = ()
    branches: tuple[int, ...] = ()
    is_reversed: bool = False
    agreement: float = 0.0
    adjusted: float = 0.0


@dataclass(frozen=True, slots=True)
class ProposedSplit:
    """What a Python chooser proposes.

    ``breaks`` for a continuous or ordinal feature, or ``codes`` with their ``branches`` for a
    nominal one. A linear test has ``terms`` instead of a feature, each a feature, its weight and
    the code of a category, −1 for a continuous feature, and one break for their weighted sum.
    ``gain`` left out is the decrease of impurity. ``gap_branch`` is where a gap goes under
    ``missing="majority"`` and "learned", perhaps a last branch of its own; −2 leaves it to the
    heaviest branch.
    ``surrogates`` are asked first under ``missing="surrogate"``. ``extras`` become columns of
    ``Tree.extras``, ``tests`` rows of ``Tree.tests``.
    """

    feature: int = -1
    gain: float = math.nan
    breaks: tuple[float, ...] = ()
    closed: bool = True
    codes: tuple[int, ...] = ()
    branches: tuple[int, ...] = ()
    terms: tuple[tuple[int, float, int], ...] = ()
    gap_branch: int = GAP_STOP
    surrogates: tuple[ProposedSurrogate, ...] = ()
    extras: Mapping[str, float] = field(default_factory=dict)
    tests: NodeTests | None = None


@dataclass(frozen=True, slots=True)
class NoSplit:
    """A leaf that a Python chooser has something to say about, such as tests that failed."""

    extras: Mapping[str, float] = field(default_factory=dict)
    tests: NodeTests | None = None


Answer = ProposedSplit | NoSplit | None


@dataclass(frozen=True, slots=True)
class LevelAnswer:
    """One answer per node of a level, and the tests at all of them by place in the level.

    ``tests`` stands instead of those of single answers.
    """

    answers: Sequence[Answer]
    tests: NodeTests | None = None


class LevelChooser(Protocol):
    """Chooses the splits of whole levels."""

    def choose_level(self, level: GrowingLevel) -> LevelAnswer:
        """One answer per node."""


class ChooserBridge:
    """Translates between the core's calls and a Python chooser, and keeps its answers.

    A chooser with ``makes_tests`` has a table of tests even if no node was large enough for one.
    The core numbers the nodes as it asks for them: which node of the finished tree that is, is
    known only in the end.
    """

    def __init__(self, choose: Any, schema: Schema) -> None:
        self._choose_level = getattr(choose, "choose_level", None) or _one_by_one(choose)
        self._makes_tests = getattr(choose, "makes_tests", False)
        self._features = schema.features
        self._answers: list[Answer] = []
        self._tests: list[tuple[int, NodeTests]] = []  # with the number of the level's first node

    def __call__(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        start: NDArray[np.int64],
        depth: int,
        path: list[int],
    ) -> list[dict[str, Any] | None]:
        nodes = GrowingLevel(rows, weights, start[:-1], start[1:], depth, path)
        level: LevelAnswer = self._choose_level(nodes)
        if level.tests is not None:
            self._tests.append((len(self._answers), level.tests))
        self._answers.extend(level.answers)
        return [
            self._split(answer) if isinstance(answer, ProposedSplit) else None
            for answer in level.answers
        ]

    def _split(self, answer: ProposedSplit) -> dict[str, Any]:
        self._check(answer)
        split = _test(answer)
        # a branch of its own for gaps is the last one
        split["n_branches"] = max(split["n_branches"], int(answer.gap_branch) + 1)
        split["gain"] = float(answer.gain)
        split["gap_branch"] = int(answer.gap_branch)
        split["surrogates"] = [
            _test(s) | {"n_branches": 2, "agreement": s.agreement, "adjusted": s.adjusted}
            for s in answer.surrogates
        ]
        return split

    def _check(self, answer: ProposedSplit) -> None:
        """Refuse what would make the core read beyond the table, or numbers that are none."""
        n_features = len(self._features)
        asked = [f for f, _, _ in answer.terms] or [answer.feature]
        for feature in (*asked, *(s.feature for s in answer.surrogates)):
            if not 0 <= feature < n_features:
                raise ParameterError(
                    f"choose must propose one of the {n_features} features, got number {feature}."
                )
        if not answer.terms:
            return
        if answer.feature != -1 or len(answer.breaks) != 1 or answer.codes:
            raise ParameterError(
                "choose must propose a linear test by its terms and one break alone, got "
                f"{len(answer.breaks)} breaks, {len(answer.codes)} codes and feature "
                f"{answer.feature}; leave feature and codes out."
            )
        for number, weight, code in answer.terms:
            known = self._features[number]
            n_codes = len(known.categories)
            is_sound = 0 <= code < n_codes if known.kind == "nominal" else code == NO_CODE
            if known.kind == "ordinal" or not is_sound or not math.isfinite(weight):
                raise ParameterError(
                    "choose must propose terms of continuous features with code -1, or of "
                    "categories of nominal ones, with finite weights, got "
                    f"{weight!r} times {known.name!r} with code {code}, which is {known.kind}."
                )

    def extras(self, number: NDArray[np.int32]) -> dict[str, NDArray[np.float64]]:
        """Columns over nodes from what was said of each; NaN where nothing was.

        ``number`` is that of each node of the finished tree, −1 where nobody asked.
        """
        columns: dict[str, NDArray[np.float64]] = {}
        for node in np.flatnonzero(number >= 0).tolist():
            answer = self._answers[number[node]]
            if answer is None or not answer.extras:
                continue
            for name, value in answer.extras.items():
                columns.setdefault(name, np.full(len(number), np.nan))[node] = value
        return columns

    def tests(self, number: NDArray[np.int32]) -> NodeTests | None:
        """The tests at all nodes; None if there was none, unless the chooser makes tests."""
        if not self._tests and not self._makes_tests:
            return None
        asked = np.flatnonzero(number >= 0)
        node = np.full(len(self._answers), -1, np.int32)
        node[number[asked]] = asked
        return NodeTests.join([(node[first:], tests) for first, tests in self._tests])


def _one_by_one(choose: Any) -> Any:
    """A chooser of single nodes as one of levels."""

    def choose_level(level: GrowingLevel) -> LevelAnswer:
        answers: list[Answer] = [choose(node) for node in level]
        said = [(i, a.tests) for i, a in enumerate(answers) if a is not None]
        places = [(np.array([i], np.int32), tests) for i, tests in said if tests is not None]
        return LevelAnswer(answers, NodeTests.join(places) if places else None)

    return choose_level


def _test(proposal: ProposedSplit | ProposedSurrogate) -> dict[str, Any]:
    """The test of a proposal, as the core reads it."""
    nominal = len(proposal.codes) > 0
    order = np.argsort(proposal.codes) if nominal else ()
    terms = getattr(proposal, "terms", ())
    kind = SplitKind.LINEAR if terms else SplitKind.CODES if nominal else SplitKind.BREAKS
    return {
        "kind": int(kind),
        "feature": int(proposal.feature),
        "closed": bool(proposal.closed),
        "reversed": bool(getattr(proposal, "is_reversed", False)),
        "n_branches": 1 + (max(proposal.branches) if nominal else len(proposal.breaks)),
        "gain": 0.0,
        "gap_branch": GAP_STOP,
        "breaks": [float(b) for b in proposal.breaks],
        "codes": [int(proposal.codes[i]) for i in order],
        "branches": [int(proposal.branches[i]) for i in order],
        "term_feature": [int(feature) for feature, _, _ in terms],
        "term_weight": [float(weight) for _, weight, _ in terms],
        "term_code": [int(code) for _, _, code in terms],
    }
