"""Files with wrong bytes: a sound table or one sentence; the process lives on.

A process of its own reads many copies of small files, each with a few bytes changed.
"""

from __future__ import annotations

import bz2
import datetime
import gzip
import lzma
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from treewright.data import read_table
from treewright.data.sources import open_source
from treewright.errors import DataError

COPIES = 100
ROWS = 12
TABLE = pa.table(
    {
        "number": [None if i == 3 else i * 1.5 for i in range(ROWS)],
        "whole": pa.array(range(ROWS), pa.int64()),
        "text": [None if i == 5 else "wörd" * (i % 3) for i in range(ROWS)],
        "long": pa.array([f"x{i}" for i in range(ROWS)], pa.large_string()),
        "kind": pa.array(["a", "bb", "c"] * 4).dictionary_encode(),
        "flag": [i % 2 == 0 for i in range(ROWS)],
        "time": [datetime.datetime(2020, 1, 1 + i) for i in range(ROWS)],
        "day": [datetime.date(2020, 1, 1 + i) for i in range(ROWS)],
    }
)
CSV = "name;size;when;share;flag\n" + "".join(
    f'"n {i}";{i},5;0{i}.02.2024;{i} %;true\n' for i in range(1, 9)
)
ARFF = """@relation 'a b'
@attribute 'two words' numeric
@attribute colour {red, 'dark blue', "x"}
@attribute when date 'yyyy-MM-dd HH:mm'
@attribute note string
@data
1.5, red, '2024-01-02 10:30', "a, b"
?, 'dark blue', ?, plain
-2e3,x,"2024-01-02 10:30",'it\\'s'
"""


def write_batches(path: Path) -> None:
    with pa.ipc.new_file(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=5)


def write_stream(path: Path) -> None:
    with pa.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


FORMATS: dict[str, Callable[[Path], object]] = {
    "batches.arrow": write_batches,
    "stream.arrow": write_stream,
    "packed.feather": lambda path: pyarrow.feather.write_feather(TABLE, path, compression="lz4"),
    "usual.parquet": lambda path: pq.write_table(TABLE, path),
    "plain.parquet": lambda path: pq.write_table(
        TABLE, path, use_dictionary=False, compression="none"
    ),
    "table.csv": lambda path: path.write_text(CSV),
    "table.csv.gz": lambda path: path.write_bytes(gzip.compress(CSV.encode())),
    "table.tsv.bz2": lambda path: path.write_bytes(bz2.compress(CSV.encode())),
    "table.arff": lambda path: path.write_text(ARFF),
}


def mutated(data: bytes, random_: random.Random) -> bytes:
    """The bytes with a few of them changed."""
    changed = bytearray(data)
    for _ in range(random_.choice((1, 1, 1, 2, 4))):
        at = random_.randrange(len(changed))
        one_bit = changed[at] ^ (1 << random_.randrange(8))
        changed[at] = random_.choice((one_bit, 0, 127, 128, 255, random_.randrange(256)))
    return bytes(changed)


def read_apart(folder: Path) -> dict[str, str]:
    """What went wrong with each file of the folder, read in a process of its own."""
    child = subprocess.run(
        [sys.executable, "-m", "tests.data.read_copies", str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    lines = [line.partition(" ") for line in child.stdout.splitlines()]
    found = {name: fault for name, _, fault in lines}
    assert child.returncode == 0, f"ended after {list(found)[-1:]}: {child.stderr[-2000:]}"
    assert len(found) == len(list(folder.iterdir()))
    return {name: fault for name, fault in found.items() if fault}


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_gives_a_sound_table_or_one_sentence(tmp_path: Path, name: str) -> None:
    random_ = random.Random(name)
    path = tmp_path / name
    FORMATS[name](path)
    whole = path.read_bytes()
    copies = tmp_path / "copies"
    copies.mkdir()
    (copies / name).write_bytes(whole)
    for k in range(COPIES):
        (copies / f"{k}{name}").write_bytes(mutated(whole, random_))
    assert read_apart(copies) == {}


def test_an_offset_outside_of_its_buffer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    words = ["one", "three", "eleven"]
    with pa.ipc.new_file(path, pa.schema({"word": pa.string()})) as writer:
        writer.write_table(pa.table({"word": words}))
    data = path.read_bytes()
    end = len("onethree").to_bytes(4, "little")
    assert data.count(end + len("onethreeeleven").to_bytes(4, "little")) == 1
    path.write_bytes(data.replace(end + b"\x0e\0\0\0", b"\xff\xff\xff\x7f\x0e\0\0\0"))
    with pytest.raises(DataError, match=r"^t\.arrow: cannot be read as Arrow \(Column 0"):
        read_table(path)
    with pytest.raises(DataError, match=r"^t\.arrow: cannot be read as Arrow \("):
        list(open_source(path).pieces[0].read(None, 10))


def test_the_first_format_of_feather_is_refused(tmp_path: Path) -> None:
    # Arrow reads it unchecked: one wrong byte ends the process
    (tmp_path / "t.feather").write_bytes(b"FEA1" + bytes(100) + b"FEA1")
    with pytest.raises(DataError, match="first format of Feather"):
        read_table(tmp_path / "t.feather")


def test_a_block_names_the_line_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n5,6,7\n")
    with pytest.raises(DataError, match=r"^t\.csv, line 4: every row must have 2 values"):
        open_source(tmp_path / "t.csv")


def test_blocks_of_a_header_alone_are_refused(tmp_path: Path) -> None:
    for text in ("a,b\n", "a,b", '"a,b\n1,2\n'):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(DataError, match=r"^t\.csv: there must be rows below the header"):
            open_source(tmp_path / "t.csv")


def test_blocks_whose_columns_share_a_name_are_refused(tmp_path: Path) -> None:
    table = pa.table([[1], [2]], names=["a", "a"])
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match="Column names must be unique, but 'a'"):
        open_source(tmp_path / "t.parquet")


def test_blocks_of_another_encoding_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("a,b\n1,grün\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"must be UTF-8, but byte 0xfc is not"):
        open_source(tmp_path / "t.csv")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip"])
def test_a_packed_file_that_grows_too_much_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"t.csv.{kind}"
    data = b"a,b\n" + b"1,2\n" * 600_000

    def write(data: bytes) -> None:
        if kind == "zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("t.csv", data)
        else:
            packer: Any = {"gz": gzip, "bz2": bz2, "xz": lzma}[kind]
            path.write_bytes(packer.compress(data))

    write(data)
    assert read_table(path).num_rows == 600_000
    monkeypatch.setattr("treewright.data.textfile.LARGEST", 1 << 20)
    with pytest.raises(DataError, match=r"but it holds more; unpack it and read the file"):
        read_table(path)
    write(b"a,b\n" + random.Random(0).randbytes(1 << 20).hex().encode() + b",2\n")
    assert read_table(path).num_rows == 1  # large, but not packed tightly
