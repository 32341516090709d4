"""Tests of whether two models differ, as pure functions of scores.

Differences of cross-validated scores are not independent: two training sets share most of their
rows. A plain paired t test ignores that and finds differences far too often; the corrected
resampled t test adds the share of rows tested to the variance of the mean and does not.

References: Dietterich (1998), *Approximate statistical tests for comparing supervised
classification learning algorithms*; Alpaydin (1999), *Combined 5 × 2 cv F test*; Nadeau and Bengio
(2003), *Inference for the generalization error*; Bonett and Price (2012), *Adjusted Wald
confidence interval for a difference of binomial proportions based on paired data*; Corani and
Benavoli (2015), *A Bayesian approach for comparing cross-validated algorithms*; Tan, Steinbach and
Kumar (2005), section 4.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.errors import DataError, ParameterError

__all__ = [
    "CORRECTIONS",
    "Correction",
    "Difference",
    "Posterior",
    "adjust",
    "corrected_t",
    "correlated_posterior",
    "five_by_two_f",
    "five_by_two_t",
    "mcnemar",
    "mean_interval",
    "paired_t",
    "unpaired_normal",
    "wilcoxon",
]

Floats = NDArray[np.float64]
Correction = Literal["holm", "bonferroni", "fdr"] | None
CORRECTIONS = ("holm", "bonferroni", "fdr", None)

FEW_DISAGREEMENTS = 25
"""Below this many rows that exactly one model gets right, McNemar's test is the binomial one."""


@dataclass(frozen=True)
class Difference:
    """What a test says of the difference between two models.

    Parameters
    ----------
    estimate, low, high
        The difference, first minus second, and its interval; NaN where the test has none.
    statistic, df
        What is compared with its distribution, and the degrees of freedom (NaN if it has none).
    p_value
        Two-sided.
    """

    estimate: float
    low: float
    high: float
    statistic: float
    df: float
    p_value: float


def paired_t(differences: ArrayLike, confidence: float = 0.95) -> Difference:
    """Student's t test of paired differences, as if they were independent.

    Parameters
    ----------
    differences
        One per fold.
    confidence
        Of the interval.

    Returns
    -------
    Difference

    Examples
    --------
    >>> round(paired_t([0.02, 0.01, 0.03, 0.02, 0.01]).p_value, 4)
    0.0086
    """
    return corrected_t(differences, 0.0, confidence)


def corrected_t(differences: ArrayLike, test_share: float, confidence: float = 0.95) -> Difference:
    """The corrected resampled t test of Nadeau and Bengio.

    Parameters
    ----------
    differences
        One per fold, or per fold and repeat.
    test_share
        Rows tested per row trained on: 1/9 for ten folds. 0 is the plain paired t test.
    confidence
        Of the interval.

    Returns
    -------
    Difference

    Examples
    --------
    >>> round(corrected_t([0.02, 0.01, 0.03, 0.02, 0.01], test_share=0.25).p_value, 4)
    0.0327
    """
    d = _vector(differences)
    n = len(d)
    scale = float(np.sqrt((1 / n + test_share) * d.var(ddof=1)))
    return _student(float(d.mean()), scale, n - 1, confidence)


