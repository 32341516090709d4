"""Acts: each does with a fitted model what people do next, and checks what must hold.

An act returns nothing where it does not apply or all is well. It raises :class:`BrokenLawError`
where an answer breaks an invariant; one sentence of treewright's is an answer too, and anything
else that is raised is a fault.
"""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import treewright as tw
from tests.contract.estimators import draws_rows, uses_folds
from tests.explain.test_shap import says
from tests.exporting import run
from tests.matrix.tables import MATRICES, Data, Description, build, contained, write_parquet
from treewright.errors import TreewrightError
from treewright.evaluation._learners import LEARNERS

__all__ = ["ACTS", "BrokenLawError", "Fitted"]


class BrokenLawError(AssertionError):
    """An answer that breaks an invariant."""


def hold(holds: Any, message: str) -> None:
    if not holds:
        raise BrokenLawError(message)


def same(left: Any, right: Any, message: str, tolerance: float = 0.0) -> None:
    """Equal answers: to the bit, or up to a tolerance relative to the largest."""
    left, right = np.asarray(left), np.asarray(right)
    hold(left.shape == right.shape, f"{message}: shapes {left.shape} and {right.shape}")
    if left.dtype.kind not in "fc" or right.dtype.kind not in "fc":
        hold(np.array_equal(left, right), f"{message}: labels differ")
        return
    scale = max(1e-300, np.abs(left).max(initial=0.0))
    with np.errstate(all="ignore"):
        apart = np.abs(left / scale - right / scale)
    hold(
        np.all((left == right) | (apart <= tolerance)),
        f"{message}: up to {np.nanmax(apart, initial=0):.3g} of the largest apart",
    )


@dataclass
class Fitted:
    """A fitted model with its data, and a folder to write to."""

    model: Any
    data: Data
    described: Description
    folder: Path
    parameters: dict[str, str]

    @property
    def is_classifier(self) -> bool:
        return hasattr(self.model, "classes_")

    @property
    def is_matrix(self) -> bool:
        """Whether the columns have no names."""
        return self.described.container in MATRICES

    @cached_property
    def asked(self) -> Any:
        """Rows to ask, in the container of the training table."""
        return contained(self.data.new, self.described.container)

    def numbers(self, X: Any, model: Any = None) -> np.ndarray:
        """Probabilities, or numbers."""
        model = self.model if model is None else model
        return np.asarray(getattr(model, "predict_proba", model.predict)(X), float)

    def fit(self, model: Any, X: Any = None, y: Any = None) -> Any:
        """A model fitted as the case was."""
        given = {} if self.data.weight is None else {"sample_weight": self.data.weight}
        return model.fit(self.data.X if X is None else X, self.data.y if y is None else y, **given)

    def bytes(self, model: Any, name: str) -> bytes:
        tw.save(model, self.folder / name)
        return (self.folder / name).read_bytes()


def predict(case: Fitted) -> None:
    for X in (case.data.X, case.asked):
        n = len(case.data.frame if X is case.data.X else case.data.new)
        label = np.asarray(case.model.predict(X))
        hold(len(label) == n, "predict: one answer per row")
        if not case.is_classifier:
            hold(np.all(np.isfinite(label)), "predict: numbers are not finite")
            continue
        hold(set(label.tolist()) <= set(case.model.classes_.tolist()), "predict: unknown class")
        if hasattr(case.model, "predict_proba"):
            shares = case.model.predict_proba(X)
            hold(shares.shape == (n, len(case.model.classes_)), "predict_proba: shape")
            hold(np.all(np.isfinite(shares)), "predict_proba: not finite")
            hold(np.all((shares >= 0) & (shares <= 1)), "predict_proba: outside of [0, 1]")
            hold(np.allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-9), "predict_proba: sum")


def alone(case: Fitted) -> None:
    whole = case.numbers(case.asked)
    rows = [
        case.numbers(contained(case.data.new.iloc[[i]], case.described.container))
        for i in range(len(case.data.new))
    ]
    same(whole, np.concatenate(rows), "a row asked alone")


