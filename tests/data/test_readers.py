"""read_table: the file by its name, and a sentence for each that cannot be read."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from treewright.data import read_table
from treewright.data.encode import encode
from treewright.errors import DataError, ParameterError

TABLE = pa.table(
    {
        "size": [1.5, None],
        "colour": pa.DictionaryArray.from_arrays([1, 0], ["b", "a"], ordered=True),
        "name": ["x", "y"],
    }
)


def assert_refused(path: Path, *words: str) -> None:
    """Reading gives one sentence that starts with the file and has all the words."""
    with pytest.raises(DataError) as caught:
        read_table(path)
    text = str(caught.value)
    assert text.startswith((path.name, str(path)))
    assert text.endswith(".")
    assert "\n" not in text
    for word in words:
        assert word in text


def test_parquet_is_read(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.to_pydict() == TABLE.to_pydict()
    assert encode(table).schema == encode(TABLE).schema


def test_categories_of_pandas_keep_their_order_through_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["b", "a"], categories=["z", "b", "a"])})
    frame.to_parquet(tmp_path / "t.parquet")
    assert encode(read_table(tmp_path / "t.parquet")).schema == encode(frame).schema


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "outer=1" / "data"
    for year in (2020, 2021):
        (folder / f"year={year}").mkdir(parents=True)
        pq.write_table(pa.table({"a": [year + 0.5]}), folder / f"year={year}" / "part.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_delta").mkdir()
    pq.write_table(pa.table({"b": [1]}), folder / "_delta" / "log.parquet")
    (folder / "README.txt").write_text("not data")
    table = read_table(folder)
    assert table.to_pydict() == {"a": [2020.5, 2021.5], "year": [2020, 2021]}


def test_a_folder_without_parquet_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert_refused(tmp_path, "must hold Parquet files")


def test_files_of_a_folder_that_disagree_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1]}), folder / "1.parquet")
    pq.write_table(pa.table({"a": ["text"]}), folder / "2.parquet")
    assert_refused(folder, "cannot be read as Parquet")


@pytest.mark.parametrize("name", ["t.arrow", "t.feather", "t.ipc"])
def test_arrow_files_are_read(tmp_path: Path, name: str) -> None:
    with pa.ipc.new_file(tmp_path / name, TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert read_table(tmp_path / name).equals(TABLE)


def test_arrow_streams_and_feather_are_read(tmp_path: Path) -> None:
    with pa.ipc.new_stream(tmp_path / "t.arrow", TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert read_table(tmp_path / "t.arrow").equals(TABLE)
    pyarrow.feather.write_feather(TABLE, tmp_path / "t.feather", compression="zstd")
    assert read_table(str(tmp_path / "t.feather")).equals(TABLE)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
@pytest.mark.parametrize(
    "content", [b"garbage", b"ARROW1garbage", b"PAR1garbagePAR1", b"FEA1garbage", b"\x00" * 64]
)
def test_damaged_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert_refused(path, "cannot be read as")


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_cut_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "t.parquet":
        pq.write_table(TABLE, path)
    else:
        pyarrow.feather.write_feather(TABLE, path)
    whole = path.read_bytes()
    for size in (1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert_refused(path, "cannot be read as")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow", "t.arff", "t.csv.gz"])
def test_empty_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.touch()
    assert_refused(path, "is empty")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow", "folder/t.arff"])
def test_missing_files_are_refused(tmp_path: Path, name: str) -> None:
    assert_refused(tmp_path / name, "must exist")


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.parquet.gz", "t.csv.bak"])
def test_unknown_extensions_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("a,b\n1,2\n")
    assert_refused(path, "must end in one of .csv")


def test_the_case_of_an_extension_and_other_dots_do_not_matter(tmp_path: Path) -> None:
    for name in ("T.CSV", "data.v1.2.csv", "data.v1.2.CSV.GZ"):
        path = tmp_path / name
        data = b"a,b\n1,2\n"
        path.write_bytes(gzip.compress(data) if name.endswith("GZ") else data)
        assert read_table(path).to_pydict() == {"a": [1], "b": [2]}


def test_files_without_permission_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")

    def deny(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", deny)  # root, which tests may run as, reads anything
    assert_refused(path, "cannot be read (Permission denied)")


@pytest.mark.parametrize("options", [{"gaps": "NA"}, {"gaps": [1]}, {"as_text": "a"}])
def test_lists_of_strings_are_asked_for(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(ParameterError, match=re.escape("must be a list of strings")):
        read_table(tmp_path / "t.csv", **options)
