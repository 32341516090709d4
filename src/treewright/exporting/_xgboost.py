"""XGBoost: its JSON or UBJSON file, or a model of its Python package, as a booster of ours."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from treewright.data.schema import Feature
from treewright.errors import ModelFileError, ParameterError
from treewright.exporting._foreign import (
    CODE,
    NODE,
    Boosted,
    ForeignNode,
    Room,
    booster,
    damaged,
    no_trees,
    placeholders,
    single_break,
    two_ways,
)

__all__ = ["from_xgboost", "read_ubjson"]

LOSSES = {
    "reg:squarederror": ("squared_error", "same"),
    "reg:linear": ("squared_error", "same"),  # the same until 0.90
    "reg:absoluteerror": ("squared_error", "same"),
    "reg:quantileerror": ("squared_error", "same"),
    "reg:pseudohubererror": ("squared_error", "same"),
    "count:poisson": ("poisson", "log"),
    "reg:gamma": ("gamma", "log"),
    "reg:tweedie": ("tweedie", "log"),
    "binary:logistic": ("log_loss", "logit"),
    "reg:logistic": ("log_loss", "logit"),
    "multi:softprob": ("log_loss", "same"),
    "multi:softmax": ("log_loss", "same"),
    "reg:squaredlogerror": ("squared_error", "same"),
    "rank:ndcg": ("squared_error", "same"),
    "rank:map": ("squared_error", "same"),
    "rank:pairwise": ("squared_error", "same"),
    "survival:cox": ("poisson", "log"),
    "survival:aft": ("poisson", "log"),
}
"""Objectives: the loss of ours that makes the same of a score, and from base score to start."""
CATEGORY = 64
"""Bytes that a category takes."""


def from_xgboost(model: Any, *, classes: Any = None) -> Any:
    """An XGBoost model as a gradient booster of treewright.

    Parameters
    ----------
    model : path, Booster, XGBClassifier or XGBRegressor
        A file that XGBoost saved (``.json`` or ``.ubj``), or a fitted model.
    classes : array-like, default=None
        Names of the classes, which the file does not hold; None for 0, 1, ….

    Returns
    -------
    model : GradientBoostingClassifier or GradientBoostingRegressor
        Fitted; its trees can be read, explained and exported as any of ours.

    Examples
    --------
    >>> import treewright
    >>> from xgboost import XGBRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> theirs = XGBRegressor(n_estimators=5, max_depth=3).fit(X, y)
    >>> ours = treewright.from_xgboost(theirs)
    >>> bool(abs(ours.predict(X) / theirs.predict(X) - 1).max() < 1e-6)
    True
    >>> ours.size()
    '5 rounds, 5 trees, 8 leaves on average'
    """
    if classes is None:
        classes = getattr(model, "classes_", None)
    data, stops_early = _bytes(model), hasattr(model, "get_booster")
    with damaged("The XGBoost model", len(data)) as room:
        is_json = data.lstrip()[:2].startswith(b"{") and b'"learner"' in data[:200]
        told = json.loads(data) if is_json else read_ubjson(data)
        return booster(_read(told, stops_early, room), classes)


def _bytes(model: Any) -> bytes:
    if hasattr(model, "get_booster"):
        gap = getattr(model, "missing", np.nan)
        if gap == gap:
            raise ParameterError(
                f"from_xgboost takes a model whose gaps are NaN, got one of missing={gap!r}; turn "
                f"{gap!r} into NaN in your data, and give the booster (model.get_booster())."
            )
        model = model.get_booster()
    if hasattr(model, "save_raw"):
        return bytes(model.save_raw("json"))
    try:
        return Path(model).read_bytes()
    except (OSError, TypeError) as error:
        raise ParameterError(
            f"from_xgboost takes a model or the path of its file, got {model!r:.80}: {error}."
        ) from None


def _read(data: Any, stops_early: bool, room: Room) -> Boosted:
    """What is in a file; ``stops_early`` where XGBoost's own ``predict`` ends at the best round."""
    learner = data["learner"]
    objective = learner["objective"]["name"]
    if objective not in LOSSES:
        raise ParameterError(
            f"from_xgboost reads models of {', '.join(LOSSES)}, got {objective!r}."
        )
    loss, link = LOSSES[objective]
    gradient = learner["gradient_booster"]
    weights = None
    if gradient["name"] == "dart":
        weights = gradient["weight_drop"]
        gradient = gradient["gbtree"]
    elif gradient["name"] != "gbtree":
        raise ParameterError(f"from_xgboost reads boosted trees, got {gradient['name']!r}.")
    about = learner["learner_model_param"]
    n_targets = int(about.get("num_target", 1))
    n_columns = max(int(about["num_class"]), n_targets, 1)
    if loss == "log_loss" and n_targets > 1:
        raise ParameterError(
            f"from_xgboost reads classifiers of one target, got one of {n_targets}; fit one for "
            "each."
        )
    columns = no_trees(n_columns, room)
    held = gradient["model"]
    features = _features(learner, held, int(about["num_feature"]), room)
    n_trees = _n_trees(learner.get("attributes", {}), held, n_columns, stops_early)
    for k, (tree, column) in enumerate(
        list(zip(held["trees"], held["tree_info"], strict=True))[:n_trees]
    ):
        weight = 1.0 if weights is None else weights[k]
        width = int(tree["tree_param"]["size_leaf_vector"])
        room.take(width * len(tree["left_children"]) if width > 1 else 0, NODE, "values of leaves")
        for at in range(max(1, width)):  # a tree of several targets gives one for each
            columns[column + at].append(_tree(tree, features, weight, at, room))
    classes = list(range(max(2, n_columns))) if loss == "log_loss" else []
    named = bool(learner.get("feature_names"))
    start = _start(about["base_score"], link, n_columns)
    return Boosted(features, columns, loss, start, room, classes, named=named, in_singles=True)


