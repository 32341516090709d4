"""CatBoost: its JSON file, or a model of its Python package, as a booster of ours."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from treewright.data.schema import Feature
from treewright.errors import ParameterError
from treewright.exporting._foreign import (
    Boosted,
    Floats,
    ForeignNode,
    booster,
    damaged,
    single_break,
)

__all__ = ["from_catboost"]

LOSSES = {
    "RMSE": "squared_error",
    "MAE": "squared_error",
    "Quantile": "squared_error",
    "MAPE": "squared_error",
    "Huber": "squared_error",
    "Poisson": "poisson",
    "Tweedie": "tweedie",
    "Logloss": "log_loss",
    "CrossEntropy": "log_loss",
    "MultiClass": "log_loss",
}
"""Loss functions, and the loss of ours that makes the same of a score."""


def from_catboost(model: Any, *, classes: Any = None) -> Any:
    """A CatBoost model of numeric features as a gradient booster of treewright.

    Parameters
    ----------
    model : path, CatBoost, CatBoostClassifier or CatBoostRegressor
        A file that CatBoost saved with ``format="json"``, or a fitted model.
    classes : array-like, default=None
        Names of the classes; None for those in the file.

    Returns
    -------
    model : GradientBoostingClassifier or GradientBoostingRegressor
        Fitted; its trees can be read, explained and exported as any of ours.

    Examples
    --------
    >>> import treewright
    >>> from catboost import CatBoostRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> theirs = CatBoostRegressor(iterations=5, depth=3, allow_writing_files=False)
    >>> theirs = theirs.fit(X, y, verbose=0)
    >>> ours = treewright.from_catboost(theirs)
    >>> bool(abs(ours.predict(X) / theirs.predict(X) - 1).max() < 1e-6)
    True
    >>> ours.size()
    '5 rounds, 5 trees, 8 leaves on average'
    """
    text = _text(model)
    with damaged("The CatBoost model"):
        return booster(_read(json.loads(text)), classes)


def _text(model: Any) -> str:
    if hasattr(model, "save_model"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            model.save_model(str(path), format="json")
            return path.read_text(encoding="utf-8")
    try:
        return Path(model).read_text(encoding="utf-8")
    except (OSError, TypeError, UnicodeDecodeError) as error:
        raise ParameterError(
            f"from_catboost takes a model or the path of its JSON file, got {model!r:.80}: {error}."
        ) from None


def _read(data: Any) -> Boosted:
    info = data["model_info"]
    params = json.loads(info["params"]) if isinstance(info["params"], str) else info["params"]
    loss = params["loss_function"]["type"]
    if loss not in LOSSES:
        raise ParameterError(f"from_catboost reads models of {', '.join(LOSSES)}, got {loss!r}.")
    if "oblivious_trees" not in data:
        raise ParameterError(
            "from_catboost reads symmetric trees, got others; train with "
            'grow_policy="SymmetricTree".'
        )
    floats = data["features_info"]["float_features"]
    if data["features_info"].get("categorical_features"):
        raise ParameterError(
            "from_catboost reads models of numeric features, got one with categorical ones, whose "
            "statistics are no trees; encode them before the training."
        )
    n = 1 + max((f["flat_feature_index"] for f in floats), default=0)
    features = [Feature(f"x{i}", "continuous") for i in range(n)]
    named = False
    for f in floats:
        if f.get("feature_id"):
            named = True
            features[f["flat_feature_index"]] = Feature(f["feature_id"], "continuous")
    scale, bias = data.get("scale_and_bias", [1.0, [0.0]])
    n_columns = len(bias) if isinstance(bias, list) else 1
    columns: list[list[list[ForeignNode]]] = [[] for _ in range(n_columns)]
    for tree in data["oblivious_trees"]:
        for k, column in enumerate(columns):
            column.append(_tree(tree, floats, k, n_columns, float(scale)))
    start = [float(b) for b in bias] if isinstance(bias, list) else [float(bias)]
    classes: list[Any] = []
    if LOSSES[loss] == "log_loss":
        found = info.get("class_params", {})
        found = json.loads(found) if isinstance(found, str) else found
        classes = found.get("class_names") or list(range(max(2, n_columns)))
    return Boosted(tuple(features), columns, LOSSES[loss], start, classes, named=named)


def _tree(tree: Any, floats: Any, k: int, n_columns: int, scale: float) -> list[ForeignNode]:
    """All nodes of a symmetric tree, level by level.

    A level is a bit of the leaf's number; the highest, which is the last split, stands at the top,
    as in CatBoost's own pictures and Shapley values. The file holds no gains: a node has what its
    split adds to the variance of the tree's answers.
    """
    splits = tree["splits"] or []
    depth = len(splits)
    values, weights = tree["leaf_values"], tree.get("leaf_weights") or [0.0] * 2**depth
    if len(values) != n_columns * 2**depth or depth > 16:
        raise ValueError(f"a tree of {depth} levels has {len(values)} values")
    value = scale * np.asarray(values, np.float64)[k::n_columns]
    weight = np.asarray(weights, np.float64)
    gain = np.zeros(2**depth)
    levels: list[list[ForeignNode]] = []
    for level in reversed(range(depth + 1)):
        if level < depth:
            value, gain, weight = _joined(value.reshape(-1, 2), weight.reshape(-1, 2))
        here = [
            ForeignNode([v], n_samples=w, weight=w, gain=g)
            for v, w, g in zip(value.tolist(), weight.tolist(), gain.tolist(), strict=True)
        ]
        for place, node in enumerate(here if level < depth else []):
            _add_test(node, splits[depth - 1 - level], floats)
            node.left = 2 ** (level + 1) - 1 + 2 * place
            node.right = node.left + 1
        levels.insert(0, here)
    return [node for here in levels for node in here]


def _joined(value: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, gain and weight of the nodes above pairs of nodes."""
    total = weight.sum(axis=1, keepdims=True)
    share = np.divide(weight, total, out=np.full_like(weight, 0.5), where=total > 0)
    mean = (share * value).sum(axis=1, keepdims=True)
    return mean[:, 0], (weight * (value - mean) ** 2).sum(axis=1), total[:, 0]


def _add_test(node: ForeignNode, split: Any, floats: Any) -> None:
    if split["split_type"] != "FloatFeature":
        raise ParameterError(f"from_catboost reads tests of numbers, got {split['split_type']!r}.")
    feature = next(f for f in floats if f["feature_index"] == split["float_feature_index"])
    node.feature = int(feature["flat_feature_index"])
    node.at, node.closed = single_break(float(np.float32(split["border"])), closed=True)
    node.gap = int(feature.get("nan_value_treatment") == "AsTrue")
