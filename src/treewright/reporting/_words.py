"""The sentences of a report. Every claim in them is a figure of a step, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.evaluation._figures import FIGURES
from treewright.evaluation._learners import LEARNERS
from treewright.tree.show.words import format_number, format_value

if TYPE_CHECKING:
    from treewright.evaluation._evaluation import Evaluation
    from treewright.reporting._report import Report

__all__ = ["EXPLAINED", "figure_words", "first_sentence", "learner_words", "plain", "score_cards"]

SHARES = (
    *("accuracy", "error", "balanced_accuracy", "precision", "recall", "specificity", "fpr"),
    *("roc_auc", "roc_auc_macro", "roc_auc_weighted", "average_precision"),
    *("average_precision_macro", "f1", "r2"),
)
"""Figures that are read in percent."""

EXPLAINED = {
    "interval": "An interval says how far the figure could lie from its true value because only "
    "some rows were looked at: of a hundred such intervals about 95 hold the true value.",
    "accuracy": "Accuracy is the share of rows whose class is predicted right. Compare it with the "
    "share that a constant answer gets right; 90 % is poor where 95 % of rows are alike.",
    "roc_auc": "The area under the ROC curve is the chance that a row of the class of interest "
    "gets a higher score than a row of the other class: 50 % is guessing, 100 % is perfect.",
    "mean_cost": "The mean cost adds up what each decision costs, by true class and predicted "
    "class, and divides by the number of rows. Less is better.",
    "rmse": "The root mean squared error is a typical size of the error, in the unit of the "
    "target; large errors count more than small ones.",
    "comparison": "Every learner is trained and tested on the same parts of the training rows. "
    "Because these parts overlap, differences look surer than they are; the test corrects for "
    "that (Nadeau and Bengio, 2003), and for looking at many pairs (Holm, 1979).",
    "pruning": "A large tree learns chance too. Weakest-link pruning removes the splits that gain "
    "least for their size; cross-validation says how far to go. The smallest tree whose error is "
    "within one standard error of the best is kept.",
    "confusion": "Rows are the true classes, columns the predictions. What lies off the diagonal "
    "is wrong.",
    "roc": "Each point is one way to draw the line between the classes: how many of the class of "
    "interest are found, against how many others are called by mistake.",
    "pr": "How pure the called rows are, against how many of the class of interest are found.",
    "calibration": "If the model says 70 %, it should be right 70 % of the time: points on the "
    "diagonal are honest probabilities.",
    "learning": "If the curve of new rows still falls at the right, more rows would help; if both "
    "curves have met, a richer model or better columns would.",
    "importance": "A column is shuffled among the held-out rows, and the loss that this adds is "
    "its importance. Columns that tell the same can stand in for each other and then look "
    "unimportant one by one.",
    "shap": "SHAP values share the difference between a prediction and the average prediction "
    "out among the columns, row by row; they add up to it exactly.",
    "leaves": "Every leaf is a rule. The share of the test rows beside the share of the training "
    "rows shows which rules hold up on rows that the tree has not seen.",
}
"""What the figures mean, for readers who are new to them."""


def learner_words(name: str, leaves: int | None = None) -> str:
    """A learner in words."""
    words = LEARNERS[name].words
    if leaves is None:
        return words
    return f"{words} with {leaves} {'leaf' if leaves == 1 else 'leaves'}"


def figure_words(metric: str, value: float) -> str:
    """A figure as people read it."""
    if not np.isfinite(value):
        return "–"
    if metric not in SHARES:
        return plain(value)
    if 0.9995 <= value < 1:
        return "> 99.9 %"  # only what is perfect reads as 100 %
    return f"{100 * value:.1f} %"


def plain(value: float) -> str:
    """A number with three digits that count, zeros at its end kept; whole from a hundred on.

    Examples
    --------
    >>> plain(0.5), plain(12.345), plain(1234.5)
    ('0.500', '12.3', '1234')
    """
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    if float(value).is_integer() and abs(value) >= 100:
        return format_number(value)
    decimals = max(0, 2 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{decimals}f}" if decimals < 7 else f"{value:.2e}"


def interval_words(metric: str, evaluation: Evaluation) -> str:
    """The interval of a figure, its unit once."""
    low, high = evaluation.interval(metric)
    if not (np.isfinite(low) and np.isfinite(high)):
        return "no interval"
    if metric in SHARES:
        return f"{100 * low:.1f} to {100 * high:.1f} %"
    return f"{plain(low)} to {plain(high)}"


def _does(metric: str, report: Report, value: str) -> str:
    """What a model does that has this figure."""
    target = report.data.target
    positive = report.judged.readable.positive
    return {
        "accuracy": f"predicts {target} right for {value} of rows it has not seen",
        "roc_auc": f"ranks a row of class {format_value(positive)} above one of the other class "
        f"{value} of the time on rows it has not seen",
        "mean_cost": f"decides about {target} at a mean cost of {value} per row it has not seen",
        "rmse": f"predicts {target} with a typical error (RMSE) of {value} on rows it has not seen",
    }.get(metric, f"reaches {value} in {FIGURES[metric].label} on rows it has not seen")


def first_sentence(report: Report) -> str:
    """What the report found, in one sentence that survives being read alone."""
    metric = report.compared.metric
    judged = report.judged
    readable = judged.readable
    leaves = int(report.pruned.tree.n_leaves)
    if leaves == 1:
        return (
            f"No tree found a pattern in these {report.data.n_rows} rows that holds on new ones: "
            f"answering {_answer(report)} for every row is as good{_strong_part(report)}."
        )
    who = learner_words(report.choice.readable, leaves)
    who = who[0].upper() + who[1:]
    value = figure_words(metric, readable[metric])
    inside = f"95 % interval {interval_words(metric, readable)}"
    if metric == "roc_auc":
        inside = f"ROC AUC; {inside}"
    return (
        f"{who} {_does(metric, report, value)} ({inside}), "
        f"{_beside_baseline(report, metric)}{_strong_part(report)}."
    )


def _answer(report: Report) -> str:
    answer = report.judged.answer
    return f"“{format_value(answer)}”" if report.data.is_class else format_number(answer, 4)


def _beside_baseline(report: Report, metric: str) -> str:
    """The model against an answer that looks at nothing, and whether it is shown to be better."""
    readable = report.judged.readable
    if metric.startswith("roc_auc"):
        shown = readable.interval(metric)[0] > 0.5
        return "where guessing gives 50 %" + (
            "" if shown else ", from which it is not shown to differ"
        )
    base = report.judged.baseline[metric]
    low, high = readable.interval(metric)
    is_low = FIGURES[metric].better == "low"
    is_shown = high < base if is_low else low > base
    words = f"where always answering {_answer(report)} gives {figure_words(metric, base)}"
    if is_shown:
        return words
    is_worse = low > base if is_low else high < base
    return words + (", which is better" if is_worse else ", from which it is not shown to differ")


def _strong_part(report: Report) -> str:
    choice, metric = report.choice, report.compared.metric
    if choice.strong == choice.readable:
        return "; no other learner of the panel did better in cross-validation"
    value = figure_words(metric, report.judged.strong[metric])
    words = f"; {learner_words(choice.strong)} reaches {value}"
    if choice.is_shown:
        return f"{words}, and is shown to be better in cross-validation"
    return f"{words}, and is not shown to be better in cross-validation"


def score_cards(report: Report) -> list[dict[str, Any]]:
    """The score of the readable model, the strong one and the baseline, with intervals."""
    metric = report.compared.metric
    judged, choice = report.judged, report.choice
    label = FIGURES[metric].label
    cards = [
        _card(learner_words(choice.readable, report.pruned.tree.n_leaves), metric, judged.readable)
    ]
    if choice.strong != choice.readable:
        cards.append(_card(learner_words(choice.strong), metric, judged.strong))
    if metric.startswith("roc_auc"):
        base = {"name": "guessing", "value": "50.0 %", "interval": ""}
    else:
        base = {
            "name": f"always {_answer(report)}",
            "value": figure_words(metric, judged.baseline[metric]),
            "interval": "",
        }
    return [card | {"label": label} for card in (*cards, base)]


def _card(name: str, metric: str, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "name": name,
        "value": figure_words(metric, evaluation[metric]),
        "interval": interval_words(metric, evaluation),
    }