def mean_interval(
    scores: ArrayLike, test_share: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of a cross-validated mean, by the variance of the corrected t test.

    It may reach beyond the values that a score can have (``Figure.within``).
    """
    found = corrected_t(scores, test_share, confidence)
    return found.low, found.high


def five_by_two_t(differences: ArrayLike, confidence: float = 0.95) -> Difference:
    """Dietterich's 5 × 2 cv paired t test.

    Its estimate is the difference on the first half of the first repeat, as the test has it.

    Parameters
    ----------
    differences
        Of shape (5, 2): five repeats of two halves.
    confidence
        Of the interval.

    Returns
    -------
    Difference

    Examples
    --------
    >>> d = [[0.02, 0.01], [0.03, 0.01], [0.02, 0.02], [0.01, 0.03], [0.02, 0.01]]
    >>> round(five_by_two_t(d).statistic, 3)
    2.0
    """
    d = _five_by_two(differences)
    return _student(float(d[0, 0]), float(np.sqrt(d.var(axis=1, ddof=1).mean())), 5, confidence)


def five_by_two_f(differences: ArrayLike, confidence: float = 0.95) -> Difference:
    """Alpaydin's combined 5 × 2 cv F test, which uses all ten differences.

    Parameters
    ----------
    differences
        Of shape (5, 2): five repeats of two halves.
    confidence
        Of the interval, all differences that the test would not reject.

    Returns
    -------
    Difference

    Examples
    --------
    >>> d = [[0.02, 0.01], [0.03, 0.01], [0.02, 0.02], [0.01, 0.03], [0.02, 0.01]]
    >>> round(five_by_two_f(d).statistic, 3)
    3.8
    """
    from scipy import stats

    d = _five_by_two(differences)
    mean = float(d.mean())
    spread = 2 * float(d.var(axis=1, ddof=1).sum())
    if spread == 0:
        return _certain(mean, 5)
    statistic = float((d**2).sum()) / spread
    limit = stats.f.ppf(confidence, 10, 5)
    # sum((d - x)^2) <= limit * spread, solved for x
    half = float(np.sqrt(max(limit * spread - ((d - mean) ** 2).sum(), 0.0) / d.size))
    return Difference(
        mean, mean - half, mean + half, statistic, 5.0, float(stats.f.sf(statistic, 10, 5))
    )


def mcnemar(first: ArrayLike, second: ArrayLike, confidence: float = 0.95) -> Difference:
    """McNemar's test on one test set; exact where few rows tell the models apart.

    Parameters
    ----------
    first, second
        Whether each model was right on each row.
    confidence
        Of the interval of the difference of accuracies (Bonett and Price).

    Returns
    -------
    Difference
        The statistic is chi-squared with continuity correction, or the smaller count where the
        test is exact.

    Examples
    --------
    >>> a = [True] * 90 + [False] * 10
    >>> b = [True] * 80 + [False] * 20
    >>> round(mcnemar(a, b).p_value, 4)
    0.002
    """
    from scipy import stats

    a, b = (np.asarray(right, bool) for right in (first, second))
    if a.shape != b.shape or a.ndim != 1 or a.size == 0:
        raise DataError(
            "McNemar's test needs the answers of both models on the same rows, got shapes "
            f"{a.shape} and {b.shape}."
        )
    n, only_a, only_b = len(a), int(np.sum(a & ~b)), int(np.sum(b & ~a))
    apart = only_a + only_b
    if apart < FEW_DISAGREEMENTS:
        statistic, df = float(min(only_a, only_b)), float("nan")
        p_value = float(stats.binomtest(only_a, apart).pvalue) if apart else 1.0
    else:
        statistic, df = (abs(only_a - only_b) - 1) ** 2 / apart, 1.0
        p_value = float(stats.chi2.sf(statistic, 1))
    share_a, share_b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    centre = share_a - share_b
    half = _normal_quantile(confidence) * np.sqrt((share_a + share_b - centre**2) / (n + 2))
    estimate = (only_a - only_b) / n
    return Difference(estimate, centre - half, centre + half, statistic, df, p_value)


def unpaired_normal(
    error_a: float, n_a: int, error_b: float, n_b: int, confidence: float = 0.95
) -> Difference:
    """The normal test of two error rates on independent test sets, as the slides have it.

    Parameters
    ----------
    error_a, error_b
        Error rates.
    n_a, n_b
        Rows they were measured on.
    confidence
        Of the interval.

    Returns
    -------
    Difference
        Of the error rates.

    Examples
    --------
    >>> found = unpaired_normal(0.15, 30, 0.25, 5000)
    >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (-0.1, -0.228, 0.028)
    """
    from scipy import stats

    variance = error_a * (1 - error_a) / n_a + error_b * (1 - error_b) / n_b
    estimate, scale = error_a - error_b, float(np.sqrt(variance))
    if scale == 0:
        return _certain(estimate, float("nan"))
    z = estimate / scale
    half = _normal_quantile(confidence) * scale
    p_value = float(2 * stats.norm.sf(abs(z)))
    return Difference(estimate, estimate - half, estimate + half, z, float("nan"), p_value)


def wilcoxon(differences: ArrayLike, confidence: float = 0.95) -> Difference:
    """Wilcoxon's signed-rank test of one difference per data set.

    Parameters
    ----------
    differences
        One per data set.
    confidence
        Of the interval around the median of the Walsh averages (Hodges and Lehmann).

    Returns
    -------
    Difference

    Examples
    --------
    >>> round(wilcoxon([0.1, 0.3, -0.1, 0.2, 0.4, 0.5, 0.2, 0.1]).p_value, 3)
    0.031
    """
    from scipy import stats

    d = _vector(differences)
    n = len(d)
    i, j = np.triu_indices(n)
    walsh = np.sort((d[i] + d[j]) / 2)
    # the k-th smallest and largest Walsh averages bound what the test does not reject
    k = _signed_rank_limit(n, 1 - confidence)
    low, high = (walsh[k - 1], walsh[-k]) if k else (-np.inf, np.inf)
    middle = float(np.median(walsh))
    if not d.any():
        return Difference(0.0, float(low), float(high), 0.0, float("nan"), 1.0)
    found = stats.wilcoxon(d, zero_method="zsplit" if np.any(d == 0) else "wilcox")
    return Difference(
        middle, float(low), float(high), float(found.statistic), float("nan"), float(found.pvalue)
    )


# Bayesian


@dataclass(frozen=True)
class Posterior:
    """How probable it is that the first model is worse, practically equal, or better.

    Parameters
    ----------
    worse, equal, better
        Three probabilities, which add up to 1.

    Examples
    --------
    >>> from treewright import CARTClassifier, compare, datasets
    >>> iris = datasets.load_iris()
    >>> models = {"tree": CARTClassifier(), "stump": CARTClassifier(max_depth=1)}
    >>> result = compare(models, iris.data, iris.target, test="bayes", random_state=0)
    >>> posterior = result.pairs[0].posterior
    >>> bool(posterior.better > 0.95)
    True
    >>> round(posterior.worse + posterior.equal + posterior.better, 6)
    1.0
    """

    worse: float
    equal: float
    better: float


def correlated_posterior(differences: ArrayLike, rope: float, correlation: float) -> Posterior:
    """The Bayesian correlated t test with a region of practical equivalence.

    Parameters
    ----------
    differences
        One per fold, or per fold and repeat; positive where the first model is better.
    rope
        Differences up to this size count as none.
    correlation
        Between folds: the share of rows tested, 1/10 for ten folds.

    Returns
    -------
    Posterior

    Examples
    --------
    >>> found = correlated_posterior([0.02, 0.01, 0.03, 0.02, 0.01], rope=0.01, correlation=0.2)
    >>> round(found.better, 3)
    0.886
    """
    from scipy import stats

    d = _vector(differences)
    n, mean = len(d), float(d.mean())
    scale = np.sqrt((1 / n + correlation / (1 - correlation)) * d.var(ddof=1))
    if scale == 0:
        return Posterior(float(mean < -rope), float(abs(mean) <= rope), float(mean > rope))
    worse = float(stats.t.cdf((-rope - mean) / scale, n - 1))
    better = float(stats.t.sf((rope - mean) / scale, n - 1))
    return Posterior(worse, max(1.0 - worse - better, 0.0), better)


# Many tests


def adjust(p_values: ArrayLike, correction: Correction = "holm") -> Floats:
    """p-values made larger for their number.

    Parameters
    ----------
    p_values
        Of all tests made.
    correction
        ``"bonferroni"`` and ``"holm"`` bound the chance of any false finding, ``"fdr"``
        (Benjamini and Hochberg) the share of false ones among the findings; None leaves them.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    m = len(p)
    if correction not in CORRECTIONS:
        raise ParameterError(
            f'correction must be "holm", "bonferroni", "fdr" or None, got {correction!r}.'
        )
    if correction is None or m == 0:
        return p
    if correction == "fdr":
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(p))
    if correction == "bonferroni":
        return np.minimum(p * m, 1.0)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(m, 0, -1)), 1.0)
    return adjusted


