"""Bonferroni multipliers: in how many ways categories could have been merged.

The best of many groupings looks more significant than a grouping fixed beforehand; its p-value
is multiplied by the number of groupings that were open. All are returned as logarithms, because
twenty nominal categories can be grouped in 5·10¹³ ways.

References: Kass (1980), equations 3.1 to 3.3; Biggs, de Ville and Suen (1991).
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, factorial, log
from typing import Literal

__all__ = ["PredictorType", "exhaustive_multiplier", "log_multiplier"]

PredictorType = Literal["nominal", "ordinal", "floating"]
"""``floating`` is ordinal with a gap category that may join any group."""


@lru_cache(maxsize=4096)
def log_multiplier(kind: PredictorType, n_categories: int, n_groups: int) -> float:
    """Ways to merge ``n_categories`` (the gap counted) into ``n_groups`` groups, as a logarithm.

    Examples
    --------
    >>> from math import exp
    >>> [round(exp(log_multiplier(kind, 5, 3))) for kind in ("nominal", "ordinal", "floating")]
    [25, 6, 12]
    """
    c, r = n_categories, n_groups
    if kind == "ordinal":
        return log(comb(c - 1, r - 1))
    if kind == "floating":
        return log(comb(c - 2, r - 2) + r * comb(c - 2, r - 1)) if r > 1 else 0.0
    # Stirling's number of the second kind, exact: its terms alternate and are huge
    signed = sum((-1) ** i * comb(r, i) * (r - i) ** c for i in range(r))
    return log(signed // factorial(r))


def exhaustive_multiplier(kind: PredictorType, n_categories: int) -> float:
    """Pairs that exhaustive CHAID may compare on its way to two groups, as a logarithm.

    With k groups left these are k(k−1)/2 pairs of a nominal predictor, k−1 neighbours of an
    ordinal one, and with a floating category as many again less one: k−2 neighbours and k−1
    partners of the gap.

    Examples
    --------
    >>> from math import exp
    >>> [round(exp(exhaustive_multiplier(kind, 5))) for kind in ("nominal", "ordinal", "floating")]
    [20, 10, 16]
    """
    c = n_categories
    if c < 2:
        return 0.0
    if kind == "nominal":
        return log(c * (c * c - 1) // 6)
    return log(c * (c - 1) // 2) if kind == "ordinal" else log((c - 1) ** 2)
