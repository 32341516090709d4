"""The tables of an evaluation: columns for frames, cells for text and notebooks, JSON."""

from __future__ import annotations

import html
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.errors import ParameterError
from treewright.evaluation._confusion import class_shares, confusion_figures
from treewright.evaluation._figures import (
    FIGURES,
    area_parts,
    calibration_bins,
    figure_values,
    sureness,
)
from treewright.evaluation._intervals import proportion_interval
from treewright.tree.show.tables import html_table

if TYPE_CHECKING:
    from treewright.evaluation._evaluation import Evaluation

__all__ = [
    "as_dict",
    "as_html",
    "calibration_columns",
    "class_cells",
    "class_columns",
    "confusion_cells",
    "figure_cells",
    "figure_columns",
    "fold_columns",
    "fold_sentence",
    "gain_columns",
    "headline",
    "prediction_columns",
    "wrapped",
]

AVERAGES = ("micro", "macro", "weighted")


def figure_columns(result: Evaluation) -> dict[str, list[Any]]:
    """All figures with their intervals."""
    names = list(result.values)
    found = [result.intervals[name] for name in names]
    return {
        "figure": names,
        "value": list(result.values.values()),
        "low": [interval.low for interval in found],
        "high": [interval.high for interval in found],
        "interval": [interval.method for interval in found],
    }


def figure_cells(result: Evaluation) -> dict[str, list[str]]:
    """The figures that are printed; averages stand in the table of classes."""
    columns = figure_columns(result)
    kept = [k for k, name in enumerate(columns["figure"]) if not name.endswith(AVERAGES)]
    if not any(columns["figure"][k] in ("recall", "rmse") for k in kept):
        kept = list(range(len(columns["figure"])))
    cells = {"figure": [FIGURES[columns["figure"][k]].label for k in kept]}
    for name in ("value", "low", "high"):
        cells[name] = [_number(columns[name][k]) for k in kept]
    return cells | {"interval": [columns["interval"][k] for k in kept]}


def class_columns(result: Evaluation) -> dict[str, list[Any]]:
    """Shares of each class with intervals, then the averages."""
    matrix = _matrix(result)
    k = len(matrix)
    columns: dict[str, list[Any]] = {"class": list(map(str, result.classes))}
    for name, (part, whole) in class_shares(matrix[None]).items():
        columns[name] = [p / w if w > 0 else 0.0 for p, w in zip(part[0], whole[0], strict=True)]
        if name in ("precision", "recall"):
            found = [
                proportion_interval(p, w, result.proportion, result.confidence)
                for p, w in zip(part[0], whole[0], strict=True)
            ]
            columns[f"{name}_low"] = [interval.low for interval in found]
            columns[f"{name}_high"] = [interval.high for interval in found]
    columns.pop("fpr")
    if result.predictions is not None and result.predictions.proba is not None:
        areas, asked = area_parts(result.predictions, None)
        columns["roc_auc"] = np.full(k, np.nan).tolist()
        for code, area in zip(asked, areas.areas.tolist(), strict=True):
            columns["roc_auc"][code] = area
    columns["rows"] = matrix.sum(axis=1).tolist()
    figures = confusion_figures(matrix[None])
    for average in AVERAGES:
        for name in columns:
            value = figures.get(f"{name}_{average}", [result.values.get(f"{name}_{average}")])[0]
            columns[name].append(np.nan if value is None else float(value))
        columns["class"][-1], columns["rows"][-1] = average, float(matrix.sum())
    return columns


def class_cells(result: Evaluation) -> dict[str, list[str]]:
    """The same for print."""
    columns = class_columns(result)
    kept = ["precision", "recall", "specificity", "f1", "roc_auc"]
    cells = {"class": list(map(str, columns["class"]))}
    for name in kept:
        if name in columns:
            cells[name] = [_number(value) for value in columns[name]]
    return cells | {"rows": [f"{value:.6g}" for value in columns["rows"]]}


