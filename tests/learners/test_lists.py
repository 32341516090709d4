"""SLIQ and SPRINT: the tree of the engine in memory whatever the limit, and nothing left behind."""

from __future__ import annotations

import errno
import math
import os
import subprocess
import sys
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tests.oracle.recorded import load_data
from treewright import CARTClassifier, SLIQClassifier, SPRINTClassifier
from treewright.datasets import make_agrawal
from treewright.errors import DataError, ParameterError, SpaceError
from treewright.learners._lists import segments
from treewright.learners._lists.prepare import sort_list
from treewright.learners._lists.workspace import Workspace, _InFile, parse_memory
from treewright.pruning import mdl
from treewright.tree.tree import TREE_DTYPES

BOTH = [SLIQClassifier, SPRINTClassifier]


def assert_same_tree(one, other):
    """Byte for byte; gains are sums of rounded numbers and may differ in the last digits."""
    for name in TREE_DTYPES:
        if name == "gain":
            np.testing.assert_allclose(one.gain, other.gain, rtol=1e-9, atol=1e-15)
        else:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name, array in one.splits.arrays().items():
        np.testing.assert_array_equal(array, other.splits.arrays()[name], err_msg=name)
    np.testing.assert_array_equal(one.extras["n_gaps"], other.extras["n_gaps"])


def hostile(n=1500, n_classes=3, seed=0):
    """Numbers with ties, whole numbers, ordered and unordered categories, gaps in all of them."""
    random = np.random.default_rng(seed)
    x = np.round(random.normal(size=n), 1)
    columns = {
        "ties": x,
        "single": random.normal(size=n).astype(np.float32),
        "whole": random.integers(0, 5, n).astype(float),
        "level": random.choice(["low", "middle", "high"], n).astype(object),
        "group": random.choice(list("abcdefghijklmnopqrstuvwxyz"), n).astype(object),
        "constant": np.ones(n),
    }
    for name in ("ties", "single", "level", "group"):
        gone = random.random(n) < 0.15
        columns[name] = columns[name].copy()
        columns[name][gone] = None if columns[name].dtype == object else np.nan
    signal = np.nan_to_num(x) + columns["whole"] / 3 + random.normal(size=n) / 2
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    return columns, y


@pytest.mark.parametrize("learner", BOTH)
@pytest.mark.parametrize("function", range(1, 11))
def test_the_tree_of_agrawals_functions_is_that_of_cart(learner, function):
    data = make_agrawal(1500, function, noise=0.05, perturbation=0.05, random_state=function)
    exact = CARTClassifier().fit(data.data, data.target).tree_
    limit = "1MB" if function % 2 else None
    model = learner(pruning=None, memory_limit=limit).fit(data.data, data.target)
    assert_same_tree(exact, model.tree_)


@pytest.mark.parametrize("learner", BOTH)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weights", [None, "counts", "shares"])
def test_gaps_ties_weights_and_orders_do_not_part_it_from_cart(learner, n_classes, weights):
    columns, y = hostile(n_classes=n_classes)
    random = np.random.default_rng(1)
    weight = {
        None: None,
        "counts": random.integers(0, 4, len(y)),
        "shares": random.uniform(0.1, 2.0, len(y)),
    }[weights]
    kinds = {"ordinal_features": {"level": ["low", "middle", "high"]}}
    rules = {"min_samples_leaf": 3, "max_exhaustive": 8}
    mean = 1.0 if weights != "shares" else math.fsum(weight) / len(weight)  # in any order of rows
    exact = CARTClassifier(**rules, **kinds).fit(
        columns, y, sample_weight=None if weight is None else weight / mean
    )
    model = learner(pruning=None, memory_limit="1MB", **rules, **kinds)
    model.fit(columns, y, sample_weight=weight)
    assert_same_tree(exact.tree_, model.tree_)


@pytest.mark.parametrize("name", ["iris", "pima2", "soybean", "titanic", "vowel", "audiology"])
def test_the_tree_of_shared_data_is_that_of_cart(shared_dir, name):
    X, y, _ = load_data(shared_dir, name)
    exact = CARTClassifier().fit(X, y).tree_
    for learner in BOTH:
        assert_same_tree(exact, learner(pruning=None, n_jobs=2).fit(X, y).tree_)


