"""All figures of an evaluation with their intervals: one table says what each of them is.

Shares of rows get the interval of a proportion, areas under ROC curves DeLong's, all others the
BCa bootstrap over rows. Values are made at once, intervals when somebody asks.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.evaluation._bootstrap import bca_intervals, root_mean_interval
from treewright.evaluation._confusion import confusion_figures, proportions
from treewright.evaluation._delong import Areas, roc_areas
from treewright.evaluation._intervals import Interval, Proportion, proportion_interval
from treewright.evaluation._predictions import Predictions

__all__ = ["FIGURES", "Figure", "area_parts", "figure_values", "intervals"]

Floats = NDArray[np.float64]


INF = float("inf")


class Figure(NamedTuple):
    """How a figure is called in print, whether more of it is better, and where its values end."""

    label: str
    better: Literal["high", "low"] = "high"
    least: float = 0.0
    most: float = 1.0

    def within(self, low: float, high: float) -> tuple[float, float]:
        """An interval without the values that the figure cannot have."""
        return max(low, self.least), min(high, self.most)


FIGURES: dict[str, Figure] = {
    "accuracy": Figure("accuracy"),
    "error": Figure("error", "low"),
    "balanced_accuracy": Figure("balanced accuracy"),
    "kappa": Figure("kappa", least=-1.0),
    "mcc": Figure("Matthews correlation", least=-1.0),
    "precision": Figure("precision"),
    "recall": Figure("recall (TPR)"),
    "specificity": Figure("specificity"),
    "fpr": Figure("false positive rate", "low"),
    "f1": Figure("F1"),
    **{
        f"{name}_{average}": Figure(f"{label}, {average}")
        for name, label in {"precision": "precision", "recall": "recall", "f1": "F1"}.items()
        for average in ("micro", "macro", "weighted")
    },
    "roc_auc": Figure("ROC AUC"),
    "roc_auc_macro": Figure("ROC AUC, macro"),
    "roc_auc_weighted": Figure("ROC AUC, weighted"),
    "average_precision": Figure("average precision (PR)"),
    "average_precision_macro": Figure("average precision, macro"),
    "log_loss": Figure("log-loss", "low", most=INF),
    "brier": Figure("Brier score", "low", most=2.0),
    "calibration_error": Figure("calibration error", "low"),
    "mean_cost": Figure("mean cost", "low", least=-INF, most=INF),
    "total_cost": Figure("total cost", "low", least=-INF, most=INF),
    "rmse": Figure("RMSE", "low", most=INF),
    "mae": Figure("MAE", "low", most=INF),
    "r2": Figure("R²", least=-INF),
    "coverage": Figure("coverage of intervals"),
    "width": Figure("width of intervals", "low", most=INF),
}

N_BINS = 10
"""Bins of equally many rows that calibration is looked at in."""

MOST_RANKED = 4000
"""Predictions up to which average precision is bootstrapped; its jackknife takes their square."""


def figure_values(
    confusion: Floats | None,
    predictions: Predictions | None,
    costs: Floats | None,
    positive: int | None,
) -> dict[str, float]:
    """Every figure that the predictions, or the confusion matrix alone, allow."""
    found: dict[str, float] = {}
    if confusion is not None:
        stack = confusion_figures(confusion[None], costs, positive)
        found.update({name: float(value[0]) for name, value in stack.items()})
    if predictions is not None and confusion is None:
        found.update(_of_sums(_number_names(predictions), _number_sums(predictions), _numbers))
    if predictions is not None and predictions.proba is not None:
        found.update(_area_values(predictions, positive))
        if predictions.is_probability:
            found.update(_of_sums(CHANCE_NAMES, _chance_sums(predictions, positive), _chances))
    return {name: found[name] for name in FIGURES if name in found}


def intervals(
    confusion: Floats | None,
    predictions: Predictions | None,
    costs: Floats | None,
    positive: int | None,
    method: Proportion,
    confidence: float,
) -> dict[str, Interval]:
    """The interval of each figure."""
    found: dict[str, Interval] = {}
    if confusion is not None:
        found.update(_confusion_intervals(confusion, predictions, costs, positive, confidence))
        for name, part, whole in proportions(confusion, positive):
            found[name] = proportion_interval(part, whole, method, confidence)
    if predictions is None:
        return found
    if confusion is None:
        names, sums = _number_names(predictions), _number_sums(predictions)
        found.update(_row_intervals(names, predictions, sums, _numbers, confidence))
        found["rmse"] = root_mean_interval(sums[:, 1], confidence) or found["rmse"]
        if predictions.interval is not None:
            n = predictions.n_rows
            covered = float(sums[:, 5].sum())
            found["coverage"] = proportion_interval(covered, n, method, confidence)
    if predictions.proba is not None:
        found.update(_area_intervals(predictions, positive, confidence))
        if predictions.is_probability:
            sums = _chance_sums(predictions, positive)
            found.update(_row_intervals(CHANCE_NAMES, predictions, sums, _chances, confidence))
    return found


def _of_sums(names: list[str], sums: Floats, statistic: object) -> dict[str, float]:
    values = statistic(sums.sum(axis=0)[None])[0]  # type: ignore[operator]
    return dict(zip(names, values.tolist(), strict=False))


def _row_intervals(
    names: list[str], predictions: Predictions, sums: Floats, statistic: object, confidence: float
) -> dict[str, Interval]:
    ones = np.ones(len(sums), np.int64)
    found = bca_intervals(sums, ones, statistic, confidence)  # type: ignore[arg-type]
    return dict(zip(names, found, strict=False))


# -- the confusion matrix -----------------------------------------------------------------------


def _confusion_intervals(
    confusion: Floats,
    predictions: Predictions | None,
    costs: Floats | None,
    positive: int | None,
    confidence: float,
) -> dict[str, Interval]:
    k = len(confusion)
    if predictions is None:
        cells = np.rint(confusion).astype(np.int64).ravel()
        used = np.flatnonzero(cells)
        patterns, counts = np.eye(k * k)[used], cells[used]
    else:
        patterns, counts = predictions.cell_patterns()
    names = list(confusion_figures(confusion[None], costs, positive))

    def statistic(sums: Floats) -> Floats:
        figures = confusion_figures(sums.reshape(-1, k, k), costs, positive)
        return np.column_stack(list(figures.values()))

    return dict(zip(names, bca_intervals(patterns, counts, statistic, confidence), strict=True))


# -- areas --------------------------------------------------------------------------------------


def area_parts(predictions: Predictions, positive: int | None) -> tuple[Areas, list[int]]:
    """Areas of the positive class, or of every class that occurs and is not alone, and which."""
    assert predictions.proba is not None
    k = predictions.n_classes
    asked = list(range(k)) if positive is None else [positive]
    counts = np.bincount(predictions.truth, minlength=k)
    asked = [c for c in asked if 0 < counts[c] < len(predictions)]
    if not asked:
        return Areas(np.empty(0), np.empty((0, 0))), []
    is_class = predictions.truth[:, None] == np.array(asked)
    scores = predictions.proba[:, asked]
    return roc_areas(is_class, scores, predictions.row, predictions.weight), asked


def _class_weights(predictions: Predictions, asked: list[int]) -> Floats:
    return np.asarray(np.bincount(predictions.truth, predictions.weights)[asked])


def _area_values(predictions: Predictions, positive: int | None) -> dict[str, float]:
    areas, asked = area_parts(predictions, positive)
    if not asked:
        return {}
    precision = _average_precisions(predictions, asked)
    if positive is not None:
        return {"roc_auc": float(areas.areas[0]), "average_precision": float(precision[0])}
    return {
        "roc_auc_macro": areas.mean()[0],
        "roc_auc_weighted": areas.mean(_class_weights(predictions, asked))[0],
        "average_precision_macro": float(precision.mean()),
    }


def _area_intervals(
    predictions: Predictions, positive: int | None, confidence: float
) -> dict[str, Interval]:
    areas, asked = area_parts(predictions, positive)
    if not asked:
        return {}
    precision = _precision_interval(predictions, asked, confidence)
    if positive is not None:
        return {"roc_auc": areas.interval(confidence), "average_precision": precision}
    weights = _class_weights(predictions, asked)
    return {
        "roc_auc_macro": areas.interval(confidence),
        "roc_auc_weighted": areas.interval(confidence, weights),
        "average_precision_macro": precision,
    }


def _average_precisions(predictions: Predictions, asked: list[int]) -> Floats:
    from sklearn.metrics import average_precision_score

    assert predictions.proba is not None
    return np.array(
        [
            average_precision_score(
                predictions.truth == c, predictions.proba[:, c], sample_weight=predictions.weight
            )
            for c in asked
        ]
    )


def _precision_interval(predictions: Predictions, asked: list[int], confidence: float) -> Interval:
    """BCa over rows; above MOST_RANKED rows the logit interval of Boyd, Eng and Page (2013)."""
    if len(predictions) > MOST_RANKED:
        return _logit_interval(predictions, asked, confidence)
    from scipy.sparse import csr_matrix

    n, m = predictions.n_rows, len(predictions)
    # a draw of rows becomes weights of predictions
    by_prediction = csr_matrix((predictions.weights, (predictions.rows, np.arange(m))), (n, m))
    orders = [_Ranked.of(predictions, c) for c in asked]

    def statistic(weights: Floats) -> Floats:
        found = np.array([order.average_precision(weights) for order in orders])
        return np.asarray(found.mean(axis=0)[:, None], np.float64)

    return bca_intervals(by_prediction, np.ones(n, np.int64), statistic, confidence)[0]


def _logit_interval(predictions: Predictions, asked: list[int], confidence: float) -> Interval:
    from scipy.special import expit, logit, ndtri

    value = float(_average_precisions(predictions, asked).mean())
    n_positive = float(_class_weights(predictions, asked).mean())
    inside = min(max(value, 1e-9), 1 - 1e-9)
    half = float(ndtri(0.5 + confidence / 2)) / np.sqrt(n_positive * inside * (1 - inside))
    return Interval(float(expit(logit(inside) - half)), float(expit(logit(inside) + half)), "logit")


class _Ranked(NamedTuple):
    """Predictions from the highest score down; ``last`` closes each group of equal scores."""

    order: NDArray[np.int64]
    is_class: NDArray[np.bool_]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, predictions: Predictions, code: int) -> _Ranked:
        assert predictions.proba is not None
        score = predictions.proba[:, code]
        order = np.argsort(-score, kind="stable")
        last = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
        return cls(order, (predictions.truth == code)[order], last)

    def average_precision(self, weights: Floats) -> Floats:
        """Of every row of weights."""
        ranked = weights[:, self.order]
        found = np.cumsum(ranked * self.is_class, axis=1)[:, self.last]
        seen = np.cumsum(ranked, axis=1)[:, self.last]
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = np.where(seen > 0, found / seen, 0.0)
            return np.asarray(
                (np.diff(found, axis=1, prepend=0.0) * precision).sum(axis=1) / found[:, -1]
            )


# -- probabilities ------------------------------------------------------------------------------

CHANCE_NAMES = ["log_loss", "brier", "calibration_error"]


def _chance_sums(predictions: Predictions, positive: int | None) -> Floats:
    """What each row adds: 1, log-loss, Brier score, and bins of (1, probability, truth)."""
    assert predictions.proba is not None
    p, truth = predictions.proba, predictions.truth
    k = predictions.n_classes
    own = p[np.arange(len(p)), truth] / np.maximum(p.sum(axis=1), np.finfo(float).tiny)
    log_loss = -np.log(np.clip(own, np.finfo(np.float64).eps, 1.0))
    squares = ((p - (truth[:, None] == np.arange(k))) ** 2).sum(axis=1)
    brier = squares / 2 if k == 2 else squares  # as scikit-learn scales it
    chance, is_so = sureness(predictions, positive)
    columns = [np.ones(len(p)), log_loss, brier]
    place = calibration_bins(chance)
    for b in range(N_BINS):
        inside = place == b
        columns += [inside, inside * chance, inside * is_so]
    return predictions.by_row(np.column_stack(columns).astype(np.float64))


def _chances(sums: Floats) -> Floats:
    n = sums[:, 0]
    gaps = np.abs(sums[:, 4::3] - sums[:, 5::3]).sum(axis=1)
    return np.column_stack([sums[:, 1] / n, sums[:, 2] / n, gaps / n])


def sureness(predictions: Predictions, positive: int | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Probability of the positive class, or of the predicted one, and whether it was so."""
    assert predictions.proba is not None
    if positive is not None:
        return predictions.proba[:, positive], predictions.truth == positive
    top = predictions.proba.argmax(axis=1)
    return predictions.proba[np.arange(len(top)), top], predictions.truth == top


