"""Small models with a bit of everything, and tools to compare and to forge model files."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from treewright.data.schema import Feature, Schema, Target
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SplitKind, Splits
from treewright.tree.tree import Tree

LEAF, BREAKS, CODES, LINEAR = (int(kind) for kind in SplitKind)

FEATURES = (
    Feature("age", "continuous"),
    Feature("größe", "continuous"),
    Feature("grade", "ordinal", ("low", "middle", "high")),
    Feature("colour", "nominal", ("blue", "green", "red", "yellow")),
    Feature("flag", "nominal", (False, True)),
    Feature("number", "nominal", (-7, 3, 2.5)),
)


def make_splits(*specs: dict[str, Any]) -> Splits:
    """Splits from one dict each: kind, feature, closed, reversed, breaks, codes, terms."""

    def column(name: str, default: Any, dtype: str) -> np.ndarray:
        return np.array([spec.get(name, default) for spec in specs], dtype)

    def pool(name: str, dtype: str) -> np.ndarray:
        return np.array([entry for spec in specs for entry in spec.get(name, ())], dtype)

    def offset(name: str) -> np.ndarray:
        lengths = [len(spec.get(name, ())) for spec in specs]
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    return Splits(
        kind=column("kind", LEAF, "uint8"),
        feature=column("feature", -1, "int32"),
        closed=column("closed", False, "bool"),
        reversed=column("reversed", False, "bool"),
        break_offset=offset("breaks"),
        breaks=pool("breaks", "float64"),
        code_offset=offset("codes"),
        codes=pool("codes", "int32"),
        branches=pool("branches", "int32"),
        term_offset=offset("term_feature"),
        term_feature=pool("term_feature", "int32"),
        term_weight=pool("term_weight", "float64"),
        term_code=pool("term_code", "int32"),
    )


def make_tree(is_classification: bool = True, sums_categories: bool = True) -> Tree:
    """Ten nodes with every kind of split, surrogates, every policy for gaps, and extras.

    The first files had no categories in sums: ``sums_categories=False`` gives their tree.
    """
    n_terms = 3 if sums_categories else 2
    splits = make_splits(
        {"kind": BREAKS, "feature": 0, "breaks": [30.1, 50.25]},
        {"kind": CODES, "feature": 3, "codes": [0, 2, 3], "branches": [0, 1, 0]},
        {
            "kind": LINEAR,
            "breaks": [3.0],
            "closed": True,
            "term_feature": [0, 1, 3][:n_terms],
            "term_weight": [0.1, -1.25, 0.5][:n_terms],
            "term_code": [-1, -1, 2][:n_terms],
        },
        {},
        {"kind": BREAKS, "feature": 2, "breaks": [1.0]},
        *[{}] * 5,
    )
    surrogates = make_splits(
        {"kind": BREAKS, "feature": 1, "breaks": [1.7], "reversed": True, "closed": True},
        {"kind": CODES, "feature": 4, "codes": [0, 1], "branches": [1, 0]},
    )
    leaf_rows = {3: 10, 5: 20, 6: 5, 7: 6, 8: 7, 9: 8}
    rows = np.zeros(10, np.int64)
    for node, n in leaf_rows.items():
        rows[node] = n
    for node, kids in ((4, (8, 9)), (2, (6, 7)), (1, (4, 5)), (0, (1, 2, 3))):
        rows[node] = rows[list(kids)].sum()
    weight = rows * 1.5
    share = weight / weight[0]
    target = Target("churn", ("no", "maybe", "yes"), 1, (1.0, 0.1, 2.0))
    value = weight[:, None] * np.array([0.2, 0.3, 0.5])
    if not is_classification:
        target, value = Target("price", n_outputs=2), np.stack([share, -share], axis=1)
    return Tree(
        schema=Schema(FEATURES, True, target),
        first_child=np.array([1, 4, 6, -1, 8, -1, -1, -1, -1, -1], np.int32),
        n_children=np.array([3, 2, 2, 0, 2, 0, 0, 0, 0, 0], np.int32),
        splits=splits,
        default=np.array([1, 0, GAP_FRACTION, -2, GAP_STOP, *[-2] * 5], np.int32),
        surrogate_offset=np.array([0, 0, *[2] * 9], np.int64),
        surrogates=surrogates,
        surrogate_agreement=np.array([0.9, 0.8]),
        surrogate_adjusted=np.array([0.7, 1 / 3]),
        n_samples=rows,
        weight=weight,
        value=value,
        label=np.full(10, 2, np.int32) if is_classification else np.zeros(0, np.int32),
        impurity=np.full(10, 0.62),
        gain=np.array([0.3, 0.2, 0.1, 0, 0.05, 0, 0, 0, 0, 0]),
        risk=share * 0.5,
        extras={"p_value": np.linspace(0, 1, 10), "n_gaps": np.arange(10)},
    )


class FakeClassifier(BaseEstimator):
    """An estimator by the protocol of model files, with a tree made in advance."""

    _parameter_constraints: ClassVar = {"criterion": [str, callable]}

    def __init__(self, criterion="gini", random_state=None, costs=None, cv=10, estimator=None):
        self.criterion = criterion
        self.random_state = random_state
        self.costs = costs
        self.cv = cv
        self.estimator = estimator

    def fit(self, X=None, y=None):
        self.tree_ = make_tree()
        self.classes_ = np.array(["no", "maybe", "yes"], object)
        self.feature_names_in_ = np.array(self.tree_.schema.names, object)
        self.n_features_in_ = len(self.tree_.schema)
        self.cp_table_ = {"cp": np.array([0.1, 0.01]), "size": [1, 2], "best": (0.1, None)}
        return self

    def _state(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def _restore(self, state: dict[str, object]) -> None:
        for name in ("tree_", "classes_", "feature_names_in_", "n_features_in_", "cp_table_"):
            setattr(self, name, state[name])


def assert_same(a: Any, b: Any) -> None:
    """Equal in type and, for floats and arrays, in every bit."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray) and a.dtype == object:
        assert a.shape == b.shape
        assert_same(a.ravel().tolist(), b.ravel().tolist())
    elif isinstance(a, (np.ndarray, np.generic)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(a, dict):
        assert_same(list(a.items()), list(b.items()))
    elif isinstance(a, BaseEstimator):
        assert_same(a.get_params(deep=False), b.get_params(deep=False))
        assert_same(vars(a), vars(b))
    elif isinstance(a, (Tree, Splits, Schema, Feature, Target)):
        for field in fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, float):
        assert a.hex() == b.hex()
    else:
        assert a == b


def take_apart(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and array bytes of a model file, by the description of the format alone."""
    (size,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[16 : 16 + size]), data[16 + size : -32]


def put_together(header: dict[str, Any] | bytes, arrays: bytes, version: int = 1) -> bytes:
    """A model file with a right checksum, whatever its content is worth."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-(16 + len(text)) % 64)
    return sign(b"\x89TWM\r\n\x1a\n" + struct.pack("<II", version, len(text)) + text + arrays)


def sign(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()
