"""``evaluate``: a fitted model on rows whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.arguments import checked
from treewright.evaluation._data import as_model_takes, check_fitted, is_class_model, read_rows
from treewright.evaluation._evaluation import Evaluation, make_evaluation
from treewright.evaluation._folds import ask, pooled
from treewright.evaluation._intervals import Proportion
from treewright.evaluation._seen import seen_in_training

__all__ = ["evaluate"]


@checked()
def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    costs: Any = None,
    positive: Any = None,
    confidence: float = 0.95,
    interval: Proportion = "wilson",
) -> Evaluation:
    """Judge a fitted model on rows that it was not trained on.

    Parameters
    ----------
    model : estimator
        Fitted; of this library, scikit-learn or any other that follows it.
    X : array or data frame of shape (n_samples, n_features)
        As the model takes it.
    y : array-like of shape (n_samples,)
        The truth.
    costs : array-like of shape (n_classes, n_classes) or dict of dicts, default=None
        ``costs[i][j]`` is the cost of calling a row of class i class j; negative for a gain.
    positive : object, default=None
        The class of interest; the last of two by default, none of more.
    confidence : float, default=0.95
        Of all intervals.
    interval : {"wilson", "wald", "clopper-pearson"}, default="wilson"
        For figures that are shares of rows. Areas under ROC curves get DeLong's, all others a
        BCa bootstrap.

    Returns
    -------
    Evaluation
        With ``frame()``, ``plot()``, ``to_dict()``, ``str()`` and a notebook display.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets, evaluate
    >>> credit = datasets.load_german_credit()
    >>> train, test = credit.data.slice(0, 700), credit.data.slice(700)
    >>> model = CARTClassifier(max_depth=4).fit(train, credit.target[:700])
    >>> result = evaluate(model, test, credit.target[700:], positive="bad")
    >>> print(f"{result.accuracy:.3f}, {result.recall:.3f} of the bad ones found")
    0.733, 0.344 of the bad ones found
    """
    is_classes = is_class_model(model)
    check_fitted(model, "evaluate")
    rows = read_rows(X, y, is_classes)
    if rows.classes is not None:
        known = getattr(model, "classes_", rows.classes)
        rows = rows.with_classes(known)
    X = as_model_takes(model, X)
    said = ask(model, X, rows.classes, level=confidence)
    predictions = pooled(rows, np.arange(len(rows)), [said], np.zeros(len(rows), np.int32))
    notes = []
    if seen_in_training(model, X, len(rows)):
        notes.append(
            "These look like the rows that the model was trained on: the figures say how well it "
            "remembers, not how well it predicts; use other rows, or cross_validate."
        )
    return make_evaluation(
        predictions.confusion if is_classes else None,
        () if rows.classes is None else rows.classes.tolist(),
        predictions.without_folds(),
        costs,
        positive,
        confidence,
        interval,
        type(model).__name__,
        "test rows",
        notes,
    )
