"""A real cluster of processes: the bytes of a fit in memory, also when a worker dies."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("dask.dataframe")

from tests.scale.conftest import mixed, write_parts
from treewright import (
    C45Classifier,
    CARTClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    MARSRegressor,
    RandomForestClassifier,
    SLIQClassifier,
    cross_validate,
)
from treewright.errors import DataError, ParameterError
from treewright.scale import predict_files
from treewright.scale._rounds import BlockRun
from treewright.scale._tree_store import BlockStore

FEATURES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        yield client


def in_memory(model, table, target):
    found = model.fit(table.drop_columns([target]), table.column(target))
    found._name_target(target)
    return found


def test_a_cluster_gives_the_bytes_of_a_fit_in_memory(client, tmp_path, saved):
    import dask.dataframe as dd

    table = mixed(12_000).select([*FEATURES, "three"])
    options = {"n_estimators": 3, "random_state": 1}
    expected = saved(in_memory(GradientBoostingClassifier(**options), table, "three"))
    frame = dd.from_pandas(table.to_pandas(), npartitions=5)
    model = GradientBoostingClassifier(**options).fit(frame, target="three")
    assert saved(model) == expected
    assert model.block_run_["n_bytes"] > 0
    write_parts(table, tmp_path / "data", [5000, 6000])
    model.fit(tmp_path / "data", target="three", client=client)
    assert saved(model) == expected
    lazy = model.predict(frame)
    assert type(lazy).__module__.startswith("dask")
    X = table.drop_columns(["three"])
    assert lazy.compute().tolist() == model.predict(X).tolist()
    share = model.predict_proba(frame).compute()
    assert share.columns.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(share.to_numpy(), model.predict_proba(X))


def test_trees_and_forests_are_the_same_on_a_cluster(client, saved, monkeypatch):
    import dask.dataframe as dd

    monkeypatch.setattr(BlockStore, "few", 300)
    table = mixed(3000).select([*FEATURES, "two"])
    frame = dd.from_pandas(table.to_pandas(), npartitions=4)
    for model in (CARTClassifier(), RandomForestClassifier(2, random_state=1)):
        expected = saved(model.fit(table, target="two"))
        assert saved(model.fit(frame, target="two", client=client)) == expected
    assert model.block_run_["n_bytes"] > 0
    assert len(model.predict(frame).compute()) == 3000


def test_weights_are_a_column_on_a_cluster(client, saved):
    import dask.dataframe as dd

    frame = mixed(2000).select([*FEATURES, "two"]).to_pandas()
    frame["w"] = np.random.default_rng(0).exponential(size=2000)
    parts = dd.from_pandas(frame, npartitions=4)
    for model in (
        GradientBoostingClassifier(n_estimators=2, random_state=1),
        RandomForestClassifier(2, random_state=1),
    ):
        expected = saved(model.fit(frame, target="two", sample_weight="w"))
        assert saved(model.fit(parts, target="two", sample_weight="w")) == expected
    with pytest.raises(ParameterError, match="sample_weight must name a column where X is a Dask"):
        model.fit(parts, target="two", sample_weight=frame["w"])


def test_a_worker_that_is_killed_is_survived(client, saved, monkeypatch):
    import dask.dataframe as dd

    table = mixed(4000).select([*FEATURES, "number"])
    options = {"n_estimators": 8, "random_state": 1}
    expected = saved(in_memory(GradientBoostingRegressor(**options), table, "number"))
    frame = dd.from_pandas(table.to_pandas(), npartitions=4)
    victim = next(iter(client.run(os.getpid).values()))
    step = BlockRun.step

    def step_and_kill(run):
        step(run)
        if run.n_done == 3:
            os.kill(victim, signal.SIGKILL)

    monkeypatch.setattr(BlockRun, "step", step_and_kill)
    model = GradientBoostingRegressor(**options).fit(frame, target="number", client=client)
    assert model.block_run_["n_lost"] >= 1
    assert saved(model) == expected


def test_a_worker_without_treewright_is_refused(client, monkeypatch):
    import treewright

    monkeypatch.setattr(treewright, "__version__", "99.0")
    with pytest.raises(ParameterError, match=r"Workers must have treewright 99.0, but tcp.* has "):
        GradientBoostingRegressor().fit(mixed(10), target="number", client=client)


def parts(*frames):
    """A collection of these partitions, whose columns nobody has compared."""
    import dask
    import dask.dataframe as dd

    delayed = [dask.delayed(frame) for frame in frames]
    return dd.from_delayed(delayed, meta=frames[0].head(0), verify_meta=False)


@pytest.mark.parametrize("model", [CARTClassifier(), GradientBoostingClassifier(random_state=1)])
def test_partitions_are_matched_by_the_names_of_their_columns(client, saved, model):
    frame = mixed(900).select([*FEATURES, "two"]).to_pandas()
    expected = saved(model.fit(frame, target="two"))
    turned = parts(frame[:300], frame[300:][["d", "two", "b", "c", "a"]])
    assert saved(model.fit(turned, target="two")) == expected
    assert model.predict(turned).compute().tolist() == model.predict(frame[FEATURES]).tolist()
    for other, words in (
        (frame.drop(columns="b"), "partition 1 lacks 'b' of the collection"),
        (frame.assign(new=1.0), "the collection lacks 'new' of partition 1"),
    ):
        with pytest.raises(DataError, match=f"must have the same columns, but {words}"):
            model.fit(parts(frame, other), target="two")


def test_a_collection_that_is_no_frame_is_refused(client):
    import dask
    import dask.array as da

    for X in (da.ones((4, 2)), dask.delayed(3)):
        with pytest.raises(DataError, match="X must be a Dask data frame"):
            GradientBoostingRegressor().fit(X, target="number")
    model = CARTClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(DataError, match="X must be a Dask data frame"):
        model.predict(da.ones((4, 1)))


def test_collections_are_never_brought_into_memory_in_silence(tmp_path):
    import dask.dataframe as dd

    table = mixed(60).select([*FEATURES, "two"]).to_pandas()
    X, y = table[["a", "b"]], table["two"]
    lazy = dd.from_pandas(table, npartitions=2)
    X_lazy, y_lazy = lazy[["a", "b"]], lazy["two"]
    array = X_lazy.to_dask_array(lengths=True)
    for model in (CARTClassifier(), GradientBoostingClassifier()):
        for pair in ((X_lazy, y_lazy), (X_lazy, y), (array, y_lazy)):
            with pytest.raises(ParameterError, match=r"target must name .*; pass fit\(X, target="):
                model.fit(*pair)
    model = CARTClassifier().fit(X, y)
    for call in (
        lambda: C45Classifier().fit(array, y),
        lambda: C45Classifier().fit(X, y_lazy),
        lambda: SLIQClassifier().fit(lazy, target="two"),
        lambda: MARSRegressor().fit(X_lazy, table["b"]),
        lambda: model.fit(X, y, lazy["b"]),
        lambda: model.fit({"a": lazy["a"]}, y),
        lambda: model.apply(X_lazy),
        lambda: cross_validate(model, X_lazy, y_lazy),
        lambda: cross_validate(model, X_lazy, y),
        lambda: cross_validate(model, array, y),
        lambda: predict_files(model, X_lazy, tmp_path),
    ):
        with pytest.raises(DataError, match=r"must be in memory here, got a Dask .*; call compute"):
            call()


def test_cross_validation_and_comparison_run_on_the_cluster(client):
    import joblib

    from treewright import compare, cross_validate
    from treewright.datasets import load_titanic

    data = load_titanic()
    models = {"cart": CARTClassifier(max_depth=2), "leaf": CARTClassifier(max_depth=1)}
    given = {"folds": 3, "random_state": 0}

    def run(n_jobs):
        judged = cross_validate(models["cart"], data.data, data.target, n_jobs=n_jobs, **given)
        compared = compare(models, data.data, data.target, repeats=1, n_jobs=n_jobs, **given)
        return judged.to_dict()["figures"], str(compared)

    with joblib.parallel_config(backend="dask"):
        found, said = run(2)
    expected, words = run(None)
    assert found == expected
    assert said.splitlines()[-1] == words.splitlines()[-1]
    tasks = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    assert tasks > 0


def left_behind():
    """Threads and sockets of shares in this process."""
    import threading

    return [t.name for t in threading.enumerate() if t.name == "treewright-share"]


def test_questions_go_over_sockets_that_end_with_the_fit(client, monkeypatch):
    import time

    import dask.dataframe as dd

    from treewright.scale import _wire

    frame = dd.from_pandas(mixed(2000).select([*FEATURES, "two"]).to_pandas(), npartitions=4)
    lines = []
    opened = _wire.Line.__init__

    def count(line, *args):
        opened(line, *args)
        lines.append(line)

    monkeypatch.setattr(_wire.Line, "__init__", count)
    GradientBoostingClassifier(n_estimators=2).fit(frame, target="two", client=client)
    assert len(lines) == 2
    assert all(line._socket.fileno() == -1 for line in lines)
    end = time.monotonic() + 10
    while any(client.run(left_behind).values()) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(client.run(left_behind).values())


def test_without_sockets_questions_go_by_way_of_dask(client, saved, monkeypatch):
    import dask.dataframe as dd

    from treewright.scale import _dask

    def refuse(*args):
        raise ConnectionRefusedError

    table = mixed(2000).select([*FEATURES, "two"])
    frame = dd.from_pandas(table.to_pandas(), npartitions=4)
    model = GradientBoostingClassifier(n_estimators=2, random_state=1)
    expected = saved(in_memory(model, table, "two"))
    monkeypatch.setattr(_dask, "Line", refuse)
    assert saved(model.fit(frame, target="two", client=client)) == expected


def test_an_error_on_a_worker_is_raised_as_it_was(client, monkeypatch):
    import dask.dataframe as dd

    frame = dd.from_pandas(mixed(500).select([*FEATURES, "number"]).to_pandas(), npartitions=2)
    call = BlockRun._all

    def break_features(run, method, *args):
        if method == "begin_tree":
            args = (*args[:-2], np.array([99], np.int32), args[-1])
        return call(run, method, *args)

    monkeypatch.setattr(BlockRun, "_all", break_features)
    with pytest.raises(ValueError, match=r"^A feature is out of range.$"):
        GradientBoostingRegressor(n_estimators=1).fit(frame, target="number", client=client)


def test_a_task_of_the_cluster_can_be_the_driver(client, saved):
    table = mixed(1000).select([*FEATURES, "number"])

    def fit(table):
        import dask.dataframe as dd
        from distributed import worker_client

        with worker_client() as inside:
            frame = dd.from_pandas(table.to_pandas(), npartitions=4)
            model = GradientBoostingRegressor(n_estimators=3, random_state=1)
            return model.fit(frame, target="number", client=inside)

    options = {"n_estimators": 3, "random_state": 1}
    expected = saved(in_memory(GradientBoostingRegressor(**options), table, "number"))
    assert saved(client.submit(fit, table).result()) == expected


def test_a_cluster_of_threads_gives_the_same_bytes(saved):
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    table = mixed(1000).select([*FEATURES, "number"])
    options = {"n_estimators": 3, "random_state": 1}
    expected = saved(in_memory(GradientBoostingRegressor(**options), table, "number"))
    frame = dd.from_pandas(table.to_pandas(), npartitions=4)
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster, Client(cluster, set_as_default=False) as threads:
        model = GradientBoostingRegressor(**options).fit(frame, target="number", client=threads)
        assert saved(model) == expected
    assert not left_behind()