def saved(case: Fitted) -> None:
    before = case.bytes(case.model, "model")
    copy = tw.load(case.folder / "model")
    same(case.numbers(case.asked), case.numbers(case.asked, copy), "loaded")
    same(case.model.predict(case.asked), copy.predict(case.asked), "loaded")
    hold(case.bytes(copy, "copy") == before, "saved again: other bytes")
    hold(repr(copy) == repr(case.model), "loaded: another repr")


def pickled(case: Fitted) -> None:
    copy = pickle.loads(pickle.dumps(case.model))
    same(case.numbers(case.asked), case.numbers(case.asked, copy), "pickled")


def refitted(case: Fitted) -> None:
    before = case.bytes(case.model, "before")
    fresh = case.fit(clone(case.model))
    hold(case.bytes(fresh, "fresh") == before, "a clone fitted again: other bytes")
    hold(
        case.bytes(case.fit(fresh), "again") == before, "the same object fitted again: other bytes"
    )


def threads(case: Fitted) -> None:
    if "n_jobs" not in case.model.get_params(deep=False):
        return
    one = case.numbers(case.asked)
    two = case.fit(clone(case.model).set_params(n_jobs=2))
    same(one, case.numbers(case.asked, two), "two threads")
    two.set_params(n_jobs=case.model.n_jobs)
    if not any(name.endswith("__n_jobs") for name in two.get_params()):
        hold(case.bytes(two, "two") == case.bytes(case.model, "one"), "two threads: other bytes")


def repeated(case: Fitted) -> None:
    has_gaps = bool(case.data.frame.isna().any(axis=None))
    if not repeats_count(case.model, has_gaps) or len(case.data.y) > 80:
        return
    n = len(case.data.y)
    # costs are of all classes, also of those whose rows have no weight
    least = int(_kind(case).startswith("CostSensitive"))
    weight = np.random.default_rng(n).integers(least, 4, n)
    weight[weight.argmax()] = 3
    rows = np.repeat(np.arange(n), weight)
    # 1 must be there: counts are multiples of the smallest weight.
    if 1 not in weight or len(rows) == 0:
        return
    weighted = clone(case.model).fit(case.data.frame, case.data.y, sample_weight=weight)
    twice = clone(case.model).fit(
        case.data.frame.iloc[rows].reset_index(drop=True), case.data.y[rows]
    )
    if hasattr(weighted, "classes_"):
        same(weighted.classes_, twice.classes_, "weights and repeated rows")
    new = case.data.frame
    same(case.numbers(new, weighted), case.numbers(new, twice), "weights and repeated rows", 1e-6)


def repeats_count(model: Any, has_gaps: bool) -> bool:
    """Whether a row of weight two is two rows, as far as the guide promises it."""
    is_single = has_gaps and getattr(model, "variant", "") == "release8"
    if is_single or type(model).__name__.startswith(
        ("AdaBoost", "Hoeffding", "OptimalTreeRegressor")
    ):
        return False
    members = [getattr(model, name, None) for name in ("estimator", "base", "init")]
    members += [member for _, member in getattr(model, "estimators", None) or ()]
    for member in members:
        if hasattr(member, "fit") and not (_is_ours(member) and repeats_count(member, has_gaps)):
            return False
    options = getattr(model, "pruning_options", None) or {}
    is_drawn = (
        draws_rows(model)
        or uses_folds(model)
        or getattr(model, "pruning", "") == "reduced_error"
        or "validation_fraction" in options
        or getattr(model, "n_estimators", "") == "auto"
        or getattr(model, "variant", "") == "j48"
        or getattr(model, "early_stopping", False) is True
        or getattr(model, "adjust", "") == "monte_carlo"
        or getattr(model, "sampling", "uniform") not in ("uniform", None)
        or getattr(model, "method", "") == "metacost"
        or isinstance(getattr(model, "weights", None), str)
    )
    counts_rows = getattr(model, "missing", "") == "surrogate" or _counts_rows(model)
    return not is_drawn and not counts_rows


ROW_COUNTERS = ("CART", "ExtraTrees", "Hunt", "ID3", "Oblique", "RandomForest", "SLIQ", "SPRINT")
"""Learners of which ``min_samples_leaf`` and ``min_samples_split`` are numbers of rows."""


