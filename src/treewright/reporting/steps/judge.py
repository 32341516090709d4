"""The sixth step: both models and the best constant answer on the rows that were held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treewright
from treewright.evaluation._costs import read_costs
from treewright.evaluation._curves import ErrorCurve
from treewright.evaluation._evaluation import Evaluation
from treewright.reporting.steps.choose import Choice
from treewright.reporting.steps.compare import Compared, make_learner
from treewright.reporting.steps.hold_out import Held
from treewright.reporting.steps.plan import Plan, Settings, Tell
from treewright.reporting.steps.understand import Understanding

__all__ = ["Judged", "judge", "positive_class"]


@dataclass(frozen=True, eq=False)
class Judged:
    """Figures on the held-out rows.

    Parameters
    ----------
    readable, strong
        Evaluations of the two models.
    baseline
        The evaluation of the best answer that looks at nothing.
    answer
        That answer.
    curve
        The learning curve of the readable model; None where rows are too few.
    """

    readable: Evaluation
    strong: Evaluation
    baseline: Evaluation
    answer: Any
    curve: ErrorCurve | None


def positive_class(data: Understanding, settings: Settings) -> Any:
    """The class of interest of two: the one asked for, or the rarer one."""
    if len(data.classes) != 2:
        return None
    if settings.positive is not None:
        return settings.positive
    return data.classes[int(np.argmin(data.counts))]


def judge(
    data: Understanding,
    held: Held,
    compared: Compared,
    choice: Choice,
    plan: Plan,
    settings: Settings,
    positive: Any,
    tell: Tell,
) -> Judged:
    """Evaluate on the held-out rows, which nobody has seen so far."""
    about: dict[str, Any] = {}
    if data.is_class:
        about = {"costs": settings.costs, "positive": positive}

    def evaluated(model: Any) -> Evaluation:
        return treewright.evaluate(model, held.X_test, held.y_test, **about)

    answer, constant = _constant(data, held, settings)
    tell("evaluate", 0, 3)
    readable = evaluated(choice.models[choice.readable])
    tell("evaluate", 1, 3)
    strong = (
        readable if choice.strong == choice.readable else evaluated(choice.models[choice.strong])
    )
    tell("evaluate", 2, 3)
    curve = _learning_curve(data, held, compared, choice, plan, settings, tell)
    tell("evaluate", 3, 3)
    return Judged(readable, strong, evaluated(constant), answer, curve)


def _constant(data: Understanding, held: Held, settings: Settings) -> tuple[Any, Any]:
    """The best answer for all rows alike, and a model that gives it."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    nothing = np.zeros((len(held.train), 1))
    if not data.is_class:
        model = DummyRegressor().fit(nothing, data.codes[held.train])
        return float(model.constant_.ravel()[0]), model
    counts = np.bincount(data.codes[held.train], minlength=len(data.classes))
    losses = 1.0 - np.eye(len(counts))
    if settings.costs is not None:
        losses = np.asarray(read_costs(settings.costs, data.classes))
    best = data.classes[int(np.argmin(counts @ losses))]
    model = DummyClassifier(strategy="constant", constant=best).fit(nothing, held.y_train)
    return best, model


def _learning_curve(
    data: Understanding,
    held: Held,
    compared: Compared,
    choice: Choice,
    plan: Plan,
    settings: Settings,
    tell: Tell,
) -> ErrorCurve | None:
    """How the readable model gains from rows, on the training rows."""
    if len(held.train) < 60 or (data.is_class and min(_train_counts(data, held)) < 2 * plan.folds):
        return None
    rows: NDArray[np.int64] = np.arange(len(held.train))
    if plan.n_curve < len(rows):
        rows = np.sort(np.random.default_rng(settings.seed + 2).permutation(rows)[: plan.n_curve])
    measure = compared.metric if compared.metric in ("roc_auc", "rmse", "mean_cost") else None
    return treewright.learning_curve(
        make_learner(choice.readable, data, plan, settings),
        held.X_train.take(rows),
        held.y_train[rows],
        (0.1, 0.2, 0.4, 0.7, 1.0),
        folds=plan.folds,
        measure=measure,
        costs=settings.costs if data.is_class else None,
        random_state=settings.seed,
        n_jobs=settings.n_jobs,
        progress=lambda done, all_: tell("learning curve", done, all_),
    )


def _train_counts(data: Understanding, held: Held) -> list[int]:
    return np.bincount(data.codes[held.train], minlength=len(data.classes)).tolist()  # type: ignore[no-any-return]
