"""From training data to the best tree: candidate tests, costs, search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treewright.kernels.optimal import optimal_tree
from treewright.learners._optimal.candidates import Wanted, candidate_tests
from treewright.learners._optimal.costs import leaf_costs
from treewright.learners._optimal.replay import Replay

if TYPE_CHECKING:
    from treewright.estimator.training import Training

__all__ = ["Proof", "find_tree"]


@dataclass(frozen=True)
class Proof:
    """What is known of the best tree.

    ``gap`` is how far the found one can be above it, in the unit of the tree's risk.
    """

    gap: float
    n_tests: int
    is_interrupted: bool = False


def find_tree(
    training: Training,
    *,
    max_depth: int,
    leaf_penalty: float = 0.0,
    max_cuts: int | None = None,
    time_limit: float | None = None,
    n_threads: int = 1,
    progress: Callable[[float], None] | None = None,
    wanted: Wanted | None = None,
) -> tuple[Replay, Proof]:
    """A chooser that grows the best tree, and how good that is proven to be.

    ``wanted`` are tests that must be among those tried.
    """
    y, weight = training.y, training.sample_weight
    if training.target.is_classification:
        response = np.eye(len(training.target.classes))[y]
    else:
        response = y.reshape(len(y), -1)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    candidates = candidate_tests(training.table, response, weight, max_cuts, wanted)
    costs = leaf_costs(training)
    found = optimal_tree(
        costs.problem(candidates, leaf_penalty), max_depth, time_limit or 0.0, n_threads, progress
    )
    above = found.cost - found.lower
    if above and leaf_penalty == 0.0:
        # Leaves only break ties between trees of one error, which is a multiple of the grain.
        error = found.cost - int(np.count_nonzero(found.test < 0))
        lowest = -(-(found.lower - 2**max_depth) // costs.grain) * costs.grain
        above = max(0, error - lowest)
    proof = Proof(above / costs.scale if above else 0.0, len(candidates), found.is_interrupted)
    return Replay(training.table, candidates, found), proof
