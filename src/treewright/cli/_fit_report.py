"""What ``treewright fit`` says in the end: size, an honest error, a short tree, what to do next."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FitReport", "judge", "show_report"]

MOST_CELLS = 2_000_000
"""Cells of a table above which a third of the rows is held out once, instead of in folds."""
TREE_LINES = 12
BAR = 20
_COLOURS = (36, 33, 35, 32, 34, 31)


READABLE = 30
BY_HEART = (
    "This tree knows its rows by heart; --set ccp_alpha=cv prunes it by cross-validation to one "
    "that can be read and is often better."
)


@dataclass(frozen=True)
class FitReport:
    """A fitted estimator beside what it was fitted to."""

    estimator: Any
    features: pa.Table
    y: pa.ChunkedArray
    target: str
    path: Path
    folds: int
    seed: int | None


def show_report(report: FitReport, as_json: bool, quiet: bool, to_stdout: bool) -> None:
    """Print the report; to stderr where the model itself goes to stdout."""
    if quiet and not as_json:
        return
    found = _figures(report)
    where = sys.stderr if to_stdout else sys.stdout
    if as_json:
        print(json.dumps(found, indent=2), file=where)
        return
    rows, columns = report.features.shape
    name = type(report.estimator).__name__
    print(f"{name} of {report.target!r} on {rows} rows and {columns} features", file=where)
    if hasattr(report.estimator, "classes_"):
        print(_bars(report.y, where), file=where)
    print(f"Size: {found['size']}", file=where)
    print(found["training"], file=where)
    print(found["honest"], file=where)
    tree = _short_tree(report.estimator)
    if tree:
        print(f"\n{tree}", file=where)
    if not to_stdout:
        print(f"\nModel: {report.path}", file=where)
        if _knows_by_heart(report.estimator, found):
            print(BY_HEART, file=where)
        print(_next(report), file=where)


def _figures(report: FitReport) -> dict[str, Any]:
    import numpy as np

    estimator = report.estimator
    predicted = estimator.predict(report.features)
    truth = np.array(report.y.to_pylist(), dtype=predicted.dtype)
    found: dict[str, Any] = {
        "learner": type(estimator).__name__,
        "target": report.target,
        "rows": len(truth),
        "features": report.features.num_columns,
        "size": _size(estimator),
        "model": str(report.path),
    }
    if hasattr(estimator, "classes_"):
        wrong = int(np.count_nonzero(predicted != truth))
        found["training_error"] = wrong / len(truth)
        share = found["training_error"]
        found["training"] = f"Training error: {share:.1%} ({wrong} of {len(truth)} rows)"
    else:
        squared = float(np.mean((predicted - truth) ** 2))
        spread = float(np.var(truth))
        explained = f", R² {1 - squared / spread:.3f}" if spread > 0 else ""
        found["training_error"] = squared**0.5
        found["training"] = f"Training error: {squared**0.5:.6g} (root mean square{explained})"
    if hasattr(estimator, "oob_score_"):
        found["honest"], found["error"] = _out_of_bag(estimator, truth)
    else:
        found["honest"], found["error"] = judge(report)
    return found


def judge(report: FitReport) -> tuple[str, float | None]:
    """The error on rows that were held out, as a sentence and a number."""
    import warnings

    from sklearn.base import clone

    import treewright
    from treewright.cli._judging import wants_progress

    rows, columns = report.features.shape
    is_classes = hasattr(report.estimator, "classes_")
    counts = Counter(report.y.to_pylist()) if is_classes else {}
    folds = min([report.folds, rows, *counts.values()])
    if report.folds == 0:
        return "Error on new rows: not asked for (--folds 0).", None
    if folds < 2:
        return "Error on new rows: unknown, as there are too few rows to hold some out.", None
    once = rows * columns > MOST_CELLS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said by the fit to all rows
        result = treewright.cross_validate(
            clone(report.estimator),
            report.features,
            report.y,
            "holdout" if once else "k-fold",
            folds=folds,
            random_state=report.seed or 0,
            progress=wants_progress(False),
        )
    how = "a third held out" if once else f"{folds} folds"
    name = "Held-out error" if once else "Cross-validated error"
    if not is_classes:
        rmse = result["rmse"]
        return f"{name}: {rmse:.6g} (root mean square, {how}, R² {result['r2']:.3f})", rmse
    error = result["error"]
    low, high = result.interval("error")
    return f"{name}: {error:.1%} ({how}; 95 % interval {low:.1%} to {high:.1%})", error


def _size(estimator: Any) -> str:
    if hasattr(estimator, "rules_"):
        return f"{len(estimator.rules_)} rules"
    if hasattr(estimator, "tree_"):
        n_leaves = estimator.tree_.n_leaves
        leaves = "leaf" if n_leaves == 1 else "leaves"
        return f"{n_leaves} {leaves}, depth {estimator.tree_.depth}"
    size: str = estimator.size()
    return size


def _out_of_bag(estimator: Any, truth: Any) -> tuple[str, float]:
    """The error on the rows that members did not see, as a sentence and a number."""
    import numpy as np

    if hasattr(estimator, "classes_"):
        known = int(np.count_nonzero(~np.isnan(estimator.oob_decision_function_[:, 0])))
        error = 1 - float(estimator.oob_score_)
        return f"Out-of-bag error: {error:.1%} (of {known} rows)", error
    rmse = float(np.nanmean((estimator.oob_prediction_ - truth) ** 2)) ** 0.5
    explained = f"R² {estimator.oob_score_:.3f}"
    return f"Out-of-bag error: {rmse:.6g} (root mean square, {explained})", rmse


def _bars(y: pa.ChunkedArray, where: Any) -> str:
    """The classes with their shares as bars, coloured where a person is looking."""
    from treewright.cli._session import printable

    counts = Counter(str(value) for value in y.to_pylist())
    coloured = where.isatty() and "NO_COLOR" not in os.environ
    most = counts.most_common(len(_COLOURS))
    wide = min(24, max(len(name) for name, _ in most))
    lines = []
    for (name, count), colour in zip(most, _COLOURS, strict=False):
        share = count / len(y)
        bar = "▇" * max(1, round(BAR * share))
        bar = f"\x1b[{colour}m{bar}\x1b[0m" if coloured else bar
        lines.append(f"  {printable(name)[:wide]:<{wide}} {share:>6.1%} {bar}")
    if len(counts) > len(most):
        lines.append(f"  and {len(counts) - len(most)} more classes")
    return "\n".join(lines)


def _short_tree(estimator: Any) -> str:
    from treewright.cli._files import page_width

    if hasattr(estimator, "rules_") or not hasattr(estimator, "tree_"):
        return ""
    lines = estimator.tree_.to_text(max_depth=3, width=page_width()).rstrip().splitlines()
    if len(lines) <= TREE_LINES:
        return "\n".join(lines)
    return "\n".join([*lines[:TREE_LINES], f"… {len(lines) - TREE_LINES} more lines"])


def _knows_by_heart(estimator: Any, found: dict[str, Any]) -> bool:
    """Whether an unpruned tree is far better on its own rows than on others."""
    if found["error"] is None or getattr(estimator, "ccp_alpha", None) != 0:
        return False
    is_large = hasattr(estimator, "tree_") and estimator.tree_.n_leaves > READABLE
    return bool(is_large and found["training_error"] < found["error"] / 2)


def _next(report: FitReport) -> str:
    name = shlex.quote(str(report.path))  # as a shell wants it
    return (
        f"Next: treewright show {name}, treewright predict {name} NEW.csv, "
        f"treewright evaluate {name} NEW.csv"
    )
