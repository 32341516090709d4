"""The figures of an evaluation: scikit-learn's Displays, and one for gain in their manner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.evaluation import _tables

if TYPE_CHECKING:
    from treewright.evaluation._evaluation import Evaluation

__all__ = ["GainDisplay", "plot"]


class GainDisplay:
    """Share of the positives among the rows called first, by score.

    Parameters
    ----------
    share_called, gain
        The curve.
    prevalence
        Share of the positives in all rows, for the best curve there could be.
    name
        Of the curve.
    """

    def __init__(
        self,
        share_called: NDArray[np.float64],
        gain: NDArray[np.float64],
        prevalence: float,
        name: str,
    ) -> None:
        self.share_called = share_called
        self.gain = gain
        self.prevalence = prevalence
        self.name = name

    def plot(self, ax: Any = None) -> GainDisplay:
        """Draw the curve between chance and the best there could be."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        best = [0.0, self.prevalence, 1.0]
        self.ax_.plot(best, [0.0, 1.0, 1.0], color="0.6", linestyle=":", label="best possible")
        self.ax_.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="by chance")
        self.ax_.plot(np.append(0, self.share_called), np.append(0, self.gain), label=self.name)
        tenth = float(np.interp(0.1, np.append(0, self.share_called), np.append(0, self.gain)))
        self.ax_.plot([0.1], [tenth], "o", color="C0", label=f"first tenth: lift {tenth / 0.1:.1f}")
        self.ax_.set(xlabel="share of rows called", ylabel="share of positives found", title="Gain")
        self.ax_.legend(loc="lower right")
        return self


def plot(result: Evaluation, kind: str, ax: Any) -> Any:
    """The figure of that kind."""
    is_numbers = kind == "residuals"
    if is_numbers == result.is_classification:
        have = "classes" if result.is_classification else "numbers"
        raise ParameterError(
            f"The figure {kind!r} is not for a model of {have}; take "
            f"{'confusion' if result.is_classification else 'residuals'!r}."
        )
    return DRAWN[kind](result, ax)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _confusion(result: Evaluation, ax: Any) -> Any:
    from sklearn.metrics import ConfusionMatrixDisplay

    many = len(result.classes) > 6
    display = ConfusionMatrixDisplay(result.confusion, display_labels=result.classes)
    return display.plot(
        ax=_axes(ax),
        cmap="Blues",
        colorbar=False,
        values_format=".5g",
        xticks_rotation=45 if many else "horizontal",
        text_kw={"fontsize": 7} if many else None,
    )


def _curves(result: Evaluation, what: str) -> list[tuple[str, Any, Any, Any]]:
    """Name, score, truth and weight of the positive class, or of each class against the rest."""
    if result.positive is not None:
        return [(str(result.positive), *_tables.scores(result, what))]
    curves = []
    assert result.confusion is not None
    for code in np.flatnonzero(result.confusion.sum(axis=1) > 0)[:10]:
        one = result.with_positive(result.classes[code])
        curves.append((str(result.classes[code]), *_tables.scores(one, what)))
    return curves


def _roc(result: Evaluation, ax: Any) -> Any:
    from sklearn.metrics import RocCurveDisplay, auc, roc_curve

    curves = _curves(result, "roc")
    found = [roc_curve(truth, score, sample_weight=w)[:2] for _, score, truth, w in curves]
    display = RocCurveDisplay(
        fpr=[fpr for fpr, _ in found],
        tpr=[tpr for _, tpr in found],
        roc_auc=[float(auc(fpr, tpr)) for fpr, tpr in found],
        name=[name for name, *_ in curves],
    )
    display.plot(ax=_axes(ax), plot_chance_level=True, curve_kwargs=_colours(len(curves)))
    display.ax_.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
    return display


def _pr(result: Evaluation, ax: Any) -> Any:
    from sklearn.metrics import (
        PrecisionRecallDisplay,
        average_precision_score,
        precision_recall_curve,
    )

    curves = _curves(result, "pr")
    found = [
        precision_recall_curve(truth, score, sample_weight=w)[:2] for _, score, truth, w in curves
    ]
    display = PrecisionRecallDisplay(
        precision=[precision for precision, _ in found],
        recall=[recall for _, recall in found],
        average_precision=[
            float(average_precision_score(truth, score, sample_weight=w))
            for _, score, truth, w in curves
        ],
        name=[name for name, *_ in curves],
        prevalence_pos_label=[float(np.average(truth, weights=w)) for _, _, truth, w in curves],
    )
    display.plot(ax=_axes(ax), plot_chance_level=True, curve_kwargs=_colours(len(curves)))
    display.ax_.set(xlabel="recall", ylabel="precision", title="Precision and recall")
    return display


def _colours(n: int) -> list[dict[str, Any]]:
    return [{"color": f"C{k}", "alpha": 1.0, "linestyle": "-"} for k in range(n)]


def _calibration(result: Evaluation, ax: Any) -> Any:
    from sklearn.calibration import CalibrationDisplay

    columns = _tables.calibration_columns(result)
    name = f"P({result.positive})" if result.positive is not None else "P(predicted class)"
    share, probability = np.asarray(columns["share"]), np.asarray(columns["probability"])
    display = CalibrationDisplay(share, probability, probability, estimator_name=name)
    display.plot(ax=_axes(ax), name=name)
    ends = np.abs(np.array([columns["low"], columns["high"]]) - share)
    display.ax_.errorbar(probability, share, yerr=ends, fmt="none", ecolor="0.6", zorder=0)
    display.ax_.set(
        xlabel="probability that the model gives",
        ylabel="share of rows where it was so",
        title="Calibration",
    )
    return display


def _gain(result: Evaluation, ax: Any) -> GainDisplay:
    columns = _tables.gain_columns(result)
    _, truth, weight = _tables.scores(result, "gain")
    prevalence = float(np.average(truth, weights=weight))
    display = GainDisplay(
        columns["share_called"], columns["gain"], prevalence, str(result.positive)
    )
    return display.plot(ax)


def _residuals(result: Evaluation, ax: Any) -> Any:
    from sklearn.metrics import PredictionErrorDisplay

    assert result.predictions is not None
    found = result.predictions
    display = PredictionErrorDisplay(y_true=found.truth, y_pred=found.predicted)
    size = {"s": 12, "alpha": 0.6}
    return display.plot(ax=_axes(ax), kind="residual_vs_predicted", scatter_kwargs=size)


DRAWN = {
    "roc": _roc,
    "pr": _pr,
    "confusion": _confusion,
    "calibration": _calibration,
    "gain": _gain,
    "residuals": _residuals,
}
