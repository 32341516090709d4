"""Trees on blocks behind their checks: rows that know their node, and the search of tables.

See ``core/blocks/tree_share.hpp`` and ``core/blocks/table_search.hpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

import treewright.kernels._core as _compiled
from treewright.kernels.boosting import BinMap, make_bins

__all__ = ["TableSearch", "TreeShare", "child_paths", "drawn_features", "row_width"]

_core = cast(Any, _compiled)

if TYPE_CHECKING:
    TableSearch: TypeAlias = Any
    TreeShare: TypeAlias = Any
else:
    TableSearch, TreeShare = _core.TableSearch, _core.TreeShare
child_paths = _core.child_paths
drawn_features = _core.drawn_features


def row_width(maps: Sequence[BinMap]) -> int:
    """Bytes of a row of bins."""
    empty = [np.empty(0, np.float64 if m.codes is None else np.int32) for m in maps]
    return int(make_bins(empty, maps).by_row().shape[1])
