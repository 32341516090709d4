"""Merging of categories behind its checks; see ``core/chaid/merge.cpp``.

The core asks scipy for p-values: the addresses of its compiled tail functions are passed along.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.kernels import _core

__all__ = ["MEASURES", "Merged", "merge_tables"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MEASURES = ("pearson", "likelihood", "row_effects", "f")
"""The measures; a position here is the number that the core knows."""


@dataclass(frozen=True, eq=False, slots=True)
class Merged:
    """Groups of all features.

    Parameters
    ----------
    label
        Group of each row of the stacked tables, −1 for a category without weight.
    n_groups
        Groups of each feature.
    tested
        Per feature: statistic, degrees of freedom, degrees of freedom of the error.
    path
        The same on the way: row ``offset[f] + k − 1`` when feature f had k groups. Only where
        ``keep_path`` asks for it.
    """

    label: NDArray[np.int32]
    n_groups: NDArray[np.int32]
    tested: Floats
    path: Floats


def merge_tables(
    tables: Floats,
    offset: Ints,
    ordered: NDArray[np.uint8],
    measure: str,
    *,
    scores: tuple[float, ...] = (),
    alpha_merge: float = 0.05,
    alpha_resplit: float | None = None,
    least: float = 0.0,
    stop_at: NDArray[np.int32] | None = None,
    keep_path: bool = False,
    n_threads: int = 1,
) -> Merged:
    """Merge the categories of every feature into groups that differ.

    Parameters
    ----------
    tables, offset
        Stacked tables; those of feature f are rows ``offset[f]:offset[f + 1]``, the gap last.
    ordered
        Whether only neighbours may merge, and the gap with any.
    measure, scores
        One of :data:`MEASURES`, and the scores of the classes for row effects.
    alpha_merge, alpha_resplit
        Pairs merge while their p-value is above the first (below 0: always); merged groups
        are divided where it is at most the second.
    least
        Weight that every group needs.
    stop_at
        Number of groups per feature at which merging ends; 2 unless given.
    keep_path
        Whether to test the groups at every step.
    """
    n = len(ordered)
    if tables.ndim != 2 or len(offset) != n + 1 or offset[0] != 0 or offset[-1] != len(tables):
        raise ValueError("offset must run over the rows of the tables")
    if np.any(np.diff(offset) < 1):
        raise ValueError("every feature needs a row for its gap")
    width = {"f": 3, "row_effects": len(scores)}.get(measure, tables.shape[1])
    if tables.shape[1] != width:
        raise ValueError("tables must have the columns that the measure reads")
    stop = np.full(n, 2, np.int32) if stop_at is None else np.ascontiguousarray(stop_at, np.int32)
    if len(stop) != n:
        raise ValueError("stop_at must have one entry per feature")
    chi2_tail, f_tail = _tails()
    answer = _core.merge_tables(
        np.ascontiguousarray(tables, np.float64),
        np.ascontiguousarray(offset, np.int64),
        np.ascontiguousarray(ordered, np.uint8),
        stop,
        MEASURES.index(measure),
        np.asarray(scores, np.float64),
        alpha_merge,
        -1.0 if alpha_resplit is None else alpha_resplit,
        least,
        keep_path,
        chi2_tail,
        f_tail,
        n_threads,
    )
    return Merged(*answer)


@cache
def _tails() -> tuple[int, int]:
    """Addresses of scipy's upper tails of χ² and F."""
    from scipy.special import cython_special

    exported: dict[str, Any] = cython_special.__pyx_capi__
    numbers = "double, "
    chi2 = _address(exported, ("chdtrc",), f"double ({numbers * 2}int __pyx_skip_dispatch)")
    # functions of several precisions have a name for each
    names = ("fdtrc", "__pyx_fuse_0fdtrc", "__pyx_fuse_1fdtrc")
    return chi2, _address(exported, names, f"double ({numbers * 3}int __pyx_skip_dispatch)")


def _address(exported: dict[str, Any], names: tuple[str, ...], signature: str) -> int:
    """Address of the exported function with this signature."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.restype, is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
    for name in names:
        if name in exported and is_valid(exported[name], signature.encode()):
            return int(pointer(exported[name], signature.encode()))
    raise ImportError(
        f"scipy exports no {names[0]} of the form {signature}; use scipy 1.11 to 1.17"
    )
