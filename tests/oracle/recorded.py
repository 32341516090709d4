"""Reading the shared data sets and the recorded runs of other programs.

A few of both are kept in the repository (see small/README.md), so that something is compared
everywhere.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from treewright import datasets
from treewright.data.encode import encode

SMALL = Path(__file__).resolve().parent / "small"


@dataclass(frozen=True, eq=False)
class Recorded:
    """A data set and what a program answered on it.

    Index k of every recorded array is row k of ``X``; ``hints`` are keyword arguments that
    tell an estimator the kinds of the columns, ``classes`` the order that the program had.
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray
    fold: np.ndarray
    runs: Mapping[str, Any]
    hints: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] = ()

    @property
    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and held-out rows of each recorded fold."""
        return [
            (np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k))
            for k in np.unique(self.fold)
        ]


def load_recorded(shared: Path, program: str, dataset: str) -> Recorded:
    """A shared data set with the runs of a program that did not fail."""
    X, y, fold = load_data(shared, dataset)
    recorded = load_runs(shared, program, dataset)
    runs = {k: v for k, v in recorded["runs"].items() if "error" not in v}
    return Recorded(dataset, X, y, fold, runs, classes=tuple(recorded.get("classes") or ()))


def load_small(program: str, dataset: str) -> Recorded:
    """A bundled data set with its runs in this repository."""
    bundled = getattr(datasets, f"load_{dataset}")()
    runs = load_runs(SMALL, program, dataset)
    y = bundled.target if bundled.target.dtype == float else bundled.target.astype(str)
    fold = np.array(runs["fold"])
    X = bundled.data.to_pandas()
    classes = tuple(runs.get("classes") or np.unique(y).tolist())
    return Recorded(dataset, X, y, fold, runs["runs"], bundled.schema_hints, classes)


def recorded_datasets(shared: Path, program: str) -> list[str]:
    """Names of the data sets with runs of a program."""
    folder = shared / "oracle" / program
    return sorted(path.name.removesuffix(".json.gz") for path in folder.glob("*.json.gz"))


@lru_cache(maxsize=4)
def load_runs(shared: Path, program: str, dataset: str) -> dict:
    """The recorded file of a program on a data set."""
    with gzip.open(shared / "oracle" / program / f"{dataset}.json.gz", "rt") as stream:
        return json.load(stream)


@lru_cache(maxsize=4)
def load_data(shared: Path, dataset: str):
    """Predictors (a frame with declared categories), target and fold of the rows used."""
    schema = json.loads((shared / "data" / f"{dataset}.schema.json").read_text())
    path = shared / "data" / schema["file"]
    path = path if path.exists() else path.with_name(f"{path.name}.gz")
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    header, body = rows[0], np.array(rows[1:], dtype=object)
    folds = np.loadtxt(
        shared / "data" / "folds" / f"{dataset}.csv", delimiter=",", skiprows=1, dtype=int, ndmin=2
    )
    fold = np.full(len(body), -1)
    fold[folds[:, 0]] = folds[:, 1]
    used = fold >= 0
    frame, target = {}, None
    for column in schema["columns"]:
        values = body[used, header.index(column["name"])]
        if column["role"] == "target":
            target = values if schema["task"] == "classification" else values.astype(float)
        elif column["role"] == "predictor":
            frame[column["name"]] = _as_column(values, column)
    return pd.DataFrame(frame), target, fold[used]


def _as_column(values, column):
    values = np.where(values == "?", None, values)
    if column["type"] == "continuous":
        return values.astype(float)
    return pd.Categorical(values, categories=column["values"], ordered=column["type"] == "ordinal")


@lru_cache(maxsize=4)
def load_table(shared: Path, dataset: str):
    """The predictors as a Table."""
    return encode(load_data(shared, dataset)[0])
