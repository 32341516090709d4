"""Boosting by exact trees: every round fits CART's regression tree to the slope.

With gradients g and hessians h, CART grows a tree on −g / h with weights h, which is what Newton's
step without regularisation asks for; for the squared error that is the tree of the residuals
(Friedman 2001). All cuts are looked at, by the engine that grows single trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema, Target
from treewright.ensembles.boosting.losses import multinomial_loss, probabilities
from treewright.ensembles.boosting.rounds import Judged, Rounds, Stepping
from treewright.ensembles.boosting.stopping import Judge
from treewright.ensembles.boosting.tasks import Aim
from treewright.errors import ParameterError
from treewright.estimator.training import Training
from treewright.tree.forest.arrays import Forest
from treewright.tree.predict import node_values
from treewright.tree.tree import Tree

__all__ = ["ExactRun", "check_exact"]

Floats = NDArray[np.float64]

_BINNED = {
    "max_bins": 255,
    "min_child_weight": 0.001,
    "sampling": "uniform",
    "categorical_smoothing": 10.0,
    "categorical_l2": 10.0,
    "l1_regularization": 0.0,
    "min_gain": 0.0,
    "subsample": 1.0,
    "max_features_per_tree": 1.0,
    "max_features_per_level": 1.0,
    "dropout": 0.0,
    "monotonic_cst": None,
    "interaction_cst": None,
    "snapshot": None,
}
"""Parameters that only trees of bins follow, and what leaves them out."""
_RENEWED = ("absolute_error", "huber", "quantile")


def check_exact(estimator: Any) -> None:
    """Refuse parameters that exact trees do not follow."""
    for name, off in _BINNED.items():
        if getattr(estimator, name) != off:
            raise ParameterError(
                f'tree_method="exact" needs {name}={off!r}, got {getattr(estimator, name)!r}; '
                'use tree_method="hist".'
            )
    for name, off in (("growth", "leaf"), ("l2_regularization", 0.0), ("max_features", 1.0)):
        if getattr(estimator, name) not in ("auto", off):
            raise ParameterError(
                f'tree_method="exact" needs {name}={off!r} or "auto", got '
                f'{getattr(estimator, name)!r}; use tree_method="hist".'
            )
    if estimator.loss in _RENEWED:
        raise ParameterError(
            f'tree_method="exact" fits smooth losses, got loss={estimator.loss!r}; '
            'use tree_method="hist".'
        )


class ExactRun(Stepping):
    """A fit by exact trees in progress; the same to its caller as :class:`.rounds.Run`."""

    def __init__(
        self,
        learner: Any,
        training: Judged,
        aside: Judged | None,
        aim: Aim,
        rounds: Rounds,
        judge: Judge | None,
        answer: Callable[[Floats], Any],
        before: Forest | None,
    ) -> None:
        self.learner, self.aim, self.rounds = learner, aim, rounds
        self.aside = aside
        self.rows = [training] if aside is None else [training, aside]
        self.scores = [np.array(rows.start) for rows in self.rows]
        self.judge, self.answer = judge, answer
        self.trees: list[Tree] = []
        self.n_done = 0
        self.train_score: list[float] = []
        self.validation_score: list[float] = []
        if before is not None:
            self.trees = [before.tree(i) for i in range(len(before))]
            self.n_done = len(self.trees) // aim.n_columns
            for rows, score in zip(self.rows, self.scores, strict=True):
                for i, tree in enumerate(self.trees):
                    score[:, i % aim.n_columns] += _values(tree, rows, rounds.n_threads)

    def step(self) -> None:
        """Grow the trees of one round and note what they came to."""
        rows = self.rows[0]
        schema = rows.table.schema
        target = Target(self.rounds.target)
        grown = []
        gradients, hessians = self._slopes()
        for gradient, hessian in zip(gradients, hessians, strict=True):
            weight = hessian if rows.weight is None else hessian * rows.weight
            # rows whose slope has died out count next to nothing, but count
            weight = np.maximum(weight, weight.max() * 1e-12)
            is_plain = bool(np.all(weight == 1.0))
            training = Training(
                rows.table,
                -gradient / np.maximum(hessian, hessian.max() * 1e-12),
                None if is_plain else weight,
                target,
            )
            tree = self.learner._grow(training)
            with np.errstate(over="ignore"):
                value = tree.value * self.rounds.learning_rate
            known = Schema(schema.features, schema.named, target)
            grown.append(replace(tree, schema=known, value=value))
        self.trees += grown
        self.n_done += 1
        for part, part_score in zip(self.rows, self.scores, strict=True):
            for k, tree in enumerate(grown):
                part_score[:, k] += _values(tree, part, self.rounds.n_threads)
        self._note()

    def is_finite(self) -> bool:
        """Whether the scores are finite."""
        return super().is_finite() and bool(np.all(np.isfinite(self.scores[0])))

    def _slopes(self) -> tuple[Floats, Floats]:
        rows, score = self.rows[0], self.scores[0]
        if self.aim.own is not None:
            return self.aim.slope(rows.y, np.ascontiguousarray(score.T))
        if self.aim.loss is None:
            share = probabilities(score)
            own = np.zeros_like(share)
            own[np.arange(len(own)), rows.y] = 1.0
            return (share - own).T, (share * (1 - share)).T
        y = self.aim.columns(rows.y)
        parts = [
            self.aim.loss.slope(s, t, self.aim.number) for s, t in zip(score.T, y, strict=True)
        ]
        return np.array([g for g, _ in parts]), np.array([h for _, h in parts])

    def _note(self) -> None:
        if self.aim.own is None:
            self.train_score.append(self._loss(0))
        if len(self.rows) < 2:
            return
        if self.judge is not None:
            answer = self.answer(self.scores[1])
            self.validation_score.append(self.judge(answer, answer.classes is not None))
        elif self.aim.own is None:
            self.validation_score.append(self._loss(1))

    @np.errstate(over="ignore", invalid="ignore")
    def _loss(self, which: int) -> float:
        rows, score = self.rows[which], self.scores[which]
        if self.aim.loss is None:
            each = multinomial_loss(score, rows.y)
        else:
            y = self.aim.columns(rows.y)
            each = np.mean(
                [
                    self.aim.loss.loss(s, t, self.aim.number)
                    for s, t in zip(score.T, y, strict=True)
                ],
                axis=0,
            )
        return float(np.average(each, weights=rows.weight))

    def forest(self) -> Forest:
        """All trees so far."""
        return Forest.from_trees(self.trees)


def _values(tree: Tree, rows: Judged, n_threads: int) -> Floats:
    return np.asarray(node_values(tree, rows.table, tree.value, n_threads)[:, 0])
