"""``compare``: models on the same folds, and a test of whether they differ.

Every model is fitted once on every split; all figures and tests are made of what it said then. What
comes out is a :class:`Comparison`. References are in :mod:`._tests` and :mod:`._ranks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import DataError, ParameterError
from treewright.evaluation._comparison import Comparison, Pair, Settings
from treewright.evaluation._costs import positive_code, read_costs
from treewright.evaluation._data import Rows, is_class_model, read_rows
from treewright.evaluation._figures import FIGURES
from treewright.evaluation._folds import FoldRun, Progress, Split, run_folds
from treewright.evaluation._names import choice
from treewright.evaluation._ranks import Friedman, friedman
from treewright.evaluation._scores import default_metric, fold_scores, share_tested
from treewright.evaluation._splits import make_splits
from treewright.evaluation._tests import (
    CORRECTIONS,
    Correction,
    Difference,
    Posterior,
    adjust,
    corrected_t,
    correlated_posterior,
    five_by_two_f,
    five_by_two_t,
    mcnemar,
    paired_t,
    unpaired_normal,
    wilcoxon,
)

__all__ = ["compare"]

Test = Literal[
    "corrected_t",
    "paired_t",
    "5x2cv",
    "5x2cv_f",
    "bayes",
    "mcnemar",
    "unpaired",
    "wilcoxon",
    "friedman",
]

ON_FOLDS = ("corrected_t", "paired_t", "bayes")
FIVE_BY_TWO = ("5x2cv", "5x2cv_f")
ON_ONE_TEST_SET = ("mcnemar", "unpaired")
ON_DATA_SETS = ("wilcoxon", "friedman")

Floats = NDArray[np.float64]


@checked()
def compare(
    models: Any,
    X: Any,
    y: Any = None,
    *,
    folds: Any = None,
    repeats: int | None = None,
    test: Test | None = None,
    correction: Correction = "holm",
    metric: str | None = None,
    confidence: float = 0.95,
    rope: float = 0.01,
    test_size: float | None = None,
    costs: Any = None,
    positive: Any = None,
    stratify: bool | None = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Comparison:
    """Compare models on the same folds, and say what may and may not be concluded.

    Parameters
    ----------
    models : dict of str to estimator, or list of (str, estimator)
        Two models or more; classifiers or regressors of any library. They are cloned.
    X : array or data frame of shape (n_samples, n_features)
        Or, without ``y``, a dict of data sets, each ``(X, y)`` or a bundled data set.
    y : array-like of shape (n_samples,), default=None
        The target.
    folds, repeats : int, default=None
        Folds, and how often they are made anew; 10 and 10, but 2 and 5 for the 5 × 2 cv tests.
        ``folds`` may also be a splitter of scikit-learn or pairs of row numbers.
    test : str, default=None
        On one data set ``"corrected_t"`` (the default: Nadeau and Bengio's corrected resampled t
        test), ``"paired_t"`` (as if folds were independent, which finds far too much), ``"5x2cv"``
        (Dietterich's t), ``"5x2cv_f"`` (Alpaydin's F), ``"bayes"`` (Bayesian correlated t with
        a region of practical equivalence), ``"mcnemar"`` on one test set, or ``"unpaired"``, the
        normal test of two error rates as if each had a test set of its own. On several data sets
        ``"friedman"`` with Nemenyi's test (the default for three models or more), or
        ``"wilcoxon"``.
    correction : {"holm", "bonferroni", "fdr"} or None, default="holm"
        How p-values are corrected for the number of pairs; Nemenyi's test corrects them itself.
    metric : str, default=None
        A figure of :class:`Evaluation`; accuracy, or mean cost where there are costs, or RMSE.
    confidence : float, default=0.95
        Of the intervals; 1 minus the level of the tests.
    rope : float, default=0.01
        With ``test="bayes"``: differences of the metric up to this size count as none.
    test_size : float, default=None
        With ``"mcnemar"`` and ``"unpaired"``: share of rows in the test set, 1/3 by default.
    costs, positive, stratify, groups
        As in :func:`treewright.cross_validate`.
    random_state : int, RandomState or None, default=None
        Of the folds.
    n_jobs : int, default=None
        Fits at a time; −1 for all cores. Changes nothing but the time.
    progress : bool or callable, default=None
        True for a bar; or a function of fits done and fits in all.

    Returns
    -------
    Comparison
        With ``sentence``, ``frame()``, ``pair_frame()``, ``plot()``, ``by(metric)``, ``str()`` and
        a notebook display.

    See Also
    --------
    cross_validate : One model with all its figures.

    Examples
    --------
    >>> from treewright import C45Classifier, CARTClassifier, compare, datasets
    >>> iris = datasets.load_iris()
    >>> models = {"stump": CARTClassifier(max_depth=1), "c45": C45Classifier()}
    >>> result = compare(models, iris.data, iris.target, repeats=2, random_state=0)
    >>> result.pairs[0].first, bool(result.pairs[0].p_adjusted < 0.05)
    ('c45', True)
    """
    named = read_models(models)
    choice("correction", correction, CORRECTIONS)
    sets = _data_sets(X, y, groups)
    which = _which_test(test, len(sets), len(named), correction)
    if rope != 0.01 and which != "bayes":
        raise ParameterError(f'rope is for test="bayes", got it with test="{which}"; leave it out.')
    settings = Settings(which, correction, metric, confidence, rope, costs, positive)
    plan = {
        **_plan(which, folds, repeats, test_size),
        "stratify": stratify,
        "random_state": random_state,
    }
    is_classes = _task(named)
    runs: dict[str, dict[str, FoldRun]] = {}
    parts = [_prepared(name, *data, groups, is_classes, plan) for name, data in sets.items()]
    follow = _Followed(progress, sum(len(splits) for _, _, splits in parts) * len(named))
    for name, rows, splits in parts:
        runs[name] = run_folds(named, rows, splits, n_jobs=n_jobs, progress=follow.part())
    return judge(runs, settings)


def judge(runs: dict[str, dict[str, FoldRun]], settings: Settings) -> Comparison:
    """Make the comparison of what models said on every split of every data set."""
    first = next(iter(next(iter(runs.values())).values()))
    metric = default_metric(first.rows, settings.metric, settings.costs)
    if settings.test in ON_ONE_TEST_SET and metric not in ("accuracy", "error"):
        raise ParameterError(
            f'test="{settings.test}" is of accuracy or error, got metric={metric!r}; use '
            'test="corrected_t".'
        )
    scores = [_scored(found, metric, settings) for found in runs.values()]
    names = list(next(iter(runs.values())))
    sign = 1.0 if FIGURES[metric].better == "high" else -1.0
    means = np.array([one.mean(axis=1) for one in scores]).T
    ranking = None
    if settings.test == "friedman":
        ranking = friedman(means.T, settings.confidence, sign > 0)
    best_first = means.mean(axis=1) * sign if ranking is None else -ranking.ranks
    order = np.argsort(-best_first, kind="stable")
    places = [(int(a), int(b)) for k, a in enumerate(order) for b in order[k + 1 :]]
    if ranking is not None:
        differences = [_apart(ranking, *pair) for pair in places]
    else:
        answers = next(iter(runs.values()))
        differences = [
            _difference(settings, metric, scores[0], means, [answers[n] for n in names], pair)
            for pair in places
        ]
    p_values = np.array([found.p_value for found in differences])
    if settings.test not in ("friedman", "bayes"):
        p_values = adjust(p_values, settings.correction)
    pairs = [
        Pair(
            names[a],
            names[b],
            found.estimate,
            found.low,
            found.high,
            found.statistic,
            found.p_value,
            float(p),
            _posterior(settings, sign * (scores[0][a] - scores[0][b]), first.splits),
        )
        for (a, b), found, p in zip(places, differences, p_values, strict=True)
    ]
    return Comparison(
        names=tuple(names[k] for k in order),
        metric=metric,
        settings=settings,
        scores=tuple(one[order] for one in scores),
        data_sets=tuple(runs),
        pairs=tuple(pairs),
        ranking=ranking,
        ranks=None if ranking is None else ranking.ranks[order],
        runs=runs,
    )


def _scored(found: dict[str, FoldRun], metric: str, settings: Settings) -> Floats:
    """The metric of every model on every split."""
    rows = next(iter(found.values())).rows
    costs, code = None, None
    if rows.classes is not None:
        classes = rows.classes.tolist()
        costs, code = read_costs(settings.costs, classes), positive_code(settings.positive, classes)
    return np.array([fold_scores(run, metric, costs, code, name) for name, run in found.items()])


# Reading the arguments


def read_models(models: Any) -> dict[str, Any]:
    """Names and models, two or more, each name once."""
    pairs = list(models.items()) if isinstance(models, Mapping) else models
    is_list = isinstance(pairs, Sequence) and not isinstance(pairs, str)
    if not is_list or not all(
        isinstance(p, Sequence) and len(p) == 2 and isinstance(p[0], str) for p in pairs
    ):
        raise ParameterError(
            "models must be a dict of names and estimators, or a list of such pairs, got "
            f"{type(models).__name__}."
        )
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"models must have different names, but {names.count(name)} of them are called "
                f"{name!r}; rename all but one."
            )
    if len(pairs) < 2:
        raise ParameterError(
            f"models must be two or more, got {len(pairs)}; use cross_validate for one."
        )
    return dict(pairs)


def _task(models: dict[str, Any]) -> bool:
    kinds = {name: is_class_model(model) for name, model in models.items()}
    if len(set(kinds.values())) > 1:
        classes = next(name for name, is_so in kinds.items() if is_so)
        numbers = next(name for name, is_so in kinds.items() if not is_so)
        raise ParameterError(
            f"models must all predict classes or all predict numbers, but {classes!r} is a "
            f"classifier and {numbers!r} a regressor."
        )
    return next(iter(kinds.values()))


def _data_sets(X: Any, y: Any, groups: Any) -> dict[str, tuple[Any, Any]]:
    if y is not None:
        return {"": (X, y)}
    if not isinstance(X, Mapping) or not X:
        raise DataError(
            "compare requires y to be passed, but the target y is None; several data sets are a "
            "dict of names and (X, y)."
        )
    if groups is not None:
        raise ParameterError("groups are of the rows of one data set, but several were passed.")
    found = {}
    for name, data in X.items():
        if hasattr(data, "data") and hasattr(data, "target"):
            data = (data.data, data.target)
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise DataError(
                f"Every data set must be a pair (X, y), got {type(data).__name__} for {name!r}."
            )
        found[str(name)] = (data[0], data[1])
    if len(found) < 2:
        raise DataError(f"Several data sets are two or more, got {len(found)}; pass X and y.")
    return found


def _which_test(test: str | None, n_sets: int, n_models: int, correction: Any) -> str:
    several = n_sets > 1
    if test is None:
        return ("friedman" if n_models > 2 else "wilcoxon") if several else "corrected_t"
    names = (*ON_FOLDS, *FIVE_BY_TWO, *ON_ONE_TEST_SET, *ON_DATA_SETS)
    choice("test", test, names)
    if (test in ON_DATA_SETS) != several:
        kind = "several data sets" if test in ON_DATA_SETS else "one data set"
        other = "wilcoxon" if several else "corrected_t"
        raise ParameterError(f'test="{test}" is for {kind}, got {n_sets}; use test="{other}".')
    if test == "friedman" and n_models < 3:
        raise ParameterError(
            f'test="friedman" is for three models or more, got {n_models}; use test="wilcoxon".'
        )
    if test in ("friedman", "bayes") and correction not in ("holm", None):
        why = "Nemenyi's test corrects p-values itself" if test == "friedman" else "there are none"
        raise ParameterError(
            f'correction="{correction}" is for p-values of single tests, but with test="{test}" '
            f"{why}; leave it out."
        )
    return test


def _plan(test: str, folds: Any, repeats: int | None, test_size: float | None) -> dict[str, Any]:
    if test in ON_ONE_TEST_SET:
        if folds is not None or repeats is not None:
            raise ParameterError(
                f'test="{test}" is made on one test set, got folds or repeats; use test_size, or '
                'test="corrected_t".'
            )
        share = 1 / 3 if test_size is None else test_size
        return {"method": "holdout", "test_size": share, "repeats": 1}
    if test_size is not None:
        raise ParameterError(
            f'test_size is for test="mcnemar" and "unpaired", got it with test="{test}"; use folds.'
        )
    if test in FIVE_BY_TWO:
        if folds not in (None, 2) or repeats not in (None, 5):
            raise ParameterError(
                f'test="{test}" takes folds=2 and repeats=5, got folds={folds!r} and '
                f"repeats={repeats!r}; leave them out."
            )
        return {"method": "repeated", "folds": 2, "repeats": 5}
    if folds is not None and not isinstance(folds, int | np.integer) and repeats is not None:
        raise ParameterError(
            "repeats goes with a number of folds, got both repeats and folds of your own; repeat "
            "them in folds."
        )
    return {
        "method": "repeated",
        "folds": 10 if folds is None else folds,
        "repeats": 10 if repeats is None else repeats,
    }


def _prepared(
    name: str, X: Any, y: Any, groups: Any, is_classes: bool, plan: dict[str, Any]
) -> tuple[str, Rows, list[Split]]:
    rows = read_rows(X, y, is_classes)
    return name, rows, make_splits(rows, groups=groups, **plan)


class _Followed:
    """One bar, or one count, over the fits on all data sets."""

    def __init__(self, progress: Progress, n: int) -> None:
        self.progress, self.n, self.done = progress, n, 0

    def part(self) -> Progress:
        if not callable(self.progress):
            return self.progress
        before, tell = self.done, self.progress

        def told(done: int, _: int) -> None:
            self.done = before + done
            tell(self.done, self.n)

        return told


# Testing


def _difference(
    settings: Settings,
    metric: str,
    scores: Floats,
    means: Floats,
    runs: list[FoldRun],
    pair: tuple[int, int],
) -> Difference:
    a, b = pair
    test, confidence, splits = settings.test, settings.confidence, runs[0].splits
    if test == "wilcoxon":
        return wilcoxon(means[a] - means[b], confidence)
    if test in ON_ONE_TEST_SET:
        found = _on_one_test_set(test, runs[a], runs[b], confidence)
        return _turned(found) if metric == "error" else found
    d = scores[a] - scores[b]
    if test in FIVE_BY_TWO:
        use = five_by_two_t if test == "5x2cv" else five_by_two_f
        return use(d.reshape(5, 2), confidence)
    if len(splits) < 2:
        raise ParameterError(
            f'test="{test}" needs two folds or more, got {len(splits)}; use test="mcnemar".'
        )
    if test == "paired_t":
        return paired_t(d, confidence)
    return corrected_t(d, share_tested(splits), confidence)


def _apart(ranking: Friedman, a: int, b: int) -> Difference:
    """Two mean ranks, and the critical difference around theirs."""
    apart = float(ranking.ranks[a] - ranking.ranks[b])
    half, p_value = ranking.critical_difference, float(ranking.pair_p_values[a, b])
    return Difference(apart, apart - half, apart + half, apart, float("nan"), p_value)


def _on_one_test_set(test: str, a: FoldRun, b: FoldRun, confidence: float) -> Difference:
    right = [run.rows.truth[run.splits[0].test] == run.answers[0].test.predicted for run in (a, b)]
    if test == "mcnemar":
        return mcnemar(right[0], right[1], confidence)
    n = len(right[0])
    error_a, error_b = (1 - float(one.mean()) for one in right)
    return _turned(unpaired_normal(error_a, n, error_b, n, confidence))


def _turned(found: Difference) -> Difference:
    """A difference of errors as one of accuracies, or the other way round."""
    low, high = -found.high, -found.low
    return replace(found, estimate=-found.estimate, low=low, high=high, statistic=-found.statistic)


def _posterior(settings: Settings, d: Floats, splits: Sequence[Split]) -> Posterior | None:
    if settings.test != "bayes":
        return None
    share = share_tested(splits)
    return correlated_posterior(d, settings.rope, share / (1 + share))
