"""What CatBoost's tests ask of a row, as a table of answers.

A test is a cut, a category, or a statistic of a category or of a combination of categories and
cuts. A finished model looks statistics up by what the combination is, so that each is a fixed
number and a test on it a function of few things: which side of some cuts a row is on, and its
categories. A :class:`Question` holds the answer for every case, with categories that nobody knows
as one more.

Reference: Prokhorenkova et al. (2018), *CatBoost: unbiased boosting with categorical features*.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError
from treewright.exporting._foreign import Room

__all__ = ["Category", "Cut", "Hashes", "Known", "Question", "Questions", "mixed", "widened"]

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
MIX = np.uint64(0x4906BA494954CB65)
NOBODY = np.uint64(2**64 - 1)
"""The hash of an empty place of a table."""
MOST_CASES = 4_000_000
CASE = 64
"""Bytes that a case of a statistic takes."""


@dataclass(frozen=True)
class Cut:
    """Whether a number is above a border; ``gap`` is the answer of a gap."""

    feature: int
    border: float
    gap: int

    n_cases = 2


@dataclass(frozen=True)
class Category:
    """Which of the categories of a feature a row has, the last case being none of them."""

    feature: int
    n_cases: int


@dataclass(frozen=True, eq=False)
class Question:
    """Answers for all cases of its variables, and how many training rows each case had."""

    variables: tuple[Cut | Category, ...]
    answers: Bits
    rows: Floats


@dataclass(frozen=True)
class Known:
    """What the tests above a node say of the rows that come to it."""

    between: dict[int, tuple[float, float]] = field(default_factory=dict)
    among: dict[int, NDArray[np.intp]] = field(default_factory=dict)

    def cases(self, variable: Cut | Category) -> NDArray[np.intp]:
        """The cases of a variable that are still open."""
        if isinstance(variable, Category):
            return self.among.get(variable.feature, np.arange(variable.n_cases))
        low, high = self.between.get(variable.feature, (-math.inf, math.inf))
        return np.array([0] * (low < variable.border) + [1] * (variable.border < high))

    def within(self, variable: Cut | Category, cases: NDArray[np.intp]) -> Known:
        """The same for rows that have one of ``cases``."""
        if isinstance(variable, Category):
            return Known(self.between, self.among | {variable.feature: cases})
        low, high = self.between.get(variable.feature, (-math.inf, math.inf))
        side = (low, variable.border) if cases[0] == 0 else (variable.border, high)
        return Known(self.between | {variable.feature: side}, self.among)


@dataclass(frozen=True, eq=False)
class Questions:
    """The tests of a model; ``hashes`` are those of the categories of each nominal feature."""

    data: Any
    hashes: dict[int, Hashes]
    room: Room

    def ask(self, split: Any) -> Question:
        """The question of a test as the file has it."""
        kind = split["split_type"]
        if kind == "FloatFeature":
            cut = self._cut(split["float_feature_index"], split["border"])
            return Question((cut,), np.array([False, True]), np.ones(2))
        if kind == "OneHotFeature":
            place = split["cat_feature_index"]
            return self._whole((self._category(place),), self._is_value(place, split["value"]))
        if kind == "OnlineCtr":
            return self._statistic(split)
        raise ParameterError(
            f"from_catboost reads tests of numbers and categories, got {kind!r}; train without "
            "texts and embeddings."
        )

    @staticmethod
    def _whole(variables: tuple[Cut | Category, ...], answers: Bits) -> Question:
        return Question(variables, answers, np.ones(answers.shape))

    def _cut(self, place: int, border: float) -> Cut:
        about = self._floats[place]
        gap = int(about.get("nan_value_treatment") == "AsTrue")
        return Cut(int(about["flat_feature_index"]), float(np.float32(border)), gap)

    def _category(self, place: int) -> Category:
        return Category(self._nominal[place], len(self.hashes[place]) + 1)

    def _is_value(self, place: int, value: int) -> Bits:
        return np.append(self.hashes[place] == widened(np.array([value]))[0], False)

    @cached_property
    def _floats(self) -> dict[int, Any]:
        return {f["feature_index"]: f for f in self.data["features_info"].get("float_features", [])}

    @cached_property
    def _nominal(self) -> dict[int, int]:
        found = self.data["features_info"].get("categorical_features", [])
        return {f["feature_index"]: int(f["flat_feature_index"]) for f in found}

    # Statistics

    @cached_property
    def _tables(self) -> dict[str, _Table]:
        """Tables of statistics by what they are about, which is JSON with borders as numbers."""
        return {
            _about(text): _Table.read(text, held, self.room)
            for text, held in self.data["ctr_data"].items()
        }

    @cached_property
    def _borders(self) -> list[tuple[Any, float]]:
        """The statistic and the border of each number of a split, beyond cuts and categories."""
        info = self.data["features_info"]
        return [(ctr, border) for ctr in info.get("ctrs", []) for border in ctr["borders"]]

    @cached_property
    def _n_before(self) -> int:
        """How many numbers of splits there are before those of statistics."""
        info = self.data["features_info"]
        nominal = info.get("categorical_features", [])
        listed = (*[f["borders"] or [] for f in info.get("float_features", [])],
                  *[f.get("values", []) for f in nominal])  # fmt: skip
        return sum(map(len, listed))

    def _statistic(self, split: Any) -> Question:
        about, border = self._borders[split["split_index"] - self._n_before]
        if not math.isclose(border, split["border"], rel_tol=1e-6, abs_tol=1e-6):
            raise ValueError(f"split {split['split_index']} is not that of its border")
        table = self._tables[_about(about["identifier"])]
        variables, places = self._places(table)
        value = table.values(about)
        return Question(variables, (value > np.float32(border))[places], table.rows[places])

    def _places(self, table: _Table) -> tuple[tuple[Cut | Category, ...], NDArray[np.intp]]:
        """The variables of a statistic, and for every case its place in the table."""
        if table.cases is not None:
            return table.cases
        variables: list[Cut | Category] = []
        for element in table.elements:
            if (variable := self._variable(element)) not in variables:
                variables.append(variable)
        n_cases = math.prod(variable.n_cases for variable in variables)
        if n_cases > MOST_CASES:
            raise ParameterError(
                f"from_catboost reads statistics of up to {MOST_CASES} combinations of categories, "
                f"got {n_cases}; train with max_ctr_complexity=1, or with fewer categories."
            )
        self.room.take(n_cases, CASE, "combinations of categories")
        key = np.zeros([1] * len(variables), np.uint64)
        is_known = np.ones([1] * len(variables), bool)
        for element in table.elements:
            along = variables.index(self._variable(element))
            shape = [-1 if k == along else 1 for k in range(len(variables))]
            part, known = self._parts(element)
            key = mixed(key, part.reshape(shape))
            is_known = is_known & known.reshape(shape)
        table.cases = tuple(variables), np.where(is_known, table.places(key), len(table.keys))
        return table.cases

    def _variable(self, element: Any) -> Cut | Category:
        if element["combination_element"] == "float_feature":
            return self._cut(element["float_feature_index"], element["border"])
        return self._category(element["cat_feature_index"])

    def _parts(self, element: Any) -> tuple[Hashes, Bits]:
        """What each case of a variable adds to the hash, and whether it is known at all."""
        kind = element["combination_element"]
        if kind == "float_feature":
            return np.array([0, 1], np.uint64), np.ones(2, bool)
        place = element["cat_feature_index"]
        if kind == "cat_feature_exact_value":
            found = self._is_value(place, element["value"])
            return found.astype(np.uint64), np.ones(len(found), bool)
        if kind != "cat_feature_value":
            raise ValueError(f"statistics are made of {kind!r}")
        known = np.append(np.ones(len(self.hashes[place]), bool), False)
        return np.append(self.hashes[place], np.uint64(0)), known


def _about(identifier: str) -> str:
    return json.dumps(json.loads(identifier), sort_keys=True)


def mixed(before: Hashes, part: Hashes) -> Hashes:
    """The hash of a combination with one part more."""
    with np.errstate(over="ignore"):
        return MIX * (before + MIX * part)


def widened(hashes: NDArray[Any]) -> Hashes:
    """Hashes of categories, 32 bits with a sign, as they enter those of combinations."""
    return hashes.astype(np.uint32).astype(np.int32).astype(np.int64).astype(np.uint64)


@dataclass(eq=False)
class _Table:
    """Statistics by the hash of a combination; one more row is for those that it lacks."""

    kind: str
    elements: list[Any]
    keys: Hashes  # ascending
    held: Floats  # in this order, a row for each, and one of zeros
    denominator: int
    cases: tuple[tuple[Cut | Category, ...], NDArray[np.intp]] | None = None

    @classmethod
    def read(cls, text: str, data: Any, room: Room) -> _Table:
        stride = room.take(int(data["hash_stride"]), CASE, "numbers in a row of statistics")
        cells = np.array(data["hash_map"], object).reshape(-1, stride)
        keys = np.array([int(key) for key in cells[:, 0]], np.uint64)
        held = cells[:, 1:].astype(np.float64)
        order = np.argsort(keys, kind="stable")
        order = order[keys[order] != NOBODY]
        rows = np.vstack([held[order], np.zeros(stride - 1)])
        about = json.loads(text)
        kind, elements = about["type"], about["identifier"]
        return cls(kind, elements, keys[order], rows, int(data["counter_denominator"]))

    def places(self, key: Hashes) -> NDArray[np.intp]:
        """The row of each key, the last where there is none."""
        at = np.searchsorted(self.keys, key)
        inside = np.minimum(at, len(self.keys) - 1)
        is_there = self.keys[inside] == key if len(self.keys) else np.zeros(key.shape, bool)
        return np.where(is_there, inside, len(self.keys))

    @cached_property
    def rows(self) -> Floats:
        """How many training rows each combination had."""
        is_mean = self.kind.endswith("MeanValue")
        return np.asarray(self.held[:, 1] if is_mean else self.held.sum(axis=1))

    def values(self, about: Any) -> NDArray[np.float32]:
        """The statistic of each combination, in the single precision of CatBoost."""
        total, border = self.rows, about["target_border_idx"]
        if self.kind == "Borders":
            part = self.held[:, border + 1 :].sum(axis=1)
        elif self.kind == "Buckets":
            part = self.held[:, border]
        elif self.kind.endswith("MeanValue"):
            part = self.held[:, 0]
        elif self.kind in ("Counter", "FeatureFreq"):
            part, total = self.held[:, 0], np.full(len(self.held), float(self.denominator))
        else:
            raise ValueError(f"there are statistics of the kind {self.kind!r}")
        single = np.float32
        above = single(about["prior_numerator"]), single(about["prior_denomerator"])
        share = (part.astype(single) + above[0]) / (total.astype(single) + above[1])
        return np.asarray((share + single(about["shift"])) * single(about["scale"]))
