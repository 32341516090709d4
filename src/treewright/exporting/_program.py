"""Program: what a fitted model does with one row, in terms that any language can say.

A row is one value per input: a number, or the code of a category; a gap is nothing. Parts (trees,
rule sets, sums of terms, whole programs) each give a short list of numbers; these are combined
(sum, mean, median), finished (probabilities, means) and a class is decided. Writers know these
few words and no learner; :mod:`treewright.exporting._build` knows the learners.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Feature, Target
from treewright.errors import ParameterError
from treewright.tree.conditions import Condition
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SplitKind, Splits
from treewright.tree.tree import Tree

__all__ = [
    "HIGHEST",
    "MOST_WHOLE",
    "Decide",
    "Finish",
    "Node",
    "Part",
    "Program",
    "ProgramPart",
    "RulesPart",
    "Soft",
    "TermsPart",
    "Test",
    "TreePart",
]

Floats = NDArray[np.float64]

HIGHEST = sys.float_info.max
"""The largest number: no value lies beyond it."""
MOST_WHOLE = 2**53
"""Doubles hold all integers up to it."""


class Test(NamedTuple):
    """How a value becomes a branch.

    Of a feature, or of a weighted sum (``terms``): ``branches[n]`` with ``n`` the number of breaks
    below the value (``x > b`` counts where ``closed``, else ``x >= b``); a term is an input, its
    weight and a code, whose category counts 1 and the others 0, or −1. Or of a category:
    ``branches[i]`` where ``codes[i]`` is its code. None of it, or a gap: the test is not decided.
    """

    feature: int
    branches: tuple[int, ...]
    breaks: tuple[float, ...] = ()
    closed: bool = False
    codes: tuple[int, ...] | None = None
    terms: tuple[tuple[int, float, int], ...] = ()

    @property
    def features(self) -> tuple[int, ...]:
        """What the test reads."""
        return tuple(f for f, _, _ in self.terms) if self.terms else (self.feature,)


class Soft(NamedTuple):
    """Bounds around a cut; between them a row takes both branches, half each in the middle."""

    lower: float
    middle: float
    upper: float


class Node(NamedTuple):
    """One node of a tree part; a leaf has no test.

    ``gap`` is the branch of a row that neither the test nor a surrogate decides, ``GAP_FRACTION``
    (every branch, by ``shares``) or ``GAP_STOP`` (it ends here). ``value`` is the row of the
    part's values for rows that end here, −1 where none does.
    """

    test: Test | None
    children: tuple[int, ...]
    gap: int
    surrogates: tuple[Test, ...]
    shares: tuple[float, ...]
    soft: Soft | None
    value: int


@dataclass(frozen=True, eq=False)
class TreePart:
    """A tree whose ends give rows of ``values``; a divided row gets their mean by shares.

    Parameters
    ----------
    tree
        Its structure and tests.
    values
        Distinct rows of numbers.
    value_of
        For each node the row of ``values``, −1 where no row ends.
    soft
        Bounds of every node, NaN where there are none; None for a tree without.
    column
        First score that the part adds to.
    """

    tree: Tree
    values: Floats
    value_of: NDArray[np.int32]
    soft: tuple[Floats, Floats, Floats] | None = None
    column: int = 0

    @property
    def width(self) -> int:
        """How many numbers it gives."""
        return int(self.values.shape[1])

    @cached_property
    def is_hard(self) -> bool:
        """Whether every row ends at one node."""
        return self.soft is None and not self.tree.is_fractional

    @cached_property
    def is_plain(self) -> bool:
        """Whether every test has two branches, no surrogates, and a branch for gaps."""
        tree, inner = self.tree, ~self.tree.is_leaf
        return bool(
            self.is_hard
            and np.all(tree.n_children[inner] == 2)
            and np.all(tree.default[inner] >= 0)
            and len(tree.surrogates) == 0
            and np.all(tree.splits.kind[inner] != SplitKind.LINEAR)
        )

    def __len__(self) -> int:
        return self.tree.n_nodes

    def node(self, i: int) -> Node:
        """Node ``i``."""
        tree, value = self.tree, int(self.value_of[i])
        if tree.first_child[i] < 0:
            return Node(None, (), GAP_STOP, (), (), None, value)
        children = tuple(tree.children(i))
        spared = range(int(tree.surrogate_offset[i]), int(tree.surrogate_offset[i + 1]))
        gap = int(tree.default[i])
        return Node(
            _test(tree.splits, i),
            children,
            gap,
            tuple(_test(tree.surrogates, s) for s in spared),
            _shares(tree, children) if gap == GAP_FRACTION else (),
            self._soft_bounds(i),
            value,
        )

    def nodes(self) -> Iterator[Node]:
        """All nodes, parents before children."""
        return (self.node(i) for i in range(len(self)))

    def _soft_bounds(self, i: int) -> Soft | None:
        if self.soft is None:
            return None
        lower, middle, upper = (float(bound[i]) for bound in self.soft)
        is_cut = self.tree.splits.kind[i] == SplitKind.BREAKS
        is_number = not self.tree.schema.features[self.tree.splits.feature[i]].is_categorical
        one = len(self.tree.splits.node_breaks(i)) == 1
        return (
            Soft(lower, middle, upper) if is_cut and is_number and one and lower < upper else None
        )


@dataclass(frozen=True, eq=False)
class RulesPart:
    """Rules: the first that holds gives its row of ``values``, or all that hold are averaged.

    Parameters
    ----------
    rules
        Conditions of each rule; all must hold.
    values
        One row for each rule and, last, for rows that no rule holds for.
    votes
        Weight of each rule in the mean; None where the first decides.
    is_labelled
        Whether the last column of ``values`` is the number of a class; where rules vote, it is
        that of the largest of the others, and taken from ``values`` only where no rule holds.
    """

    rules: tuple[tuple[Condition, ...], ...]
    values: Floats
    votes: Floats | None = None
    is_labelled: bool = False
    column: int = 0

    @property
    def width(self) -> int:
        """How many numbers it gives."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False)
