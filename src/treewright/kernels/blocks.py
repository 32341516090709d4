"""Kernels of blocks behind their checks: shares of rows, and planners of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.kernels._core import Planner, Share
from treewright.kernels.boosting import BinMap, make_bins

__all__ = ["Planner", "Share", "make_planner", "make_share"]


def make_planner(
    maps: Sequence[BinMap],
    params: dict[str, Any],
    n_rows: int,
    n_counted: int | None,
    most_factor: float,
    is_tall: bool = False,
) -> Planner:
    """A planner of trees on columns that become bins by ``maps``.

    Parameters
    ----------
    maps
        How columns become bins.
    params
        Growth, loss and sampling; see ``core/boost/params.hpp``.
    n_rows, n_counted
        Rows to learn from, and how often they count together; None where each counts once.
    most_factor
        The largest weight of a row; 0 where all rows weigh the same.
    is_tall
        Whether sums take the room that more than ``MOST_ROWS`` rows need.
    """
    empty = [np.empty(0, np.float64 if m.codes is None else np.int32) for m in maps]
    return Planner(make_bins(empty, maps), params, n_rows, n_counted, most_factor, is_tall)


def make_share(fitting: Any) -> Share:
    """Room for the blocks of a share; see :class:`treewright.scale._share.Fitting`."""
    return Share(
        fitting.params,
        np.ascontiguousarray(fitting.offsets, np.int32),
        fitting.width,
        fitting.n_learned if fitting.n_counted is None else fitting.n_counted,
        fitting.most_factor,
        fitting.is_tall,
        fitting.n_threads,
    )
