"""A criterion of one's own: the twoing rule of Breiman et al. (1984), section 4.3.2.

The function sees all cuts of an attribute at once: ``left`` and ``right`` hold the class weights
on both sides, one row per cut. It returns a score per cut; the largest wins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treewright import CARTClassifier, HuntClassifier
from treewright.datasets import load_iris


def twoing(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """How differently the classes are shared out, times how even the cut is."""
    n_left, n_right = left.sum(axis=1), right.sum(axis=1)
    difference = np.abs(left / n_left[:, None] - right / n_right[:, None]).sum(axis=1)
    return n_left * n_right * difference**2


def main() -> None:
    """Grow iris by twoing and by Gini."""
    iris = load_iris()
    for model in (HuntClassifier(criterion=twoing, max_depth=2), CARTClassifier(max_depth=2)):
        print(model.fit(iris.data, iris.target).tree_.to_text(width=80), end="\n\n")


if __name__ == "__main__":
    main()
