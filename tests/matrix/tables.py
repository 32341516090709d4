"""Strange tables, described by a few words: kinds of columns, a target, weights and a container.

A description is plain data, so that a case can be sent to a child process, made smaller and
printed; :func:`build` makes the table of it, always the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests import hostile

Column = Callable[[np.random.Generator, int], Any]


def _with_gaps(values: Any, random: np.random.Generator, share: float = 0.2) -> Any:
    found = np.asarray(values, float).copy()
    found[random.random(len(found)) < share] = np.nan
    return found


def _known_or_gap(value: Any, random: np.random.Generator, n: int) -> list[Any]:
    return [value if known else None for known in random.random(n) < 0.5]


def _ordered(codes: Any, n_levels: int) -> Any:
    levels = [f"level {i}" for i in range(n_levels)]
    return pd.Categorical.from_codes(np.asarray(codes, int), levels, ordered=True)


def _texts(random: np.random.Generator, n: int) -> list[Any]:
    names = [name for name in hostile.HOSTILE if hostile.can_be_encoded(name)]
    few = [names[i] for i in random.choice(len(names), 4, replace=False)]
    return [few[i] for i in random.integers(0, len(few), n)]


def _days(random: np.random.Generator, n: int) -> Any:
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(random.integers(0, 900, n), "D")
    return pd.Series(days).where(random.random(n) > 0.1)


COLUMNS: dict[str, Column] = {
    "numbers": lambda random, n: random.normal(size=n),
    "numbers and gaps": lambda random, n: _with_gaps(random.normal(size=n), random),
    "mostly gaps": lambda random, n: _with_gaps(random.normal(size=n), random, 0.9),
    "one number or a gap": lambda random, n: _with_gaps(np.ones(n), random, 0.5),
    "all gaps": lambda random, n: np.full(n, np.nan),
    "all None": lambda random, n: pd.Series([None] * n, dtype=object),
    "constant": lambda random, n: np.full(n, 3.5),
    "two values": lambda random, n: random.choice([-1.5, 2.25], n),
    "bits": lambda random, n: random.integers(0, 2, n),
    "integers": lambda random, n: random.integers(-5, 6, n),
    "bytes": lambda random, n: random.integers(0, 255, n).astype(np.uint8),
    "single precision": lambda random, n: random.normal(size=n).astype(np.float32),
    "booleans": lambda random, n: random.random(n) < 0.4,
    "booleans and gaps": lambda random, n: pd.Series(
        random.choice(np.array([True, False, None], object), n), dtype=object
    ),
    "days": _days,
    "one day or a gap": lambda random, n: pd.Series(
        _known_or_gap(pd.Timestamp("2021-05-04"), random, n), dtype="datetime64[ns]"
    ),
    "ordered": lambda random, n: _ordered(random.integers(0, 4, n), 4),
    "ordered and gaps": lambda random, n: _ordered(random.integers(-1, 5, n), 5),
    "ordered, one used": lambda random, n: _ordered(random.integers(-1, 1, n), 3),
    "categories": lambda random, n: random.choice(np.array(["red", "green", "blue"], object), n),
    "categories and gaps": lambda random, n: pd.Series(
        random.choice(np.array(["red", "green", "blue", None], object), n), dtype=object
    ),
    "one category or a gap": lambda random, n: pd.Series(
        _known_or_gap("only", random, n), dtype=object
    ),
    "many categories": lambda random, n: np.array([f"c{i}" for i in random.integers(0, 1000, n)]),
    "identifiers": lambda random, n: np.array([f"id {i}" for i in random.permutation(n)], object),
    "odd texts": lambda random, n: pd.Series(_texts(random, n), dtype=object),
    "huge": lambda random, n: random.normal(size=n) * 1e300,
    "tiny": lambda random, n: random.normal(size=n) * 1e-300,
    "many scales": lambda random, n: (
        random.choice([-1.0, 1.0], n) * 10.0 ** random.integers(-300, 300, n)
    ),
    "neighbours": lambda random, n: 1.0 + random.integers(0, 4, n) * np.finfo(float).eps,
    "beyond 2^53": lambda random, n: 2**53 + random.integers(0, 9, n),
    "zeros of both signs": lambda random, n: random.choice([0.0, -0.0, 1.0], n),
}
"""Kinds of columns; each is a function of random numbers and the number of rows."""

NUMERIC = [
    name
    for name in COLUMNS
    if np.asarray(COLUMNS[name](np.random.default_rng(0), 4)).dtype.kind in "fiu"
]
"""Those that a matrix holds."""

CLASSES: dict[str, Any] = {
    "two": ["no", "yes"],
    "three": ["low", "middle", "high"],
    "integers": [7, 8],
    "booleans": [False, True],
    "many": [f"class {i}" for i in range(12)],
    "hostile": ["=1+1", "<b>\"&'</b>", "nul\x00", "élan 漢"],
    "one": ["only"],
}
NUMBERS = ("number", "integer", "constant", "positive", "counts", "large", "small", "two outputs")
WEIGHTS = ("none", "counts", "zeros", "orders", "alike", "large", "tiny")
CONTAINERS = ("pandas", "polars", "arrow", "dict", "numpy", "lists", "sparse")
MATRICES = ("numpy", "lists", "sparse")
SIZES = (1, 2, 3, 5, 10, 20, 40, 80, 200)


@dataclass(frozen=True)
class Description:
    """A table in words; ``rows`` keeps some of the rows that are drawn, ``seed`` draws them."""

    seed: int
    n: int
    columns: tuple[tuple[str, str], ...]  # name of a column, its kind
    target: str
    weights: str = "none"
    container: str = "pandas"
    rows: tuple[int, ...] | None = None

    @property
    def is_classes(self) -> bool:
        return self.target in CLASSES or self.target == "rare"

    def keep(self, rows: list[int]) -> Description:
        return replace(self, rows=tuple(rows))


@dataclass
class Data:
    """A table that was built; ``X`` is in its container, ``frame`` the same as pandas."""

    frame: pd.DataFrame
    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    new: pd.DataFrame = field(repr=False)  # rows to ask: known ones, gaps, values never seen


def draw(random: np.random.Generator, is_classes: bool) -> Description:
    """A description; most tables are small, because most of what breaks is."""
    container = str(random.choice(CONTAINERS, p=[0.4, 0.1, 0.1, 0.1, 0.15, 0.05, 0.1]))
    kinds = NUMERIC if container in MATRICES else list(COLUMNS)
    n_columns = int(random.choice([1, 1, 2, 2, 3, 4, 6]))
    columns = [(f"x{i}", str(random.choice(kinds))) for i in range(n_columns)]
    if random.random() < 0.1:
        columns.append(("again", columns[0][1]))  # a copy, see build
    targets = [*CLASSES, "rare"] if is_classes else list(NUMBERS)
    n = int(random.choice(SIZES))
    if random.random() < 0.01:
        n = int(random.choice([2_000, 20_000, 100_000], p=[0.8, 0.15, 0.05]))
    return Description(
        seed=int(random.integers(2**31)),
        n=n,
        columns=tuple(columns),
        target=str(random.choice(targets)),
        weights=str(random.choice(WEIGHTS)) if random.random() < 0.35 else "none",
        container=container,
    )


def build(described: Description) -> Data:
    """The table of a description."""
    random = np.random.default_rng(described.seed)
    n = described.n
    columns = {name: _column(described, name, kind) for name, kind in described.columns}
    if "again" in columns:
        columns["again"] = columns[described.columns[0][0]]
    frame = pd.DataFrame(columns)
    y = _target(described.target, _signal(frame, random), random)
    weight = _weight(described.weights, random, n)
    if described.rows is not None:
        rows = list(described.rows)
        frame, y = frame.iloc[rows].reset_index(drop=True), y[rows]
        weight = None if weight is None else weight[rows]
    X = contained(frame, described.container)
    return Data(frame, X, y, weight, _rows_to_ask(frame))


def _column(described: Description, name: str, kind: str) -> Any:
    # Each column has random numbers of its own, so that one that is dropped changes no other.
    place = sum(map(ord, name))
    return COLUMNS[kind](np.random.default_rng([described.seed, place]), described.n)


def _signal(frame: pd.DataFrame, random: np.random.Generator) -> np.ndarray:
    """Ranks of the first two columns, gaps in the middle, and noise: something can be learned."""
    total = random.normal(size=len(frame)) * 0.3
    for name in frame.columns[:2]:
        codes, _ = pd.factorize(frame[name], sort=frame[name].dtype != object)
        total = total + np.where(codes < 0, 0.5, codes / max(codes.max(initial=0), 1))
    return np.asarray(total)


def _target(kind: str, signal: np.ndarray, random: np.random.Generator) -> np.ndarray:
    n = len(signal)
    if kind == "rare":
        return np.array(["common"] * (n - 1) + ["rare"], object)[random.permutation(n)]
    if kind in CLASSES:
        labels = CLASSES[kind]
        place = np.argsort(np.argsort(signal)) * len(labels) // n
        is_plain = isinstance(labels[0], bool | int)
        return np.array(labels, None if is_plain else object)[place]
    numbers: dict[str, Callable[[], Any]] = {
        "number": lambda: signal,
        "integer": lambda: np.round(signal * 5).astype(int),
        "constant": lambda: np.full(n, 2.5),
        "positive": lambda: np.exp(signal),
        "counts": lambda: random.poisson(np.exp(np.clip(signal, -3, 3))),
        "large": lambda: signal * 1e100,
        "small": lambda: signal * 1e-200,
        "two outputs": lambda: np.column_stack([signal, -2 * signal + random.normal(size=n)]),
    }
    return np.asarray(numbers[kind]())


def _weight(kind: str, random: np.random.Generator, n: int) -> np.ndarray | None:
    weights: dict[str, Callable[[], Any]] = {
        "none": lambda: None,
        "counts": lambda: random.integers(1, 4, n).astype(float),
        "zeros": lambda: random.integers(0, 3, n).astype(float),
        "orders": lambda: 10.0 ** random.uniform(-6, 6, n),
        "alike": lambda: np.full(n, 7.0),
        "large": lambda: random.integers(1, 4, n) * 1e10,
        "tiny": lambda: random.integers(1, 4, n) * 1e-30,
    }
    return weights[kind]()  # type: ignore[no-any-return]


def contained(frame: pd.DataFrame, container: str) -> Any:
    """The table as numpy, polars, Arrow, dict … hold it."""
    if container == "pandas":
        return frame
    if container == "dict":
        # An array of objects would forget the order of categories.
        return {
            name: column.array if column.dtype == "category" else column.to_numpy()
            for name, column in frame.items()
        }
    if container == "numpy":
        return frame.to_numpy(float)
    if container == "lists":
        return frame.to_numpy(float).tolist()
    if container == "sparse":
        from scipy.sparse import csr_matrix

        return csr_matrix(frame.to_numpy(float))
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    if container == "arrow":
        return table
    import polars as pl

    found = pl.from_arrow(table)
    for name in frame.columns:  # polars keeps the order of an Enum alone
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            levels = pl.Enum(list(frame[name].dtype.categories))
            found = found.with_columns(found[name].cast(pl.String).cast(levels))
    return found


def _rows_to_ask(frame: pd.DataFrame) -> pd.DataFrame:
    """At most twelve rows of training, then each with one column a gap, then one of gaps alone."""
    known = frame.iloc[: min(len(frame), 12)]
    parts = [known]
    for name in frame.columns:
        if frame[name].dtype.kind in "fOM" or isinstance(frame[name].dtype, pd.CategoricalDtype):
            gap = known.iloc[:2].copy()
            gap[name] = pd.Series([None] * len(gap), dtype=frame[name].dtype, index=gap.index)
            parts.append(gap)
    return pd.concat(parts, ignore_index=True).astype(frame.dtypes.to_dict())


def write_parquet(frame: pd.DataFrame, y: np.ndarray, folder: Path) -> Path:
    """The table and its target in two files of a folder, for fits that read blocks."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = frame.assign(target=y)
    half = (len(whole) + 1) // 2
    for place, part in enumerate((whole.iloc[:half], whole.iloc[half:])):
        if len(part):
            part.to_parquet(folder / f"part{place}.parquet", index=False)
    return folder