def _counts_rows(model: Any) -> bool:
    """Whether a limit of rows, not of weight, is set."""
    limits = (getattr(model, "min_samples_leaf", 1), getattr(model, "min_samples_split", 2))
    if getattr(model, "tree_method", "") == "exact" and hasattr(model, "learning_rate"):
        return limits[0] != 1  # boosters grow the trees of CART then
    return type(model).__name__.startswith(ROW_COUNTERS) and limits != (1, 2)


def _is_ours(model: Any) -> bool:
    return hasattr(model, "_parameter_constraints")


def frames(case: Fitted) -> None:
    if case.is_matrix:
        return
    one = case.numbers(case.asked)
    for container in ("pandas", "polars", "arrow"):
        other = case.fit(clone(case.model), contained(case.data.frame, container))
        same(one, case.numbers(contained(case.data.new, container), other), f"from {container}")


def words(case: Fitted) -> None:
    hold(str(case.model), "no repr")
    for name in ("to_text", "summary", "rule_set"):
        if hasattr(case.model, name):
            str(getattr(case.model, name)())
    for tree in _trees(case.model)[:2]:
        tree.to_text()
        tree.to_text(style="c45")
        str(tree.rules())
        str(tree.rule_set())
        hold(type(tree).from_dict(tree.to_dict()).to_dict() == tree.to_dict(), "to_dict differs")
        for i in range(min(3, len(case.data.new))):
            str(tree.path(case.data.new.iloc[i].to_dict()))


def _trees(model: Any) -> list[Any]:
    if hasattr(model, "tree_"):
        return [model.tree_]
    members = getattr(model, "estimators_", [])
    found = [getattr(member, "tree_", member) for member in list(members)[:2]]
    return [tree for tree in found if isinstance(tree, tw.Tree)]


def pictures(case: Fitted) -> None:
    from xml.etree import ElementTree

    for tree in _trees(case.model)[:1]:
        ElementTree.fromstring(tree.to_svg())
        tree.to_svg(max_leaves=None, detail="full")
    if hasattr(case.model, "to_html"):
        hold("</html>" in case.model.to_html(), "the page has no end")
    if hasattr(case.model, "_repr_html_"):
        case.model._repr_html_()


def lessons(case: Fitted) -> None:
    if hasattr(case.model, "lesson"):
        str(case.model.lesson(case.data.X, case.data.y))
    if hasattr(case.model, "trace"):
        str(case.model.trace(0, case.data.X, case.data.y))


def shapley(case: Fitted) -> None:
    from treewright.tree.additive import additive_of

    if not hasattr(case.model, "shap_values"):
        return
    model, total = case.model, additive_of(case.model)
    found = model.shap_values(case.asked)
    values = found.values.sum(axis=1) + found.base_values
    if total.says != "probability" and _kind(case).startswith("CostSensitive"):
        model = model.estimator_  # costs decide beside the scores that are explained
    expected = says(model, total, case.asked)
    same(np.asarray(expected, float).reshape(values.shape), values, "Shapley values", 1e-7)


def importances(case: Fitted) -> None:
    if not hasattr(case.model, "feature_importances_"):
        return
    shares = case.model.feature_importances_
    hold(shares.shape == (case.data.frame.shape[1],), "importances: one per feature")
    hold(np.all(np.isfinite(shares)) and np.all(shares >= 0), "importances: negative or not finite")
    total = shares.sum()
    hold(total == 0 or math.isclose(total, 1, abs_tol=1e-9), "importances: sum")
    if hasattr(case.model, "importances"):
        str(case.model.importances())
    from treewright.explain import importances as permuted

    str(permuted(case.model, case.data.X, case.data.y, n_repeats=2))


def dependence(case: Fitted) -> None:
    from treewright.explain import partial_dependence

    feature = 0 if case.is_matrix else "x0"
    if feature == "x0" and "x0" not in case.data.frame:
        feature = case.data.frame.columns[0]
    found = partial_dependence(case.model, case.data.X, feature, grid=5, max_rows=20)
    str(found)


def proofs(case: Fitted) -> None:
    if not hasattr(case.model, "tree_"):
        return
    gap = tw.optimality_gap(
        case.model, case.data.X, case.data.y, case.data.weight, max_depth=2, max_cuts=None,
        time_limit=3.0,
    )  # fmt: skip
    if not gap.outside:
        slack = 1e-9 * max(abs(gap.error), 1e-300)
        hold(gap.lower_bound <= gap.error + slack, "a proof that a tree refutes")
        hold(
            gap.best_error <= gap.error + slack, "the best tree is worse than the one it was shown"
        )


