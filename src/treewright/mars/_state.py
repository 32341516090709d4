"""A fitted model as values that a model file holds, and back, with everything checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.schema import Schema
from treewright.errors import ModelFileError
from treewright.mars._basis import Basis, Factor
from treewright.mars._predictors import Predictor
from treewright.mars._prune import Subsets

__all__ = ["from_state", "to_state"]

_NUMBERS = ("gcv_", "rss_", "rsq_", "grsq_")
_ARRAYS = ("_spread", "_ranges", "_effects")


def to_state(model: Any) -> dict[str, Any]:
    """Schema, predictors, terms of the forward pass, subsets and coefficients."""
    basis: Basis = model.forward_basis_
    factors = [(k, f) for k, term in enumerate(basis.terms) for f in term]
    kept = {term: k for k, term in enumerate(basis.terms)}
    return {
        "schema": model._schema,
        "predictors": [[p.name, p.feature, p.role, p.code, p.fill] for p in model._predictors],
        "factor_term": np.array([k for k, _ in factors], np.int32),
        "factor_predictor": np.array([f.predictor for _, f in factors], np.int32),
        "factor_kind": np.array([f.kind for _, f in factors], np.int32),
        "factor_knot": np.array([f.knot for _, f in factors], np.float64),
        "n_terms": len(basis),
        "kept": np.array([kept[term] for term in model.basis_.terms], np.int32),
        "subsets": np.concatenate(model.subsets_.terms).astype(np.int32),
        "subset_rss": model.subsets_.rss,
        "subset_gcv": model.subsets_.gcv,
        "coef": np.atleast_2d(model.coefficients_),
        "numbers": [float(getattr(model, name)) for name in _NUMBERS],
        "arrays": [np.asarray(getattr(model, name), np.float64) for name in _ARRAYS],
        "stopped": model.stopped_,
        "learned": model._learned_state(),
    }


def from_state(model: Any, state: dict[str, Any]) -> None:
    """Take back what :func:`to_state` gave; anything that does not fit is refused."""
    schema = state["schema"]
    _require(type(schema) is Schema and schema.target is not None, "its schema is missing")
    predictors = tuple(_predictor(row, schema) for row in _list(state["predictors"]))
    basis = _basis(state, predictors)
    kept = _ints(state["kept"], 0, len(basis))
    _require(len(kept) > 0 and kept[0] == 0 and len(np.unique(kept)) == len(kept), "terms repeat")
    n_outputs = _n_outputs(schema)
    coef = _floats(state["coef"], (n_outputs, len(kept)))
    _require(bool(np.isfinite(coef).all()), "a coefficient is not finite")
    numbers = _list(state["numbers"])
    _require(len(numbers) == len(_NUMBERS) and all(type(v) is float for v in numbers), "figures")
    _require(type(state["stopped"]) is str, "figures")
    model._schema, model._predictors = schema, predictors
    model.forward_basis_, model.basis_ = basis, basis.take(kept)
    model.subsets_ = _subsets(state, len(basis))
    model._keep_coefficients(coef)
    for name, value in zip(_NUMBERS, numbers, strict=True):
        setattr(model, name, value)
    spread, ranges, effects = _list(state["arrays"])
    model._spread = _floats(spread, (len(kept),))
    model._ranges = _floats(ranges, (len(predictors), 2))
    model._effects = _floats(effects, (len(model._groups()), 4))
    model.stopped_ = state["stopped"]


def _n_outputs(schema: Schema) -> int:
    target = schema.target
    assert target is not None
    if not target.is_classification:
        return target.n_outputs
    return len(target.classes) if len(target.classes) > 2 else 1


def _predictor(row: Any, schema: Schema) -> Predictor:
    _require(type(row) is list and len(row) == 5, "a predictor is incomplete")
    name, feature, role, code, fill = row
    ok = type(name) is str and type(feature) is int and type(code) is int and type(fill) is float
    _require(ok and 0 <= feature < len(schema), "a predictor is of no feature")
    _require(role in ("value", "category", "gap") and np.isfinite(fill), "a predictor is unknown")
    kind = schema.features[feature].kind
    n_categories = len(schema.features[feature].categories)
    _require(role != "category" or (kind == "nominal" and 0 <= code < n_categories), "no category")
    _require(role != "value" or kind != "nominal", "a predictor has no values")
    return Predictor(name, feature, role, code, fill)


def _basis(state: dict[str, Any], predictors: tuple[Predictor, ...]) -> Basis:
    n_terms = state["n_terms"]
    term = state["factor_term"]
    _require(type(n_terms) is int and 0 < n_terms <= 10**6, "its terms cannot be counted")
    term = _ints(term, 1, n_terms)
    predictor = _ints(state["factor_predictor"], 0, max(1, len(predictors)))
    kind, knot = _ints(state["factor_kind"], -1, 3), _floats(state["factor_knot"], term.shape)
    same = len(term) == len(predictor) == len(kind)
    _require(same and bool(np.isin(kind, (1, -1, 2)).all()), "its factors do not match")
    _require(bool(np.isfinite(knot).all()) and (len(term) == 0 or len(predictors) > 0), "knots")
    factors: list[list[Factor]] = [[] for _ in range(n_terms)]
    for k, p, s, t in zip(
        term.tolist(), predictor.tolist(), kind.tolist(), knot.tolist(), strict=True
    ):
        factors[k].append(Factor(p, s, t))
    _require(all(factors[1:]), "a term has no factors")
    names = tuple(p.name for p in predictors)
    return Basis(tuple(map(tuple, factors)), names, tuple(p.is_indicator for p in predictors))


def _subsets(state: dict[str, Any], n_terms: int) -> Subsets:
    flat = _ints(state["subsets"], 0, n_terms).astype(np.intp)
    _require(len(flat) == n_terms * (n_terms + 1) // 2, "its subsets do not match its terms")
    ends = np.cumsum(np.arange(1, n_terms + 1))
    terms = tuple(flat[end - size : end] for size, end in enumerate(ends, 1))
    rss, gcv = (_floats(state[name], (n_terms,)) for name in ("subset_rss", "subset_gcv"))
    return Subsets(terms, rss, gcv)


def _require(is_true: bool, what: str) -> None:
    if not is_true:
        raise ModelFileError(f"what it learned does not fit together: {what}")


def _list(value: Any) -> list[Any]:
    _require(type(value) is list, "a list is missing")
    return list(value)


def _ints(value: Any, low: int, high: int) -> Any:
    ok = isinstance(value, np.ndarray) and value.dtype == np.int32 and value.ndim == 1
    _require(ok and bool(((value >= low) & (value < high)).all()), "a number is out of range")
    return value


def _floats(value: Any, shape: tuple[int, ...]) -> Any:
    ok = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape
    _require(ok, "an array has another shape")
    return value
