"""The rounds of a fit: one call of the core each, and what happens between them.

A :class:`Run` holds a booster of the core, the trees that it has grown and what was said of them.
Its state can be written down after any round (``snapshot.py``); a run that takes it up grows the
same trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema, Target
from treewright.data.table import Table
from treewright.ensembles.boosting.binning import bin_tables
from treewright.ensembles.boosting.material import joined
from treewright.ensembles.boosting.stopping import Judge, Patience
from treewright.ensembles.boosting.tasks import Aim
from treewright.ensembles.members.bodies import Trees
from treewright.errors import ParameterError
from treewright.kernels.boosting import make_booster
from treewright.tree.forest.arrays import FOREST_ARRAYS, Forest
from treewright.tree.split import SplitKind

__all__ = ["Judged", "Rounds", "Run", "Stepping", "finished", "make_forest"]

Floats = NDArray[np.float64]
TRAINING = -1
"""The core's number of the training rows; others count from 0."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows whose scores are followed: a table, its target and weights, and where scores begin."""

    table: Table
    y: NDArray[Any]
    count: NDArray[np.int32] | None
    factor: Floats | None
    start: Floats  # a row per row

    @property
    def weight(self) -> Floats | None:
        """Weights of the rows."""
        return joined(self.count, self.factor)

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.table.n_rows if self.weight is None else self.weight.sum())


@dataclass(frozen=True, eq=False)
class Rounds:
    """What a fit is asked for, in the core's words.

    Parameters
    ----------
    growth
        How trees grow and rows are drawn; see ``core/boost/params.hpp``.
    n_rounds, learning_rate
        How many, and how far each goes.
    max_bins, seed, n_threads, dropout
        As the parameters of those names.
    target
        What the trees are said to predict.
    tell
        Called after every round with its number and what was said of it.
    """

    growth: Mapping[str, Any]
    n_rounds: int
    learning_rate: float
    max_bins: int
    seed: int
    n_threads: int
    target: str
    dropout: float = 0.0
    tell: Callable[[int, Any], None] = field(default=lambda n, run: None)


class Stepping:
    """Rounds one after another; ``step`` does one and notes what was said of it."""

    rounds: Rounds
    n_done: int
    train_score: list[float]
    validation_score: list[float]
    patience: Patience | None = None

    def step(self) -> None:
        """Do one round."""
        raise NotImplementedError

    def run(self, patience: Patience | None) -> BaseException | None:
        """Rounds until they are done, patience ends, or Ctrl-C comes, which is returned."""
        self.patience = patience
        try:
            if patience is not None:
                for n, value in enumerate(self.validation_score[: self.n_done], 1):
                    if patience.ends(n, value):
                        return None
            while self.n_done < self.rounds.n_rounds:
                self.step()
                if not self.is_finite():
                    raise ParameterError(
                        "learning_rate must be small enough for finite scores, got "
                        f"{self.rounds.learning_rate:g}, with which they overflow in round "
                        f"{self.n_done}; lower it, or scale the target."
                    )
                self.rounds.tell(self.n_done, self)
                if patience is not None and patience.ends(self.n_done, self.validation_score[-1]):
                    break
        except KeyboardInterrupt as error:
            if not self.n_done:
                raise
            return error
        return None

    def is_finite(self) -> bool:
        """Whether the scores are finite, as far as the loss tells."""
        return not self.train_score or math.isfinite(self.train_score[-1])

    @property
    def best_round(self) -> int:
        """Rounds up to the best one, or all."""
        return self.n_done if self.patience is None else self.patience.best_round