def confusion_cells(result: Evaluation) -> dict[str, list[str]]:
    """The confusion matrix for print; only the 12 largest classes of many."""
    matrix = _matrix(result)
    shown = np.sort(np.argsort(-matrix.sum(axis=1), kind="stable")[:12])
    names = [str(result.classes[k]) for k in shown]
    cells = {"": names}
    for k, name in zip(shown, names, strict=True):
        cells[name if name not in cells else f"{name} "] = [f"{v:.6g}" for v in matrix[shown, k]]
    return cells


def fold_columns(result: Evaluation) -> dict[str, list[Any]]:
    """Sizes, seconds and figures of each fold."""
    run = result.run
    if run is None or result.predictions is None or result.predictions.fold is None:
        raise ParameterError(
            "There are no folds here: one model was judged; call cross_validate for folds."
        )
    folds = list(range(len(run.splits)))
    values = []
    for k in folds:
        part = run.predictions([k])
        matrix = None if part.classes is None else part.confusion
        values.append(figure_values(matrix, part, result.costs, result.positive_code))
    columns: dict[str, list[Any]] = {
        "fold": [k + 1 for k in folds],
        "repeat": [split.repeat + 1 for split in run.splits],
        "training_rows": [len(split.train) for split in run.splits],
        "test_rows": [len(split.test) for split in run.splits],
        "fit_seconds": [answer.fit_seconds for answer in run.answers],
        "predict_seconds": [answer.predict_seconds for answer in run.answers],
    }
    for name in result.values:
        columns[name] = [found.get(name, np.nan) for found in values]
    return columns


def fold_sentence(result: Evaluation) -> str:
    """How much the folds differ."""
    assert result.run is not None
    name = "accuracy" if result.is_classification else "rmse"
    n = len(result.run.splits)
    seconds = sum(a.fit_seconds for a in result.run.answers)
    if n < 2 or min(len(split.test) for split in result.run.splits) < 2:
        return f"{n} {'fit' if n == 1 else 'fits'}, {seconds:.2g} s."
    found = np.array(fold_columns(result)[name])
    return (
        f"{n} folds: {FIGURES[name].label} {found.mean():.3f} on average, standard deviation "
        f"{found.std(ddof=1):.3f}, from {found.min():.3f} to {found.max():.3f}; fits took "
        f"{seconds:.2g} s."
    )


def prediction_columns(result: Evaluation) -> dict[str, Any]:
    """What was predicted of which row."""
    found = result.predictions
    if found is None:
        raise ParameterError("There are no predictions here, only counts.")
    columns: dict[str, Any] = {"row": np.arange(len(found)) if found.row is None else found.row}
    if found.fold is not None:
        columns["fold"] = found.fold + 1
    labels = None if found.classes is None else np.asarray(found.classes)
    columns["truth"] = found.truth if labels is None else labels[found.truth]
    columns["predicted"] = found.predicted if labels is None else labels[found.predicted]
    if found.proba is not None and found.is_probability:
        for k, label in enumerate(result.classes):
            columns[f"probability({label})"] = found.proba[:, k]
    return columns


def gain_columns(result: Evaluation) -> dict[str, Any]:
    """Gain and lift at every distinct score."""
    chance, is_so, weight = scores(result, "gain")
    order = np.argsort(-chance, kind="stable")
    last = np.flatnonzero(np.append(np.diff(chance[order]) != 0, True))
    called = np.cumsum(weight[order])[last] / weight.sum()
    found = np.cumsum((weight * is_so)[order])[last] / (weight @ is_so)
    return {
        "score": chance[order][last],
        "share_called": called,
        "gain": found,
        "lift": found / called,
    }


def calibration_columns(result: Evaluation) -> dict[str, Any]:
    """Bins of equally many rows: how sure the model was, how often it was so."""
    found = result.predictions
    if found is None or found.proba is None or not found.is_probability:
        raise ParameterError("Calibration needs class probabilities, but there are none here.")
    chance, is_so = sureness(found, result.positive_code)
    place, weight = calibration_bins(chance), found.weights
    bins = np.unique(place)
    n = np.array([weight[place == b].sum() for b in bins])
    share = np.array([np.average(is_so[place == b], weights=weight[place == b]) for b in bins])
    limits = [
        proportion_interval(s * m, m, result.proportion, result.confidence)
        for s, m in zip(share, n, strict=True)
    ]
    return {
        "rows": n,
        "probability": [np.average(chance[place == b], weights=weight[place == b]) for b in bins],
        "share": share,
        "low": [interval.low for interval in limits],
        "high": [interval.high for interval in limits],
    }


