"""Tables, and folders of blocks made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def mixed(n: int, seed: int = 0) -> pa.Table:
    """Numbers with gaps, whole numbers, text, and targets of all kinds."""
    draw = np.random.default_rng(seed)
    a, b = draw.normal(size=n), draw.integers(0, 12, n).astype(float)
    c = draw.choice(["red", "green", "blue", "grey"], n)
    d = draw.exponential(size=n)
    d[draw.random(n) < 0.1] = np.nan
    z = a + np.sin(3 * b) + (c == "red") + np.nan_to_num(d) / 2 + draw.normal(size=n) / 2
    return pa.table(
        {
            "a": a,
            "b": b,
            "c": c,
            "d": d,
            "two": np.where(z > 0.7, "yes", "no"),
            "three": np.digitize(z, [0, 1]),
            "number": z,
            "positive": np.abs(z) + 0.1,
        }
    )


def write_parts(table: pa.Table, folder: Path, cuts: Sequence[int], **options: Any) -> None:
    """The table as Parquet files, cut before the rows named."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, (start, stop) in enumerate(zip([0, *cuts], [*cuts, len(table)], strict=True)):
        pq.write_table(table.slice(start, stop - start), folder / f"part{i:03d}.parquet", **options)


@pytest.fixture
def saved(tmp_path):
    """The bytes of a model's file."""
    import treewright

    def bytes_of(model: Any) -> bytes:
        path = tmp_path / "model.tw"
        treewright.save(model, path)
        found = path.read_bytes()
        path.unlink()
        return found

    return bytes_of
