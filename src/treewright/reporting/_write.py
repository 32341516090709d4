"""The last step: the page. Results become plain rows and charts; the template arranges them."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.evaluation._figures import FIGURES
from treewright.reporting import _charts as charts
from treewright.reporting._book import rounded, shown
from treewright.reporting._html import render
from treewright.reporting._page import build
from treewright.reporting._words import (
    EXPLAINED,
    figure_words,
    interval_words,
    learner_words,
    score_cards,
)
from treewright.tree.show.words import format_number, format_value

if TYPE_CHECKING:
    from treewright.evaluation._evaluation import Evaluation
    from treewright.reporting._report import Report

__all__ = ["report_page"]

MOST_COLUMNS = 60
"""Columns listed one by one; of more, those with remarks and the first."""
MOST_CLASSES = 30
SHOWN_FIGURES = (
    *("accuracy", "error", "balanced_accuracy", "kappa", "precision", "recall", "specificity"),
    *("f1", "f1_macro", "roc_auc", "roc_auc_macro", "average_precision", "log_loss", "brier"),
    *("calibration_error", "mean_cost", "total_cost", "rmse", "mae", "r2"),
)


def report_page(report: Report) -> str:
    """The report as one HTML file."""
    pruned, held = report.pruned, report.held
    tree = build(
        [pruned.whole],
        model=pruned.model,
        X=held.X_train,
        y=held.y_train,
        steps=pruned.steps,
        start=pruned.start,
        static=pruned.tree,
    )
    tree.book["records"] = _records(report, len(tree.book["features"]))
    return render(
        "report.html",
        ("base", "tree", "report"),
        tree.book,
        title=shown(report.title),
        sentence=report.sentence,
        cards=score_cards(report),
        data=_data(report),
        comparison=_comparison(report),
        pruning=_pruning(report),
        leaves=_leaves(report),
        evaluation=_evaluation(report),
        importances=_importances(report),
        shapley=_shapley(report),
        records=_record_heads(report),
        made=_made(report),
        explained=EXPLAINED,
        metric=report.compared.metric,
        summary=tree.summary,
        **tree.values(alone=False),
    )


# -- data ---------------------------------------------------------------------------------------


def _data(report: Report) -> dict[str, Any]:
    data = report.data
    n_all = data.n_rows
    listed = [c for c in data.columns if c.remark] + [c for c in data.columns if not c.remark]
    some = {c.name for c in listed[:MOST_COLUMNS]}
    kinds = [c.kind for c in data.columns]
    gaps = sum(c.n_gaps for c in data.columns)
    cells = max(1, n_all * len(data.columns))
    return {
        "n_rows": _count(n_all),
        "n_train": _count(len(report.held.train)),
        "n_test": _count(len(report.held.test)),
        "n_dropped": data.n_dropped,
        "kinds": [(kind, kinds.count(kind)) for kind in ("continuous", "ordinal", "nominal")],
        "gaps": f"{100 * gaps / cells:.1f} %",
        "target": shown(data.target),
        "is_class": data.is_class,
        "target_chart": _target_chart(report),
        "suspects": [(shown(s.column), s.words, s.is_leak) for s in data.suspects],
        "columns": [
            {
                "name": shown(c.name),
                "kind": c.kind,
                "gaps": f"{100 * c.n_gaps / n_all:.1f} %" if c.n_gaps else "",
                "distinct": _count(c.n_distinct),
                "holds": shown(c.holds),
                "remark": c.remark,
                "used": c.is_used,
            }
            for c in data.columns
            if c.name in some
        ],
        "n_more": len(data.columns) - len(some),
        "notes": [shown(note) if len(note) < 100 else note for note in data.notes],
    }


def _target_chart(report: Report) -> Any:
    from markupsafe import Markup

    data = report.data
    title = f"How {data.target} is distributed"
    if data.is_class:
        order = np.argsort(-np.array(data.counts), kind="stable")[:MOST_CLASSES].tolist()
        groups = [
            (
                shown(format_value(data.classes[k])),
                [
                    charts.Bar(
                        f"{_count(data.counts[k])} ({data.counts[k] / data.n_rows:.1%})",
                        data.counts[k],
                    )
                ],
            )
            for k in order
        ]
        return Markup(charts.bars(groups, title=title))
    heights, edges = np.histogram(data.codes, bins=min(24, max(5, int(np.sqrt(data.n_rows)))))
    x = np.repeat(edges, 2)[1:-1]
    y = np.repeat(heights, 2).astype(float)
    line = charts.Line("rows", x, y)
    return Markup(charts.lines([line], shown(data.target), "rows", title=title))


# -- comparison ---------------------------------------------------------------------------------


def _comparison(report: Report) -> dict[str, Any]:
    from markupsafe import Markup

    compared, plan = report.compared, report.plan
    found = compared.comparison
    reasons = list(report.choice.reasons)
    if found is None:
        return {"rows": [], "reasons": reasons, "chart": "", "sentence": ""}
    frame = found._columns()
    share = compared.metric in ("accuracy", "roc_auc")
    leaves = [report.choice.leaves.get(n) for n in compared.names]
    names = [
        t if n is None else f"{t}, {n} {'leaf' if n == 1 else 'leaves'}"
        for t, n in zip(found.names, leaves, strict=True)
    ]
    bars = [
        charts.Bar(
            name,
            float(mean),
            float(low),
            float(high),
            raw in (report.choice.readable, report.choice.strong),
        )
        for raw, name, mean, low, high in zip(
            compared.names, found.names, found.means, frame["low"], frame["high"], strict=True
        )
    ]
    rows = [
        {
            "name": name,
            "mean": figure_words(compared.metric, bar.value),
            "interval": f"{figure_words(compared.metric, bar.low or 0)} to "
            f"{figure_words(compared.metric, bar.high or 0)}",
            "role": _role(report, raw),
        }
        for raw, name, bar in zip(compared.names, names, bars, strict=True)
    ]
    label = FIGURES[compared.metric].label
    better = "less is better" if compared.is_low_better else "more is better"
    times = f"{plan.folds} folds" + (f", {plan.repeats} times" if plan.repeats > 1 else "")
    return {
        "rows": rows,
        "label": label,
        "better": better,
        "how": f"{times}, on {_count(compared.n_rows)} of the {_count(len(report.held.train))} "
        "training rows",
        "sentence": found.sentence,
        "reasons": reasons,
        "chart": Markup(
            charts.dots(bars, f"{label} in cross-validation, {better}", title=label, percent=share)
        ),
    }


def _role(report: Report, name: str) -> str:
    roles = []
    if name == report.choice.readable:
        roles.append("to read")
    if name == report.choice.strong:
        roles.append("to win")
    return ", ".join(roles)


# -- tree ---------------------------------------------------------------------------------------


def _pruning(report: Report) -> dict[str, Any]:
    return {"words": report.pruned.words}


def _leaves(report: Report) -> dict[str, Any]:
    is_class = report.data.is_class
    rows = [
        {
            "node": row.node,
            "rule": row.rule,
            "prediction": shown(row.prediction),
            "train": f"{100 * row.share_train:.0f} %"
            if is_class
            else format_number(row.share_train, 4),
            "n_train": _count(row.n_train),
            "test": "–"
            if row.share_test is None
            else f"{100 * row.share_test:.0f} %"
            if is_class
            else format_number(row.share_test, 4),
            "n_test": _count(row.n_test),
        }
        for row in report.explained.leaves
    ]
    return {"rows": rows, "is_class": is_class}


# -- evaluation ---------------------------------------------------------------------------------


def _evaluation(report: Report) -> dict[str, Any]:
    judged, choice = report.judged, report.choice
    models = [(learner_words(choice.readable), judged.readable)]
    if choice.strong != choice.readable:
        models.append((learner_words(choice.strong), judged.strong))
    names = [n for n in SHOWN_FIGURES if n in judged.readable.values]
    rows = [
        {
            "name": FIGURES[name].label,
            "better": FIGURES[name].better,
            "cells": [(figure_words(name, e[name]), interval_words(name, e)) for _, e in models],
            "baseline": _baseline(report, name),
        }
        for name in names
    ]
    warnings = list(dict.fromkeys(w for _, e in models for w in e.warnings))
    if judged.readable.costs is not None:
        # who minds costs gives accuracy away on purpose
        warnings = [w for w in warnings if not w.startswith("No better than the majority")]
    return {
        "models": [name for name, _ in models],
        "rows": rows,
        "warnings": warnings,
        "positive": None
        if judged.readable.positive is None
        else shown(format_value(judged.readable.positive)),
        "confusions": [(name, _confusion(e)) for name, e in models] if report.data.is_class else [],
        "costs": _costs(report),
        "charts": _evaluation_charts(models, report),
        "curve": _curve(report),
        "n_test": _count(len(report.held.test)),
    }


def _baseline(report: Report, name: str) -> str:
    values = report.judged.baseline.values
    informative = (
        "accuracy",
        "error",
        "mean_cost",
        "total_cost",
        "rmse",
        "mae",
        "balanced_accuracy",
    )
    return figure_words(name, values[name]) if name in informative and name in values else ""


def _confusion(evaluation: Evaluation) -> dict[str, Any]:
    matrix = evaluation.confusion
    assert matrix is not None
    order = np.argsort(-matrix.sum(axis=1), kind="stable")[:MOST_CLASSES]
    order = np.sort(order)
    names = [shown(format_value(evaluation.classes[k])) for k in order.tolist()]
    part = matrix[np.ix_(order, order)]
    rows = [
        {
            "name": name,
            "cells": [
                {
                    "n": _count(int(n)),
                    "share": round(float(n / max(1.0, row.sum())), 3),
                    "right": i == j,
                }
                for j, n in enumerate(row)
            ],
        }
        for i, (name, row) in enumerate(zip(names, part, strict=True))
    ]
    return {"names": names, "rows": rows, "n_more": len(matrix) - len(order)}


def _costs(report: Report) -> Any:
    costs = report.judged.readable.costs
    if costs is None:
        return None
    names = [shown(format_value(c)) for c in report.data.classes]
    return {
        "names": names,
        "rows": [
            (n, [format_number(float(x), 4) for x in row])
            for n, row in zip(names, costs, strict=True)
        ],
    }


def _evaluation_charts(models: Sequence[tuple[str, Evaluation]], report: Report) -> list[Any]:
    from markupsafe import Markup

    if not report.data.is_class:
        return [
            (
                f"Predicted and true, {name}",
                "",
                Markup(
                    charts.scatter(
                        e.predictions.predicted,  # type: ignore[union-attr]
                        e.predictions.truth,  # type: ignore[union-attr]
                        "predicted",
                        "true",
                        title=f"Predicted and true values of {name}",
                    )
                ),
            )
            for name, e in models
        ]
    if models[0][1].positive is None:
        return []
    return [
        ("ROC curve", "roc", Markup(_roc(models))),
        ("Precision and recall", "pr", Markup(_precision_recall(models))),
        ("Calibration", "calibration", Markup(_calibration(models))),
    ]


def _scored(evaluation: Evaluation) -> tuple[Any, Any] | None:
    found = evaluation.predictions
    code = evaluation.positive_code
    if found is None or found.proba is None or code is None:
        return None
    return found.truth == code, found.proba[:, code]


def _roc(models: Sequence[tuple[str, Evaluation]]) -> str:
    from sklearn.metrics import roc_curve

    lines = []
    for name, evaluation in models:
        scored = _scored(evaluation)
        if scored is not None:
            fpr, tpr, _ = roc_curve(*scored)
            lines.append(
                charts.Line(f"{name} ({figure_words('roc_auc', evaluation['roc_auc'])})", fpr, tpr)
            )
    return charts.lines(
        lines,
        "others called by mistake",
        "class of interest found",
        title="ROC curve",
        x=(0.0, 1.0),
        y=(0.0, 1.0),
        diagonal=True,
        percent=(True, True),
    )


def _precision_recall(models: Sequence[tuple[str, Evaluation]]) -> str:
    from sklearn.metrics import precision_recall_curve

    lines = []
    share = 0.0
    for name, evaluation in models:
        scored = _scored(evaluation)
        if scored is not None:
            precision, recall, _ = precision_recall_curve(*scored)
            share = float(np.mean(scored[0]))
            lines.append(charts.Line(name, recall[::-1], precision[::-1]))
    lines.append(charts.Line("by chance", [0.0, 1.0], [share, share]))
    return charts.lines(
        lines,
        "class of interest found (recall)",
        "right among the called (precision)",
        title="Precision and recall",
        x=(0.0, 1.0),
        y=(0.0, 1.0),
        percent=(True, True),
    )


def _calibration(models: Sequence[tuple[str, Evaluation]]) -> str:
    lines = []
    for name, evaluation in models:
        scored = _scored(evaluation)
        if scored is None:
            continue
        truth, chance = scored
        parts = _alike(chance, min(10, max(2, len(chance) // 10)))
        said = [float(chance[p].mean()) for p in parts]
        came = [float(truth[p].mean()) for p in parts]
        lines.append(charts.Line(name, said, came, points=True))
    return charts.lines(
        lines,
        "probability that was said",
        "share that came true",
        title="Calibration",
        x=(0.0, 1.0),
        y=(0.0, 1.0),
        diagonal=True,
        percent=(True, True),
    )


def _alike(chance: Any, most: int) -> list[Any]:
    """Rows in groups of about equal size by probability; equal ones are never parted."""
    values, group = np.unique(chance, return_inverse=True)
    if len(values) > most:
        edges = np.unique(np.quantile(chance, np.linspace(0, 1, most + 1)[1:-1]))
        group = np.searchsorted(edges, chance, side="right")
    return [np.flatnonzero(group == g) for g in np.unique(group)]


def _curve(report: Report) -> Any:
    from markupsafe import Markup

    curve = report.judged.curve
    if curve is None:
        return None
    label = FIGURES[curve.measure].label
    names = {"training": "rows it was trained on", "validation": "new rows"}
    lines = [
        charts.Line(names.get(kind, kind), curve.values, mean, curve.std[kind], points=True)
        for kind, mean in curve.mean.items()
    ]
    share = curve.measure in ("error", "roc_auc")
    y = None
    if curve.measure == "roc_auc":
        y = (min(0.5, *(float(m.min()) for m in curve.mean.values())), 1.0)
    return Markup(
        charts.lines(
            lines, "training rows", label, title="Learning curve", y=y, percent=(False, share)
        )
    )


# -- importances, records, how ------------------------------------------------------------------


def _importances(report: Report) -> dict[str, Any]:
    from markupsafe import Markup

    found = report.explained.importances[:15]
    both = report.choice.strong != report.choice.readable
    names = [learner_words(report.choice.readable)]
    if both:
        names.append(learner_words(report.choice.strong))
    if not found:
        return {"chart": "", "unit": report.explained.unit, "n": 0}
    groups = [
        (
            shown(i.feature),
            [charts.Bar("", i.readable), charts.Bar("", i.strong)]
            if both
            else [charts.Bar("", i.readable)],
        )
        for i in found
    ]
    chart = charts.bars(groups, title="Importance of the features", names=names)
    return {"chart": Markup(chart), "unit": report.explained.unit, "n": len(found)}


def _shapley(report: Report) -> Any:
    from markupsafe import Markup

    found = report.explained.shapley
    if found is None or not found.features:
        return None
    groups = [
        (shown(name), [charts.Bar("", size)])
        for name, size in zip(found.features, found.mean_abs, strict=True)
    ]
    return {
        "chart": Markup(charts.bars(groups, title="Mean size of the Shapley values")),
        "learner": learner_words(found.learner),
        "output": None if found.output is None else shown(found.output),
    }


def _shapley_records(report: Report) -> Any:
    found = report.explained.shapley
    if found is None or not found.values.size:
        return None
    return {
        "learner": learner_words(found.learner),
        "output": None if found.output is None else shown(found.output),
        "features": [shown(name) for name in found.features],
        "base": rounded(found.base, 4),
        "values": [[rounded(x, 3) for x in row] for row in found.values.tolist()],
    }


def _records(report: Report, n_features: int) -> dict[str, Any]:
    records = report.explained.records
    model = report.pruned.model
    order = [report.data.table.schema.index(f.name) for f in model.tree_.schema.features]
    return {
        "row": records.rows.tolist(),
        "truth": [shown(x) for x in records.truth],
        "readable": [shown(x) for x in records.readable],
        "strong": [shown(x) for x in records.strong],
        "sure": [
            [None if a is None else rounded(a, 3), None if b is None else rounded(b, 3)]
            for a, b in zip(records.sure_readable, records.sure_strong, strict=True)
        ],
        "wrong": [int(w) for w in records.is_wrong],
        "values": [records.values[i] for i in order][:n_features],
        "categories": {
            str(k): [shown(format_value(c)) for c in feature.categories[:400]]
            for k, feature in enumerate(model.tree_.schema.features)
            if feature.is_categorical
        },
        "two": report.choice.strong != report.choice.readable,
        "shapley": _shapley_records(report),
    }


def _record_heads(report: Report) -> dict[str, Any]:
    return {
        "readable": learner_words(report.choice.readable),
        "strong": learner_words(report.choice.strong),
        "two": report.choice.strong != report.choice.readable,
        "n": len(report.explained.records.rows),
        "n_test": _count(len(report.held.test)),
    }


def _made(report: Report) -> dict[str, Any]:
    import sklearn

    import treewright

    stamp = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    settings = report.settings
    return {
        "stamp": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(stamp)),
        "versions": f"treewright {treewright.__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, Python {platform.python_version()}",
        "seed": settings.seed,
        "command": report.command,
        "seconds": format_number(settings.seconds, 4),
        "learners": ", ".join(report.plan.learners),
        "n_trees": report.plan.n_trees,
        "test_size": f"{100 * settings.test_size:.3g} %",
    }


def _count(n: int) -> str:
    return f"{n:,}".replace(",", "\u202f")
