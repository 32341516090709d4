"""Files that were damaged by chance or made to harm: one clear error each, nothing else.

Damage by chance breaks the checksum, so nothing is accepted. A forger signs his file; then it
is refused, or it is a sound tree, which differs from a damaged one in that it can be used.
"""

from __future__ import annotations

import copy
import json
import random
import time
import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_iris

import treewright
from tests.io.model_makers import FakeClassifier, make_tree, put_together, sign, take_apart
from treewright.errors import ModelFileError
from treewright.io import load, save
from treewright.tree.predict import predictor
from treewright.tree.split import GAP_FRACTION, GAP_STOP, SplitKind, Splits, term_value
from treewright.tree.tree import Tree

SEED = 20_26


@pytest.fixture(scope="module")
def intact(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("intact") / "tree"
    save(make_tree(), path)
    return path.read_bytes()


@pytest.fixture
def refuses(tmp_path):
    """A check that a file of these bytes is refused in one sentence that names it."""

    def check(data: bytes) -> None:
        path = tmp_path / "model"
        path.write_bytes(data)
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert repr(str(path)) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500

    return check


@pytest.fixture
def survives(tmp_path):
    """A check that a file of these bytes is refused or gives a tree that can be used."""

    def check(data: bytes) -> bool:
        path = tmp_path / "model"
        path.write_bytes(data)
        try:
            model = load(path)
        except ModelFileError:
            return False
        use(model)
        return True

    return check


ROWS = np.array(
    [
        (20.0, 1.6, 0, 0, 0, 0),
        (20.0, 1.6, 0, 2, 0, 0),
        (20.0, 1.8, 0, 3, 1, 0),
        (20.0, np.nan, 2, 1, 1, 2),
        (20.0, np.nan, 0, -1, -1, 2),
        (40.0, np.nan, 2, -1, 1, 2),
        (40.0, 1.5, 2, -1, 1, 2),
        (np.nan, np.nan, -1, -1, -1, -1),
        (-1e300, 1e300, 1, 3, 0, 1),
        (60.0, 2.0, 2, 2, 1, 0),
    ]
)


def use(tree: Tree) -> None:
    """Look at a tree as its readers do, and send rows down with the compiled predictor."""
    assert type(tree) is Tree
    assert sorted(tree.walk()) == list(range(tree.n_nodes))
    assert 0 <= tree.depth < tree.n_nodes
    assert len(tree.label) == 0 or 0 <= tree.label.min() <= tree.label.max() < tree.value.shape[1]
    columns = tuple(
        np.minimum(ROWS[:, i], len(feature.categories) - 1).astype(np.int32)
        if feature.is_categorical
        else ROWS[:, i].copy()
        for i, feature in enumerate(tree.schema.features)
    )
    ends = predictor(tree).apply(columns, 1)
    for row, end in enumerate(ends):
        cells = [
            np.nan if feature.is_categorical and column[row] < 0 else float(column[row])
            for feature, column in zip(tree.schema.features, columns, strict=True)
        ]
        assert end in last_nodes(tree, cells)
    values = predictor(tree).values(columns, np.ascontiguousarray(tree.probability), 1)
    assert values.shape == (len(ROWS), tree.value.shape[1])
    tree.to_text()


def last_nodes(tree: Tree, row: list[float], node: int = 0) -> set[int]:
    """Where a row may end, by the description of trees and splits alone."""
    if tree.first_child[node] < 0:
        return {node}
    branch = branch_of(tree, node, row)
    if branch == GAP_STOP:
        return {node}
    branches = range(tree.n_children[node]) if branch == GAP_FRACTION else [branch]
    first = int(tree.first_child[node])
    return set().union(*(last_nodes(tree, row, first + branch) for branch in branches))


def branch_of(tree: Tree, node: int, row: list[float]) -> int:
    """Branch of a row at a node, or what becomes of its gap."""
    branch = branch_by(tree.splits, node, row)
    for s in range(tree.surrogate_offset[node], tree.surrogate_offset[node + 1]):
        if branch is None:
            branch = branch_by(tree.surrogates, s, row)
    return int(tree.default[node]) if branch is None else branch


def branch_by(splits: Splits, i: int, row: list[float]) -> int | None:
    """Branch that one split gives, None for a gap."""
    kind, feature = splits.kind[i], splits.feature[i]
    if kind == SplitKind.CODES:
        codes = splits.node_codes(i).tolist()
        code = row[feature]
        return int(splits.node_branches(i)[codes.index(code)]) if code in codes else None
    if kind == SplitKind.LINEAR:
        with np.errstate(over="ignore", invalid="ignore"):  # a forged weight may be huge
            value = sum(w * term_value(row[f], code) for f, w, code in splits.node_terms(i))
    else:
        value = row[feature]
    if np.isnan(value):
        return None
    breaks = splits.node_breaks(i)
    branch = int((value > breaks).sum() if splits.closed[i] else (value >= breaks).sum())
    return 1 - branch if splits.reversed[i] else branch


def test_the_intact_file_is_accepted(intact, survives):
    assert survives(intact)
    assert survives(put_together(*take_apart(intact)))


def test_no_file_with_a_changed_bit_is_accepted(intact, refuses):
    generator = random.Random(SEED)
    for position in range(0, len(intact), 3):
        damaged = bytearray(intact)
        damaged[position] ^= 1 << generator.randrange(8)
        refuses(bytes(damaged))


def test_no_truncated_file_is_accepted(intact, refuses):
    for length in {*range(200), *range(200, len(intact), 7), len(intact) - 1}:
        refuses(intact[:length])


def test_no_file_with_bytes_removed_repeated_or_exchanged_is_accepted(intact, refuses):
    generator = random.Random(SEED)
    for _ in range(150):
        a, b, c = sorted(generator.sample(range(len(intact) + 1), 3))
        refuses(intact[:a] + intact[b:])
        refuses(intact[:b] + intact[a:])
        if intact[a:b] + intact[b:c] != intact[b:c] + intact[a:b]:
            refuses(intact[:a] + intact[b:c] + intact[a:b] + intact[c:])
        if any(intact[a:b]):
            refuses(intact[:a] + bytes(b - a) + intact[b:])
        refuses(intact[:a] + generator.randbytes(b - a) + intact[b:])
    for more in (b"\0", b"\n", bytes(32), intact):
        refuses(intact + more)
        refuses(more + intact)


def test_files_of_other_kinds_are_refused(refuses):
    for data in (b"", b"\0" * 1000, b"\x80\x05N.", b"PK\3\4" + bytes(100), b"tree\n", b"{}"):
        refuses(data)


def test_signed_files_with_a_changed_byte_are_refused_or_sound(intact, survives):
    generator = random.Random(SEED)
    body = intact[:-32]
    accepted = 0
    for position in range(0, len(body), 5):
        damaged = bytearray(body)
        damaged[position] = generator.choice([0, 255, 127, 128, damaged[position] ^ 1, 0x20, 0x39])
        accepted += survives(sign(bytes(damaged)))
    assert accepted > 0  # else the test would not say anything about sound trees


def test_signed_files_with_other_header_characters_are_refused_or_sound(intact, survives):
    header, arrays = take_apart(intact)
    text = json.dumps(header, ensure_ascii=False).encode()
    generator = random.Random(SEED)
    accepted = 0
    for _ in range(600):
        a = generator.randrange(len(text))
        b = min(len(text), a + generator.randrange(4))
        new = bytes(generator.choices(b'0123456789-.,:[]{}"$eE \\nulltruefase', k=b - a or 1))
        if new != text[a:b]:
            accepted += survives(put_together(text[:a] + new + text[b:], arrays))
    assert accepted > 0


def references(value, found=None):
    """Numbers of all arrays by the name of their field, in a header."""
    found = {} if found is None else found
    if isinstance(value, dict):
        for key, entry in value.items():
            if isinstance(entry, dict) and list(entry) == ["$array"]:
                found.setdefault(key, []).append(entry["$array"])
            references(entry, found)
    elif isinstance(value, list):
        for entry in value:
            references(entry, found)
    return found


def change_array(data: bytes, name: str, change, which: int = 0) -> bytes:
    """A signed file with array ``name`` changed in place by ``change``."""
    header, arrays = take_apart(data)
    entry = header["arrays"][references(header["model"])[name][which]]
    raw = bytearray(arrays)
    array = np.ndarray(entry["shape"], entry["dtype"], buffer=raw, offset=entry["offset"])
    change(array)
    return put_together(header, bytes(raw))


def put(index, value):
    def change(array):
        array[index] = value

    return change


STRUCTURE = [
    *[("first_child", put(0, child)) for child in (0, 2, 9, 10, 1000, -2, 2**31 - 1, -(2**31))],
    ("first_child", put(0, -1)),
    ("first_child", put(1, 0)),
    ("first_child", put(1, 6)),
    ("first_child", put(4, 4)),
    ("first_child", put(4, 1)),
    ("first_child", put(3, 8)),
    ("first_child", put(slice(None), -1)),
    *[("n_children", put(0, n)) for n in (0, 1, 2, 4, -3, 2**31 - 1)],
    ("n_children", put(3, 1)),
    ("n_children", put(slice(None), 0)),
    *[("default", put(0, branch)) for branch in (3, -3, 2**31 - 1)],
    *[("kind", put(0, kind)) for kind in (0, 2, 3, 4, 255)],
    ("kind", put(3, 1)),
    *[("feature", put(0, feature)) for feature in (-1, 3, 6, 2**31 - 1, -(2**31))],
    *[("feature", put(1, feature)) for feature in (0, 6, -5)],
    *[("break_offset", put(1, offset)) for offset in (-1, 0, 1, 5, 2**62, -(2**63))],
    ("break_offset", put(0, 1)),
    ("break_offset", put(10, 3)),
    ("break_offset", put(10, 2**40)),
    *[("code_offset", put(1, offset)) for offset in (1, -1, 2**62)],
    *[("term_offset", put(3, offset)) for offset in (1, 4, -2, 2**62)],
    ("breaks", put(0, np.nan)),
    ("breaks", put(0, 60.0)),
    ("breaks", put(0, 50.25)),
    *[("codes", put(0, code)) for code in (-1, 2, 3, 4, 2**31 - 1)],
    *[("branches", put(0, branch)) for branch in (-1, 2, 2**31 - 1)],
    *[("term_feature", put(0, feature)) for feature in (-1, 6, 3, 2**31 - 1)],
    ("term_weight", put(0, np.nan)),
    ("term_weight", put(0, np.inf)),
    *[("surrogate_offset", put(2, offset)) for offset in (3, -1, 2**62, -(2**63))],
    ("surrogate_offset", put(0, 1)),
    ("surrogate_offset", put(10, 1)),
    *[("label", put(0, label)) for label in (-1, 3, 2**31 - 1)],
    *[("n_samples", put(0, n)) for n in (-1, -(2**63))],
    *[("weight", put(0, weight)) for weight in (-1.0, np.nan, np.inf)],
    ("value", put((0, 0), np.nan)),
    ("value", put((0, 0), np.inf)),
    ("impurity", put(0, np.nan)),
    ("risk", put(0, np.inf)),
]


@pytest.mark.parametrize(("name", "change"), STRUCTURE)
def test_a_signed_tree_of_impossible_structure_is_refused(intact, refuses, name, change):
    forged = change_array(intact, name, change)
    assert forged != put_together(*take_apart(intact))
    refuses(forged)


SURROGATES = [
    *[("kind", put(0, kind)) for kind in (0, 2, 3, 4)],
    *[("feature", put(0, feature)) for feature in (-1, 6, 3)],
    *[("branches", put(0, branch)) for branch in (2, -1)],
    *[("codes", put(0, code)) for code in (1, -1, 2)],
    *[("break_offset", put(1, offset)) for offset in (0, 2, -1, 2**62)],
]


@pytest.mark.parametrize(("name", "change"), SURROGATES)
def test_signed_surrogates_of_impossible_structure_are_refused(intact, refuses, name, change):
    forged = change_array(intact, name, change, which=1)
    assert forged != put_together(*take_apart(intact))
    refuses(forged)


@pytest.mark.parametrize("value", [0, 1, -1, 2, 10**9, -(2**31)])
def test_signed_trees_with_any_number_changed_are_refused_or_sound(intact, survives, value):
    header, _ = take_apart(intact)
    untouched = put_together(*take_apart(intact))
    accepted = 0
    for name, numbers in references(header["model"]).items():
        for which, number in enumerate(numbers):
            entry = header["arrays"][number]
            if entry["dtype"] in ("bool", "uint8") and not 0 <= value <= 1:
                continue
            for position in range(int(np.prod(entry["shape"]))):

                def change(array, position=position):
                    array.flat[position] = value

                changed = change_array(intact, name, change, which)
                if changed != untouched:
                    accepted += survives(changed)
    assert accepted > 0


def other_lengths(header):
    """Each array of the tree made longer, shorter, empty, two-dimensional, of another type."""
    for number, entry in enumerate(header["arrays"]):
        n = entry["shape"][0]
        for shape in ([n + 1], [max(n - 1, 0)], [0], [n, 1], [1, n], [], [2 * n], [n // 2, 2]):
            yield number, entry | {"shape": shape}
        for dtype in ("int8", "int32", "uint32", "float32", "int64", "float64", "uint64"):
            yield number, entry | {"dtype": dtype}


def lay_out(header, arrays: bytes) -> bytes:
    """A signed file whose arrays lie as the table's shapes ask for, filled up with zeros."""
    header = copy.deepcopy(header)
    raw = b""
    for entry in header["arrays"]:
        size = int(np.prod(entry["shape"], dtype=int)) * np.dtype(entry["dtype"]).itemsize
        old = arrays[entry["offset"] : entry["offset"] + size]
        raw += bytes(-len(raw) % 64)
        entry["offset"] = len(raw)
        raw += old.ljust(size, b"\0")
    return put_together(header, raw)


def test_signed_trees_with_arrays_of_other_lengths_or_types_are_refused(intact, survives):
    header, arrays = take_apart(intact)
    assert survives(lay_out(header, arrays))
    tried = 0
    for number, entry in other_lengths(header):
        if entry == header["arrays"][number]:
            continue
        forged = copy.deepcopy(header)
        forged["arrays"][number] = entry
        # empty pools may become other empty ones
        assert (
            not survives(lay_out(forged, arrays))
            or entry["shape"][0] == 0
            or number
            in (references(header["model"])["p_value"] + references(header["model"])["n_gaps"])
        )
        tried += 1
    assert tried > 300


def edit(path: str, value):
    """A change of one entry of a header: ``"a/0/b"`` names ``header["a"][0]["b"]``."""

    def change(header):
        *parents, last = path.split("/")
        for key in parents:
            header = header[int(key) if isinstance(header, list) else key]
        if isinstance(header, list):
            header[int(last)] = value
        elif value is ...:
            del header[last]
        else:
            header[last] = value

    change.__name__ = f"{path}={str(value)[:30]}"
    return change


TREE, SCHEMA = "model/$tree", "model/$tree/schema/$schema"
EDITS = [
    edit("arrays/0/shape", [2**62]),
    edit("arrays/0/shape", [2**31, 2**31, 2**31]),
    edit("arrays/0/shape", [-10]),
    edit("arrays/0/offset", -64),
    edit("arrays/0/offset", 2**63),
    edit("arrays/1/offset", 0),
    edit("arrays/0/dtype", "object"),
    edit("arrays/0/dtype", "pickle"),
    edit("arrays", []),
    edit("arrays/0", None),
    edit("model", {"$array": 0}),
    edit("model", None),
    edit(TREE, {}),
    edit(TREE, [1]),
    edit(TREE, {"$array": 0}),
    edit(f"{TREE}/first_child", {"$array": 1}),
    edit(f"{TREE}/first_child", {"$array": 10**9}),
    edit(f"{TREE}/first_child", {"$ints": 0}),
    edit(f"{TREE}/first_child", [1, 2]),
    edit(f"{TREE}/first_child", ...),
    edit(f"{TREE}/more", 1),
    edit(f"{TREE}/splits", None),
    edit(f"{TREE}/splits/$splits/kind", None),
    edit(f"{TREE}/splits/$splits/kind", ...),
    edit(f"{TREE}/splits/$splits", []),
    edit(f"{TREE}/schema", None),
    edit(f"{TREE}/schema", {"$tuple": []}),
    edit(f"{TREE}/extras", None),
    edit(f"{TREE}/extras/p_value", 1),
    edit(f"{TREE}/extras", {"$dict": []}),
    edit(f"{SCHEMA}/names", []),
    edit(f"{SCHEMA}/names", None),
    edit(f"{SCHEMA}/names/0", 1),
    edit(f"{SCHEMA}/names/0", None),
    edit(f"{SCHEMA}/names/0", ["age"]),
    edit(f"{SCHEMA}/names/0", "\ud800"),
    edit(f"{SCHEMA}/kinds/0", "nominal"),
    edit(f"{SCHEMA}/kinds/3", "continuous"),
    edit(f"{SCHEMA}/kinds/0", "other"),
    edit(f"{SCHEMA}/kinds/0", ["nominal"]),
    edit(f"{SCHEMA}/kinds/0", {}),
    edit(f"{SCHEMA}/categories/3", []),
    edit(f"{SCHEMA}/categories/3", ["a", "b", "c"]),
    edit(f"{SCHEMA}/categories/3", ["a", "a", "b", "c"]),
    edit(f"{SCHEMA}/categories/3", ["a", ["b"], "c", "d"]),
    edit(f"{SCHEMA}/categories/3", ["a", None, "c", "d"]),
    edit(f"{SCHEMA}/categories/3", ["a", {"$float": "nan"}, "c", "d"]),
    edit(f"{SCHEMA}/categories/3", "abcd"),
    edit(f"{SCHEMA}/categories/3", {"$strings": [0, 1]}),
    edit(f"{SCHEMA}/categories/5", [0, False]),
    edit(f"{SCHEMA}/named", 1),
    edit(f"{SCHEMA}/target", 1),
    edit(f"{SCHEMA}/target/name", None),
    edit(f"{SCHEMA}/target/classes", ["no", "yes"]),
    edit(f"{SCHEMA}/target/classes", ["no", "no", "yes"]),
    edit(f"{SCHEMA}/target/classes", []),
    edit(f"{SCHEMA}/target/n_outputs", 0),
    edit(f"{SCHEMA}/target/n_outputs", 10**9),
    edit(f"{SCHEMA}/target/n_outputs", 1.0),
    edit(f"{SCHEMA}/target/class_factor", [1.0]),
    edit(f"{SCHEMA}/target/class_factor", [1.0, -1.0, 1.0]),
    edit(f"{SCHEMA}/target/class_factor", [1.0, {"$float": "inf"}, 1.0]),
    edit(f"{SCHEMA}/target/class_factor", ["1", "1", "1"]),
    edit(f"{SCHEMA}/target/more", 1),
    edit("treewright", None),
    edit("more", 1),
]


@pytest.mark.parametrize("change", EDITS, ids=lambda change: change.__name__)
def test_a_signed_header_with_an_impossible_entry_is_refused(intact, refuses, change):
    header, arrays = take_apart(intact)
    change(header)
    refuses(put_together(header, arrays))


def test_a_forged_file_costs_neither_memory_nor_time(intact, tmp_path):
    header, arrays = take_apart(intact)
    repeated = copy.deepcopy(header)
    repeated["model"] = [{"$strings": [0, 1]}] * 100_000
    collisions = copy.deepcopy(header)
    prime = 2**61 - 1  # multiples of it are equal to Python's hash
    collisions["model"] = {"$dict": [[k * prime, 0] for k in range(50_000)]}
    huge = copy.deepcopy(header)
    huge["arrays"][0]["shape"] = [2**40]
    for forged in (repeated, collisions, huge):
        path = tmp_path / "model"
        path.write_bytes(put_together(forged, arrays))
        tracemalloc.start()
        start = time.perf_counter()
        with pytest.raises(ModelFileError):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 30 * path.stat().st_size + 1_000_000
        assert time.perf_counter() - start < 30


def test_signed_estimators_with_a_changed_byte_are_refused_or_sound(tmp_path, fake_estimator):
    path = tmp_path / "model"
    save(fake_estimator(costs=np.eye(2), cv=[1, (2, 3)]).fit(), path)
    body = path.read_bytes()[:-32]
    generator = random.Random(SEED)
    for position in range(0, len(body), 5):
        damaged = bytearray(body)
        damaged[position] = generator.randrange(256)
        path.write_bytes(sign(bytes(damaged)))
        try:
            model = load(path)
        except ModelFileError:
            continue
        assert type(model) is FakeClassifier
        use(model.tree_)


@pytest.fixture
def classifier_bytes(tmp_path):
    """The file of a real classifier with priors, costs and a cp table."""
    X, y = load_iris(return_X_y=True)
    costs = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    settings = {"costs": costs, "priors": [0.5, 0.3, 0.2], "ccp_alpha": "cv", "cv": 3}
    save(treewright.CARTClassifier(**settings, random_state=0).fit(X, y), tmp_path / "model")
    return (tmp_path / "model").read_bytes()


def predicts(path) -> bool:
    """Whether the file is accepted; then its model must predict."""
    try:
        model = load(path)
    except ModelFileError:
        return False
    X, _ = load_iris(return_X_y=True)
    assert len(model.predict(X)) == len(X)
    assert model.predict_proba(X).shape == (len(X), 3)
    return True


def test_signed_classifiers_with_a_changed_byte_are_refused_or_predict(tmp_path, classifier_bytes):
    path = tmp_path / "model"
    body = classifier_bytes[:-32]
    generator = random.Random(SEED)
    for position in range(0, len(body), 9):
        damaged = bytearray(body)
        damaged[position] = generator.randrange(256)
        path.write_bytes(sign(bytes(damaged)))
        predicts(path)


def places(value):
    """Every container and key in a header."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in entries:
        yield value, key
        if isinstance(entry, (dict, list)):
            yield from places(entry)


def test_signed_classifiers_with_any_other_value_are_refused_or_predict(tmp_path, classifier_bytes):
    path = tmp_path / "model"
    header, arrays = take_apart(classifier_bytes)
    accepted = 0
    for container, key in list(places(header["model"]["$estimator"])):
        intact = container[key]
        for value in (None, -1, 10**6, "x", [], {"$float": "nan"}):
            container[key] = value
            path.write_bytes(put_together(header, arrays))
            accepted += predicts(path)
        container[key] = intact
    assert accepted > 0  # a parameter may have many values, as in the constructor
