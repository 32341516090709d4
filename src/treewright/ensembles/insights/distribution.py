"""More than a mean: quantiles and intervals from a forest of numbers.

A forest's prediction is a weighted mean of training targets; a quantile forest keeps the weights
and asks for their distribution (Meinshausen 2006). Out-of-bag residuals turn a prediction into an
interval for a new observation (Zhang, Zimmerman, Nettleton and Nordman 2020). The infinitesimal
jackknife tells how much the forest itself would vary with another sample of rows (Wager, Hastie and
Efron 2014), which is an interval for the expected prediction, not for an observation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from treewright.ensembles.members.bodies import Body
from treewright.ensembles.members.draws import Draws

__all__ = ["LeafTargets", "jackknife_variance", "residual_interval"]

Floats = NDArray[np.float64]

CHUNK_ROWS = 1 << 11


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """Training rows in the leaves of a forest.

    Parameters
    ----------
    targets
        Of the training rows, ascending.
    offset, place, count
        Rows ``place[offset[l]:offset[l + 1]]`` (places in ``targets``) lie in leaf ``l`` of the
        forest's nodes, each with the weight ``count``: how often it was drawn.
    """

    targets: Floats
    offset: NDArray[np.int64]
    place: NDArray[np.int32]
    count: NDArray[Any]

    @classmethod
    def of(
        cls,
        leaves: NDArray[np.int32],
        node_offset: NDArray[np.int64],
        y: Floats,
        draws: Draws,
        weight: Floats | None,
    ) -> LeafTargets:
        """From the leaf of every training row in every tree."""
        order = np.argsort(y, kind="stable")
        rank = np.empty(len(y), np.int32)
        rank[order] = np.arange(len(y), dtype=np.int32)
        nodes, places, counts = [], [], []
        for k in range(leaves.shape[1]):
            drawn: NDArray[Any] = draws.counts(k)
            if draws.takes_all and weight is not None:
                drawn = weight
            seen = np.flatnonzero(drawn)
            nodes.append(leaves[seen, k].astype(np.int64) + node_offset[k])
            places.append(rank[seen])
            counts.append(drawn[seen])
        node, place = np.concatenate(nodes), np.concatenate(places)
        by_node = np.lexsort((place, node))
        n_nodes = int(node_offset[-1])
        offset = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=n_nodes))])
        count = np.concatenate(counts)[by_node]
        return cls(y[order], offset.astype(np.int64), place[by_node], count)

    def quantiles(self, leaves: csr_matrix, n_trees: int, q: Floats) -> Floats:
        """The quantiles ``q`` of the targets that each row of ``leaves`` shares its leaves with.

        A quantile is a training target: the first with at least that weight up to it.
        """
        total = np.add.reduceat(
            np.append(self.count, 0).astype(np.float64),
            np.minimum(self.offset[:-1], len(self.count)),
        )
        total[np.diff(self.offset) == 0] = 1.0
        share = self.count / np.repeat(total * n_trees, np.diff(self.offset))
        inside = csr_matrix((share, self.place, self.offset), shape=(len(total), len(self.targets)))
        parts = [
            self._of_weights((leaves[some] @ inside).tocsr(), q)
            for some in _chunks(leaves.shape[0])
        ]
        return np.concatenate(parts)

    def _of_weights(self, weights: csr_matrix, q: Floats) -> Floats:
        weights.sort_indices()
        running = np.concatenate([[0.0], np.cumsum(weights.data)])
        start, stop = running[weights.indptr[:-1]], running[weights.indptr[1:]]
        found = np.empty((weights.shape[0], len(q)))
        for k, level in enumerate(q):
            # sums of rounded shares: what lies within 1e-9 of the level has reached it
            wanted = start + (stop - start) * max(float(level) - 1e-9, 0.0)
            place = np.searchsorted(running, wanted, side="left") - 1
            place = np.clip(place, weights.indptr[:-1], weights.indptr[1:] - 1)
            found[:, k] = self.targets[weights.indices[place]]
        return found


def residual_interval(prediction: Floats, residuals: Floats, level: float) -> Floats:
    """Lower and upper ends: the prediction and quantiles of the out-of-bag residuals."""
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(residuals, [tail, 1.0 - tail])
    return np.column_stack([prediction + low, prediction + high])


def jackknife_variance(
    body: Body, rows: Any, draws: Draws, n_threads: int
) -> tuple[Floats, Floats]:
    """Prediction of each row and the variance of it, by the infinitesimal jackknife.

    With N the number of times that a training row is in a sample and t the prediction of the
    tree, it is Σ cov(N, t)² over training rows, less what that is expected to be by chance with
    so few trees: n/B² Σ (t − mean)². It may be negative where there are too few of them.
    """
    n_trees = len(body)
    said = np.stack(
        [answer[:, 0] for _, answer in body.each(rows, "value", range(n_trees), n_threads)]
    )
    counts = np.stack([draws.counts(k) for k in range(n_trees)]).astype(np.float64)
    counts -= counts.mean(axis=0)
    prediction = said.mean(axis=0)
    centred = said - prediction
    variance = np.empty(said.shape[1])
    for some in _chunks(said.shape[1]):
        covariance = counts.T @ centred[:, some] / n_trees
        variance[some] = (covariance**2).sum(axis=0)
    # the noise of a sum of covariances over B trees: Σ var(N) · var(t) / B
    noise = counts.var(axis=0).sum() * centred.var(axis=0) / n_trees
    variance -= noise
    sampling, n = draws.sampling, draws.n_rows
    if not sampling.replace and isinstance(sampling.n_draws, int) and sampling.n_draws < n:
        # samples without replacement vary less than the data do (Wager and Athey 2018)
        variance *= (n - 1) / n * (n / (n - sampling.n_draws)) ** 2
    return prediction, variance


def _chunks(n: int) -> Iterator[slice]:
    for start in range(0, n, CHUNK_ROWS):
        yield slice(start, min(start + CHUNK_ROWS, n))