def pruned(case: Fitted) -> None:
    from treewright import pruning

    for tree in _trees(case.model)[:1]:
        for method, given in {
            "pessimistic": (),
            "cost_complexity": (0.01,),
            "mdl": (),
            "minimum_error": (),
            "chi_squared": (),
            "critical_value": (0.1,),
            "error_based": (),
            "reduced_error": (case.data.X, case.data.y),
        }.items():
            try:
                smaller = getattr(pruning, method)(tree, *given)
            except TreewrightError as error:
                hold_sentence(error)
                continue
            hold(smaller.n_leaves <= tree.n_leaves, f"{method} grew a tree")


def hold_sentence(error: TreewrightError) -> None:
    """An error is one sentence, without line breaks but those of the data it names."""
    text = str(error)
    hold(text.rstrip().endswith((".", "?", ")")), f"no sentence: {text[-80:]!r}")
    hold(len(text) < 2000, f"a sentence of {len(text)} characters: {text[:80]!r}")


def _exported(case: Fitted, run_it: Callable[[Any, list[list[Any]], Path], run.Said]) -> None:
    """An export predicts as the model does; dates are days to an export."""
    has_days = any(case.data.frame[name].dtype.kind == "M" for name in case.data.frame)
    if has_days and "categorical_features" in case.parameters:
        return  # days as categories have no form that all languages share
    asked = case.data.new.astype(float) if case.is_matrix else case.data.new
    rows = [[_cell(v) for v in row] for row in asked.astype(object).to_numpy().tolist()]
    said = run_it(case.model, rows, case.folder)
    expected = np.asarray(case.numbers(case.asked), float).reshape(len(rows), -1)
    same(expected, np.asarray(said.numbers, float).reshape(expected.shape), "exported", 1e-11)
    if case.is_classifier:
        top = np.sort(expected, axis=1)
        clear = (
            (top[:, -1] - top[:, -2] > 1e-9) if expected.shape[1] > 1 else np.ones(len(top), bool)
        )
        if getattr(case.model, "cost_matrix_", None) is None:
            label = case.model.predict(case.asked)
            # databases have no booleans of their own
            wrong = [a != b and str(a) != str(b) for a, b in zip(said.label, label, strict=True)]
            hold(not np.any(np.array(wrong) & clear), "exported: another label")


