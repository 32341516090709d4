"""An ensemble in a model file: its parts as plain values, and taking them back, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import Schema
from treewright.ensembles.insights.distribution import LeafTargets
from treewright.ensembles.members.bodies import Body, Models, Trees
from treewright.ensembles.members.draws import Draws, FeatureDraws
from treewright.errors import ModelFileError
from treewright.tree.forest.grow import Forest, Sampling

__all__ = ["body_of", "body_state", "draws_of", "draws_state", "targets_of", "targets_state"]


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ModelFileError(f"the ensemble in it is damaged: {what}")


def _is_array(value: Any, kind: str, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == kind and value.shape == shape


# Members


def body_state(body: Body) -> dict[str, Any]:
    """The members: a forest, or models with what is known of each."""
    if isinstance(body, Trees):
        return {"forest": body.forest}
    return {
        "models": list(body.models),
        "features": None if body.features is None else list(body.features),
        "columns": None if body.columns is None else list(body.columns),
        "n_outputs": int(body.n_outputs),
    }


def body_of(state: Any, schema: Schema) -> Body:
    """Members that fit ``schema``."""
    _require(type(state) is dict, "its members are no object")
    if "forest" in state:
        forest = state["forest"]
        _require(type(forest) is Forest and len(forest) > 0, "its trees are no forest")
        _require(forest.schema == schema, "its trees have another schema")
        return Trees(forest)
    models, features, columns = state["models"], state["features"], state["columns"]
    n_outputs = state["n_outputs"]
    target = schema.target
    assert target is not None
    n_classes = len(target.classes)
    _require(type(models) is list and len(models) > 0, "it has no members")
    _require(all(hasattr(m, "predict") for m in models), "a member predicts nothing")
    _require(n_outputs == (n_classes or target.n_outputs), "its members predict something else")
    _require((columns is not None) == bool(n_classes), "the classes of its members are missing")
    for given, limit in ((features, len(schema)), (columns, n_classes)):
        fits = given is None or (
            type(given) is list
            and len(given) == len(models)
            and all(_are_places(places, limit) for places in given)
        )
        _require(fits, "a member has features or classes that do not exist")
    return Models(models, features, columns, n_outputs)


def _are_places(places: Any, limit: int) -> bool:
    return (
        isinstance(places, np.ndarray)
        and places.dtype == np.int64
        and places.ndim == 1
        and bool(np.all((places >= 0) & (places < limit)))
    )


# Draws


def draws_state(draws: Draws, features: FeatureDraws) -> dict[str, Any]:
    """How rows and features were drawn."""
    sampling = draws.sampling
    n_draws = sampling.n_draws
    return {
        "seed": draws.seed,
        "n_rows": draws.n_rows,
        "n_draws": n_draws if n_draws is None else np.atleast_1d(n_draws).astype(np.int64),
        "replace": bool(sampling.replace),
        "weight": sampling.weight,
        "strata": sampling.strata,
        "n_features": features.n_features,
        "n_drawn": features.n_drawn,
        "replace_features": bool(features.replace),
    }


def draws_of(state: Any, schema: Schema) -> tuple[Draws, FeatureDraws]:
    """The draws that :func:`draws_state` wrote down."""
    _require(type(state) is dict, "its draws are no object")
    seed, n_rows, n_draws = state["seed"], state["n_rows"], state["n_draws"]
    _require(type(seed) is int and 0 <= seed < 2**63, "its seed is no number")
    _require(type(n_rows) is int and 0 < n_rows < 2**40, "its number of rows is impossible")
    weight, strata = state["weight"], state["strata"]
    fits = weight is None or (
        _is_array(weight, "f", (n_rows,)) and bool(np.all(np.isfinite(weight) & (weight >= 0)))
    )
    _require(fits, "the chances of its rows are damaged")
    n_strata = 1
    if strata is not None:
        _require(_is_array(strata, "i", (n_rows,)), "the classes of its draws are damaged")
        _require(bool(strata.min() >= 0 and strata.max() < n_rows), "a class is out of range")
        n_strata = int(strata.max()) + 1
    if n_draws is not None:
        fits = _is_array(n_draws, "i", (n_strata,)) and bool(
            np.all((n_draws >= 0) & (n_draws < 2**40))
        )
        _require(fits, "the sizes of its samples are impossible")
        n_draws = n_draws if strata is not None else int(n_draws[0])
    for name in ("replace", "replace_features"):
        _require(type(state[name]) is bool, f"{name} is neither true nor false")
    n_features, n_drawn = state["n_features"], state["n_drawn"]
    _require(n_features == len(schema), "its features were drawn from others")
    _require(type(n_drawn) is int and 0 < n_drawn < 2**31, "its draws of features are impossible")
    sampling = Sampling(n_draws, state["replace"], weight, strata)
    return (
        Draws(seed, n_rows, sampling),
        FeatureDraws(seed, n_features, n_drawn, state["replace_features"]),
    )


# Quantile forests


def targets_state(targets: LeafTargets | None) -> dict[str, Any] | None:
    """Training targets in the leaves."""
    if targets is None:
        return None
    return {
        "targets": targets.targets,
        "offset": targets.offset,
        "place": targets.place,
        "count": targets.count,
    }


def targets_of(state: Any, n_nodes: int) -> LeafTargets | None:
    """The training targets that :func:`targets_state` wrote down."""
    if state is None:
        return None
    _require(type(state) is dict, "its targets are no object")
    y, offset, place, count = (state[k] for k in ("targets", "offset", "place", "count"))
    _require(_is_array(y, "f", (len(y),)) and len(y) > 0, "its targets are no numbers")
    _require(bool(np.all(np.isfinite(y))), "its targets are not finite")
    _require(_is_array(offset, "i", (n_nodes + 1,)), "its leaves are not those of its trees")
    n = len(place)
    ascending = bool(offset[0] == 0 and offset[-1] == n and np.all(np.diff(offset) >= 0))
    _require(ascending, "its leaves overlap")
    fits = _is_array(place, "i", (n,)) and bool(np.all((place >= 0) & (place < len(y))))
    _require(fits, "a leaf has rows that do not exist")
    fits = isinstance(count, np.ndarray) and count.dtype.kind in "if" and count.shape == (n,)
    _require(fits and bool(np.all(count > 0)), "a row has no weight")
    return LeafTargets(y, offset, place, count)


def optional_floats(value: Any, n_rows: int, n_axes: tuple[int, ...]) -> NDArray[np.float64] | None:
    """An array of floats over the rows, or None."""
    if value is None:
        return None
    fits = (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.ndim in n_axes
        and len(value) <= n_rows
    )
    _require(fits, "what was found out of bag is damaged")
    found: NDArray[np.float64] = value
    return found
