"""CatBoost: its JSON file, or a model of its Python package, as a booster of ours.

A file knows categories by hashes, and their texts only where it was saved with the rows that have
them. How tests on categories become tests of ours: ``_catboost_trees.py``.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from treewright.data.encode import encode
from treewright.data.frames import in_order
from treewright.data.schema import Feature
from treewright.errors import ParameterError, TreewrightWarning
from treewright.exporting._catboost_questions import Hashes, Questions, mixed, widened
from treewright.exporting._catboost_trees import Expansion, nested
from treewright.exporting._foreign import Boosted, Room, booster, damaged, no_trees, placeholders

__all__ = ["from_catboost"]

LOSSES = {
    "RMSE": "squared_error",
    "MultiRMSE": "squared_error",
    "MAE": "squared_error",
    "Quantile": "squared_error",
    "MultiQuantile": "squared_error",
    "Expectile": "squared_error",
    "MAPE": "squared_error",
    "Huber": "squared_error",
    "Lq": "squared_error",
    "LogCosh": "squared_error",
    "Poisson": "poisson",
    "Tweedie": "tweedie",
    "Logloss": "log_loss",
    "CrossEntropy": "log_loss",
    "MultiClass": "log_loss",
    "YetiRank": "squared_error",
    "PairLogit": "squared_error",
    "QueryRMSE": "squared_error",
}
"""Loss functions, and the loss of ours that makes the same of a score."""


def from_catboost(model: Any, *, classes: Any = None, data: Any = None) -> Any:
    """A CatBoost model as a gradient booster of treewright.

    Parameters
    ----------
    model : path, CatBoost, CatBoostClassifier or CatBoostRegressor
        A file that CatBoost saved with ``format="json"`` (and, if it has nominal features,
        ``pool=`` the training rows, which puts their categories into the file), or a fitted model.
    classes : array-like, default=None
        Names of the classes; None for those in the file.
    data : data frame, default=None
        Rows with all categories, such as those of the training. A fitted model with nominal
        features needs them; for a file they say whether categories are texts or numbers.

    Returns
    -------
    model : GradientBoostingClassifier or GradientBoostingRegressor
        Fitted; its trees can be read, explained and exported as any of ours.

    Notes
    -----
    Statistics of categories are fixed numbers in a finished model, so that a test on one is a set
    of categories here. One on a combination of columns becomes several tests.

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
    text = _text(model, data)
    with damaged("The CatBoost model", len(text)) as room:
        return booster(_read(json.loads(text), data, room), classes)