def _start(base: str, link: str, n_columns: int) -> list[float]:
    """Where the scores begin."""
    bases = json.loads(base) if base.startswith("[") else [float(base)]
    one = np.float32(1)
    links: dict[str, Callable[[np.float32], np.float32]] = {
        "same": lambda base: base,
        "log": np.log,
        "logit": lambda p: -np.log(one / p - one),
    }
    if len(bases) == 1:
        bases = bases * n_columns
    return [float(links[link](np.float32(b))) for b in bases[:n_columns]]


def _n_trees(attributes: Any, model: Any, n_columns: int, stops_early: bool) -> int | None:
    """The trees up to the best round, where a scikit-learn model of XGBoost stopped early."""
    if "best_iteration" not in attributes or not (stops_early or "scikit_learn" in attributes):
        return None
    best = int(attributes["best_iteration"])
    ends = model.get("iteration_indptr")
    parallel = int(model["gbtree_model_param"].get("num_parallel_tree", 1))
    return int(ends[best + 1]) if ends else (best + 1) * n_columns * max(1, parallel)


def _features(learner: Any, model: Any, n: int, room: Room) -> tuple[Feature, ...]:
    names = learner.get("feature_names") or [feature.name for feature in placeholders(n, room)]
    n = len(names)
    kinds = learner.get("feature_types") or ["float"] * n
    most, goes_right = [-1] * n, set()
    for tree in model["trees"]:
        for node, right in _to_the_right(tree).items():
            feature = tree["split_indices"][node]
            most[feature] = max(most[feature], *right)
            if not tree["default_left"][node]:
                goes_right.add(feature)
    stored = model.get("cats", {})
    categories = _named_categories(stored, kinds) if stored.get("enc") else {}
    for i in range(n):
        if i in categories or (kinds[i] != "c" and most[i] < 0):
            continue
        room.take(most[i] + 1, CATEGORY, "categories")
        if i in goes_right:  # codes above those of the file go left, but would be gaps here
            raise ParameterError(
                f"from_xgboost cannot tell which codes of {names[i]!r} are gaps: the file does not "
                "say how many there are, and a test of it sends gaps to the right; train with "
                "XGBoost 3.1 or later on a data frame with a category column."
            )
        categories[i] = tuple(range(most[i] + 1))
    return tuple(
        Feature(name, "nominal", categories[i]) if i in categories else Feature(name, "continuous")
        for i, name in enumerate(names)
    )


def _named_categories(stored: Any, kinds: list[str]) -> dict[int, tuple[Any, ...]]:
    """Categories of frames, which newer files hold."""
    found = {}
    for i, encoded in enumerate(stored["enc"]):
        values = encoded.get("values") or []
        if kinds[i] != "c" or not len(values):
            continue
        if "offsets" in encoded:
            data, ends = bytes(v % 256 for v in values), encoded["offsets"]
            if not data.isascii():
                raise ParameterError(
                    "from_xgboost reads categories of ASCII letters, because XGBoost cuts others "
                    f"short in its files, got {data[:60].decode(errors='replace')!r}; rename them "
                    "and train again."
                )
            if ends != sorted(ends):
                raise ValueError("its categories overlap")
            values = [data[a:b].decode() for a, b in pairwise(ends)]
        found[i] = tuple(values)
    return found


def _to_the_right(tree: Any) -> dict[int, list[int]]:
    """The categories that go right, by the nodes that test them; none before XGBoost 1.3."""
    sizes = tree.get("categories_sizes", [])
    if sum(map(abs, sizes)) > len(tree.get("categories", [])):
        raise ValueError("its tests share categories")
    begins = zip(
        tree.get("categories_nodes", []), tree.get("categories_segments", []), sizes, strict=True
    )
    return {node: tree["categories"][begin : begin + size] for node, begin, size in begins}


