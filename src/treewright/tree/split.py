"""Splits: a projection, a cut, a map, and where a gap goes.

``value = x[f]`` or ``w·x``; ``bin`` = position among the breaks, or the category code;
``branch`` = the bin, or the branch listed for the code. Many splits are kept as one
structure of arrays, because a tree may have a million of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "GAP_FRACTION",
    "GAP_STOP",
    "NO_CODE",
    "SPLIT_DTYPES",
    "SplitKind",
    "Splits",
    "term_value",
]

GAP_FRACTION = -1
"""A gap goes down every branch, weighted by the branches' training weight."""
GAP_STOP = -2
"""A gap ends at this node."""
NO_CODE = -1
"""The code of a term that is the value of its feature."""


def term_value(x: float, code: int) -> float:
    """What a term of a linear test weighs, NaN at a gap."""
    return x if code == NO_CODE or x != x else float(x == code)


class SplitKind(IntEnum):
    """How a value becomes a branch."""

    LEAF = 0
    BREAKS = 1
    CODES = 2
    LINEAR = 3


SPLIT_DTYPES: dict[str, type[np.generic]] = {
    "kind": np.uint8,
    "feature": np.int32,
    "closed": np.bool_,
    "reversed": np.bool_,
    "break_offset": np.int64,
    "breaks": np.float64,
    "code_offset": np.int64,
    "codes": np.int32,
    "branches": np.int32,
    "term_offset": np.int64,
    "term_feature": np.int32,
    "term_weight": np.float64,
    "term_code": np.int32,
}
"""The dtype of every array of :class:`Splits`, in field order."""