class TermsPart:
    """A sum of products of hinges: a MARS model.

    ``predictors`` and ``terms`` are those of :mod:`treewright.mars`; ``weights`` has a row per
    score and a column per term.
    """

    predictors: tuple[Any, ...]
    terms: tuple[tuple[Any, ...], ...]
    weights: Floats
    column: int = 0

    @property
    def width(self) -> int:
        """How many numbers it gives."""
        return len(self.weights)


@dataclass(frozen=True, eq=False)
class ProgramPart:
    """What another program says.

    Parameters
    ----------
    program
        With the same inputs.
    say
        ``"value"``: its numbers times ``on``. ``"vote"``: ``on`` for the class it decides, ``off``
        for every other. ``"strength"``: the probability of the class it decides, 0 for others.
    columns
        Score of each of its numbers, or classes.
    width
        How many scores there are.
    """

    program: Program
    say: Literal["value", "vote", "strength"]
    columns: tuple[int, ...]
    width: int
    on: float = 1.0
    off: float = 0.0
    column: int = 0


Part = TreePart | RulesPart | TermsPart | ProgramPart


class Finish(NamedTuple):
    """From scores to the numbers that the program gives.

    ``"none"``; ``"affine"``: ``scale * s + offset``; ``"shares"``: divided by their sum;
    ``"softmax"`` and ``"exp"`` of ``scale * s``; ``"logistic"``: one score, of which
    ``1 / (1 + exp(-scale * s))`` is the probability of the second of two classes.
    """

    kind: Literal["none", "affine", "shares", "softmax", "logistic", "exp"] = "none"
    scale: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Decide:
    """Which class it is.

    ``"largest"`` of the scores, or of the finished numbers (``of``), the first among equals;
    ``"least_cost"``: the smallest of ``numbers @ costs``; ``"label"``: the number that the last
    column of the only part gives; ``"positive"``: the second class where the score is above 0.
    """

    kind: Literal["largest", "least_cost", "label", "positive"]
    of: Literal["scores", "numbers"] = "scores"
    costs: Floats | None = None


@dataclass(frozen=True, eq=False)
class Program:
    """All that is needed to predict one row."""

    model: str
    inputs: tuple[Feature, ...]
    target: Target
    parts: tuple[Part, ...]
    combine: Literal["sum", "mean", "median"] = "sum"
    start: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()
    finish: Finish = field(default_factory=Finish)
    decide: Decide | None = None

    @property
    def n_scores(self) -> int:
        """Scores before they are finished, without a label."""
        if self.decide is not None and self.decide.kind == "label":
            return len(self.target.classes)
        return len(self.start) or max(part.width for part in self.parts)

    @property
    def n_numbers(self) -> int:
        """Finished numbers: probabilities or means."""
        return 2 if self.finish.kind == "logistic" else self.n_scores

    @property
    def is_single_tree(self) -> bool:
        """Whether the program is one tree."""
        return len(self.parts) == 1 and isinstance(self.parts[0], TreePart)

    def check_integers(self, most: int, language: str) -> None:
        """Raise where a category or class is an integer that a language would round."""
        for value in chain(self.target.classes, *(f.categories for f in self.inputs)):
            if isinstance(value, int) and abs(value) > most:
                raise ParameterError(
                    f"{language} has integers up to {most}, but a category or class of the model "
                    f"is {value}; make that column text, or export to another format."
                )

    def check_texts(self, language: str) -> None:
        """Raise where two categories of a column are one to a language that reads them as text."""
        for feature in self.inputs:
            texts = Counter(map(str, feature.categories))
            if alike := [text for text, count in texts.items() if count > 1]:
                raise ParameterError(
                    f"{language} reads categories as text, but column {feature.name!r} has the "
                    f"number and the text {alike[0]}; make that column text, or export to another "
                    "format."
                )

    def trees(self) -> Iterator[TreePart]:
        """All trees, also those of programs inside."""
        for part in self.parts:
            if isinstance(part, TreePart):
                yield part
            elif isinstance(part, ProgramPart):
                yield from part.program.trees()


def _test(splits: Splits, i: int) -> Test:
    kind = splits.kind[i]
    if kind == SplitKind.CODES:
        codes = tuple(splits.node_codes(i).tolist())
        return Test(int(splits.feature[i]), tuple(splits.node_branches(i).tolist()), codes=codes)
    # a break at infinity parts gaps from numbers, which are finite
    breaks = tuple(np.clip(splits.node_breaks(i), -HIGHEST, HIGHEST).tolist())
    branches = tuple(range(len(breaks) + 1))
    if splits.reversed[i]:
        branches = branches[::-1]
    terms = tuple(splits.node_terms(i))
    return Test(
        int(splits.feature[i]) if not terms else -1,
        branches,
        breaks,
        bool(splits.closed[i]),
        terms=terms,
    )


def _shares(tree: Tree, children: tuple[int, ...]) -> tuple[float, ...]:
    """How much of a divided row each child gets, as the predictor reckons."""
    weights = [float(tree.weight[child]) for child in children]
    total = sum(weights)
    if not 0 < total < float("inf"):
        return (1.0 / len(weights),) * len(weights)
    return tuple(weight / total for weight in weights)
