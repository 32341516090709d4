"""``choose_threshold``: from which probability on a row is called positive.

Every distinct probability of the rows is a candidate; all are counted in one pass over the sorted
rows. The rows must not be those of training, or the threshold fits what the model remembers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import TEXT, checked, number
from treewright.errors import DataError, ParameterError
from treewright.evaluation._costs import positive_code, read_costs
from treewright.evaluation._data import as_model_takes, check_fitted, is_class_model, read_rows
from treewright.evaluation._seen import seen_in_training
from treewright.tree.show.tables import as_frame, html_table, significant, text_table

__all__ = ["ThresholdChoice", "choose_threshold"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdChoice:
    """A threshold, and what every other one would have given.

    Parameters
    ----------
    threshold
        Rows whose probability of ``positive`` is at least this are called positive.
    by
        What it was chosen by.
    positive
        The class to find.
    thresholds
        Every threshold that gives other answers.
    figures
        By name, a value for each of them.
    best
        Place of the chosen one among them.
    model
        The model.
    warnings
        Sentences about what misleads in these figures.

    Examples
    --------
    >>> from treewright import CARTClassifier, choose_threshold, datasets
    >>> credit = datasets.load_german_credit()
    >>> train, rest = credit.data.slice(0, 600), credit.data.slice(600)
    >>> model = CARTClassifier(max_depth=4).fit(train, credit.target[:600])
    >>> choice = choose_threshold(model, rest, credit.target[600:], by=0.9, positive="bad")
    >>> print(choice)
    Call 'bad' from a probability of 0.02454 on (recall of at least 0.9).
    threshold recall specificity precision     f1     youden
      0.02454 0.9919     0.00722    0.3073 0.4692 -0.0009099
    >>> choice.apply().predict(rest)[:3]
    array(['bad', 'bad', 'bad'], dtype=object)
    >>> axes = choice.plot()
    >>> len(choice.frame()) == len(choice.thresholds)
    True
    """

    threshold: float
    by: str
    positive: Any
    thresholds: Floats
    figures: dict[str, Floats]
    best: int
    model: Any
    warnings: tuple[str, ...] = ()

    def frame(self) -> Any:
        """One row per threshold: what it finds, how often it is right, its mean cost if known."""
        return as_frame({"threshold": self.thresholds, **self.figures})

    def __float__(self) -> float:
        return self.threshold

    def apply(self) -> Any:
        """The model with this threshold: scikit-learn's FixedThresholdClassifier."""
        from sklearn.frozen import FrozenEstimator
        from sklearn.model_selection import FixedThresholdClassifier

        fixed = FixedThresholdClassifier(
            FrozenEstimator(self.model),
            threshold=self.threshold,
            pos_label=self.positive,
            response_method="predict_proba",
        )
        fixed.estimator_ = fixed.estimator  # frozen: a fit would learn nothing
        return fixed

    def plot(self, ax: Any = None) -> Any:
        """Draw recall, precision and what was asked for against the threshold.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones if None.
        """
        from matplotlib import pyplot as plt

        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        shown = dict.fromkeys(["recall", "precision", self.by if self.by in self.figures else "f1"])
        finite = np.isfinite(self.thresholds)
        for name in shown:
            if name != "cost":
                ax.plot(self.thresholds[finite], self.figures[name][finite], label=name)
        handles = list(ax.get_lines())
        if "cost" in shown:
            twin = ax.twinx()
            handles += twin.plot(
                self.thresholds[finite], self.figures["cost"][finite], "C3", label="mean cost"
            )
            twin.set_ylabel("mean cost")
        chosen = ax.axvline(
            self.threshold, color="0.5", linestyle=":", label=f"chosen: {self.threshold:.3g}"
        )
        ax.set(xlabel=f"threshold on P({self.positive})", ylabel="share")
        ax.legend(
            handles=[*handles, chosen], loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2
        )
        return ax

    def _cells(self) -> dict[str, list[str]]:
        values = {name: [float(v[self.best])] for name, v in self.figures.items()}
        return {"threshold": [f"{self.threshold:.4g}"]} | {
            name: significant(value, 4) for name, value in values.items()
        }

    def __str__(self) -> str:
        said = f"Call {self.positive!r} from a probability of {self.threshold:.4g} on ({self.by})."
        return "\n".join([said, *(f"! {w}" for w in self.warnings), text_table(self._cells())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._cells(), f"Threshold for {self.positive}")


@checked(by=TEXT | number(0, 1))
def choose_threshold(
    model: Any,
    X: Any,
    y: Any,
    by: str | float = "f1",
    *,
    costs: Any = None,
    positive: Any = None,
) -> ThresholdChoice:
    """The probability from which on a row is best called positive.

    Parameters
    ----------
    model : classifier
        Fitted, of two classes, with ``predict_proba``.
    X : array or data frame of shape (n_samples, n_features)
        Rows that did not train it.
    y : array-like of shape (n_samples,)
        Their classes.
    by : {"cost", "f1", "youden"} or float, default="f1"
        "cost" is the least cost, "f1" the largest F1, "youden" the largest sum of recall and
        specificity; a number is a recall, and the highest threshold that reaches it is taken.
    costs : array-like of shape (2, 2) or dict of dicts, default=None
        ``costs[i][j]`` of calling a row of class i class j; needed for "cost".
    positive : object, default=None
        The positive class; the last by default.

    Returns
    -------
    ThresholdChoice
        With ``threshold``, ``frame()``, ``plot()`` and ``apply()``, which is the model that
        decides by it.

    Examples
    --------
    >>> from treewright import RandomForestClassifier, choose_threshold, datasets
    >>> credit = datasets.load_german_credit()
    >>> train, rest = credit.data.slice(0, 600), credit.data.slice(600)
    >>> model = RandomForestClassifier(random_state=0).fit(train, credit.target[:600])
    >>> choice = choose_threshold(model, rest, credit.target[600:], by=0.9, positive="bad")
    >>> bool(choice.figures["recall"][choice.best] >= 0.9)
    True
    """
    if not is_class_model(model):
        raise ParameterError(
            f"choose_threshold is for classes, but {type(model).__name__} predicts numbers; pass a "
            "classifier."
        )
    check_fitted(model, "choose_threshold")
    if not hasattr(model, "predict_proba"):
        raise ParameterError(
            f"choose_threshold needs class probabilities, which {type(model).__name__} does not "
            "give; wrap it in scikit-learn's CalibratedClassifierCV."
        )
    rows = read_rows(X, y, classification=True)
    classes = np.asarray(model.classes_).tolist()
    if len(classes) != 2:
        raise ParameterError(
            f"choose_threshold is for two classes, but the model has {len(classes)}; for more, "
            "use CostSensitiveClassifier."
        )
    code = positive_code(positive, classes)
    assert code is not None
    is_positive = rows.y == classes[code]
    if is_positive.all() or not is_positive.any():
        raise DataError(
            f"y must have rows of {classes[code]!r} and others, but has only "
            f"{rows.y.tolist()[0]!r}; pass rows of both classes."
        )
    X = as_model_takes(model, X)
    chance = np.asarray(model.predict_proba(X), np.float64)[:, code]
    thresholds, figures = _counted(chance, is_positive, read_costs(costs, classes), code)
    best = _choice(by, figures)
    warnings: tuple[str, ...] = ()
    if seen_in_training(model, X, len(rows)):
        warnings = ("These look like the training rows; choose on others.",)
    threshold = float(min(thresholds[best], 1.0))
    named = by if isinstance(by, str) else f"recall of at least {by:g}"
    return ThresholdChoice(
        threshold, named, classes[code], thresholds, figures, best, model, warnings
    )


def _counted(
    chance: Floats, is_positive: NDArray[np.bool_], costs: Floats | None, code: int
) -> tuple[Floats, dict[str, Floats]]:
    """Figures of calling nobody, and of calling every row from each probability on."""
    order = np.argsort(-chance, kind="stable")
    last = np.flatnonzero(np.append(np.diff(chance[order]) != 0, True))
    hit = np.append(0, np.cumsum(is_positive[order])[last]).astype(np.float64)
    alarm = np.append(0, np.cumsum(~is_positive[order])[last]).astype(np.float64)
    n_positive, n_negative = hit[-1], alarm[-1]
    called = np.maximum(hit + alarm, 1)
    figures = {
        "recall": hit / n_positive,
        "specificity": 1 - alarm / n_negative,
        "precision": hit / called,
        "f1": 2 * hit / (n_positive + hit + alarm),
    }
    figures["youden"] = figures["recall"] + figures["specificity"] - 1
    if costs is not None:
        p, q = code, 1 - code
        total = (
            hit * costs[p, p]
            + (n_positive - hit) * costs[p, q]
            + alarm * costs[q, p]
            + (n_negative - alarm) * costs[q, q]
        )
        figures["cost"] = total / len(chance)
    return np.append(np.inf, chance[order][last]), figures


def _choice(by: str | float, figures: dict[str, Floats]) -> int:
    """Place of the best threshold; the highest of a tie."""
    if isinstance(by, str):
        if by == "cost" and "cost" not in figures:
            raise ParameterError('by="cost" needs costs; pass costs=[[0, 1], [5, 0]] or the like.')
        if by not in ("cost", "f1", "youden"):
            raise ParameterError(
                f'by must be "cost", "f1", "youden" or a recall between 0 and 1, got {by!r}.'
            )
        return int(figures[by].argmin() if by == "cost" else figures[by].argmax())
    if not isinstance(by, float | int) or not 0 < by <= 1:
        raise ParameterError(
            f'by must be "cost", "f1", "youden" or a recall between 0 and 1, got {by!r}.'
        )
    return int(np.argmax(figures["recall"] >= by - 1e-12))