@dataclass(frozen=True, eq=False, slots=True)
class Splits:
    """Structure of arrays over ``n`` splits (``*_offset`` arrays have ``n + 1`` entries).

    BREAKS
        One feature, continuous or ordinal (its code is the value), and ascending ``breaks``.
        The branch is the number of breaks below the value: ``x > b`` counts when ``closed``
        (the test reads ``x <= b``), ``x >= b`` when not (``x < b``). ``reversed`` swaps the
        two branches of a single break; surrogates need it.
    CODES
        One nominal feature; ``codes`` ascending, each with its branch. A code that is not
        listed was not seen here and counts as a gap.
    LINEAR
        ``sum(term_weight * x[term_feature])`` against one break; a gap in any term is a gap. A term
        of a nominal feature has a ``term_code`` and counts 1 where the feature is that category, 0
        where it is another; other terms have :data:`NO_CODE`.
    LEAF
        No test.

    Parameters
    ----------
    kind
        LEAF (0), BREAKS (1), CODES (2) or LINEAR (3).
    feature
        Column of the tested feature; −1 for a leaf and for LINEAR.
    closed, reversed
        Of each split with a break.
    break_offset, breaks
        Breaks of split ``i`` are ``breaks[break_offset[i]:break_offset[i + 1]]``.
    code_offset, codes, branches
        Listed codes, likewise, and the branch of each.
    term_offset, term_feature, term_weight, term_code
        Terms of a linear split, likewise.

    Examples
    --------
    >>> from treewright import CARTClassifier, datasets
    >>> iris = datasets.load_iris()
    >>> splits = CARTClassifier(max_depth=2).fit(iris.data, iris.target).tree_.splits
    >>> splits.feature.tolist()
    [2, -1, 3, -1, -1]
    >>> splits.node_breaks(0)
    array([2.45])
    >>> splits.kind.tolist()
    [1, 0, 1, 0, 0]
    """

    kind: NDArray[np.uint8]
    feature: NDArray[np.int32]
    closed: NDArray[np.bool_]
    reversed: NDArray[np.bool_]
    break_offset: NDArray[np.int64]
    breaks: NDArray[np.float64]
    code_offset: NDArray[np.int64]
    codes: NDArray[np.int32]
    branches: NDArray[np.int32]
    term_offset: NDArray[np.int64]
    term_feature: NDArray[np.int32]
    term_weight: NDArray[np.float64]
    term_code: NDArray[np.int32] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.term_code is None:
            codes = np.full(len(self.term_feature), NO_CODE, np.int32)
            object.__setattr__(self, "term_code", codes)
        for array in self.arrays().values():
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor, so that copies are read-only too
        return Splits, tuple(self.arrays().values())

    def __len__(self) -> int:
        return len(self.kind)

    @classmethod
    def empty(cls) -> Splits:
        """No splits at all, as of a tree without surrogates."""
        none = {name: np.zeros(0, dtype) for name, dtype in SPLIT_DTYPES.items()}
        for pool in ("break", "code", "term"):
            none[f"{pool}_offset"] = np.zeros(1, np.int64)
        return cls(**none)

    @classmethod
    def joined(cls, parts: Sequence[Splits]) -> Splits:
        """The splits of several, one after another."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in SPLIT_DTYPES
            if not name.endswith("_offset")
        }
        for pool in ("break", "code", "term"):
            lengths = [np.diff(getattr(part, f"{pool}_offset")) for part in parts]
            ends = np.cumsum(np.concatenate(lengths), dtype=np.int64)
            arrays[f"{pool}_offset"] = np.concatenate([np.zeros(1, np.int64), ends])
        return cls(**arrays)

    def node_breaks(self, i: int) -> NDArray[np.float64]:
        """Breaks of split ``i``.

        Parameters
        ----------
        i
            Number of the split.
        """
        return self.breaks[self.break_offset[i] : self.break_offset[i + 1]]

    def node_codes(self, i: int) -> NDArray[np.int32]:
        """Listed codes of split ``i``.

        Parameters
        ----------
        i
            Number of the split.

        Examples
        --------
        >>> from treewright import ID3Classifier, datasets
        >>> tennis = datasets.load_play_tennis()
        >>> splits = ID3Classifier().fit(tennis.data, tennis.target).tree_.splits
        >>> splits.node_codes(0).tolist(), splits.node_branches(0).tolist()
        ([0, 1, 2], [0, 1, 2])
        """
        return self.codes[self.code_offset[i] : self.code_offset[i + 1]]

    def node_branches(self, i: int) -> NDArray[np.int32]:
        """Branch of each listed code of split ``i``.

        Parameters
        ----------
        i
            Number of the split.
        """
        return self.branches[self.code_offset[i] : self.code_offset[i + 1]]

    def node_terms(self, i: int) -> list[tuple[int, float, int]]:
        """Feature, weight and code of each term of the linear split ``i``.

        Parameters
        ----------
        i
            Number of the split.

        Examples
        --------
        >>> from treewright import ObliqueTreeClassifier, datasets
        >>> rings = datasets.two_rings(200, random_state=0)
        >>> model = ObliqueTreeClassifier(max_depth=1, random_state=0).fit(rings.data, rings.target)
        >>> terms = model.tree_.splits.node_terms(0)
        >>> [feature for feature, weight, code in terms]
        [0, 1]
        """
        where = slice(self.term_offset[i], self.term_offset[i + 1])
        parts = (self.term_feature[where], self.term_weight[where], self.term_code[where])
        return list(zip(*(part.tolist() for part in parts), strict=True))

    def take(self, index: NDArray[np.int64], is_leaf: NDArray[np.bool_] | None = None) -> Splits:
        """The splits at ``index``; those marked in ``is_leaf`` become LEAF."""
        kind, feature = self.kind[index], self.feature[index]
        closed, reverse = self.closed[index], self.reversed[index]
        if is_leaf is not None:
            kind[is_leaf] = SplitKind.LEAF
            feature[is_leaf] = -1
            closed[is_leaf] = reverse[is_leaf] = False
        offsets = {}
        gathers = {}
        for pool in ("break", "code", "term"):
            old = getattr(self, f"{pool}_offset")
            offset = offsets[pool] = np.zeros(len(index) + 1, np.int64)
            if old[-1] == 0:  # most trees have no linear tests
                gathers[pool] = np.empty(0, np.int64)
                continue
            begin = old[index]
            length = old[index + 1] - begin
            if is_leaf is not None:
                length[is_leaf] = 0
            np.cumsum(length, out=offset[1:])
            gathers[pool] = np.repeat(begin - offset[:-1], length) + np.arange(offset[-1])
        return Splits(
            kind=kind,
            feature=feature,
            closed=closed,
            reversed=reverse,
            break_offset=offsets["break"],
            breaks=self.breaks[gathers["break"]],
            code_offset=offsets["code"],
            codes=self.codes[gathers["code"]],
            branches=self.branches[gathers["code"]],
            term_offset=offsets["term"],
            term_feature=self.term_feature[gathers["term"]],
            term_weight=self.term_weight[gathers["term"]],
            term_code=self.term_code[gathers["term"]],
        )

    def stored(self) -> dict[str, NDArray[np.generic]]:
        """The arrays as files hold them: codes of terms only where some term has one."""
        arrays = self.arrays()
        if np.all(self.term_code == NO_CODE):
            del arrays["term_code"]
        return arrays

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All arrays by field name, in field order."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