class Run(Stepping):
    """A fit in progress."""

    def __init__(
        self,
        training: Judged,
        aside: Judged | None,
        aim: Aim,
        rounds: Rounds,
        judge: Judge | None = None,
        answer: Callable[[Floats], Any] | None = None,
    ) -> None:
        self.training, self.aside, self.aim, self.rounds = training, aside, aim, rounds
        self.judge, self.answer = judge, answer
        bins, aside_bins = bin_tables(
            training.table,
            None if aside is None else aside.table,
            rounds.max_bins,
            rounds.n_threads,
            training.weight,
        )
        params = {
            **rounds.growth,
            "loss": aim.name,
            "n_columns": aim.n_columns,
            "loss_number": aim.number,
            "seed": rounds.seed,
        }
        self.booster = make_booster(
            bins,
            params,
            aim.columns(training.y),
            training.start.T,
            training.count,
            training.factor,
            rounds.n_threads,
        )
        if aside is not None and aside_bins is not None:
            self.booster.follow(
                aside_bins,
                aim.columns(aside.y),
                aside.count,
                aside.factor,
                np.ascontiguousarray(aside.start.T),
            )
        self.n_done = 0
        self.parts: list[dict[str, NDArray[Any]]] = []
        self.train_score: list[float] = []
        self.validation_score: list[float] = []

    # One round

    def step(self) -> None:
        """Grow the trees of one round and note what they came to."""
        rate = self.rounds.learning_rate
        if self.rounds.dropout > 0 and self.n_done:
            self._step_with_dropout(rate)
        else:
            self._grow(rate)
        self.n_done += 1
        self._note()

    def _grow(self, rate: float) -> None:
        gradient = hessian = None
        if self.aim.own is not None:
            gradient, hessian = self.aim.slope(self.training.y, self.booster.scores(TRAINING))
        self.booster.round(self.n_done, rate, gradient, hessian)

    def _note(self) -> None:
        if self.aim.own is None:
            self.train_score.append(self.booster.loss(TRAINING))
        if self.aside is None:
            return
        if self.judge is not None:
            assert self.answer is not None
            answer = self.answer(self.booster.scores(0).T)
            self.validation_score.append(self.judge(answer, answer.classes is not None))
        elif self.aim.own is None:
            self.validation_score.append(self.booster.loss(0))

    def _step_with_dropout(self, rate: float) -> None:
        """One round without some of the earlier trees (DART), all scaled to add up again."""
        self._take()
        draw = np.random.Generator(
            np.random.Philox(key=[self.rounds.seed & (2**63 - 1), self.n_done])
        )
        dropped = np.flatnonzero(draw.random(self.n_done) < self.rounds.dropout)
        if not len(dropped):
            self._grow(rate)
            return
        forest = self.forest()
        without: dict[int, Floats] = {}
        for which, rows in ((TRAINING, self.training), (0, self.aside)):
            if rows is None:
                continue
            out = _sum_of(forest, rows.table, dropped, self.aim.n_columns, self.rounds.n_threads)
            without[which] = out
            self.booster.set_scores(which, self.booster.scores(which) - out)
        # the new tree and the k dropped ones share what k trees had
        k = len(dropped)
        self._grow(rate / (k + rate))
        keep = k / (k + rate)
        for which, out in without.items():
            self.booster.set_scores(which, self.booster.scores(which) + keep * out)
        self._scale(dropped, keep)

    def _scale(self, rounds: NDArray[np.int64], factor: float) -> None:
        for number in rounds:
            part = self.parts[number]
            part["leaf_value"] = part["leaf_value"] * factor

    def _take(self) -> None:
        """Fetch the trees grown since; with dropout one part is one round."""
        part = self.booster.take_trees()
        if len(part["node_offset"]) > 1:
            self.parts.append(finished(part))

    def is_finite(self) -> bool:
        """Whether the scores are finite; the value of the user's own loss is not known."""
        if self.aim.own is not None:
            return bool(np.all(np.isfinite(self.booster.scores(TRAINING))))
        return super().is_finite()

    # Going on from earlier rounds

    def take_up(self, forest: Forest, train_score: list[float], validation: list[float]) -> None:
        """Go on after the rounds of ``forest``."""
        columns = self.aim.n_columns
        n_rounds = len(forest) // columns
        for which, rows in ((TRAINING, self.training), (0, self.aside)):
            if rows is not None:
                score = forest.sums(rows.table, rows.start, self.rounds.n_threads)
                self.booster.set_scores(which, np.ascontiguousarray(score.T))
        self._have(forest, n_rounds)
        self.train_score, self.validation_score = train_score[:n_rounds], validation[:n_rounds]

    def _have(self, forest: Forest, n_rounds: int) -> None:
        self.n_done = n_rounds
        step = self.aim.n_columns if self.rounds.dropout > 0 else len(forest)
        self.parts = [_part_of(forest, a, a + step) for a in range(0, len(forest), step)]

    def state(self) -> dict[str, Any]:
        """All that the rounds to come depend on."""
        return {
            "n_done": self.n_done,
            "forest": self.forest(),
            "scores": [
                self.booster.scores(w) for w in range(TRAINING, 0 if self.aside is None else 1)
            ],
            "train_score": np.array(self.train_score),
            "validation_score": np.array(self.validation_score),
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        for which, score in enumerate(state["scores"], TRAINING):
            self.booster.set_scores(which, np.ascontiguousarray(score, np.float64))
        self._have(state["forest"], state["n_done"])
        self.train_score = state["train_score"].tolist()
        self.validation_score = state["validation_score"].tolist()

    # What is kept

    def forest(self) -> Forest:
        """All trees so far."""
        self._take()
        schema = self.training.table.schema
        target = Target(self.rounds.target)
        return make_forest(Schema(schema.features, schema.named, target), self.parts)


def _sum_of(
    forest: Forest, table: Table, rounds: NDArray[np.int64], columns: int, n_threads: int
) -> Floats:
    """What the trees of some rounds add to the scores: a row per column."""
    total = np.zeros((columns, table.n_rows))
    wanted = set(rounds.tolist())
    for tree, values in Trees(forest).each(table, "value", range(len(forest)), n_threads):
        if tree // columns in wanted:
            total[tree % columns] += values[:, 0]
    return total


def finished(part: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Trees as the core gives them, with what a forest keeps beside that."""
    part["gap_branch"] = part["gap_branch"] + 2
    part["closed"] = np.ones(len(part["feature"]), np.bool_)
    part["leaf_impurity"] = np.zeros(len(part["leaf_samples"]))
    return part


_NAMES = tuple(
    name
    for name, per in FOREST_ARRAYS.items()
    if per not in ("pair", "term") and name not in ("clipped", "leaf_classes", "n_terms")
)
"""Arrays of the trees of a booster, which predict numbers."""


def _part_of(forest: Forest, first: int, last: int) -> dict[str, NDArray[Any]]:
    """Trees ``first`` to ``last`` of a forest, all arrays filled in."""
    b = forest._bounds
    at = {
        "tree": (first, last),
        "node": (b.node[first], b.node[last]),
        "inner": (b.inner[first], b.inner[last]),
        "leaf": (b.leaf[first], b.leaf[last]),
        "break": (b.breaks[first], b.breaks[last]),
        "code": (b.codes[first], b.codes[last]),
    }
    part = {}
    for name in _NAMES:
        start, stop = at[FOREST_ARRAYS[name]]
        part[name] = forest._part(name)[start : stop + (name == "node_offset")]
    part["node_offset"] = part["node_offset"] - part["node_offset"][0]
    return part


def make_forest(schema: Schema, parts: list[dict[str, NDArray[Any]]]) -> Forest:
    """One forest of the parts that the core has given."""
    arrays: dict[str, NDArray[Any]] = {
        name: np.concatenate([part[name] for part in parts]) for name in _NAMES
    }
    sizes = np.concatenate([np.diff(part["node_offset"]) for part in parts])
    arrays["node_offset"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    weight = arrays["leaf_weight"]
    if np.all(weight == np.floor(weight)) and weight.max(initial=0) < 2**32:
        arrays["leaf_weight"] = weight.astype(np.uint32)
    if not np.any(arrays["kind"] == SplitKind.CODES):  # every test has one break
        for name in ("kind", "n_breaks", "n_codes", "codes", "branches"):
            del arrays[name]
    for name, array in arrays.items():
        if array.dtype.kind in "iu" and name != "node_offset":
            most = int(array.max(initial=0))
            width = np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32
            arrays[name] = array.astype(width)
    return Forest(schema, arrays, criterion="squared_error")