# Parts


def _vector(values: ArrayLike) -> Floats:
    d = np.asarray(values, np.float64).ravel()
    if len(d) < 2 or not np.all(np.isfinite(d)):
        raise DataError(
            f"A test of differences needs two finite ones or more, got {len(d)} of which "
            f"{int(np.isfinite(d).sum())} are finite; use more folds."
        )
    return d


def _signed_rank_limit(n: int, alpha: float) -> int:
    """Largest k with P(W < k) <= alpha / 2 for the signed-rank statistic W of n differences."""
    if n > 100:  # normal by then
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return int(max(n * (n + 1) / 4 - _normal_quantile(1 - alpha) * spread, 0))
    chance = np.ones(1)
    for rank in range(1, n + 1):
        step = np.zeros(rank + 1)
        step[[0, rank]] = 0.5
        chance = np.convolve(chance, step)
    return int(np.searchsorted(np.cumsum(chance), alpha / 2, side="right"))


def _five_by_two(values: ArrayLike) -> Floats:
    d = np.asarray(values, np.float64)
    if d.shape != (5, 2) or not np.all(np.isfinite(d)):
        raise DataError(
            "A 5 × 2 cv test needs five repeats of two finite differences, got shape "
            f"{d.shape}; use folds=2 and repeats=5."
        )
    return d


def _student(mean: float, scale: float, df: int, confidence: float) -> Difference:
    from scipy import stats

    # all folds alike but for rounding: no spread to compare with
    if scale <= 1e-14 * max(abs(mean), 1e-300) or scale == 0:
        return _certain(mean, df)
    t = mean / scale
    half = float(stats.t.ppf((1 + confidence) / 2, df)) * scale
    return Difference(
        mean, mean - half, mean + half, t, float(df), float(2 * stats.t.sf(abs(t), df))
    )


def _certain(mean: float, df: float) -> Difference:
    """All differences are the same."""
    if mean == 0:
        return Difference(0.0, 0.0, 0.0, 0.0, df, 1.0)
    return Difference(mean, mean, mean, float(np.copysign(np.inf, mean)), df, 0.0)


def _normal_quantile(confidence: float) -> float:
    from scipy import stats

    return float(stats.norm.ppf((1 + confidence) / 2))
