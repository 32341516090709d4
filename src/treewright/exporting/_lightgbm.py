"""LightGBM: its text file, or a model of its Python package, as a booster of ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from treewright.data.schema import Feature
from treewright.errors import ParameterError
from treewright.exporting._foreign import (
    CODE,
    NODE,
    Boosted,
    ForeignNode,
    Room,
    booster,
    damaged,
    no_trees,
    two_ways,
)

__all__ = ["from_lightgbm"]

LOSSES = {
    "regression": "squared_error",
    "regression_l2": "squared_error",
    "regression_l1": "absolute_error",
    "huber": "squared_error",
    "fair": "squared_error",
    "quantile": "squared_error",
    "mape": "squared_error",
    "poisson": "poisson",
    "gamma": "gamma",
    "tweedie": "tweedie",
    "binary": "log_loss",
    "multiclass": "log_loss",
    "softmax": "log_loss",
    "cross_entropy": "log_loss",
    "lambdarank": "squared_error",
    "rank_xendcg": "squared_error",
}
"""Objectives, and the loss of ours that makes the same of a score."""
IS_CATEGORICAL, IS_LEFT = 1, 2
NONE, ZERO = 0, 1  # how a gap is known


def from_lightgbm(model: Any, *, classes: Any = None) -> Any:
    """A LightGBM model as a gradient booster of treewright.

    Parameters
    ----------
    model : path, str, Booster, LGBMClassifier or LGBMRegressor
        A text file that LightGBM saved, its text, or a fitted model.
    classes : array-like, default=None
        Names of the classes, which the file does not hold; None for 0, 1, ….

    Returns
    -------
    model : GradientBoostingClassifier or GradientBoostingRegressor
        Fitted; its trees can be read, explained and exported as any of ours.

    Examples
    --------
    >>> import treewright
    >>> from lightgbm import LGBMRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> theirs = LGBMRegressor(n_estimators=5, num_leaves=8, verbose=-1).fit(X, y)
    >>> ours = treewright.from_lightgbm(theirs)
    >>> bool(abs(ours.predict(X) / theirs.predict(X) - 1).max() < 1e-6)
    True
    >>> ours.size()
    '5 rounds, 5 trees, 8 leaves on average'
    """
    if classes is None:
        classes = getattr(model, "classes_", None)
    text = _text(model)
    with damaged("The LightGBM model", len(text)) as room:
        return booster(_read(text, room), classes)


def _text(model: Any) -> str:
    model = getattr(model, "booster_", model)
    if hasattr(model, "model_to_string"):
        return str(model.model_to_string())
    if isinstance(model, str) and "\n" in model:
        return model
    try:
        return Path(model).read_text(encoding="utf-8")
    except (OSError, TypeError, UnicodeDecodeError) as error:
        raise ParameterError(
            f"from_lightgbm takes a model or the path of its text file, got {model!r:.80}: {error}."
        ) from None


def _read(text: str, room: Room) -> Boosted:
    head, *sections = text.split("\nTree=")
    about = _fields(head)
    if "tree" not in head.splitlines()[0] or not sections:
        raise ValueError("it does not begin as a model of trees does")
    # without one, as after a loss of the user's own, LightGBM predicts the sums
    objective, *words = about.get("objective", "regression").split()
    options = dict(word.split(":") for word in words if ":" in word)
    if objective not in LOSSES or "sqrt" in words:
        raise ParameterError(
            f"from_lightgbm reads models of {', '.join(LOSSES)}, got {about['objective']!r}."
        )
    columns = no_trees(int(about["num_tree_per_iteration"]), room)
    n_columns = len(columns)
    last = sections[-1].split("\nend of trees")
    sections[-1] = last[0]
    features, codes = _features(about, last[1] if len(last) > 1 else "")
    trees = [_tree(_fields(section), features, codes, room) for section in sections]
    scale = float(options.get("sigmoid", 1.0)) if objective == "binary" else 1.0
    if "average_output" in about:
        scale /= len(trees) / n_columns
    for k, tree in enumerate(trees):
        columns[k % n_columns].append(tree)
        for node in tree:
            node.value = [scale * node.value[0]]
    classes: list[int] = []
    if LOSSES[objective] == "log_loss":
        classes = list(range(max(2, n_columns)))
    return Boosted(
        features,
        columns,
        LOSSES[objective],
        [0.0] * n_columns,
        room,
        classes,
    )


def _fields(section: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in section.splitlines() if line)
    return {key: value for key, _, value in pairs}


def _features(
    about: dict[str, str], tail: str
) -> tuple[tuple[Feature, ...], dict[int, dict[int, int]]]:
    """The features, and for categorical ones the code of each category of LightGBM."""
    names = about["feature_names"].split(" ")
    infos = about["feature_infos"].split(" ")
    given: list[Any] = []
    for line in tail.splitlines():
        if line.startswith("pandas_categorical:"):
            given = json.loads(line.partition(":")[2]) or []
    values = _named_categories(given, tail, infos)
    features, codes = [], {}
    for i, (name, info) in enumerate(zip(names, infos, strict=True)):
        is_tested = not info.startswith("[") and info != "none"
        if not is_tested and i not in values:
            features.append(Feature(name, "continuous"))
            continue
        found = _categories(info) if is_tested else range(len(values[i]))
        own = [values[i][k] for k in found] if i in values else found
        codes[i] = {category: code for code, category in enumerate(found)}
        features.append(Feature(name, "nominal", tuple(own)))
    return tuple(features), codes


def _categories(info: str) -> list[int]:
    """The categories that a feature had in training."""
    return sorted(int(float(word)) for word in info.split(":") if word not in ("-1", "nan"))


def _named_categories(given: list[Any], tail: str, infos: list[str]) -> dict[int, Any]:
    """For nominal features the names of their categories, by number.

    The file has those of all columns that were categories of a data frame, one after the other,
    but not whose they are: that can be told where all of them, and no others, are nominal.
    """
    listed = re.search(r"^\[categorical_feature: ([\d,]*)\]$", tail, re.MULTILINE)
    nominal = [i for i, info in enumerate(infos) if not info.startswith("[") and info != "none"]
    if listed and listed[1]:  # those of one category, too
        nominal = sorted({int(word) for word in listed[1].split(",")})
    if not given or not nominal:
        return {}
    fits = len(nominal) == len(given) and all(
        infos[i] == "none" or max(_categories(infos[i]), default=0) < len(own)
        for i, own in zip(nominal, given, strict=True)
    )
    if not fits:
        raise ParameterError(
            "from_lightgbm cannot tell whose the names of categories are: the model has those of "
            f"{len(given)} columns, but tests {len(nominal)} as categories, perhaps others; give "
            "LightGBM ordered categories as numbers, and nominal integers as categories, too."
        )
    return dict(zip(nominal, given, strict=True))


def _tree(
    about: dict[str, str],
    features: tuple[Feature, ...],
    codes: dict[int, dict[int, int]],
    room: Room,
) -> list[ForeignNode]:
    """Inner nodes first, then leaves; a child below zero is a leaf."""
    if about.get("is_linear", "0") != "0":
        raise ParameterError("from_lightgbm reads trees of constants, got linear_tree=true.")
    n_leaves = room.take(int(about["num_leaves"]), NODE, "leaves")
    values = _floats(about, "leaf_value", n_leaves)
    counts = _floats(about, "leaf_count", n_leaves)
    if n_leaves == 1:
        return [ForeignNode([values[0]])]
    n = n_leaves - 1
    column = {
        key: _floats(about, key, n)
        for key in ("split_feature", "threshold", "decision_type", "left_child", "right_child",
                    "split_gain", "internal_value", "internal_count")
    }  # fmt: skip
    bounds = [int(w) for w in about.get("cat_boundaries", "").split()]
    words = [int(w) for w in about.get("cat_threshold", "").split()]
    nodes = []
    for i in range(n):
        kind, feature = int(column["decision_type"][i]), int(column["split_feature"][i])
        at = column["threshold"][i]
        left, right = (int(column[key][i]) for key in ("left_child", "right_child"))
        node = ForeignNode(
            [column["internal_value"][i]],
            [child if child >= 0 else n + ~child for child in (left, right)],
            feature,
            at,
            n_samples=column["internal_count"][i],
            weight=column["internal_count"][i],
            gain=max(column["split_gain"][i], 0.0),
        )
        missing = kind >> 2 & 3
        if kind & IS_CATEGORICAL:
            known = codes[feature]
            held = words[bounds[int(at)] : bounds[int(at) + 1]]
            others = [code for category, code in known.items() if not _holds(held, category)]
            node.branches = two_ways(room.take(len(known), CODE, "categories in tests"), others)
            node.gap = 1
        elif missing == ZERO:
            raise ParameterError(
                "from_lightgbm reads models whose gaps are NaN, got one trained with "
                "zero_as_missing=true."
            )
        elif missing == NONE:
            node.gap = int(not at >= 0.0)  # a NaN counts as zero
        else:
            node.gap = int(not kind & IS_LEFT)
        nodes.append(node)
    leaves = [
        ForeignNode([value], n_samples=count, weight=count)
        for value, count in zip(values, counts, strict=True)
    ]
    return nodes + leaves


def _holds(words: list[int], category: int) -> bool:
    """Whether a set of bits has a category."""
    word, bit = divmod(category, 32)
    return word < len(words) and bool(words[word] >> bit & 1)


def _floats(about: dict[str, str], key: str, n: int) -> list[float]:
    found = np.array(about[key].split(), np.float64) if key in about else np.zeros(n)
    if len(found) != n:
        raise ValueError(f"{key} has {len(found)} entries instead of {n}")
    return [float(value) for value in found]
