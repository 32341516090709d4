"""Dates and times: what a model remembers of them, and what may come at prediction."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treewright
from treewright.data.encode import encode
from treewright.data.moments import moment_text
from treewright.data.readers import read_table
from treewright.data.schema import Feature
from treewright.errors import ConversionWarning, DataError

pytestmark = pytest.mark.filterwarnings("ignore::treewright.errors.ConversionWarning")

DAYS = pd.date_range("2024-01-01", periods=60)
LABELS = np.array([0, 1]).repeat(30)


def learned(values: Any) -> Feature:
    """The feature that a column makes."""
    return encode({"when": values}).schema.features[0]


@pytest.mark.parametrize(
    ("values", "time", "zone"),
    [
        (DAYS, "datetime", ""),
        (DAYS.tz_localize("Europe/Berlin"), "datetime", "Europe/Berlin"),
        (pl.Series(DAYS.date), "date", ""),
        ([dt.time(6), None], "time", ""),
        ([dt.timedelta(hours=6)], "duration", ""),
        ([1.5, 2.0], "", ""),
    ],
)
def test_a_feature_knows_what_its_moments_are(values, time, zone):
    found = learned(values)
    assert (found.kind, found.time, found.zone) == ("continuous", time, zone)


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda c: pd.DataFrame(c).astype(object),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "dict": dict,
    "rows": lambda c: [[value] for value in c["when"]],
}


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y", "%H:%M"])
def test_dates_as_text_are_read_alike_from_frames_and_files(form, tmp_path):
    texts = [*DAYS.strftime(form), None]
    file = tmp_path / "when.csv"
    file.write_text("when,row\n" + "".join(f"{text or ''},1\n" for text in texts))
    of_file = encode(read_table(file).select(["when"]))
    feature = of_file.schema.features[0]
    assert feature.kind == "continuous"
    assert feature.time
    for make in FRAMES.values():
        with pytest.warns(ConversionWarning, match="also as text.* column '.*name them in categ"):
            table = encode(make({"when": texts}))
        read = table.schema.features[0]
        assert (read.kind, read.time, read.zone) == (feature.kind, feature.time, feature.zone)
        np.testing.assert_array_equal(table.columns[0], of_file.columns[0])
        np.testing.assert_array_equal(
            encode(make({"when": texts[:1]}), schema=table.schema).columns[0], table.columns[0][:1]
        )


def test_text_that_is_not_all_dates_or_is_asked_to_stay_so_stays_text():
    assert learned(["2024-01-01", "2024-02-30"]).kind == "nominal"
    assert learned(["2024-01-01", "soon"]).kind == "nominal"
    assert learned(["01/02/2024"]).kind == "nominal"
    days = {"when": ["2024-01-01", "2024-02-01"]}
    assert encode(days, categorical_features=["when"]).schema.features[0].kind == "nominal"
    assert encode(pd.DataFrame(days, dtype="category")).schema.features[0].kind == "nominal"


def test_text_that_is_no_date_is_named_where_dates_were_trained():
    schema = encode({"when": ["2024-01-01", "2024-02-01"]}).schema
    with pytest.raises(DataError, match=r"must hold dates, as in training, .* text such as 'soon'"):
        encode({"when": ["2024-01-01", "soon"]}, schema=schema)
    for other in ("01.02.2024", "2024-01-03T10:00Z"):  # each for itself would be one
        with pytest.raises(DataError, match=f"text such as '{other}'; write all as 2024-12-31"):
            encode({"when": ["2024-01-01", "2024-01-02", other, "2024-01-04"]}, schema=schema)


def test_dates_as_text_in_blocks_make_the_model_of_memory(tmp_path):
    table = pa.table({"when": [str(day.date()) for day in DAYS], "label": LABELS})
    pq.write_table(table, tmp_path / "when.parquet", row_group_size=25)
    labels = pd.Series(LABELS, name="label")
    model = treewright.CARTClassifier().fit(table.select(["when"]), labels)
    with pytest.warns(ConversionWarning, match="column 'when'"):
        of_blocks = treewright.CARTClassifier().fit(tmp_path / "when.parquet", target="label")
    assert of_blocks.tree_.to_text() == model.tree_.to_text()
    assert "2024-01-30" in model.tree_.to_text()


@pytest.mark.filterwarnings("ignore:Dates and times")
def test_lists_on_disk_read_the_dates_of_csv_files(tmp_path):
    file = tmp_path / "when.csv"
    lines = [f"{day.date()},10:{k:02},{k % 2}" for k, day in enumerate(DAYS)]
    file.write_text("\n".join(["when,hour,label", *lines]))
    model = treewright.SLIQClassifier().fit(file, target="label")
    assert [feature.time for feature in model.tree_.schema.features] == ["date", "time"]


@pytest.mark.parametrize(
    ("trained", "comes", "message"),
    [
        (DAYS, np.arange(3.0), "must hold dates and times, as in training, but holds numbers"),
        (np.arange(3), DAYS, "must hold numbers, as in training, but holds dates and times"),
        (DAYS, [dt.time(6)], "must hold dates and times, as in training, but holds times of day"),
        (DAYS, DAYS.tz_localize("UTC"), "without a time zone, as in training"),
        (DAYS.tz_localize("UTC"), DAYS, "with a time zone, as in training"),
        (DAYS.tz_localize("UTC"), pl.Series(DAYS.date), "with a time zone, as in training"),
    ],
)
def test_another_kind_of_moment_than_in_training_is_an_error(trained, comes, message):
    schema = encode({"when": trained}).schema
    with pytest.raises(DataError, match=message):
        encode({"when": comes}, schema=schema)


def test_an_array_of_numbers_where_dates_were_trained_is_an_error():
    model = treewright.CARTClassifier().fit(pd.DataFrame({"when": DAYS}), LABELS)
    with pytest.raises(DataError, match="'when' must hold dates and times"), pytest.warns():
        model.predict(np.zeros((2, 1)))


@pytest.mark.parametrize(
    "comes", [pl.Series(DAYS.date), DAYS.date.tolist(), [None] * 60, np.full(60, np.nan)]
)
def test_dates_instants_and_gaps_may_stand_for_each_other(comes):
    trained = encode({"when": DAYS})
    column = encode({"when": comes}, schema=trained.schema).columns[0]
    is_gap = np.isnan(column)
    np.testing.assert_array_equal(column[~is_gap], trained.columns[0][~is_gap])
    assert is_gap.all() == (comes[0] is None or comes[0] != comes[0])


def test_a_time_zone_may_stand_for_another():
    berlin = DAYS.tz_localize("Europe/Berlin")
    schema = encode({"when": berlin}).schema
    ours, other = (
        encode({"when": values}, schema=schema).columns[0]
        for values in (berlin, berlin.tz_convert("Asia/Tokyo"))
    )
    np.testing.assert_array_equal(ours, other)


def test_a_file_keeps_what_the_moments_are(tmp_path):
    frame = pd.DataFrame({"when": DAYS.tz_localize("Asia/Tokyo")})
    model = treewright.CARTClassifier().fit(frame, LABELS)
    treewright.save(model, tmp_path / "m.tw")
    loaded = treewright.load(tmp_path / "m.tw")
    assert loaded.tree_.schema == model.tree_.schema
    again = treewright.Tree.from_dict(model.tree_.to_dict())
    assert again.schema == model.tree_.schema
    with pytest.raises(DataError, match="dates and times"):
        loaded.predict(pd.DataFrame({"when": [1.0]}))


@pytest.mark.parametrize(
    ("days", "time", "zone", "text"),
    [
        (19754.0, "date", "", "2024-02-01"),
        (19753.5, "date", "", "2024-01-31 12:00"),
        (19754.0, "datetime", "", "2024-02-01"),
        (19754.25, "datetime", "", "2024-02-01 06:00"),
        (19754.0, "datetime", "Asia/Tokyo", "2024-02-01 09:00+09:00"),
        (0.25, "time", "", "06:00"),
        (1.5, "duration", "", "1 day, 12:00:00"),
        (1e9, "datetime", "", "day 1e+09"),
    ],
)
def test_a_moment_is_written_as_people_do(days, time, zone, text):
    assert moment_text(days, Feature("when", "continuous", (), time, zone)) == text


def test_a_decision_boundary_is_drawn_over_dates():
    frame = pd.DataFrame({"when": DAYS, "size": np.arange(60.0) % 7})
    model = treewright.CARTClassifier().fit(frame, LABELS)
    drawn = treewright.decision_boundary(model, frame, LABELS, resolution=5)
    assert drawn.response.shape == (5, 5)
