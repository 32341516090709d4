"""Every argument of the functions that judge, explain and prune, with values nobody would pass.

A call may end in an answer or in one sentence of ours; anything else is a fault: an exception of
another library, more than a sentence, a call of more than ``SECONDS``, the end of the process.
"""

from __future__ import annotations

import datetime
import faulthandler
import inspect
import json
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import treewright as tw
from treewright import explain, pruning
from treewright.errors import TreewrightError

__all__ = ["FUNCTIONS", "faults_of"]

SECONDS = 20
MEMORY = 6 << 30


class Odd:
    """An object with nothing to it."""


def _given() -> dict[str, Any]:
    """What each function is called with, before one argument is exchanged."""
    rng = np.random.default_rng(0)
    X = np.round(rng.random((24, 2)), 2)
    y = ((X[:, 0] > 0.5) ^ (np.arange(24) % 5 == 0)).astype(int)
    model = tw.CARTClassifier(max_depth=3).fit(X, y)
    tree, fresh = model.tree_, tw.CARTClassifier(max_depth=2)
    table, loss = model._table(X), pruning.class_loss(y)
    rows = {"X": X, "y": y}
    asked = {"model": model, "X": X}
    folded = {"model": fresh, **rows}
    two = {"a": fresh, "b": tw.CARTClassifier(max_depth=1)}
    pruned = {"tree": tree}
    numbers = X[:, 0] + 0.1 * np.arange(24)
    other = {"model": tw.CARTRegressor(max_depth=2).fit(X, numbers), "X": X}
    return {
        "evaluate numbers": {**other, "y": numbers},
        "importances numbers": {**other, "y": numbers, "n_repeats": 2},
        "nearest_change numbers": {**other, "row": X[0], "wanted": (2, None)},
        "optimality_gap numbers": {"tree": other["model"], "X": X, "y": numbers},
        "reduced_error numbers": {"tree": other["model"], "X_val": X, "y_val": numbers},
        "accuracy_interval": {"successes": 3, "n": 5},
        "bias_variance": {**folded, "rounds": 3},
        "choose_threshold": {"model": model, **rows},
        "compare": {"models": two, **rows, "folds": 2, "repeats": 1},
        "complexity_curve": {**folded, "parameter": "max_depth", "values": [1, 2], "folds": 2},
        "cross_validate": {**folded, "folds": 2},
        "decision_boundary": {"model": model, **rows, "resolution": 5},
        "evaluate": {"model": model, **rows},
        "generalization_error": {"tree": model},
        "learning_curve": {**folded, "sizes": [0.5, 1.0], "folds": 2},
        "optimality_gap": {"tree": model, **rows},
        "pruning_curve": {"estimator": fresh, **rows, "cv": 2},
        "select_features": {**rows},
        "tune": {
            "model": fresh,
            "grid": {"max_depth": [1, 2]},
            **rows,
            "folds": 2,
            "outer_folds": 2,
        },
        "importances": {**asked, "y": y, "n_repeats": 2},
        "leaf_rules": {"model": model},
        "nearest_change": {"model": model, "row": X[0], "X": X},
        "partial_dependence": {**asked, "features": 0, "grid": 3},
        "representative_tree": {"model": tw.RandomForestClassifier(3, random_state=0).fit(X, y)}
        | {"X": X},
        "shap_values": asked,
        "surrogate_tree": {**asked, "n_folds": 2},
        "teach": {**asked, "y": y},
        "chi_squared": pruned,
        "class_loss": {"y": y},
        "cost_complexity": {**pruned, "ccp_alpha": 0.1},
        "cost_complexity_path": pruned,
        "cp_table": pruned,
        "critical_value": {**pruned, "t": 0.1},
        "cross_validated_errors": {
            "sequence": pruning.pruning_sequence(tree),
            "table": table,
            "splits": [(np.arange(12), np.arange(12, 24))],
            "grow": lambda part: tw.CARTClassifier().fit(X[part], y[part]).tree_,
            "loss": loss,
        },
        "error_based": {**pruned, **rows},
        "mdl": pruned,
        "minimum_error": pruned,
        "pessimistic": pruned,
        "pessimistic_error": {"errors": 1, "leaves": 2, "n": 5},
        "pruning_sequence": pruned,
        "reduced_error": {**pruned, "X_val": X, "y_val": y},
        "size_curve": {**pruned, "table": table, "loss": loss},
        "squared_loss": {"y": y * 1.0},
    }


def _function(name: str) -> Callable[..., Any]:
    name = name.split()[0]
    return getattr(next(home for home in (tw, explain, pruning) if name in home.__all__), name)


FUNCTIONS = sorted(_given())


def odd_values() -> list[Any]:
    """New for every call: some are used up."""
    return [
        None,
        True,
        0,
        1,
        -1,
        10**30,
        0.5,
        2.0,
        1e308,
        float("nan"),
        float("inf"),
        1j,
        np.float32(0.25),
        np.int8(2),
        Decimal("0.5"),
        Fraction(1, 3),
        "",
        "abc",
        b"x",
        [],
        [1],
        ["a", None],
        [[1, 2], [3]],
        (0.5, 0.5, 0.5),
        {"a": 1},
        {1, 2},
        (k for k in range(3)),
        np.zeros(0),
        np.full(24, np.nan),
        np.zeros(24),
        np.arange(23),
        np.zeros((24, 2)),
        np.array("x"),
        np.array([1, "a", None] * 8, object),
        pd.Series(["a", "b"] * 12, name="s"),
        pd.Series(pd.date_range("2024", periods=24)),
        pd.DataFrame({"u": [1.0] * 24}),
        pd.Categorical(["a", None] * 12),
        datetime.date(2024, 1, 1),
        lambda *args: None,
        Odd(),
        tw.CARTClassifier,
        tw.CARTRegressor(),
        DecisionTreeClassifier(),
        ...,
    ]


def _cases(name: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    function = _function(name)
    given = _given()[name]
    for argument, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        for place, value in enumerate(odd_values()):
            yield argument, place, {**given, argument: value}


def _is_sentence(words: str) -> bool:
    return "\n" not in words.strip() and words.strip().endswith((".", "?")) and len(words) < 700


def _fault(call: Callable[[], Any]) -> str:
    """What is wrong with how a call ended; empty if nothing is."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            str(call())
    except TreewrightError as error:
        return "" if _is_sentence(str(error)) else f"no sentence: {error}"
    except NotFittedError:
        return ""
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return ""


def faults_of(name: str) -> list[str]:
    """Try all values in a child process; one line per fault."""
    matplotlib.use("Agg")
    function = _function(name)
    function(**_given()[name])  # so that no child has to import anything
    plt.close("all")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with os.fdopen(writing, "w") as answers:
            values = list(map(_shown, odd_values()))
            for argument, place, given in _cases(name):
                print(json.dumps([argument, values[place], None]), file=answers, flush=True)
                faulthandler.dump_traceback_later(2 * SECONDS, exit=True)  # what hangs in C
                fault = _fault(lambda: function(**given))  # noqa: B023
                plt.close("all")
                print(json.dumps([argument, values[place], fault]), file=answers, flush=True)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        lines = [json.loads(line) for line in answers]
    _, status = os.waitpid(child, 0)
    faults = [f"{name}({a}={v}): {fault}" for a, v, fault in lines if fault]
    if status:
        faults.append(f"{name}({lines[-1][0]}={lines[-1][1]}): ended with status {status}")
    return faults


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"[:60].replace("\n", " ")


if __name__ == "__main__":
    for one in sys.argv[1:] or FUNCTIONS:
        print("\n".join(faults_of(one)), flush=True)
