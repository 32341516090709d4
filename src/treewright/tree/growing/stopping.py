"""When to stop growing: the user's numbers turned into counts and weights.

Shares become counts of the rows that take part (a row of weight zero takes none), so that
weights and repeated rows give the same tree. The rules are those of scikit-learn.
"""

from __future__ import annotations

from math import ceil, log2, sqrt
from numbers import Integral

__all__ = ["features_per_node", "most_exhaustive", "samples_to_leaf", "samples_to_split"]


def samples_to_split(min_samples_split: float, least_leaf: int, n_samples: int) -> int:
    """Rows a node needs before a split of it is tried.

    Parameters
    ----------
    min_samples_split
        A count, or a share of ``n_samples``.
    least_leaf
        Rows that every leaf needs; a node below twice that cannot be split.
    n_samples
        Rows that take part.

    Examples
    --------
    >>> samples_to_split(2, 5, 100)
    10
    >>> samples_to_split(0.25, 1, 100)
    25
    """
    if isinstance(min_samples_split, Integral):
        count = int(min_samples_split)
    else:
        count = ceil(min_samples_split * n_samples)
    return max(2, count, 2 * least_leaf)


def samples_to_leaf(min_samples_leaf: float, n_samples: int) -> int:
    """Rows that every leaf needs: a count, or a share of ``n_samples``.

    Examples
    --------
    >>> samples_to_leaf(0.101, 100)
    11
    """
    if isinstance(min_samples_leaf, Integral):
        return int(min_samples_leaf)
    return ceil(min_samples_leaf * n_samples)


def most_exhaustive(max_exhaustive: int | str, n_rows: int, n_classes: int) -> int:
    """Most categories whose subsets are all tried; "auto" bounds subsets times classes.

    A tree has at most a node per row, so that more rows get less work at each: a whole tree stays
    within about 2³² steps, some seconds.

    Examples
    --------
    >>> most_exhaustive("auto", 111, 6)
    20
    >>> most_exhaustive("auto", 100_000, 6)
    15
    >>> most_exhaustive(12, 111, 6)
    12
    """
    if not isinstance(max_exhaustive, str):
        return int(max_exhaustive)
    work = min(2**22, max(2**17, 2**32 // max(1, n_rows)))
    return min(20, max(2, 1 + int(log2(work / max(1, n_classes)))))


def features_per_node(max_features: float | str | None, n_features: int) -> int | None:
    """Features drawn at each node, None for all of them.

    Examples
    --------
    >>> features_per_node("sqrt", 28)
    5
    >>> features_per_node(1.0, 28) is None
    True
    """
    if max_features is None:
        return None
    if max_features == "sqrt":
        drawn = int(sqrt(n_features))
    elif max_features == "log2":
        drawn = int(log2(n_features))
    elif isinstance(max_features, Integral):
        drawn = int(max_features)
    else:
        drawn = int(float(max_features) * n_features)
    drawn = max(1, drawn)
    return None if drawn >= n_features else drawn
