"""The columns of which a node's linear tests are made.

A continuous feature is a column as it came. A nominal one becomes numbers per category: an
indicator of each category, or one column by the target's means (for several classes or outputs
along the direction in which they differ most, after Coppersmith, Hong and Hosking 1999). Either
way the node's most frequent category counts 0, and so does a category that the node has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.tree.split import NO_CODE

__all__ = ["Part", "nominal_parts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

DIGITS = 6
FAINT = 1e-9
"""Values below this share of the largest are rounding."""


@dataclass(frozen=True, eq=False)
class Part:
    """A column of the design, gaps as NaN: a feature, or the values of its categories."""

    feature: int
    column: Floats
    row_codes: Ints | None = None  # the category of each row
    codes: tuple[int, ...] = (NO_CODE,)
    values: tuple[float, ...] = (1.0,)  # of the codes; of other categories 0

    def weighed(self, coefficient: float) -> tuple[list[tuple[int, float, int]], Floats]:
        """The terms times a coefficient, rounded, and what they add for each row."""
        rounded = [float(f"{coefficient * value:.{DIGITS}g}") for value in self.values]
        terms = [
            (self.feature, weight, code)
            for weight, code in zip(rounded, self.codes, strict=True)
            if weight != 0
        ]
        if self.row_codes is None:
            return terms, rounded[0] * self.column
        table = np.zeros(max(self.row_codes.max(initial=0), *self.codes) + 1)
        table[list(self.codes)] = rounded
        return terms, np.where(np.isnan(self.column), np.nan, table[self.row_codes])


def nominal_parts(
    feature: int, row_codes: Ints, targets: Floats, weight: Floats, coding: str
) -> list[Part]:
    """The columns of a nominal feature at a node."""
    is_known = row_codes >= 0
    codes, place = np.unique(row_codes[is_known], return_inverse=True)
    if len(codes) < 2:
        return []
    share = np.bincount(place, weight[is_known]).astype(np.float64)
    usual = int(share.argmax())
    if coding == "indicators":
        tables = np.delete(np.eye(len(codes)), usual, axis=0)
    else:
        known = weight[is_known, None] * targets[is_known]
        sums = np.array([np.bincount(place, column) for column in known.T]).T
        value = _along_target(sums / np.where(share > 0, share, 1.0)[:, None], share)
        value -= value[usual]
        value /= max(np.abs(value).max(), np.finfo(np.float64).tiny)
        tables = np.where(np.abs(value) < FAINT, 0.0, value)[None, :]
    parts = []
    for table in tables:
        listed = np.flatnonzero(table)
        if not len(listed):
            continue
        column = np.full(len(row_codes), np.nan)
        column[is_known] = table[place]
        own, values = tuple(codes[listed].tolist()), tuple(table[listed].tolist())
        parts.append(Part(feature, column, row_codes, own, values))
    return parts


def _along_target(means: Floats, share: Floats) -> Floats:
    """The means of categories along the direction in which they differ most."""
    if means.shape[1] == 1:
        return means[:, 0].copy()
    centred = means - np.average(means, axis=0, weights=share)
    axis = np.linalg.eigh((centred * share[:, None]).T @ centred)[1][:, -1]
    axis *= np.sign(axis[np.abs(axis).argmax()])
    return np.asarray(centred @ axis)