def _tree(
    tree: Any, features: tuple[Feature, ...], weight: float, at: int, room: Room
) -> list[ForeignNode]:
    """The nodes, with the values of target ``at`` where a tree has those of several."""
    held = _to_the_right(tree)
    width = int(tree["tree_param"]["size_leaf_vector"])
    leaves = tree.get("leaf_weights") if width > 1 else None
    nodes = []
    for i, left in enumerate(tree["left_children"]):
        cover = float(tree["sum_hessian"][i])
        right = int(tree["right_children"][i])
        if left < 0:
            found = tree["split_conditions"][i] if leaves is None else leaves[right * width + at]
            value = float(np.float32(weight) * np.float32(found))
            nodes.append(ForeignNode([value], n_samples=cover, weight=cover))
            continue
        # JSON has the fewest digits that tell singles apart
        single = float(np.float32(tree["split_conditions"][i]))
        break_, closed = single_break(single, closed=False)
        node = ForeignNode(
            [weight * float(tree["base_weights"][i * max(1, width) + at])],
            (int(left), right),
            int(tree["split_indices"][i]),
            break_,
            closed,
            gap=int(not tree["default_left"][i]),
            n_samples=cover,
            weight=cover,
            gain=max(float(tree["loss_changes"][i]), 0.0),
        )
        if i in held:
            n_codes = len(features[node.feature].categories)
            node.branches = two_ways(room.take(n_codes, CODE, "categories in tests"), held[i])
        nodes.append(node)
    return nodes


# UBJSON

SIZES = {"i": "b", "U": "B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}


def read_ubjson(data: bytes) -> Any:
    """The value in UBJSON bytes (draft 12, with typed arrays).

    Examples
    --------
    >>> read_ubjson(b"{U\\x01aU\\x05}")
    {'a': 5}
    """
    reader = _Ubjson(data)
    return reader.value(reader.take(1))


class _Ubjson:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, n: int) -> bytes:
        if n < 0 or self.at + n > len(self.data):
            raise ModelFileError("The XGBoost model ends in the middle; save it again.")
        self.at += n
        return self.data[self.at - n : self.at]

    def value(self, mark: bytes, depth: int = 0) -> Any:
        if depth > 100:
            raise ModelFileError("The XGBoost model is nested too deeply; save it again.")
        kind = mark.decode("latin-1")
        if kind in SIZES:
            form = SIZES[kind]
            return struct.unpack(form, self.take(struct.calcsize(form)))[0]
        if kind in "ZTF":
            return {"Z": None, "T": True, "F": False}[kind]
        if kind == "S":
            return self.take(self.length()).decode()
        if kind == "C":
            return self.take(1).decode("latin-1")
        if kind == "[":
            return self.array(depth)
        if kind == "{":
            return self.object(depth)
        raise ModelFileError(f"The XGBoost model has an unknown mark {kind!r}; save it again.")

    def length(self) -> int:
        return int(self.value(self.take(1)))

    def head(self) -> tuple[bytes | None, int | None]:
        kind = count = None
        if self.data[self.at : self.at + 1] == b"$":
            self.at += 1
            kind = self.take(1)
        if self.data[self.at : self.at + 1] == b"#":
            self.at += 1
            count = self.length()
        return kind, count

    def check_fill(self, kind: bytes | None, count: int | None) -> None:
        """Refuse more elements than bytes: some types have none, so a count could ask for any."""
        is_empty = kind is not None and kind in b"ZTFN"
        if is_empty or (count is not None and not 0 <= count <= len(self.data) - self.at):
            raise ModelFileError("The XGBoost model ends in the middle; save it again.")

    def array(self, depth: int) -> list[Any]:
        kind, count = self.head()
        if kind is not None and count is not None and kind.decode("latin-1") in SIZES:
            form = SIZES[kind.decode("latin-1")]
            size = struct.calcsize(form)
            return list(struct.unpack(f">{count}{form[-1]}", self.take(count * size)))
        self.check_fill(kind, count)
        found: list[Any] = []
        while count is None or len(found) < count:
            mark = kind or self.take(1)
            if count is None and mark == b"]":
                break
            found.append(self.value(mark, depth + 1))
        return found

    def object(self, depth: int) -> dict[str, Any]:
        kind, count = self.head()
        self.check_fill(kind, count)
        found: dict[str, Any] = {}
        n = 0
        while count is None or n < count:
            if count is None and self.data[self.at : self.at + 1] == b"}":
                self.at += 1
                break
            name = self.take(self.length()).decode()
            found[name] = self.value(kind or self.take(1), depth + 1)
            n += 1
        return found
