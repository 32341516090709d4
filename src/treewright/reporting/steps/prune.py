"""The fifth step: the tree that is shown, whole and at its chosen size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from treewright.reporting._book import Steps, steps_of
from treewright.reporting._sizes import errors_by_size
from treewright.reporting.steps.choose import Choice
from treewright.reporting.steps.hold_out import Held
from treewright.reporting.steps.understand import Understanding
from treewright.tree.tree import Tree

__all__ = ["Pruned", "prune"]


@dataclass(frozen=True, eq=False)
class Pruned:
    """The readable model, its tree before pruning, the sizes between, and the one chosen."""

    model: Any
    whole: Tree
    steps: Steps
    start: int
    words: str

    @property
    def tree(self) -> Tree:
        """The tree of the model."""
        tree: Tree = self.model.tree_
        return tree


def prune(choice: Choice, data: Understanding, held: Held) -> Pruned:
    """Grow the readable tree without pruning too, so that the page can show every size of it."""
    model = choice.models[choice.readable]
    own = model.get_params(deep=False)
    whole: Tree = model.tree_
    words = "The learner prunes by its own rule; the errors beside the slider are of the test rows."
    judge = errors_by_size(model, (held.X_test, held.y_test))
    if own.get("ccp_alpha") == "cv":
        whole = clone(model).set_params(ccp_alpha=0.0).fit(held.X_train, held.y_train).tree_
        judge = errors_by_size(model, None)
        words = (
            f"Grown to {whole.n_leaves} leaves and pruned by {own['cv']}-fold cross-validation to "
            "the smallest tree within one standard error of the best (Breiman et al., 1984)."
        )
    steps = steps_of(whole, judge)
    same = np.flatnonzero(steps.n_leaves == model.tree_.n_leaves)
    start = int(same[0]) if len(same) else 0
    return Pruned(model, whole, steps, start, words)
