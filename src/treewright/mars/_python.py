"""A fitted model as the source of a Python function."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from treewright.kernels.mars import FALLING, LINEAR
from treewright.mars._basis import Factor
from treewright.mars._predictors import Predictor

__all__ = ["python_source"]

_HEAD = '''"""A MARS model: predict(row) of a dict from feature to value, None or NaN for a gap."""

from math import exp


def h(z):
    return z if z > 0 else 0.0


def is_gap(value):
    return value is None or value != value

'''

_LOGISTIC = """    if score < 0:
        return exp(score) / (1 + exp(score))
    return 1 / (1 + exp(-score))"""

_SOFTMAX = """    top = max(scores)
    parts = [exp(score - top) for score in scores]
    total = 0.0
    for part in parts:
        total += part
    return [part / total for part in parts]"""


def python_source(model: Any) -> str:
    """The function, with the numbers of the model written out in full."""
    check_is_fitted(model)
    used = sorted(model.basis_.used())
    lines = [_HEAD, "def predict(row):", f'    """{_says(model)}"""']
    for p in used:
        lines.append(f"    x{p} = {_value(model._predictors[p], model._schema)}")
    sums = [_sum(model.basis_.terms, row.tolist()) for row in model._rows()]
    target = model._schema.target
    if not target.is_classification:
        lines.append(
            f"    return {sums[0]}" if len(sums) == 1 else f"    return [{', '.join(sums)}]"
        )
    elif len(target.classes) == 2:
        lines += [f"    score = {sums[0]}", _LOGISTIC]
    else:
        lines += [f"    scores = [{', '.join(sums)}]", _SOFTMAX]
    return "\n".join(lines) + "\n"


def _says(model: Any) -> str:
    target = model._schema.target
    if not target.is_classification:
        return "The prediction."
    classes = [str(c).replace("\\", "\\\\").replace('"', "'") for c in target.classes]
    if len(classes) == 2:
        return f"Probability of {classes[1]}."
    return f"Probabilities of {', '.join(classes)}."


def _value(predictor: Predictor, schema: Any) -> str:
    feature = schema.features[predictor.feature]
    cell = f"row[{feature.name!r}]"
    if predictor.role == "category":
        return f"float({cell} == {feature.categories[predictor.code]!r})"
    if predictor.role == "gap":
        return f"float(is_gap({cell}))"
    if feature.kind == "ordinal":
        ranks = {category: k for k, category in enumerate(feature.categories)}
        return f"float({ranks!r}.get({cell}, {predictor.fill!r}))"
    return f"{predictor.fill!r} if is_gap({cell}) else {cell}"


def _sum(terms: tuple[tuple[Factor, ...], ...], coef: list[float]) -> str:
    parts = []
    for value, term in zip(coef, terms, strict=True):
        parts.append(" * ".join([repr(value), *map(_factor, term)]))
    return "(" + "\n        + ".join(parts) + ")"


def _factor(factor: Factor) -> str:
    name = f"x{factor.predictor}"
    if factor.kind == LINEAR:
        return name
    if factor.kind == FALLING:
        return f"h({factor.knot!r} - {name})"
    return f"h({name} - {factor.knot!r})"
