"""A stack whose blender is linear: a weighted sum of what its members say.

Of two classes a blender sees p, the probability of the second. Members add half of their weight
times 1 - p to the first score and times p to the second; between the scores then lies
w * (p - 1/2), and the start makes up for the half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.data.schema import Target
from treewright.errors import ParameterError
from treewright.exporting._program import Decide, Finish, Program, ProgramPart

__all__ = ["stacking_program"]

LINEAR = {
    True: ("LogisticRegression", "LogisticRegressionCV"),
    False: ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet"),
}
"""Blenders of scikit-learn, for classes and for numbers."""


def stacking_program(model: Any, members: Sequence[Program], target: Target) -> Program:
    """The program of a stack.

    Parameters
    ----------
    model
        The stack.
    members
        Programs of its members, with the same inputs.
    target
        What it predicts.
    """
    _check_blender(model, target)
    weights = np.ravel(model.final_estimator_.coef_).tolist()
    base = float(np.ravel(model.final_estimator_.intercept_)[0])
    width = 2 if target.is_classification else 1
    parts = tuple(
        ProgramPart(member, "value", tuple(range(width)), width, weight / width)
        for weight, member in zip(weights, members, strict=True)
    )
    name, inputs = type(model).__name__, members[0].inputs
    if width == 1:
        return Program(name, inputs, target, parts, start=(base,))
    start = (0.0, base + sum(weights) / 2)
    return Program(
        name,
        inputs,
        target,
        parts,
        start=start,
        finish=Finish("softmax"),
        decide=Decide("largest"),
    )


def _check_blender(model: Any, target: Target) -> None:
    blender, says = model.final_estimator_, set(model.stack_method_)
    is_class = target.is_classification
    is_linear = type(blender).__module__.startswith("sklearn.linear_model")
    if not is_linear or type(blender).__name__ not in LINEAR[is_class]:
        way = f"takes a blender of scikit-learn ({', '.join(LINEAR[is_class])})"
        came = type(blender).__name__
    elif model.passthrough or says != {"predict_proba" if is_class else "predict"}:
        way = "takes a blender that sees what members predict, and no more"
        came = "passthrough" if model.passthrough else " and ".join(sorted(says))
    elif np.size(blender.coef_) != len(model.estimators_):
        way, came = "takes two classes or one number", f"{np.size(blender.intercept_)}"
    else:
        return
    raise ParameterError(
        f"export of {type(model).__name__} {way}, got {came}; export its members (estimators_) one "
        "by one, or use a Voting estimator."
    )