def scores(result: Evaluation, what: str) -> tuple[Any, Any, Any]:
    """Score of the positive class, whether it was so, and weights."""
    found = result.predictions
    if found is None or found.proba is None:
        raise ParameterError(
            f"{what} needs probabilities or scores of the rows, but there are none here."
        )
    code = result.positive_code
    if code is None:
        raise ParameterError(
            f"{what} is of one class against the rest, but there are {len(result.classes)}; "
            "name one with positive=."
        )
    return found.proba[:, code], found.truth == code, found.weights


def as_dict(result: Evaluation) -> dict[str, Any]:
    """Plain values."""
    figures = figure_columns(result)
    found: dict[str, Any] = {
        "model": result.model,
        "method": result.method,
        "rows": result.n_rows,
        "confidence": result.confidence,
        "figures": {
            name: {
                "value": _plain(value),
                "low": _plain(low),
                "high": _plain(high),
                "interval": how,
            }
            for name, value, low, high, how in zip(*figures.values(), strict=True)
        },
        "warnings": list(result.warnings),
    }
    if result.is_classification:
        found["classes"] = [_plain(label) for label in result.classes]
        found["positive"] = _plain(result.positive)
        found["confusion"] = _matrix(result).tolist()
        found["by_class"] = _records(class_columns(result))
        found["costs"] = None if result.costs is None else result.costs.tolist()
    if result.run is not None:
        found["folds"] = _records(fold_columns(result))
    return found


def as_html(result: Evaluation) -> str:
    """For a notebook."""
    parts = [f"<p><b>{html.escape(headline(result))}</b></p>"]
    if result.warnings:
        listed = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in result.warnings)
        parts.append(f"<ul>{listed}</ul>")
    parts.append(html_table(figure_cells(result), "Figures"))
    if result.is_classification:
        parts.append(html_table(confusion_cells(result), "True class down, predicted class across"))
        parts.append(html_table(class_cells(result), "By class"))
    if result.run is not None:
        parts.append(f"<p>{html.escape(fold_sentence(result))}</p>")
    return "".join(parts)


def headline(result: Evaluation) -> str:
    """Who was judged on what, and the first figure."""
    who = f"{result.model}, {result.method}, {result.n_rows:g} rows"
    if result.predictions is None:
        who = f"Counts of {result.n_rows:g} rows"
    name = "error" if result.is_classification else "rmse"
    low, high, how = result.intervals[name]
    value = result.values[name]
    percent = f"{100 * result.confidence:g} %"
    if result.is_classification:
        positive = "" if result.positive is None else f"; positive class {result.positive!r}"
        return (
            f"{who}{positive}\n"
            f"Wrong in {value:.1%} of the rows, {percent} interval {low:.1%} … {high:.1%} ({how})"
        )
    return f"{who}\nRMSE {value:.4g}, {percent} interval {low:.4g} … {high:.4g} ({how})"


def wrapped(sentence: str) -> str:
    """A sentence of warning in lines of a page."""
    return textwrap.fill(sentence, 96, initial_indent="! ", subsequent_indent="  ")


def _matrix(result: Evaluation) -> Any:
    if result.confusion is None:
        raise ParameterError("This model predicts numbers; there are no classes here.")
    return result.confusion


def _records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    lines = zip(*columns.values(), strict=True)
    return [{n: _plain(v) for n, v in zip(columns, line, strict=True)} for line in lines]


def _plain(value: Any) -> Any:
    """A value of JSON: numpy's become Python's, what is not a number becomes None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)


def _number(value: float) -> str:
    if not np.isfinite(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:.6g}"