@pytest.mark.parametrize("coding", ["full", "partial", "hybrid"])
def test_pruning_is_by_description_length(coding):
    data = make_agrawal(1000, 2, noise=0.1, random_state=0)
    exact = CARTClassifier().fit(data.data, data.target).tree_
    model = SLIQClassifier(coding=coding).fit(data.data, data.target)
    assert model.get_n_leaves() == mdl(exact, coding).n_leaves < exact.n_leaves


def test_bits_of_rows_may_come_in_parts(monkeypatch):
    data = make_agrawal(3000, 5, noise=0.05, random_state=0)
    exact = CARTClassifier().fit(data.data, data.target).tree_
    monkeypatch.setattr(segments, "BITS_SHARE", 1e-4)
    model = SPRINTClassifier(pruning=None, memory_limit="2MB").fit(data.data, data.target)
    assert_same_tree(exact, model.tree_)


def test_slots_may_be_searched_in_groups(monkeypatch):
    from treewright.learners._lists import work

    data = make_agrawal(2000, 7, noise=0.05, random_state=0)
    exact = CARTClassifier().fit(data.data, data.target).tree_
    monkeypatch.setattr(work, "SLOT_SHARE", 0.01)
    for learner in BOTH:
        model = learner(pruning=None, memory_limit="2MB").fit(data.data, data.target)
        assert_same_tree(exact, model.tree_)


def test_runs_are_merged_in_order(tmp_path):
    random = np.random.default_rng(0)
    values = np.round(random.normal(size=50_000), 2)
    values[random.random(len(values)) < 0.1] = np.nan
    with Workspace(2_000_000, tmp_path) as space:
        stream = space.stream(np.float64, len(values))
        stream.write(0, values)
        assert space.sort_run < len(values)
        ordered, rows = sort_list(space, stream)
        got, where = ordered.read(0, len(values)), rows.read(0, len(values))
    n_gaps = np.isnan(values).sum()
    assert np.isnan(got[:n_gaps]).all()
    np.testing.assert_array_equal(got[n_gaps:], np.sort(values)[: len(values) - n_gaps])
    np.testing.assert_array_equal(values[where], got)
    np.testing.assert_array_equal(np.sort(where), np.arange(len(values)))
    assert list(tmp_path.iterdir()) == []


# -- files ---------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    data = make_agrawal(4000, 4, noise=0.02, perturbation=0.05, random_state=3)
    table = data.data.append_column("group", pa.array(data.target.tolist()))
    for i in range(4):
        pq.write_table(table.slice(1000 * i, 1000), tmp_path / f"part{i}.parquet")
    return tmp_path, data


@pytest.mark.parametrize("learner", BOTH)
def test_a_folder_gives_the_model_of_the_table(learner, folder, tmp_path_factory):
    path, data = folder
    temp = tmp_path_factory.mktemp("lists")
    exact = CARTClassifier().fit(data.data, data.target).tree_
    model = learner(pruning=None, memory_limit="1MB", temp_dir=temp)
    model.fit(path, target="group")
    assert_same_tree(exact, model.tree_)
    assert list(temp.iterdir()) == []
    in_memory = learner().fit(data.data, data.target)
    from_files = learner().fit(f"{path}/*.parquet", target="group")
    assert in_memory.tree_.to_text() == from_files.tree_.to_text().replace("group", "y", 1)
    np.testing.assert_array_equal(
        in_memory.predict(data.data), from_files.predict(data.data.slice(0, 4000))
    )


def test_a_csv_file_is_read_block_by_block(tmp_path):
    data = make_agrawal(500, 1, random_state=0)
    table = data.data.append_column("group", pa.array(data.target.tolist()))
    pa.csv.write_csv(table, tmp_path / "people.csv")
    model = SLIQClassifier(class_weight="balanced").fit(tmp_path / "people.csv", target="group")
    assert model.score(data.data, data.target) == 1.0


