"""The bundled data sets are the published ones, and say where they come from."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest

from treewright import datasets
from treewright.datasets._loaders import FILES, FOLDER

LOADERS = [getattr(datasets, f"load_{name}") for name in FILES]

SHAPES = {
    "play_tennis": (14, 4, "Play"),
    "cheat": (10, 3, "Cheat"),
    "german_credit": (1000, 20, "class"),
    "iris": (150, 4, "Species"),
    "titanic": (891, 7, "Survived"),
    "hitters": (263, 19, "Salary"),
}


@pytest.mark.parametrize("load", LOADERS, ids=list(FILES))
def test_every_data_set_has_its_published_shape(load):
    dataset = load()
    rows, columns, target = SHAPES[dataset.name]
    assert dataset.data.shape == (rows, columns)
    assert dataset.target.shape == (rows,)
    assert dataset.target_name == target
    assert target not in dataset.feature_names


@pytest.mark.parametrize("load", LOADERS, ids=list(FILES))
def test_every_data_set_names_its_source_and_licence(load):
    text = load().DESCR
    assert "Source: " in text
    assert "Licence: " in text


def test_every_bundled_file_is_listed_in_the_sources():
    listed = (FOLDER / "SOURCES.md").read_text(encoding="utf-8")
    files = sorted(path.name for path in FOLDER.glob("*.csv"))
    assert files == sorted(f"{name}.csv" for name in FILES)
    assert all(f"`{file}`" in listed for file in files)


@pytest.mark.parametrize(
    ("load", "counts"),
    [
        (datasets.load_play_tennis, {"Yes": 9, "No": 5}),
        (datasets.load_cheat, {"No": 7, "Yes": 3}),
        (datasets.load_german_credit, {"good": 700, "bad": 300}),
        (datasets.load_iris, {"setosa": 50, "versicolor": 50, "virginica": 50}),
        (datasets.load_titanic, {0: 549, 1: 342}),
    ],
)
def test_classes_have_their_published_counts(load, counts):
    assert Counter(load().target.tolist()) == counts


def test_iris_is_fishers_table_and_not_the_copy_with_two_wrong_rows():
    data = datasets.load_iris().data.to_pylist()
    assert list(data[34].values()) == [4.9, 3.1, 1.5, 0.2]
    assert list(data[37].values()) == [4.9, 3.6, 1.4, 0.1]


def test_gaps_stay_gaps():
    data = datasets.load_titanic().data
    gaps = {name: data.column(name).null_count for name in data.column_names}
    assert gaps["Age"] == 177
    assert gaps["Embarked"] == 2
    assert sum(gaps.values()) == 179


def test_hitters_leaves_out_players_without_a_salary():
    salary = datasets.load_hitters().target
    assert salary.dtype == np.float64
    assert np.isfinite(salary).all()


def test_frame_is_pandas_with_the_target_as_its_last_column():
    pd = pytest.importorskip("pandas")
    dataset = datasets.load_german_credit()
    assert isinstance(dataset.frame, pd.DataFrame)
    assert list(dataset.frame.columns) == [*dataset.feature_names, "class"]
    assert dataset.frame["class"].tolist() == dataset.target.tolist()


def test_frame_is_an_arrow_table_without_pandas(monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr("treewright.datasets._dataset.find_spec", lambda name: None)
    frame = datasets.load_cheat().frame
    assert isinstance(frame, pa.Table)
    assert frame.column_names == ["Refund", "MaritalStatus", "TaxableIncome", "Cheat"]


@pytest.mark.parametrize(
    ("name", "recorded", "renamed"),
    [
        ("german_credit", "credit_g", False),
        ("cheat", "cheat", False),
        ("play_tennis",) * 2 + (True,),
    ],
)
def test_bundled_files_equal_the_recorded_copies(shared_dir, name, recorded, renamed):
    def rows(path):
        with path.open(newline="", encoding="utf-8") as file:
            header, *body = csv.reader(file)
        return header, body

    header, body = rows(FOLDER / f"{name}.csv")
    other_header, other_body = rows(shared_dir / "data" / f"{recorded}.csv")
    if renamed:
        words = {"rainy": "Rain", "FALSE": "Weak", "TRUE": "Strong"}
        other_body = [[words.get(v, v.capitalize()) for v in row] for row in other_body]
    else:
        assert header == other_header
    assert body == other_body
