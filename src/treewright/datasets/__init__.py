"""Small data sets that ship with the package, and generators of artificial ones.

Each ``load_*`` function reads one CSV file beside this module and returns a :class:`Dataset`.
Where the files come from, and under which licence, is in ``data/SOURCES.md`` and in the
``DESCR`` of each data set.
"""

from __future__ import annotations

from treewright.datasets._agrawal import make_agrawal
from treewright.datasets._dataset import Dataset
from treewright.datasets._generated import two_rings
from treewright.datasets._loaders import (
    load_cheat,
    load_german_credit,
    load_hitters,
    load_iris,
    load_play_tennis,
    load_titanic,
)

__all__ = [
    "Dataset",
    "load_cheat",
    "load_german_credit",
    "load_hitters",
    "load_iris",
    "load_play_tennis",
    "load_titanic",
    "make_agrawal",
    "two_rings",
]
