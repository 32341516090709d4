"""Numbers in text: the same in every reader, and nothing that only Python takes for a number."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from treewright.data import read_table
from treewright.data.text_numbers import number, numbers
from treewright.errors import DataError

TAKEN = {
    "1": 1.0,
    "+3": 3.0,
    "-2.5": -2.5,
    ".5": 0.5,
    "5.": 5.0,
    "1e5": 1e5,
    "1.e-3": 1e-3,
    " 7\t": 7.0,
}
REFUSED = [
    "1_000",
    "١٢",
    "１２",
    "٣.٥",
    "0x10",
    "1e",
    "1d5",
    "--3",
    "1 000",
    "1,5",
    "",
    ".",
    "²",
    "true",
]


def test_numbers_are_read_alike_in_arrow_and_in_python() -> None:
    assert numbers(pa.array(TAKEN)).to_pylist() == list(TAKEN.values())
    assert [number(text) for text in TAKEN] == list(TAKEN.values())
    assert numbers(pa.array(REFUSED)).null_count == len(REFUSED)
    for text in REFUSED:
        with pytest.raises(ValueError, match="is no number"):
            number(text)


@pytest.mark.parametrize("text", ["1_000", "١٢", "１２", "٣.٥"])
def test_files_have_numbers_of_ascii_digits_only(tmp_path: Path, text: str) -> None:
    arff = tmp_path / "t.arff"
    arff.write_text(f"@relation r\n@attribute a numeric\n@data\n1\n{text}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 5: attribute 'a' must be numeric, but a value is"):
        read_table(arff)
    csv = tmp_path / "t.csv"
    csv.write_text(f"a,b\n{text},1\n{text},2\n", encoding="utf-8")
    assert read_table(csv).column("a").to_pylist() == [text, text]


def test_folders_are_numbers_of_ascii_digits_only(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from treewright.data.sources import open_source

    for text in ("1", "²"):
        (tmp_path / f"key={text}").mkdir()
        pq.write_table(pa.table({"a": [1.0]}), tmp_path / f"key={text}" / "part.parquet")
    (block,) = open_source(tmp_path).pieces[1].read(None, 10)
    assert block.column("key").to_pylist() == ["²"]