def calibration_bins(chance: Floats) -> NDArray[np.intp]:
    """The bin of each probability; equally many in each, ties together."""
    edges = np.unique(np.quantile(chance, np.arange(1, N_BINS) / N_BINS))
    return np.searchsorted(edges, chance, side="left")


# -- numbers ------------------------------------------------------------------------------------


def _number_names(predictions: Predictions) -> list[str]:
    names = ["rmse", "mae", "r2"]
    return names if predictions.interval is None else [*names, "coverage", "width"]


def _number_sums(predictions: Predictions) -> Floats:
    """What each row adds: 1, squared and absolute error, y, y², covered, width."""
    y = predictions.truth - predictions.truth.mean()  # R² is of differences only
    off = predictions.truth - predictions.predicted
    columns = [np.ones(len(y)), off**2, np.abs(off), y, y**2]
    if predictions.interval is not None:
        low, high = predictions.interval.T
        columns += [(low <= predictions.truth) & (predictions.truth <= high), high - low]
    return predictions.by_row(np.column_stack(columns).astype(np.float64))


def _numbers(sums: Floats) -> Floats:
    n, squares = sums[:, 0], sums[:, 1]
    spread = sums[:, 4] - sums[:, 3] ** 2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = np.where(spread > 0, 1 - squares / spread, np.nan)
    figures = [np.sqrt(squares / n), sums[:, 2] / n, r2]
    return np.column_stack([*figures, *(sums[:, k] / n for k in range(5, sums.shape[1]))])