def _text(model: Any, data: Any) -> str:
    if hasattr(model, "save_model"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            pool = _pool(model, data)
            with _said_by_catboost("cannot write this model as JSON"):
                model.save_model(str(path), format="json", pool=pool)
            return path.read_text(encoding="utf-8")
    try:
        return Path(model).read_text(encoding="utf-8")
    except (OSError, TypeError, UnicodeDecodeError) as error:
        raise ParameterError(
            "from_catboost takes a model or the path of its JSON file, which "
            f'save_model(path, format="json") writes, got {model!r:.80}: {error}.'
        ) from None


def _pool(model: Any, data: Any) -> Any:
    """The rows that name the categories of a fitted model, None if it has none."""
    nominal = model.get_cat_feature_indices()
    if not nominal:
        return None
    if data is None:
        raise ParameterError(
            "from_catboost needs data= for a fitted model with nominal features, which knows their "
            "categories by hashes only; give the rows of the training, without the target."
        )
    from catboost import Pool

    with _said_by_catboost("does not take data= of from_catboost"):
        return Pool(in_order(data, model.feature_names_), cat_features=nominal)


@contextmanager
def _said_by_catboost(what: str) -> Iterator[None]:
    """Turn an error of CatBoost into one of ours."""
    from catboost import CatBoostError

    try:
        yield
    except (CatBoostError, TypeError, ValueError) as error:
        raise ParameterError(f"CatBoost {what}: {error}") from None


def _read(told: Any, data: Any, room: Room) -> Boosted:
    info = told["model_info"]
    # a sum of models has the loss of its parts in a place of its own
    about = _decoded(info["params"])["loss_function"] if "params" in info else info["loss_function"]
    loss = _decoded(about)["type"]
    if loss not in LOSSES:
        raise ParameterError(f"from_catboost reads models of {', '.join(LOSSES)}, got {loss!r}.")
    _refuse_mixed_statistics(loss, told)
    features, hashes, named = _features(told, data, room)
    scale, bias = told.get("scale_and_bias", [1.0, [0.0]])
    start = [float(b) for b in bias] if isinstance(bias, list) else [float(bias)]
    columns = no_trees(len(start), room)
    expansion = Expansion(Questions(told, hashes, room), float(scale), len(start))
    trees = told["trees"] if "trees" in told else told["oblivious_trees"]
    for tree in trees:
        inside = tree if "trees" in told else nested(tree, len(start))
        for column, nodes in zip(columns, expansion.columns(inside), strict=True):
            column.append(nodes)
    classes = _classes(info, len(start)) if LOSSES[loss] == "log_loss" else []
    return Boosted(features, columns, LOSSES[loss], start, room, classes, named=named)


def _decoded(text: Any) -> Any:
    """What a text of JSON says; some versions write the value itself."""
    return json.loads(text) if isinstance(text, str) else text


def _classes(info: Any, n_columns: int) -> list[Any]:
    """The classes that training rows had: others have no scores."""
    about = _decoded(info.get("class_params", {}))
    names = about.get("class_names") or list(range(max(2, n_columns)))
    if about.get("class_label_type") == "Float":  # the file has 2 for 2.0
        names = [float(name) for name in names]
    if len(names) > max(2, n_columns):
        names = [names[int(place)] for place in about["class_to_label"]]
    return names


def _refuse_mixed_statistics(loss: str, told: Any) -> None:
    """CatBoost keeps one of the tables of several targets in JSON, and itself reads it as all."""
    kinds = {json.loads(about)["type"] for about in told.get("ctr_data", {})}
    if loss == "MultiRMSE" and kinds - {"Counter", "FeatureFreq"}:
        raise ParameterError(
            "from_catboost cannot read models of several targets with target statistics, because "
            "CatBoost writes those of one target only; train with one_hot_max_size at least the "
            'number of categories, or with simple_ctr="Counter".'
        )


def _features(
    told: Any, data: Any, room: Room
) -> tuple[tuple[Feature, ...], dict[int, Hashes], bool]:
    """All features, the hashes of each nominal one's categories, and whether they have names."""
    info = told["features_info"]
    floats, nominal = info.get("float_features", []), info.get("categorical_features", [])
    listed = [*floats, *nominal]
    n = 1 + max((f["flat_feature_index"] for f in listed), default=0)
    features = placeholders(n, room)
    for f in listed:
        i = f["flat_feature_index"]
        features[i] = Feature(f.get("feature_id") or features[i].name, "continuous")
    hashes = {}
    for f, (categories, own) in zip(nominal, _categories(told, data), strict=True):
        i = f["flat_feature_index"]
        features[i] = Feature(features[i].name, "nominal", categories)
        hashes[f["feature_index"]] = own
    return tuple(features), hashes, any(f.get("feature_id") for f in listed)


def _categories(told: Any, data: Any) -> list[tuple[tuple[Any, ...], Hashes]]:
    """The categories of each nominal feature, and their hashes."""
    info = told["features_info"]
    nominal = info.get("categorical_features", [])
    known = {entry["value"]: entry["hash"] for entry in info.get("cat_features_hash", [])}
    if not nominal:
        return []
    if not known:
        raise ParameterError(
            "from_catboost needs the texts of categories, but the file has their hashes only; save "
            'it with save_model(path, format="json", pool=training_rows), or give the fitted model '
            "and data=."
        )
    if data is None:
        texts = _texts(told, known)
        found: list[dict[Any, str]] = [{text: text for text in own} for own in texts]
    else:
        found = [
            {v: text for v in categories if (text := _as_text(v)) in known}
            for categories in _categories_of(data, nominal)
        ]
    return [
        (tuple(own), widened(np.array([known[text] for text in own.values()], np.int64)))
        for own in found
    ]


def _as_text(category: Any) -> str:
    """A category as CatBoost reads it."""
    return str(int(category) if isinstance(category, bool) else category)


def _categories_of(data: Any, nominal: list[Any]) -> list[tuple[Any, ...]]:
    """The categories of features in a data frame, found by name or else by place."""
    columns = [f["flat_feature_index"] for f in nominal]
    names = [f.get("feature_id") for f in nominal]
    found = in_order(data, names)
    if found is not data:
        data, columns = found, list(range(len(names)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreewrightWarning)
        features = encode(data, categorical_features=columns, owner="from_catboost").schema.features
    return [features[column].categories for column in columns]


def _texts(told: Any, known: dict[str, int]) -> list[list[str]]:
    """The categories of each nominal feature, as far as the file tells whose they are.

    A feature with statistics of its own has those that are in them. What no such feature has may
    be of any other, and so may everything of one that is in combinations only.
    """
    nominal = told["features_info"].get("categorical_features", [])
    texts = np.array(sorted(known), object)
    hashes = widened(np.array([known[text] for text in texts], np.int64))
    keys = mixed(np.zeros(1, np.uint64), hashes)
    own: dict[int, Any] = {}
    combined = set()
    for about, table in told.get("ctr_data", {}).items():
        elements = json.loads(about)["identifier"]
        places = [e["cat_feature_index"] for e in elements if "cat_feature_index" in e]
        if len(elements) == 1:
            held = np.array([int(k) for k in table["hash_map"][:: table["hash_stride"]]], np.uint64)
            own[places[0]] = np.isin(keys, held) | own.get(places[0], False)
        else:
            combined |= set(places)
    nobody = ~np.any([*own.values(), np.zeros(len(texts), bool)], axis=0)
    found = []
    for f in nominal:
        place = f["feature_index"]
        values = np.isin(hashes, widened(np.array(f.get("values", []), np.int64)))
        has = own.get(place, True if place in combined else values | nobody)
        found.append(texts[has & np.ones(len(texts), bool)].tolist())
    return found