def test_bad_folders_are_told_in_one_sentence(folder, tmp_path_factory):
    path, _ = folder
    empty = tmp_path_factory.mktemp("empty")
    with pytest.raises(DataError, match="but this has none"):
        SLIQClassifier().fit(empty, target="group")
    with pytest.raises(DataError, match="target must name a column"):
        SLIQClassifier().fit(path, target="grup")
    with pytest.raises(ParameterError, match="target must name the column"):
        SLIQClassifier().fit(path)
    lacking = pq.read_table(path / "part3.parquet").drop_columns(["group"])
    pq.write_table(lacking, path / "part3.parquet")
    with pytest.raises(DataError, match=r"part3\.parquet lacks 'group'"):
        SPRINTClassifier().fit(path, target="group")
    other = lacking.append_column("group", pa.array(["A"] * 1000))
    index = other.column_names.index("salary")
    other = other.set_column(index, "salary", pa.array(["much"] * 1000))
    pq.write_table(other, path / "part3.parquet")
    with pytest.raises(DataError, match="agree on the types of their columns, but 'salary'"):
        SPRINTClassifier().fit(path, target="group")


# -- limits --------------------------------------------------------------------------------


def test_a_limit_below_what_is_needed_says_what_is(folder):
    _, data = folder
    with pytest.raises(SpaceError, match=r"class list in memory.*or use SPRINTClassifier"):
        SLIQClassifier(memory_limit=10_000).fit(data.data, data.target)
    with pytest.raises(SpaceError, match=r"SPRINT needs 0\.5 MB"):
        SPRINTClassifier(memory_limit="300KB").fit(data.data, data.target)
    with pytest.raises(ParameterError, match='such as "1GB"'):
        SPRINTClassifier(memory_limit="much").fit(data.data, data.target)
    assert parse_memory("2 MiB") == 2 * 2**20


@pytest.mark.parametrize("learner", BOTH)
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), SpaceError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_full_disk_and_ctrl_c_leave_nothing_behind(
    learner, error, expected, folder, tmp_path_factory, monkeypatch
):
    _, data = folder
    temp = tmp_path_factory.mktemp("lists")
    before = len(os.listdir("/proc/self/fd"))
    n_writes = 0
    write = os.pwrite

    def failing(*arguments):
        nonlocal n_writes
        n_writes += 1
        if n_writes > 30:
            raise error
        return write(*arguments)

    monkeypatch.setattr("treewright.learners._lists.workspace.os.pwrite", failing)
    with pytest.raises(expected, match="No space is left in" if expected is SpaceError else None):
        learner(memory_limit="600KB", temp_dir=temp).fit(data.data, data.target)
    assert n_writes > 30
    assert list(temp.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_is_not_there_is_refused():
    data = make_agrawal(30_000, 1, random_state=0)
    with pytest.raises(SpaceError, match="temp_dir must be a folder"):
        SPRINTClassifier(memory_limit="1MB", temp_dir="/nowhere/at/all").fit(data.data, data.target)


def test_streams_in_files_hold_what_was_written(tmp_path):
    with Workspace(1000, tmp_path) as space:
        stream = space.stream(np.float32, 5000)
        assert isinstance(stream, _InFile)
        stream.write(10, np.arange(4990, dtype=np.float32))
        stream.write(0, np.zeros(10, np.float32))
        assert stream.read(8, 13).tolist() == [0, 0, 0, 1, 2]
        assert list(tmp_path.iterdir()) == []  # so that kill -9 leaves nothing behind


PEAK = """
import sys
import treewright

def held(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

learner, few, many, temp, limit = sys.argv[1:]
model = getattr(treewright, learner)(max_depth=6, memory_limit=int(limit), temp_dir=temp, n_jobs=2)
model.fit(few, target="group")  # what is imported on the way does not count
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak begins anew
before = held("VmRSS")
model.fit(many, target="group")
print(held("VmHWM") - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="measures as Linux does")
@pytest.mark.parametrize("learner", ["SPRINTClassifier", "SLIQClassifier"])
def test_a_process_keeps_to_its_memory_limit(learner, tmp_path):
    data = make_agrawal(800_000, 2, noise=0.05, random_state=0)
    table = data.data.append_column("group", [np.asarray(data.target)])
    many, few = tmp_path / "many", tmp_path / "few"
    for folder, n in ((many, len(table)), (few, 3000)):
        folder.mkdir()
        pq.write_table(table.slice(0, n), folder / "part.parquet", row_group_size=1 << 17)
    limit = 60_000_000
    assert len(table) * 9 * 13 > 1.5 * limit  # the lists exceed it
    command = [sys.executable, "-c", PEAK, learner, few, many, tmp_path, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) <= limit


def test_a_closed_stream_holds_no_memory():
    with Workspace(10**9) as space:
        stream = space.stream(np.int64, 1000)
        array = weakref.ref(stream._array)
        stream.close()
        assert array() is None
