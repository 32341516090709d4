"""AdaBoost told round by round: who is wrong, what that costs, how weights change."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.errors import ParameterError
from treewright.explain import Lesson
from treewright.explain._teach import Step
from treewright.tree.show.words import clip, format_value

__all__ = ["boosting_lesson", "check_can_be_taught"]

FEW = 20
"""Rows whose weights are listed one by one."""


def boosting_lesson(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Lesson:
    """The rounds of a fitted AdaBoostClassifier in words and numbers."""
    check_can_be_taught(model)
    model._validate()
    training = model._encode(X, y, sample_weight)
    classes, labels = training.classes, training.y
    weight = np.ones(len(labels)) if training.sample_weight is None else training.sample_weight
    weight = weight / weight.sum()
    algorithm, steps = model._algorithm, []
    total = np.zeros((len(labels), len(classes)))
    answers = model._models().each(training.table, algorithm.answer, range(len(model)), 1)
    for k, answer in answers:
        score = algorithm.score(answer)
        wrong = np.argmax(score, axis=1) != labels
        error, vote = float(weight[wrong].sum()), float(model.estimator_weights_[k])
        total += vote * score
        lines = [_weights_line(weight, k), _member_line(model.estimators_[k]), ""]
        lines.append(_wrong_line(wrong, weight, error))
        lines += _vote_lines(model.algorithm, error, vote, len(classes))
        if error > 0 and k + 1 < len(model):
            step = algorithm.step(score, error, labels, weight, model.learning_rate)
            weight = weight * step.factor
            weight = weight / weight.sum()
            lines.append(_change_line(step.factor, wrong))
        together = float(np.mean(np.argmax(total, axis=1) != labels))
        who = f"The first {k + 1} together get" if k else "Alone it gets"
        lines.append(f"{who} {together:.1%} of the training rows wrong.")
        steps.append(Step(f"Round {k + 1}", tuple(lines)))
    name = "" if model._schema is None else model._schema.target.name
    return Lesson(
        f"AdaBoost ({model.algorithm}) learns {clip(format_value(name), 40)}", tuple(steps)
    )


def check_can_be_taught(model: Any) -> None:
    """Refuse rounds whose rows have no weights to tell."""
    if model.method != "reweight":
        raise ParameterError(
            'teach needs method="reweight", which gives every row a weight that can be told, got '
            f"method={model.method!r}."
        )


def _weights_line(weight: Any, k: int) -> str:
    if np.ptp(weight) < 1e-12:
        return f"All {len(weight)} rows weigh 1/{len(weight)} = {weight[0]:.4f}."
    if len(weight) <= FEW:
        return "Weights of the rows: " + " ".join(f"{w:.3f}" for w in weight)
    return f"Rows weigh between {weight.min():.3g} and {weight.max():.3g}."


def _member_line(member: Any) -> str:
    tree = getattr(member, "tree_", None)
    if tree is None:
        return f"The member is fitted to these weights: {type(member).__name__}."
    lines = [] if tree.n_leaves > 8 else tree.to_text(width=80).splitlines()
    told = [f"The member, fitted to these weights, has {tree.n_leaves} leaves:"]
    return "\n".join(told + ["  " + line for line in lines])


def _wrong_line(wrong: Any, weight: Any, error: float) -> str:
    rows = np.flatnonzero(wrong)
    if not len(rows):
        return "It gets no row wrong: ε = 0."
    if len(rows) > FEW:
        return f"It gets {len(rows)} rows wrong; their weights add up to ε = {error:.3f}."
    sum_of = " + ".join(f"{weight[i]:.3f}" for i in rows)
    places = ", ".join(str(i) for i in rows)
    return f"It gets the rows {places} wrong (counted from 0): ε = {sum_of} = {error:.3f}."


def _vote_lines(algorithm: str, error: float, vote: float, n_classes: int) -> list[str]:
    if error <= 0:
        return [f"Its weight in the vote is {vote:.3f}."]
    if algorithm == "m1":
        return [f"Its weight in the vote: ½ ln(1/ε − 1) = ½ ln(1/{error:.3f} − 1) = {vote:.3f}."]
    if algorithm == "samme":
        more = f" + ln({n_classes} − 1)" if n_classes > 2 else ""
        return [f"Its weight in the vote: ln(1/ε − 1){more} = {vote:.3f}."]
    return [f"Its scores are added with weight {vote:.3f}."]


def _change_line(factor: Any, wrong: Any) -> str:
    if np.ptp(factor[wrong]) < 1e-12 and np.ptp(factor[~wrong]) < 1e-12:
        times = float(factor[wrong][0] / factor[~wrong][0]) if wrong.any() and (~wrong).any() else 1
        return f"Rows that were wrong now count {times:.3f} times as much; all are scaled to sum 1."
    return "Every row's weight is multiplied by exp(−its own score), then all are scaled to sum 1."
