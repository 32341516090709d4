"""Gradient boosting on sources: the bytes of a fit in memory, whatever the blocks."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from tests.scale.conftest import mixed, write_parts
from treewright import GradientBoostingClassifier, GradientBoostingRegressor
from treewright.errors import DataError, ParameterError
from treewright.io._atomic import only_writer
from treewright.kernels.boosting import bin_maps, distinct_values, drawn_rows
from treewright.scale import predict_files
from treewright.scale._memory import read_size

FEATURES = ["a", "b", "c", "d"]
CASES = [
    (GradientBoostingClassifier, "two", {}),
    (GradientBoostingClassifier, "two", {"loss": "exponential", "class_weight": "balanced"}),
    (GradientBoostingClassifier, "two", {"growth": "depth", "max_depth": 4}),
    (GradientBoostingClassifier, "two", {"growth": "symmetric", "max_depth": 4}),
    (GradientBoostingClassifier, "two", {"early_stopping": True, "validation_fraction": 0.2}),
    (GradientBoostingClassifier, "three", {"class_weight": "balanced"}),
    (GradientBoostingRegressor, "number", {"subsample": 0.5, "max_features_per_tree": 0.5}),
    (GradientBoostingRegressor, "number", {"monotonic_cst": {"a": 1}, "early_stopping": True}),
    (GradientBoostingRegressor, "positive", {"loss": "gamma"}),
    (GradientBoostingRegressor, "positive", {"loss": "poisson", "l1_regularization": 0.1}),
    (GradientBoostingRegressor, "positive", {"loss": "tweedie"}),
]


def in_memory(model, table, target):
    found = model.fit(table.drop_columns([target]), table.column(target))
    found._name_target(target)
    return found


@pytest.mark.parametrize(("kind", "target", "options"), CASES)
def test_a_folder_gives_the_bytes_of_a_fit_in_memory(kind, target, options, tmp_path, saved):
    table = mixed(3000).select([*FEATURES, target])
    write_parts(table, tmp_path / "data", [900, 903, 2000], row_group_size=500)
    options = {"n_estimators": 6, "random_state": 3, **options}
    expected = saved(in_memory(kind(**options), table, target))
    assert saved(kind(**options).fit(tmp_path / "data", target=target)) == expected
    pattern = str(tmp_path / "data" / "*.parquet")
    filed = kind(**options).fit(pattern, target=target, memory_limit=held() + 40_000_000)
    assert saved(filed) == expected


@pytest.mark.parametrize("growth", ["leaf", "depth", "symmetric"])
def test_columns_of_one_value_and_gaps_have_the_same_bytes(growth, tmp_path, saved):
    draw = np.random.default_rng(0)
    gap = draw.random((3, 600)) < 0.4
    gap[2] = True
    columns = {name: np.where(g, np.nan, 7.0) for name, g in zip("abc", gap, strict=True)}
    y = 2 * gap[0] + gap[1] + draw.normal(size=600)
    table = pa.Table.from_pandas(pd.DataFrame(columns).assign(d=draw.normal(size=600), y=y))
    write_parts(table, tmp_path / "data", [100, 350])
    options = {"growth": growth, "n_estimators": 4, "random_state": 0}
    expected = in_memory(GradientBoostingRegressor(**options), table, "y")
    found = GradientBoostingRegressor(**options).fit(tmp_path / "data", target="y")
    assert saved(found) == saved(expected)
    assert any(np.isinf(tree.splits.breaks).any() for tree in found.estimators_)


def held() -> int:
    from treewright.scale._memory import _held

    return _held()


def test_blocks_in_files_give_the_same_bytes(tmp_path, saved, monkeypatch):
    from treewright.scale import _boosting
    from treewright.scale._memory import Budget

    table = mixed(5000).select([*FEATURES, "three"])
    options = {"n_estimators": 4, "random_state": 0}
    expected = saved(in_memory(GradientBoostingClassifier(**options), table, "three"))
    for rows in (300, 5000):
        monkeypatch.setattr(_boosting, "make_budget", lambda *a, r=rows: Budget(r, 0))
        model = GradientBoostingClassifier(**options, n_jobs=2)
        model.fit(table, target="three", temp_dir=tmp_path)
        assert saved(model.set_params(n_jobs=None)) == expected
        assert not list(tmp_path.iterdir())


def test_csv_arrow_and_frames_are_sources_too(tmp_path, saved):
    table = mixed(2000).select([*FEATURES, "two"])
    options = {"n_estimators": 3, "random_state": 0}
    expected = saved(in_memory(GradientBoostingClassifier(**options), table, "two"))
    pyarrow.feather.write_feather(table, tmp_path / "all.arrow", compression="uncompressed")
    (tmp_path / "csv").mkdir()
    for i in range(2):
        pyarrow.csv.write_csv(table.slice(1000 * i, 1000), tmp_path / "csv" / f"{i}.csv")
    for source in (tmp_path / "all.arrow", tmp_path / "csv", table.to_pandas(), table):
        model = GradientBoostingClassifier(**options).fit(source, target="two")
        assert saved(model) == expected, type(source)


def test_folders_called_key_value_are_columns(tmp_path, saved):
    table = mixed(2000).select(["a", "d", "number"])
    parts = []
    for i, (shop, year) in enumerate([("north", 2020), ("north", 2021), ("south", 2020)]):
        part = table.slice(600 * i, 600)
        write_parts(part, tmp_path / "data" / f"shop={shop}" / f"year={year}", [])
        columns = {"shop": pa.array([shop] * 600), "year": pa.array([year] * 600, pa.int32())}
        for name, column in columns.items():
            part = part.append_column(name, column)
        parts.append(part)
    whole = pa.concat_tables(parts)
    options = {"n_estimators": 3, "random_state": 0}
    model = GradientBoostingRegressor(**options).fit(tmp_path / "data", target="number")
    expected = in_memory(GradientBoostingRegressor(**options), whole, "number")
    assert model.feature_names_in_.tolist() == ["a", "d", "shop", "year"]
    assert saved(model) == saved(expected)


def test_types_that_go_together_are_brought_together(tmp_path, saved):
    table = mixed(1000).select(["a", "b", "two"])
    write_parts(table.slice(0, 400), tmp_path / "data", [])
    other = table.slice(400).set_column(1, "b", table.column("b").slice(400).cast(pa.int16()))
    pq.write_table(other.select(["two", "b", "a"]), tmp_path / "data" / "part999.parquet")
    options = {"n_estimators": 3, "random_state": 0}
    model = GradientBoostingClassifier(**options).fit(tmp_path / "data", target="two")
    assert saved(model) == saved(in_memory(GradientBoostingClassifier(**options), table, "two"))


def test_an_eval_set_is_a_source(tmp_path):
    table = mixed(3000).select([*FEATURES, "two"])
    learn, judge = table.slice(0, 2000), table.slice(2000)
    write_parts(judge, tmp_path / "judge", [500])
    options = {"n_estimators": 5, "random_state": 0}
    model = GradientBoostingClassifier(**options)
    model.fit(learn, target="two", eval_set=tmp_path / "judge")
    pair = (judge.drop_columns(["two"]), judge.column("two"))
    expected = GradientBoostingClassifier(**options)
    expected.fit(learn.drop_columns(["two"]), learn.column("two"), eval_set=pair)
    assert_array_equal(model.validation_score_, expected.validation_score_)


def test_predictions_stream_to_parquet(tmp_path):
    table = mixed(2500).select([*FEATURES, "two"])
    write_parts(table, tmp_path / "data", [1000])
    model = GradientBoostingClassifier(n_estimators=3).fit(tmp_path / "data", target="two")
    found = predict_files(model, tmp_path / "data", tmp_path / "out", proba=True)
    assert found.n_rows == 2500
    assert len(found.files) == 2
    read = pq.read_table(tmp_path / "out")
    X = table.drop_columns(["two"])
    assert read.column("prediction").to_pylist() == model.predict(X).tolist()
    assert_array_equal(read.column("probability(yes)").to_numpy(), model.predict_proba(X)[:, 1])
    with pytest.raises(ParameterError, match="without Parquet files"):
        predict_files(model, tmp_path / "data", tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_predictions_that_were_not_finished_are_written_again(tmp_path, monkeypatch):
    table = mixed(2500).select([*FEATURES, "two"])
    write_parts(table, tmp_path / "data", [1000])
    model = GradientBoostingClassifier(n_estimators=3).fit(tmp_path / "data", target="two")
    out = tmp_path / "out"
    real = pq.ParquetWriter.write_table

    def stop(writer, rows):
        if list(out.glob("*.parquet")):
            raise KeyboardInterrupt  # as with kill -9, what is there stays
        real(writer, rows)

    with monkeypatch.context() as patch:
        patch.setattr(pq.ParquetWriter, "write_table", stop)
        with pytest.raises(KeyboardInterrupt):
            predict_files(model, tmp_path / "data", out)
    assert len(list(out.glob("*.parquet"))) == 1
    few = min((tmp_path / "data").glob("*.parquet"))  # fewer pieces than before
    assert predict_files(model, few, out).n_rows == pq.read_table(out).num_rows
    assert [file.name for file in out.iterdir()] == ["part-00000.parquet"]


def test_predictions_follow_no_link_that_waits_for_them(tmp_path):
    table = mixed(500).select([*FEATURES, "two"])
    model = GradientBoostingClassifier(n_estimators=3).fit(table, target="two")
    out, precious = tmp_path / "out", tmp_path / "precious"
    out.mkdir()
    precious.write_text("kept")
    (out / ".part-00000.parquet.tmp").symlink_to(precious)
    predict_files(model, table, out)
    assert precious.read_text() == "kept"
    assert not (out / "part-00000.parquet").is_symlink()


def test_predictions_have_a_folder_of_their_own(tmp_path):
    table = mixed(500).select([*FEATURES, "two"])
    model = GradientBoostingClassifier(n_estimators=3).fit(table, target="two")
    with pytest.raises(ParameterError, match=r"must be a folder, .* the name of a file, .*o.csv"):
        predict_files(model, table, tmp_path / "o.csv")
    (tmp_path / "out").mkdir()
    other = only_writer(tmp_path / "out" / ".treewright-unfinished")
    with other, pytest.raises(ParameterError, match="another process writes predictions"):
        predict_files(model, table, tmp_path / "out")
    assert not list(tmp_path.glob("**/*.parquet"))


# -- summaries ----------------------------------------------------------------------------------


def test_a_rare_value_keeps_its_bin_where_values_are_few():
    column = np.zeros(300_000)
    column[[5, 77]] = 1.0, 2.0
    assert bin_maps([column], [-1], 255)[0].edges.tolist() == [0.5, 1.5]
    assert distinct_values(column, 255).tolist() == [0.0, 1.0, 2.0]
    assert distinct_values(np.arange(300.0), 255) is None


def test_drawn_rows_do_not_depend_on_the_blocks():
    n, most = 100_003, 1000
    whole = drawn_rows(0, n, n, most)
    assert len(whole) == most
    assert np.all(np.diff(whole) > 0)
    cuts = [0, 1, 17, 40_000, 99_999, n]
    parts = [drawn_rows(a, b - a, n, most) + a for a, b in itertools.pairwise(cuts)]
    assert_array_equal(np.concatenate(parts), whole)
    assert_array_equal(drawn_rows(3, 4, 10, 1000), np.arange(4))


# -- bad input ----------------------------------------------------------------------------------


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="must hold Parquet, Arrow or CSV files, but this has none"):
        GradientBoostingClassifier().fit(tmp_path, target="two")
    with pytest.raises(DataError, match="fits none"):
        GradientBoostingClassifier().fit(str(tmp_path / "*.parquet"), target="two")
    with pytest.raises(DataError, match="there is none"):
        GradientBoostingClassifier().fit(tmp_path / "nowhere", target="two")


def test_a_target_in_some_files_only_is_refused(tmp_path):
    table = mixed(300).select(["a", "b", "two"])
    write_parts(table, tmp_path, [])
    pq.write_table(table.select(["a", "b"]), tmp_path / "part999.parquet")
    with pytest.raises(DataError, match=r"part999.parquet lacks 'two' of part000.parquet"):
        GradientBoostingClassifier().fit(tmp_path, target="two")


def test_types_that_do_not_go_together_are_refused(tmp_path):
    table = mixed(300).select(["a", "b", "two"])
    write_parts(table, tmp_path, [])
    other = table.set_column(1, "b", table.column("b").cast(pa.string()))
    pq.write_table(other, tmp_path / "part999.parquet")
    with pytest.raises(DataError, match=r"'b' is double in part000.parquet and string in part999"):
        GradientBoostingClassifier().fit(tmp_path, target="two")


def test_a_limit_below_one_block_is_refused():
    with pytest.raises(ParameterError, match=r"one block of 2048 rows, which takes \d+ MB"):
        GradientBoostingClassifier().fit(mixed(300), target="two", memory_limit="1MB")
    with pytest.raises(ParameterError, match="such as '1GB'"):
        read_size("much")


def test_a_full_disk_is_refused(tmp_path, monkeypatch):
    from treewright.scale import _boosting
    from treewright.scale._memory import Budget

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_boosting, "make_budget", lambda *a: Budget(100, 0))
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(DataError, match="cannot hold them \\(no space left on device\\)"):
        GradientBoostingClassifier().fit(mixed(300), target="two", temp_dir=tmp_path)
    assert not list(tmp_path.iterdir())


def test_more_rows_than_sums_hold_are_refused(monkeypatch):
    from treewright.scale import _boosting

    monkeypatch.setattr(_boosting, "MOST_TALL_ROWS", 200)
    with pytest.raises(DataError, match="at most 200 rows to learn from"):
        GradientBoostingClassifier().fit(mixed(300), target="two")


def test_tall_sums_are_the_same_numbers(monkeypatch, saved):
    """Where units are coarse they do not depend on the kind of sum, nor does the model."""
    from treewright.scale import _boosting

    model = GradientBoostingClassifier(n_estimators=4, random_state=0, early_stopping=False)
    for target in ("two", "three"):
        table = mixed(12_000).select(["a", "b", "c", "d", target])
        expected = saved(model.fit(table, target=target))
        with monkeypatch.context() as patch:
            patch.setattr(_boosting, "MOST_ROWS", 1000)
            assert saved(model.fit(table, target=target)) == expected


@pytest.mark.parametrize("growth", ["leaf", "symmetric"])
@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_tall_sums_of_fine_units_are_close(loss, growth, monkeypatch):
    from treewright.scale import _boosting

    table = mixed(3000).select(["a", "b", "c", "d", "positive"])
    model = GradientBoostingRegressor(loss=loss, n_estimators=4, random_state=0, growth=growth)
    expected = model.fit(table, target="positive").predict(table.drop_columns(["positive"]))
    monkeypatch.setattr(_boosting, "MOST_ROWS", 1000)
    found = model.fit(table, target="positive").predict(table.drop_columns(["positive"]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_rows_beyond_the_bound_of_packed_sums_are_counted(monkeypatch):
    """Whole weights of 2³⁰ in all count as so many rows; as factors they give the same model."""
    from treewright.kernels.boosting import MOST_ROWS
    from treewright.scale import _boosting, _engine

    weight = np.random.default_rng(0).integers(2**19, 2**20, 1500).astype(np.float64)
    weight[0] = 1  # all are multiples of the smallest, which counts as one row
    assert weight.sum() > 16 * MOST_ROWS
    table = mixed(1500).select(["a", "b", "c", "d", "positive"])
    X = table.drop_columns(["positive"])
    seen = []
    real = _boosting.make_planner

    def spy(*args):
        seen.append((args[-3], args[-1]))
        return real(*args)

    monkeypatch.setattr(_boosting, "make_planner", spy)
    for loss in ("squared_error", "gamma"):
        model = GradientBoostingRegressor(
            loss=loss, n_estimators=5, random_state=0, min_samples_leaf=1, early_stopping=False
        )
        factors = model.fit(table, target="positive", sample_weight=weight).predict(X)
        with monkeypatch.context() as patch:
            patch.setattr(_engine, "MOST_COUNTED", 2**40)
            counts = model.fit(table, target="positive", sample_weight=weight).predict(X)
        assert seen[-2:] == [(None, False), (int(weight.sum()), True)]
        np.testing.assert_allclose(counts, factors, rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "arguments", "name"),
    [
        ({"loss": "absolute_error"}, {}, "loss"),
        ({"loss": lambda y, s: (s - y, s)}, {}, "loss"),
        ({"tree_method": "exact"}, {}, "tree_method"),
        ({"sampling": "goss", "subsample": 0.5}, {}, "sampling"),
        ({"scoring": "r2"}, {}, "scoring"),
        ({}, {"sample_weight": [1.0]}, "sample_weight"),
        ({}, {"eval_set": (1, 2)}, "eval_set"),
        ({}, {"target": None}, "target"),
        ({}, {"target": "strange"}, "target"),
    ],
)
def test_what_blocks_cannot_do_is_refused(options, arguments, name, tmp_path):
    write_parts(mixed(100), tmp_path, [])
    with pytest.raises((ParameterError, DataError), match=f"^{name} must"):
        GradientBoostingRegressor(**options).fit(tmp_path, **{"target": "number", **arguments})


def test_arguments_of_blocks_need_a_target():
    with pytest.raises(ParameterError, match="memory_limit is for data that are read in blocks"):
        GradientBoostingRegressor().fit([[1.0], [2.0]], [1.0, 2.0], memory_limit="1GB")


@pytest.mark.parametrize("learner", ["sprint", "sliq"])
def test_the_command_line_grows_from_lists(learner, tmp_path, capsys):
    from treewright.cli import main

    write_parts(mixed(1000).select([*FEATURES, "two"]), tmp_path / "data", [300])
    words = ["fit", str(tmp_path / "data"), "--target", "two", "--learner", learner]
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--memory", "1MB", "--output", str(tmp_path / "m.tw")])
    assert "1000 rows and 4 features, read in blocks" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="3"):
        main([*words, "--memory", "1KB", "--output", str(tmp_path / "n.tw")])
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "n.tw").exists()


def test_the_command_line_reads_in_blocks(tmp_path, capsys):
    from treewright.cli import main

    write_parts(mixed(1000).select([*FEATURES, "two"]), tmp_path / "data", [300])
    data, model, output = (str(tmp_path / name) for name in ("data", "m.tw", "out"))
    words = ["fit", data, "--target", "two", "--memory", "8GB", "--set", "n_estimators=3"]
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--seed", "1", "--output", model])
    assert "1000 rows and 4 features, read in blocks" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        main(["predict", model, data, "--output", output])
    assert "1000 predictions in 2 files" in capsys.readouterr().out