def _cell(value: Any) -> Any:
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, pd.Timestamp):
        return (value - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return value


def _written(case: Fitted) -> None:
    for form in ("json", "pmml", "excel", "dot", "mermaid"):
        try:
            tw.export(case.model, format=form)
        except TreewrightError as error:
            hold_sentence(error)


def blocks(case: Fitted) -> None:
    import inspect

    if "target" not in inspect.signature(case.model.fit).parameters or case.data.y.ndim > 1:
        return
    folder = write_parquet(case.data.frame, case.data.y, case.folder / "parts")
    weight = {} if case.data.weight is None else {"sample_weight": case.data.weight}
    found = clone(case.model).fit(folder, target="target", **weight)
    memory = case.model
    if "tree_method" in memory.get_params(deep=False) and not hasattr(memory, "learning_rate"):
        memory = case.fit(clone(memory).set_params(tree_method="exact"), case.data.frame)
    columns = [case.data.frame[name] for name in case.data.frame]
    if all(column.nunique() <= 255 for column in columns):
        same(
            case.numbers(case.data.new, memory), case.numbers(case.data.new, found), "blocks", 1e-9
        )


def judged(case: Fitted) -> None:
    if case.data.weight is None and case.data.y.ndim == 1:
        str(tw.evaluate(case.model, case.data.X, case.data.y))
        str(tw.cross_validate(clone(case.model), case.data.X, case.data.y, folds=2, random_state=0))


def command(case: Fitted) -> None:
    """The same data as a file, through the command line: 0, or 3 and a sentence for bad data."""
    names = [key for key, row in LEARNERS.items() if _kind(case) in (row.classifier, row.regressor)]
    if not names or case.data.y.ndim > 1 or case.described.container != "pandas":
        return
    case.data.frame.assign(target=case.data.y).to_csv(case.folder / "data.csv", index=False)
    case.data.new.to_csv(case.folder / "new.csv", index=False)
    options = [
        word
        for key in ("n_estimators", "max_depth", "missing", "criterion")
        if key in case.parameters
        for word in ("--set", f"{key}={case.parameters[key].strip(chr(39))}")
    ]
    model = ["fit", "data.csv", "--target", "target", "--learner", names[0], "-o", "m.tw", *options]
    for words in (model, ["predict", "m.tw", "new.csv", "-o", "answers.csv"], ["show", "m.tw"]):
        done = _command(words, case.folder)
        told = done.stderr.strip()
        hold(
            done.returncode in (0, 2, 3),
            f"treewright {words[0]} ended with {done.returncode}: {told}",
        )
        if done.returncode:
            hold("Traceback" not in told and told, f"treewright {words[0]} has no sentence: {told}")
            return


def _kind(case: Fitted) -> str:
    return type(case.model).__name__


def _command(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    import os

    here = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run(
        [sys.executable, "-m", "treewright", *words],
        cwd=folder, env=here, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def on_dask(case: Fitted) -> None:
    import inspect

    if "client" not in inspect.signature(case.model.fit).parameters or case.data.y.ndim > 1:
        return
    import dask
    import dask.dataframe as dd

    dask.config.set({"dataframe.convert-string": False})
    given = {} if case.data.weight is None else {"sample_weight": case.data.weight}
    whole = case.data.frame.assign(target=case.data.y)
    rows = dd.from_pandas(whole, npartitions=2)
    found = clone(case.model).fit(rows, target="target", client=cluster(), **given)
    folder = write_parquet(case.data.frame, case.data.y, case.folder / "parts")
    files = clone(case.model).fit(folder, target="target", **given)
    same(
        case.numbers(case.data.new, files),
        case.numbers(case.data.new, found),
        "Dask and files",
        1e-9,
    )


@cache
def cluster() -> Any:
    """Two workers in this process, for all cases."""
    from distributed import Client, LocalCluster

    workers = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    )
    return Client(workers, set_as_default=False)


def reported(case: Fitted) -> None:
    if case.described.container != "pandas" or case.data.y.ndim > 1:
        return
    page = tw.report(
        case.data.frame.assign(target=case.data.y), "target", time=2.0, learners=["cart", "c45"]
        if case.described.is_classes else ["cart"],
    )  # fmt: skip
    page.save(case.folder / "report.html")


ACTS: dict[str, Callable[[Fitted], None]] = {
    "predict": predict,
    "alone": alone,
    "saved": saved,
    "pickled": pickled,
    "refitted": refitted,
    "threads": threads,
    "repeated": repeated,
    "frames": frames,
    "words": words,
    "pictures": pictures,
    "lessons": lessons,
    "shapley": shapley,
    "importances": importances,
    "dependence": dependence,
    "proofs": proofs,
    "pruned": pruned,
    "blocks": blocks,
    "on dask": on_dask,
    "judged": judged,
    "command": command,
    "reported": reported,
    "as python": lambda case: _exported(case, run.python),
    "as sqlite": lambda case: _exported(case, run.sqlite),
    "as duckdb": lambda case: _exported(case, run.duckdb),
    "as onnx": lambda case: _exported(case, run.onnx),
    "as c": lambda case: _exported(case, run.c),
    "as javascript": lambda case: _exported(case, lambda m, r, f: run.node([(m, r)], f)[0]),
    "as others": _written,
}
AGAIN = {"refitted", "threads", "repeated", "frames", "blocks", "on dask"}
"""Acts that compare two fits."""

RARE = {"reported": 0.1, "as c": 0.3, "as javascript": 0.3, "command": 0.1, "on dask": 0.3}
"""Acts that take long are drawn less often."""


def fit(name: str, parameters: dict[str, str], described: Description, folder: Path) -> Fitted:
    """The model of a case."""
    data = build(described)
    scope = {"tw": tw, "np": np, "pd": pd}
    model = getattr(tw, name)(**{key: eval(text, scope) for key, text in parameters.items()})
    case = Fitted(model, data, described, folder, parameters)
    case.fit(model)
    return case
