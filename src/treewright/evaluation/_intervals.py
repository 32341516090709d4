"""Intervals for proportions, such as accuracy, recall and coverage.

Wilson's and Clopper–Pearson's come from scipy; Wald's, which the slides teach, is there to be
compared: it is too narrow for few rows and for proportions near 0 or 1, and has no width at both
ends (Brown, Cai and DasGupta 2001, Statistical Science 16).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from treewright.arguments import ROWS, Allowed, checked, number
from treewright.errors import ParameterError

__all__ = ["Interval", "Proportion", "accuracy_interval", "proportion_interval"]

Proportion = Literal["wilson", "wald", "clopper-pearson"]


class Interval(NamedTuple):
    """Limits of a figure, and who made them.

    Parameters
    ----------
    low, high
        The limits.
    method
        How they were found, such as "wilson".

    Examples
    --------
    >>> from treewright import Evaluation
    >>> result = Evaluation.from_confusion([[40, 10], [5, 45]])
    >>> interval = result.intervals["accuracy"]
    >>> interval.method, round(interval.low, 3), round(interval.high, 3)
    ('wilson', 0.767, 0.907)
    """

    low: float
    high: float
    method: str


@checked(successes=Allowed("a number of rows", number(0).holds, float), n=ROWS)
def accuracy_interval(
    successes: float, n: float, method: Proportion = "wilson", confidence: float = 0.95
) -> tuple[float, float]:
    """Interval for an accuracy, or any other share of rows.

    Parameters
    ----------
    successes : float
        Rows that were right. Repeated cross-validation may give half of one; Clopper–Pearson
        rounds it.
    n : float
        Rows in all.
    method : {"wilson", "wald", "clopper-pearson"}, default="wilson"
        "wilson" is Wilson's score interval, "wald" the normal approximation of the textbooks,
        "clopper-pearson" the exact one, which never covers less than it says and is the widest.
    confidence : float, default=0.95
        Share of samples whose interval holds the true accuracy.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> from treewright import accuracy_interval
    >>> low, high = accuracy_interval(80, 100, method="wald")
    >>> f"{low:.3f} … {high:.3f}"
    '0.722 … 0.878'
    """
    if successes > n:
        raise ParameterError(
            f"successes must lie between 0 and n = {n:g}, got {successes!r}; "
            "pass a count of rows, not a share."
        )
    found = proportion_interval(successes, n, method, confidence)
    return found.low, found.high


def proportion_interval(
    successes: float, n: float, method: Proportion, confidence: float
) -> Interval:
    """The interval of ``successes`` among ``n``; all of 0 … 1 where there are no rows."""
    check_method(method)
    if n <= 0:
        return Interval(0.0, 1.0, method)
    if method == "clopper-pearson":
        from scipy.stats import binomtest

        exact = binomtest(round(successes), max(1, round(n))).proportion_ci(confidence, "exact")
        return Interval(float(exact.low), float(exact.high), method)
    from scipy.special import ndtri

    # Wilson's is scipy's binomtest(...).proportion_ci(method="wilson"), for any successes
    z, p = float(ndtri(0.5 + confidence / 2)), successes / n
    if method == "wald":
        half = z * float(np.sqrt(p * (1 - p) / n))
        return Interval(max(0.0, p - half), min(1.0, p + half), method)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(float(low), float(high), method)


def check_method(method: str) -> None:
    """Refuse an unknown interval for proportions."""
    if method not in get_args(Proportion):
        raise ParameterError(
            f"The interval of a proportion must be one of {', '.join(get_args(Proportion))}, "
            f"got {method!r}; take 'wilson'."
        )
