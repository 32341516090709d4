"""Evaluation: how good a model is, with an interval beside each figure and words of warning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from treewright.arguments import checked
from treewright.errors import ParameterError, suggest
from treewright.evaluation import _tables
from treewright.evaluation._costs import positive_code, read_costs
from treewright.evaluation._figures import FIGURES, figure_values, intervals
from treewright.evaluation._folds import FoldRun
from treewright.evaluation._intervals import Interval, Proportion
from treewright.evaluation._intervals import check_method as check_interval
from treewright.evaluation._predictions import Predictions
from treewright.evaluation._words import class_words, number_words
from treewright.tree.show.tables import as_frame, text_table

__all__ = ["Evaluation", "Plot", "make_evaluation"]

Plot = Literal["roc", "pr", "confusion", "calibration", "gain", "residuals"]

ALIASES = {"tpr": "recall", "auc": "roc_auc"}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Figures of one model, each with its interval; made by :func:`treewright.evaluate`.

    A figure is read as ``evaluation["accuracy"]`` or ``evaluation.accuracy``, its interval by
    ``evaluation.interval("accuracy")``.

    Parameters
    ----------
    confusion
        Rows of each true class (rows of the matrix) by predicted class; None for numbers.
    classes
        The classes, in the order of ``confusion``.
    predictions
        What was predicted of which row; None where only counts are known.
    costs
        Cost of each cell of ``confusion``.
    positive
        The class that precision, recall, ROC and the like are of; None with more than two.
    confidence, proportion
        Of the intervals; which one shares of rows get.
    model, method
        Who was judged, and how.
    notes
        Words of whoever made the predictions.
    run
        The folds, after cross-validation.

    Examples
    --------
    >>> from treewright import Evaluation
    >>> result = Evaluation.from_confusion([[150, 40], [60, 250]], costs=[[-1, 100], [1, 0]])
    >>> result.accuracy, result["total_cost"]
    (0.8, 3910.0)
    >>> print("{:.3f} to {:.3f}".format(*result.interval("accuracy")))
    0.763 to 0.833
    >>> result.frame().columns.tolist()
    ['figure', 'value', 'low', 'high', 'interval']
    >>> result.class_frame().columns.tolist()
    ['class', 'precision', 'precision_low', 'precision_high', 'recall', 'recall_low',
    'recall_high', 'specificity', 'f1', 'rows']
    >>> display = result.plot("confusion")
    """

    confusion: NDArray[np.float64] | None
    classes: tuple[Any, ...] = ()
    predictions: Predictions | None = None
    costs: NDArray[np.float64] | None = None
    positive: Any = None
    confidence: float = 0.95
    proportion: Proportion = "wilson"
    model: str = "model"
    method: str = "test rows"
    notes: tuple[str, ...] = ()
    run: FoldRun | None = field(default=None)

    @classmethod
    @checked()
    def from_confusion(
        cls,
        matrix: Any,
        costs: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        positive: Any = None,
        confidence: float = 0.95,
        interval: Proportion = "wilson",
    ) -> Evaluation:
        """An evaluation of counts alone.

        Parameters
        ----------
        matrix : array-like of shape (n_classes, n_classes)
            Rows of each true class, by predicted class.
        costs : array-like of shape (n_classes, n_classes) or dict of dicts, default=None
            Cost of each cell; may be negative.
        classes : sequence, default=None
            Names of the classes; those of a data frame, such as pandas.crosstab makes, else
            0, 1, …
        positive : object, default=None
            The class of interest; the last of two by default.
        confidence, interval
            As in :func:`treewright.evaluate`.

        Examples
        --------
        >>> from treewright import Evaluation
        >>> result = Evaluation.from_confusion(
        ...     [[150, 40], [60, 250]], costs=[[-1, 100], [1, 0]], classes=["+", "-"]
        ... )
        >>> result["accuracy"], result["total_cost"]
        (0.8, 3910.0)
        """
        found = _read_matrix(matrix)
        labels = _named_classes(matrix, len(found)) if classes is None else tuple(classes)
        if len(labels) != len(found):
            raise ParameterError(
                f"classes must name the {len(found)} classes of the matrix, got {len(labels)}."
            )
        return make_evaluation(
            found, labels, None, costs, positive, confidence, interval, "counts", "given counts"
        )

    # -- figures ----------------------------------------------------------------------------

    @property
    def n_rows(self) -> float:
        """Rows that were judged, each counted once."""
        if self.predictions is not None:
            return self.predictions.n_rows
        assert self.confusion is not None
        return float(self.confusion.sum())

    @property
    def is_classification(self) -> bool:
        """Whether classes were predicted."""
        return self.confusion is not None

    @cached_property
    def positive_code(self) -> int | None:
        """Place of the positive class."""
        return None if self.positive is None else list(self.classes).index(self.positive)

    @cached_property
    def values(self) -> dict[str, float]:
        """Every figure by name."""
        return figure_values(self.confusion, self.predictions, self.costs, self.positive_code)

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """The interval of every figure by name."""
        return self._intervals(self.proportion)

    def _intervals(self, method: Proportion) -> dict[str, Interval]:
        return intervals(
            self.confusion,
            self.predictions,
            self.costs,
            self.positive_code,
            method,
            self.confidence,
        )

    def interval(self, name: str, method: Proportion | None = None) -> tuple[float, float]:
        """Lower and upper limit of a figure.

        Parameters
        ----------
        name : str
            The figure.
        method : {"wilson", "wald", "clopper-pearson"}, default=None
            For shares of rows; that of the evaluation by default.
        """
        self[name]
        if method is not None:
            check_interval(method)
        found = self.intervals if method is None else self._intervals(method)
        low, high, _ = found[ALIASES.get(name, name)]
        return low, high

    def __getitem__(self, name: str) -> float:
        found = self.values.get(ALIASES.get(name, name))
        if found is None:
            raise KeyError(f"There is no figure {name!r} here.{suggest(name, list(self.values))}")
        return found

    def __getattr__(self, name: str) -> float:
        if name in FIGURES or name in ALIASES:
            try:
                return self[name]
            except KeyError as error:
                raise AttributeError(error.args[0]) from None
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what misleads in these figures."""
        if self.confusion is None:
            return (*self.notes, *number_words(self.values, int(self.n_rows)))
        accuracy = self.intervals["accuracy"]
        return (*self.notes, *class_words(self.confusion, self.classes, self.n_rows, accuracy))

    # -- tables -----------------------------------------------------------------------------

    def frame(self) -> Any:
        """One row per figure: value, limits and the kind of interval, as a data frame."""
        return as_frame(_tables.figure_columns(self))

    def class_frame(self) -> Any:
        """One row per class, and the averages, as in scikit-learn's classification report."""
        return as_frame(_tables.class_columns(self))

    def fold_frame(self) -> Any:
        """One row per fold: sizes, seconds and figures; only after cross-validation.

        Examples
        --------
        >>> from treewright import CARTClassifier, cross_validate, datasets
        >>> iris = datasets.load_iris()
        >>> result = cross_validate(CARTClassifier(), iris.data, iris.target, folds=3)
        >>> result.fold_frame().columns.tolist()[:6]
        ['fold', 'repeat', 'training_rows', 'test_rows', 'fit_seconds', 'predict_seconds']
        """
        return as_frame(_tables.fold_columns(self))

    def prediction_frame(self) -> Any:
        """One row per prediction: row, fold, truth, prediction and probabilities.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets, evaluate
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
        >>> evaluate(model, iris.data, iris.target).prediction_frame().shape
        (150, 6)
        """
        return as_frame(_tables.prediction_columns(self))

    def gain_frame(self) -> Any:
        """Share of the positives found, and lift, when rows are called in order of their score.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets, evaluate
        >>> titanic = datasets.load_titanic()
        >>> model = CARTClassifier(max_depth=3).fit(titanic.data, titanic.target)
        >>> evaluate(model, titanic.data, titanic.target).gain_frame().head(3).round(2)
           score  share_called  gain  lift
        0   1.00          0.02  0.04  2.61
        1   0.95          0.21  0.51  2.49
        2   0.59          0.34  0.71  2.12
        """
        return as_frame(_tables.gain_columns(self))

    def calibration_frame(self) -> Any:
        """Mean probability and share of the positives in bins of equally many rows.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets, evaluate
        >>> titanic = datasets.load_titanic()
        >>> model = CARTClassifier(max_depth=3).fit(titanic.data, titanic.target)
        >>> result = evaluate(model, titanic.data, titanic.target)
        >>> result.calibration_frame().columns.tolist()
        ['rows', 'probability', 'share', 'low', 'high']
        """
        return as_frame(_tables.calibration_columns(self))

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain values, fit for JSON.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets, evaluate
        >>> iris = datasets.load_iris()
        >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
        >>> evaluate(model, iris.data, iris.target).to_dict()["confusion"]
        [[50.0, 0.0, 0.0], [0.0, 49.0, 1.0], [0.0, 5.0, 45.0]]
        """
        return _tables.as_dict(self)

    # -- display ----------------------------------------------------------------------------

    def plot(self, kind: Plot | None = None, ax: Any = None) -> Any:
        """A figure, as one of scikit-learn's Display objects.

        Parameters
        ----------
        kind : {"roc", "pr", "confusion", "calibration", "gain", "residuals"}, default=None
            Which; the confusion matrix or the residuals by default.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display
            With ``ax_`` and ``figure_``.
        """
        from treewright.evaluation._plots import plot

        chosen = kind or ("confusion" if self.is_classification else "residuals")
        if chosen not in get_args(Plot):
            raise ParameterError(f"kind must be one of {', '.join(get_args(Plot))}, got {kind!r}.")
        return plot(self, chosen, ax)

    def __repr__(self) -> str:
        name = "accuracy" if self.is_classification else "rmse"
        return (
            f"Evaluation({self.model}, {self.method}, {self.n_rows:g} rows, "
            f"{name} {self.values[name]:.4g})"
        )

    def __str__(self) -> str:
        parts = [_tables.headline(self)]
        if self.warnings:
            parts.append("\n".join(_tables.wrapped(sentence) for sentence in self.warnings))
        parts.append(text_table(_tables.figure_cells(self), left=1))
        if self.is_classification:
            parts.append("Rows by true class (down) and predicted class (across)")
            parts[-1] += "\n" + text_table(_tables.confusion_cells(self), left=1)
            parts.append(text_table(_tables.class_cells(self), left=1))
        if self.run is not None:
            parts.append(_tables.fold_sentence(self))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return _tables.as_html(self)

    def with_positive(self, positive: Any) -> Evaluation:
        """The same predictions with another positive class.

        Parameters
        ----------
        positive
            The class to find.

        Examples
        --------
        >>> from treewright import CARTClassifier, datasets, evaluate
        >>> credit = datasets.load_german_credit()
        >>> model = CARTClassifier(max_depth=4).fit(credit.data, credit.target)
        >>> result = evaluate(model, credit.data, credit.target, positive="good")
        >>> result.recall > result.with_positive("bad").recall
        True
        """
        positive_code(positive, self.classes)
        return replace(self, positive=positive)


def make_evaluation(
    confusion: NDArray[np.float64] | None,
    classes: Sequence[Any],
    predictions: Predictions | None,
    costs: Any,
    positive: Any,
    confidence: float,
    interval: Proportion,
    model: str,
    method: str,
    notes: Sequence[str] = (),
    run: FoldRun | None = None,
) -> Evaluation:
    """Check what users pass and put an evaluation together."""
    check_interval(interval)
    labels = tuple(classes)
    if confusion is None:
        for name, given in (("costs", costs), ("positive", positive)):
            if given is not None:
                raise ParameterError(
                    f"{name} is for classes, but this model predicts numbers; leave it out."
                )
        code = None
    else:
        code = positive_code(positive, labels)
    return Evaluation(
        confusion,
        labels,
        predictions,
        None if confusion is None else read_costs(costs, labels),
        None if code is None else labels[code],
        confidence,
        interval,
        model,
        method,
        tuple(notes),
        run,
    )


def _read_matrix(matrix: Any) -> NDArray[np.float64]:
    try:
        found = np.asarray(matrix, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    is_square = found.ndim == 2 and found.shape[0] == found.shape[1] and len(found) > 1
    if not is_square or not np.isfinite(found).all() or (found < 0).any() or not found.sum():
        raise ParameterError(
            "A confusion matrix must be square, of two classes or more, with counts of rows that "
            f"are not below 0 nor all 0, got {np.asarray(matrix, dtype=object).tolist()!r}."
        )
    return found


def _named_classes(matrix: Any, n: int) -> tuple[Any, ...]:
    """The classes that a data frame names down and across; their numbers elsewhere."""
    if not hasattr(matrix, "index") or not hasattr(matrix, "columns"):
        return tuple(range(n))
    down, across = matrix.index.tolist(), list(matrix.columns)
    if down != across:
        raise ParameterError(
            "A confusion matrix must have the same classes down and across, got "
            f"{down!r} and {across!r}; reindex it."
        )
    return tuple(across)
