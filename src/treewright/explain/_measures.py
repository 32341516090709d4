"""The textbook's figures of one candidate split, from the counts of its branches.

Whatever a learner chooses by, the counts give information gain, gain ratio, the decrease of
Gini's index and Pearson's test: so candidates of different learners can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.tree.conditions import branch_conditions
from treewright.tree.show.describe import Wording

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

__all__ = ["Branch", "Measures", "branches_of", "entropy", "gini", "measures_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Branch:
    """One branch of a candidate split.

    Parameters
    ----------
    test
        What a row satisfies to take it.
    n_samples, weight
        Rows that do, and their weight.
    value
        Weight of each class among them, or their means.
    impurity
        In the measure of the learner.

    Examples
    --------
    >>> from treewright import ID3Classifier, datasets
    >>> tennis = datasets.load_play_tennis()
    >>> model = ID3Classifier().fit(tennis.data, tennis.target)
    >>> for branch in model.trace(0, tennis.data, tennis.target)[0].branches:
    ...     print(branch.test, branch.value, round(branch.impurity, 3))
    Outlook = Overcast (0.0, 4.0) 0.0
    Outlook = Rain (2.0, 3.0) 0.971
    Outlook = Sunny (3.0, 2.0) 0.971
    """

    test: str
    n_samples: int
    weight: float
    value: tuple[float, ...]
    impurity: float


@dataclass(frozen=True)
class Measures:
    """Figures of a split into branches; entropy in bits, p of Pearson's chi-squared test."""

    information_gain: float = math.nan
    split_info: float = math.nan
    gain_ratio: float = math.nan
    gini_gain: float = math.nan
    p_value: float = math.nan


def entropy(counts: Sequence[float] | Floats) -> float:
    """Bits that the class of a row holds, from the counts of the classes.

    Examples
    --------
    >>> round(entropy([9, 5]), 3)
    0.94
    """
    share = _shares(counts)
    return float(-(share * np.log2(share)).sum()) + 0.0


def gini(counts: Sequence[float] | Floats) -> float:
    """Gini's index of some counts.

    Examples
    --------
    >>> round(gini([1, 5]), 3)
    0.278
    """
    return float(1.0 - (_shares(counts) ** 2).sum())


def _shares(counts: Sequence[float] | Floats) -> Floats:
    kept = np.asarray(counts, np.float64)
    kept = kept[kept > 0]
    return kept / kept.sum() if len(kept) else np.ones(1)


def branches_of(tree: Tree, node: int, width: int) -> tuple[Branch, ...]:
    """The branches of a split node in words and numbers."""
    conditions = branch_conditions(tree, node)
    wording = Wording.over(conditions, gap_names=frozenset())
    return tuple(
        Branch(
            wording.text(condition, width),
            int(tree.n_samples[child]),
            float(tree.weight[child]),
            tuple(tree.value[child].tolist()),
            float(tree.impurity[child]),
        )
        for child, condition in zip(tree.children(node), conditions, strict=True)
    )


def measures_of(branches: Sequence[Branch]) -> Measures:
    """Figures of a split by the class weights of its branches; NaN where there is no split."""
    table = np.array([branch.value for branch in branches], np.float64)
    if len(table) < 2 or table.sum() <= 0:
        return Measures()
    rows, whole = table.sum(axis=1), table.sum(axis=0)
    share = rows / rows.sum()
    gain = entropy(whole) - float(share @ [entropy(row) for row in table])
    decrease = gini(whole) - float(share @ [gini(row) for row in table])
    info = entropy(rows)
    ratio = gain / info if info > 0 else math.nan
    return Measures(gain, info, ratio, decrease, _p_value(table))


def _p_value(table: Any) -> float:
    from scipy.stats import chi2

    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    free = (table.shape[0] - 1) * (table.shape[1] - 1)
    if free < 1:
        return math.nan
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chi2.sf(((table - expected) ** 2 / expected).sum(), free))
