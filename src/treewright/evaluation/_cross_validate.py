"""``cross_validate``: a model judged on rows held out, in all the ways of the course.

All methods end in predictions of rows that did not train the model, with weights that sum to 1 per
row. The .632 bootstrap adds those of the training rows with the weight .368, .632+ with a weight
that shrinks as the model overfits; so the confusion matrix, and every figure made of it, is the
mixture too (Efron and Tibshirani 1997, JASA 92).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import ParameterError
from treewright.evaluation._data import Rows, is_class_model, read_rows
from treewright.evaluation._evaluation import Evaluation, make_evaluation
from treewright.evaluation._folds import (
    Answer,
    FoldRun,
    Progress,
    Said,
    Split,
    places_in,
    pooled,
    run_folds,
)
from treewright.evaluation._intervals import Proportion
from treewright.evaluation._predictions import Predictions
from treewright.evaluation._splits import Method, check_options, make_splits

__all__ = ["cross_validate"]


@checked()
def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    method: Method = "k-fold",
    *,
    folds: Any = 10,
    repeats: int | None = None,
    test_size: float = 1 / 3,
    stratify: bool | None = None,
    groups: Any = None,
    time: Any = None,
    costs: Any = None,
    positive: Any = None,
    confidence: float = 0.95,
    interval: Proportion = "wilson",
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress = None,
    keep_models: bool = False,
) -> Evaluation:
    """Judge a model on rows that it was not trained on, by fitting it on the others.

    Parameters
    ----------
    model : estimator
        Of this library, scikit-learn or any other that follows it; it is cloned, not changed.
    X : array or data frame of shape (n_samples, n_features)
        Encoded once where the model is ours.
    y : array-like of shape (n_samples,)
        The truth.
    method : str, default="k-fold"
        "k-fold" holds out each of ``folds`` parts once, "repeated" does so several times, with new
        parts; "holdout" holds out one part, ``repeats`` times; "loo" every row (or group) alone.
        "bootstrap" draws samples and judges on the rows they left out; ".632" and ".632+" correct
        that for training on fewer rows by the training error, in a fixed mixture or in one that
        knows how much the model overfits. "oob" takes the out-of-bag answers of an ensemble, for
        which one fit is enough.
    folds : int, splitter or pairs of row numbers, default=10
        For "k-fold" and "repeated".
    repeats : int, default=None
        10 for "repeated", 1 for "k-fold" and "holdout", 50 samples for the bootstrap.
    test_size : float, default=1/3
        Share held out by "holdout".
    stratify : bool, default=None
        Whether every fold has the classes in the same shares; None for yes, except in the
        bootstrap.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay together.
    time : array-like of shape (n_samples,) or True, default=None
        Train on what was before the rows held out: numbers, dates, ISO dates as text, or ordered
        categories; rows of one time stay together. True where rows are in that order.
    costs, positive, confidence, interval
        As in :func:`treewright.evaluate`.
    random_state : int, RandomState or None, default=None
        Of the splits.
    n_jobs : int, default=None
        Fits at a time; −1 for all cores. Changes nothing but the time.
    progress : bool or callable, default=None
        True for a bar; or a function of fits done and fits in all.
    keep_models : bool, default=False
        Keep the fitted models in ``result.run.models``.

    Returns
    -------
    Evaluation
        With ``fold_frame()`` and the out-of-fold predictions in ``prediction_frame()``. Its
        intervals are of the rows; they know nothing of the spread between training sets.

    Examples
    --------
    >>> from treewright import CARTClassifier, cross_validate, datasets
    >>> iris = datasets.load_iris()
    >>> result = cross_validate(CARTClassifier(), iris.data, iris.target, random_state=0)
    >>> print(f"{result.error:.3f}")
    0.067
    """
    check_options(
        method,
        folds=None if isinstance(folds, int) and folds == 10 else folds,
        repeats=repeats,
        test_size=None if test_size == 1 / 3 else test_size,
        stratify=stratify,
        groups=groups,
        time=time,
    )
    rows = read_rows(X, y, is_class_model(model))
    if method == "oob":
        run, predictions, notes = _out_of_bag(model, rows)
    else:
        splits = make_splits(
            rows,
            "bootstrap" if method in (".632", ".632+") else method,
            folds=folds,
            repeats=_repeats(method, repeats),
            test_size=test_size,
            stratify=stratify,
            groups=groups,
            time=time,
            random_state=random_state,
        )
        mixed = method in (".632", ".632+")
        everything = Split(np.arange(len(rows)), np.arange(len(rows)))
        found = run_folds(
            {"model": model},
            rows,
            [*splits, everything] if mixed else splits,
            n_jobs=n_jobs,
            progress=progress,
            keep_models=keep_models,
            level=confidence,
        )["model"]
        run = FoldRun(rows, splits, found.answers[: len(splits)])
        predictions, notes = run.predictions(), _missing_rows(run, method)
        if mixed:
            predictions, told = _mixture(predictions, rows, found.answers[-1].test, method)
            notes += told
    return make_evaluation(
        predictions.confusion if rows.classes is not None else None,
        () if rows.classes is None else rows.classes.tolist(),
        predictions,
        costs,
        positive,
        confidence,
        interval,
        type(model).__name__,
        _described(method, folds, run, time, groups),
        notes,
        run,
    )


def _repeats(method: str, repeats: int | None) -> int:
    if repeats is not None:
        return repeats
    return {"repeated": 10, "bootstrap": 50, ".632": 50, ".632+": 50}.get(method, 1)


def _described(method: str, folds: Any, run: FoldRun, time: Any, groups: Any) -> str:
    n = len(run.splits)
    n_repeats = run.splits[-1].repeat + 1
    words = {
        "holdout": "holdout" if n == 1 else f"{n} holdouts",
        "k-fold": f"{n // n_repeats}-fold cross-validation",
        "repeated": f"{n_repeats} × {n // n_repeats}-fold cross-validation",
        "loo": "leave one out" if groups is None else "leave one group out",
        "bootstrap": f"{n} bootstrap samples",
        "oob": "out-of-bag",
    }
    said = words.get(method, f"{method} bootstrap of {n} samples")
    if method == "k-fold" and n_repeats > 1:
        said = words["repeated"]
    if time is not None and time is not False:
        said += " by time"
    return said if groups is None or method == "loo" else f"{said} by group"


def _missing_rows(run: FoldRun, method: str) -> list[str]:
    """Rows that no split held out; only the bootstrap leaves some by chance."""
    held_out = np.zeros(len(run.rows), np.bool_)
    for split in run.splits:
        held_out[split.test] = True
    n = int(np.count_nonzero(~held_out))
    if not n or method in ("holdout", "k-fold", "repeated", "loo"):
        return []
    return [f"{n} of {len(run.rows)} rows were never held out; more samples would leave fewer."]


# -- .632 and .632+ -----------------------------------------------------------------------------


def _mixture(
    out: Predictions, rows: Rows, apparent: Said, method: str
) -> tuple[Predictions, list[str]]:
    """Out-of-bag predictions and those of the training rows, each with its share."""
    everything = pooled(rows, np.arange(len(rows)), [apparent], np.full(len(rows), -1))
    share = 0.632
    told = []
    if method == ".632+":
        share, rate = _plus_share(out, everything)
        told = [
            f"Relative overfitting {rate:.2f}: the error out of the bag counts {share:.3f}, that "
            f"of the training rows {1 - share:.3f}."
        ]
    # rows that no sample left out have only what training says of them
    left_out = np.zeros(len(rows), np.bool_)
    assert out.row is not None
    left_out[out.row] = True

    def joined(name: str) -> Any:
        first, second = getattr(out, name), getattr(everything, name)
        return None if first is None or second is None else np.concatenate([first, second])

    weight = np.concatenate([share * out.weights, np.where(left_out, 1 - share, 1.0)])
    return (
        replace(
            out,
            **{
                name: joined(name)
                for name in ("truth", "predicted", "proba", "interval", "row", "fold")
            },
            weight=weight,
        ),
        told,
    )


def _plus_share(out: Predictions, everything: Predictions) -> tuple[float, float]:
    """The share of the out-of-bag error, and the relative overfitting rate R."""
    apparent, left_out = _loss(everything), _loss(out)
    if everything.classes is None:
        # mean over all pairs of a truth and a prediction
        y, said = everything.truth, everything.predicted
        chance = float(np.mean(y**2) - 2 * y.mean() * said.mean() + np.mean(said**2))
    else:
        matrix = everything.confusion / len(everything)
        chance = float(1 - matrix.sum(axis=1) @ matrix.sum(axis=0))
    left_out = min(left_out, chance)
    rate = (left_out - apparent) / (chance - apparent) if chance > apparent else 0.0
    rate = float(np.clip(rate, 0.0, 1.0))
    return 0.632 / (1 - 0.368 * rate), rate


def _loss(found: Predictions) -> float:
    if found.classes is None:
        losses: NDArray[np.float64] = (found.truth - found.predicted) ** 2
    else:
        losses = (found.truth != found.predicted).astype(np.float64)
    return float(np.average(losses, weights=found.weights))


# -- out of bag ---------------------------------------------------------------------------------


def _out_of_bag(model: Any, rows: Rows) -> tuple[FoldRun, Predictions, list[str]]:
    """The answers of the members that did not see a row; one fit."""
    import warnings
    from time import perf_counter

    from sklearn.base import clone

    if "oob_score" not in model.get_params():
        raise ParameterError(
            f'method "oob" is for ensembles with oob_score, which {type(model).__name__} does not '
            'have; use method="k-fold".'
        )
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without an answer: the note says how many
        fitted = clone(model).set_params(oob_score=True)
        fitted.fit(rows.features_for(model), rows.y)
    seconds = perf_counter() - start
    if rows.classes is None:
        values = np.asarray(fitted.oob_prediction_, np.float64)
        known = np.flatnonzero(np.isfinite(values))
        said = Said(values[known])
    else:
        proba = np.asarray(fitted.oob_decision_function_, np.float64)
        known = np.flatnonzero(np.isfinite(proba).all(axis=1) & (proba.sum(axis=1) > 0))
        labels = np.asarray(fitted.classes_)[proba[known].argmax(axis=1)]
        said = Said(places_in(labels, rows.classes), proba[known])
    split = Split(np.arange(len(rows)), known)
    run = FoldRun(rows, [split], [Answer(said, seconds, 0.0, model=fitted)])
    n = len(rows) - len(known)
    notes = [f"{n} of {len(rows)} rows have no out-of-bag answer; grow more members."] if n else []
    return run, run.predictions(), notes
